"""A copy of a file's rollouts as JSON lines, beside the index, where the file's own rows can't be read in place.

That is so for compressed files, JSON lists and objects, Parquet, CSV and archives: to read one text of them, everything
before it would have to be read. The copy takes about the room of the unpacked file, in the user's cache.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from evaluator.formats.loader import load_samples
from evaluator.formats.problems import Problem
from evaluator.formats.sources import Source as NamedFile
from evaluator.index.rows_of import KeptRow
from evaluator.index.state import FileState, RolloutSource
from evaluator.runs.schema import encoded
from evaluator.user_files import replacing


def keep(source: RolloutSource, file: FileState, to: Path, on_problem: Callable[[Problem], object]) -> None:
    """Write the copy. Raises `FormatError` for a bad file, `OSError` if the copy can't be written."""

    named = NamedFile(Path(file.path), file.name)
    with replacing(to) as temporary:
        found = load_samples(named, source.format, field_map=source.field_map, on_problem=on_problem)
        with temporary.open("wb") as kept:
            for rollout, prompt in found:
                kept.write(encoded(KeptRow(rollout.line, rollout, prompt)) + b"\n")
