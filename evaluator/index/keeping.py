"""A copy of a file's rollouts as JSON lines, beside the index, where the file's own rows can't be read in place.

That is so for compressed files, JSON lists and objects, Parquet, CSV and archives: to read one text of them, everything
before it would have to be read. The copy takes about the room of the unpacked file, in the user's cache.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from evaluator.formats.loader import load_samples
from evaluator.formats.problems import Problem
from evaluator.formats.source import Source as NamedFile
from evaluator.index.rows_of import KeptRow
from evaluator.index.state import FileState, RolloutSource
from evaluator.runs.schema import safe_text
from evaluator.user_files import replacing


def keep(source: RolloutSource, file: FileState, to: Path, on_problem: Callable[[Problem], object]) -> None:
    """Write the copy. Raises `FormatError` for a bad file, `OSError` if the copy can't be written."""

    named = NamedFile(Path(file.path), file.name)
    with replacing(to) as temporary:
        found = load_samples(named, source.format, field_map=source.field_map, on_problem=on_problem)
        with temporary.open("wb") as kept:
            for rollout, prompt in found:
                kept.write(encoded(KeptRow(rollout.line, rollout, prompt)) + b"\n")


def encoded(row: msgspec.Struct) -> bytes:
    try:
        return msgspec.json.encode(row)
    except (UnicodeEncodeError, OverflowError):  # rare, so only handled after it happens
        return msgspec.json.encode(_encodable(msgspec.to_builtins(row)))


def _encodable(value: Any) -> Any:
    """The value with what JSON lines of ours can't hold as text: lone surrogates, and numbers of more than 64 bits."""
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, dict):
        return {_encodable(key): _encodable(inner) for key, inner in value.items()}
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return str(value) if value.bit_length() < 10_000 else "a number of more than 3,000 digits"
    return [_encodable(inner) for inner in value] if isinstance(value, list | tuple) else value
