"""Turns one row of a file into its rollouts: once for the index, and again when their texts are needed.

Where a file's own rows can't be read in place, a copy of its rollouts as JSON lines is kept beside the index: of
compressed files, JSON lists and objects, Parquet, CSV and archives. To read one text of them, everything before it
would have to be read. The copy takes about the room of the unpacked file, in the user's cache.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from evaluator.formats.reading.containers import RawRow, decoded
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.file_layout import FileLayout, layout_of, rollouts_of, samples_of
from evaluator.formats.reading.loader import load_samples
from evaluator.formats.reading.problems import Problem
from evaluator.formats.reading.registry import Role
from evaluator.formats.reading.sources import Source as NamedFile
from evaluator.index.state import FileState, RolloutSource
from evaluator.model import RecordError, Rollout
from evaluator.runs.schema import encoded
from evaluator.user_files import replacing


class KeptRow(msgspec.Struct, omit_defaults=True):
    """A row of the file that is made of a source whose rows can't be read in place."""

    line: int
    rollout: Rollout
    prompt: str = ""


class RowReader(msgspec.Struct, frozen=True):
    """How the rows of one file are read. It can be sent to another process."""

    path: str
    name: str
    """For messages, and for formats that read the step from it."""
    format: str
    field_map: dict[str, str] | None = None
    kept: bool = False
    """Whether the rows are `KeptRow`s."""

    def rollouts(self, data: bytes, line: int, at: int, problems: list[Problem]) -> list[Rollout]:
        """The rollouts of a row. What is wrong with it is added to `problems`."""
        if self.kept:
            row = _KEPT.decode(data)
            row.rollout.line = row.line
            return [row.rollout]
        found: list[Rollout] = []
        for item in decoded(self.name, RawRow(line, data, terminated=True, offset=at), 0):
            if isinstance(item, Problem):
                problems.append(item)
                continue
            try:
                found += rollouts_of(_layout(self), item.fields)
            except RecordError as error:
                problems.append(Problem(self.name, line, str(error), offset=at))
        return found

    def samples(self, data: bytes) -> list[tuple[Rollout, str]]:
        """The rollouts of a row that was read before, with their prompts; fewer if the row is another one now."""
        if self.kept:
            row = _KEPT.decode(data)
            return [(row.rollout, row.prompt)]
        found: list[tuple[Rollout, str]] = []
        for item in decoded(self.name, RawRow(0, data, terminated=True, offset=0), 0):
            if not isinstance(item, Problem):
                found += _until_wrong(_layout(self), item.fields)
        return found


_KEPT: Final = msgspec.json.Decoder(KeptRow)


def _until_wrong(layout: FileLayout, fields: Fields) -> list[tuple[Rollout, str]]:
    found: list[tuple[Rollout, str]] = []
    with suppress(RecordError):
        for sample in samples_of(layout, fields):
            found.append(sample)
    return found


def _layout(reader: RowReader) -> FileLayout:
    pairs = tuple(reader.field_map.items()) if reader.field_map else None
    return _layout_of(reader.path, reader.name, reader.format, pairs)


@cache
def _layout_of(path: str, name: str, format_: str, field_map: tuple[tuple[str, str], ...] | None) -> FileLayout:
    return layout_of(NamedFile(Path(path), name), Role.ROLLOUTS, format_, dict(field_map) if field_map else None)


def keep(source: RolloutSource, file: FileState, to: Path, on_problem: Callable[[Problem], object]) -> None:
    """Write the copy. Raises `FormatError` for a bad file, `OSError` if the copy can't be written."""

    named = NamedFile(Path(file.path), file.name)
    with replacing(to) as temporary:
        found = load_samples(named, source.format, field_map=source.field_map, on_problem=on_problem)
        with temporary.open("wb") as kept:
            for rollout, prompt in found:
                kept.write(encoded(KeptRow(rollout.line, rollout, prompt)) + b"\n")
