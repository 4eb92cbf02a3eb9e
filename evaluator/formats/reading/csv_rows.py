"""Reads CSV and TSV: the first row names the fields, and a cell is text unless it holds JSON.

In a cell, a JSON object or list is decoded, `true` and `false` are truth values, and an empty cell is not a field.
Fields that hold text (completions, prompts, code) keep all of that as it is, except for messages. Numbers stay text
until a field needs a number, so `007` is an id.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator
from functools import partial
from typing import IO

from evaluator.formats.reading.chat import is_conversation
from evaluator.formats.reading.json_text import JsonError, decode_json
from evaluator.formats.reading.problems import NOT_UTF8_FIX, Problem, snippet_of
from evaluator.formats.reading.registry import Row
from evaluator.model import JsonValue

_NAME = re.compile(r"[A-Za-z_][\w.\-\[\]]*")
_TEXTS = {
    "completion", "prompt", "code", "solution", "response", "output", "text", "test", "generation", "prediction",
    "answer", "question", "instruction", "preamble", "reference", "canonical_solution", "query", "input",
}  # fmt: skip
_SHOWN_NAMES = 12
_DELIMITERS = ("\t", ",", ";")
_TRUTH = {"true": True, "True": True, "false": False, "False": False}


def delimiter_of(head: bytes, name: str) -> str | None:
    """What separates the cells of a file that begins with `head`; None for something else than CSV.

    The name decides; without its help there must be a row of names, and as many cells in the row after it.
    """
    while name.endswith((".gz", ".zst", ".bz2", ".xz")):
        name = name.rpartition(".")[0]
    lines = head.decode("utf-8", "replace").splitlines()
    for ending, delimiter in ((".csv", ","), (".tsv", "\t")):
        if name.lower().endswith(ending):
            return next(filter(partial(_separates, lines[0]), (delimiter, *_DELIMITERS)), delimiter)
    for delimiter in _DELIMITERS:
        try:
            rows = list(csv.reader(lines[:2], delimiter=delimiter))
        except csv.Error:
            continue
        if len(rows) == 2 and len(rows[0]) == len(rows[1]) > 1 and all(map(_NAME.fullmatch, rows[0])):
            return delimiter
    return None


def _separates(header: str, delimiter: str) -> bool:
    names = header.split(delimiter)
    return len(names) > 1 and all(_NAME.fullmatch(name.strip('"')) for name in names)


def read_csv(
    stream: IO[bytes], delimiter: str, path: str, line: int, offset: int, max_bytes: int
) -> Iterator[Row | Problem]:
    """Every row after the first, and a `Problem` for each that has other cells or is too long, and if there is none.

    The first row again, as in files that were joined, is no row.
    """
    csv.field_size_limit(max(max_bytes, csv.field_size_limit()))  # of the process; 128 KiB is too little for code
    source = _Lines(stream, line, offset, max_bytes)
    names: list[str] | None = None
    is_alone = True
    while (cells := source.next_row(delimiter)) is not None:
        if isinstance(cells, str):
            yield source.problem(path, cells)
        elif names is None:
            names = cells
            continue
        elif cells == names:
            continue
        elif cells and len(cells) != len(names):
            yield source.problem(path, f"the row must have {len(names)} cells as the first row has, not {len(cells)}")
        elif cells:
            yield Row(source.line, _fields(names, cells), source.offset)
        is_alone = is_alone and not cells
    if names is not None and is_alone:
        message = f"there is no row after the first, which names the fields ({', '.join(names[:_SHOWN_NAMES])})"
        yield Problem(path, line, f"{message}: write the rows again", offset=offset)


class _Lines:
    """The lines that the row being read takes, and where it begins."""

    def __init__(self, stream: IO[bytes], line: int, offset: int, max_bytes: int) -> None:
        self._stream = stream
        self._max_bytes = max_bytes
        self._after = line, offset
        self._data: list[bytes] = []
        self.line, self.offset = line, offset

    def next_row(self, delimiter: str) -> list[str] | str | None:
        """The cells of the next row, or what is wrong with it; None at the end."""
        self._data = []
        self.line, self.offset = self._after
        try:
            return next(csv.reader(self._texts(), delimiter=delimiter, strict=False), None)
        except _TooLongError:
            limit = self._max_bytes // (1 << 20)
            return f"the row has more than the limit of {limit} MiB per row: it is skipped (is a quote not closed?)"
        except UnicodeDecodeError as error:
            before = sum(map(len, self._data[:-1]))
            return f"not UTF-8 at byte {before + error.start + 1} of the row: {NOT_UTF8_FIX}"
        except _OpenQuoteError:
            return f"not CSV: a quote is not closed, so that {len(self._data):,} lines are one row: close it"
        except _HoleError:
            return "the row has NUL bytes, as after a crash or on a full disk: write it again"
        except csv.Error as error:
            return f"not CSV: {error}"

    def problem(self, path: str, message: str) -> Problem:
        data = b"".join(self._data[:200])
        return Problem(path, self.line, message, snippet_of(data), offset=self.offset)

    def _texts(self) -> Iterator[str]:
        size = 0
        while data := self._next_part(self._max_bytes + 1):
            size += len(data)
            if size > self._max_bytes:
                self._data = [(self._data or [data])[0][:1024]]
                while data and not data.endswith(b"\n"):
                    data = self._next_part(1 << 20)
                raise _TooLongError
            if not self._data:
                data = data.lstrip(b"\0").removeprefix(codecs.BOM_UTF8)
            self._data.append(data)
            if b"\0" in data:
                raise _HoleError
            yield data.decode("utf-8")
        if self._data:
            raise _OpenQuoteError

    def _next_part(self, most: int) -> bytes:
        data = self._stream.readline(most)
        self._after = self._after[0] + data.endswith(b"\n"), self._after[1] + len(data)
        return data


class _TooLongError(Exception):
    pass


class _HoleError(Exception):
    pass


class _OpenQuoteError(Exception):
    pass


def _fields(names: list[str], cells: list[str]) -> dict[str, JsonValue]:
    values = ((name, _value(name, cell)) for name, cell in zip(names, cells, strict=True))
    return {name: value for name, value in values if value is not None}


def _value(name: str, cell: str) -> JsonValue:
    is_text = name in _TEXTS
    if cell[:1] in ("{", "[") and cell.rstrip()[-1:] in ("}", "]"):
        try:
            value = decode_json(cell)
        except JsonError:
            return cell
        return value if not is_text or (value and is_conversation(value)) else cell
    return cell if is_text else _TRUTH.get(cell, cell or None)
