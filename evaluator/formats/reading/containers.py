"""Opens a file of rows and reads them one at a time: JSON lines, JSON lists, JSON objects over many lines, CSV.

Detects which by its bytes, plain or compressed; its name helps with CSV alone. Each row comes with its physical line
and its offset; what can't be read is a `Problem`. A file that is no text is read by the `ContainerKind` that claims it.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, cast

from msgspec.structs import replace

from evaluator.formats.reading.compression import BUFFER_BYTES, DAMAGE, decompressed
from evaluator.formats.reading.csv_rows import delimiter_of, read_csv
from evaluator.formats.reading.json_text import BETWEEN_ROWS, JsonError, RawRow, decode_json, split_json
from evaluator.formats.reading.problems import (
    CUT_OFF,
    MAX_ROW_BYTES,
    NOT_UTF8_FIX,
    FormatError,
    Problem,
    one_line,
    snippet_of,
    too_long,
)
from evaluator.formats.reading.registry import Row, known_containers
from evaluator.formats.reading.sources import FileLike, Source, source_of
from evaluator.model import JsonValue

__all__ = ["MAX_ROW_BYTES", "Container", "RawRow", "decoded", "is_incomplete", "open_container", "read_rows"]

HOPELESS_ROWS = 1000
"""If this many rows at the start of a file are all broken, it is something else and reading stops."""

_HEAD_BYTES = 4096
_LONG_HEAD_BYTES = 1 << 16

_AS_UTF8 = "save it as UTF-8, for example with `iconv -f {} -t UTF-8`"
_FOREIGN: tuple[tuple[bytes, str, str], ...] = (
    (b"PAR1", "a compressed Parquet file", "decompress it first"),
    (b"ARROW1", "an Arrow file", "convert it to Parquet or JSON lines first"),
    (b"PK\x03\x04", "a ZIP archive", "unpack it and pass the file inside"),
    (b"\x80\x04\x95", "a pickle", "pickles are never loaded: convert it to JSON lines"),
    (b"version https://git-lfs", "a pointer of Git LFS", "get the file itself with `git lfs pull`"),
    (b"<!DOCTYPE html", "a web page", "download the file itself"),
    (b"<!doctype html", "a web page", "download the file itself"),
    (b"SQLite format 3", "an SQLite database", "export the table as JSON lines"),
    (b"\xff\xfe\0\0", "UTF-32 text", _AS_UTF8.format("UTF-32")),
    (b"\0\0\xfe\xff", "UTF-32 text", _AS_UTF8.format("UTF-32")),
    (b"\xff\xfe", "UTF-16 text", _AS_UTF8.format("UTF-16")),
    (b"\xfe\xff", "UTF-16 text", _AS_UTF8.format("UTF-16")),
)
_WIDE = {b"\1\0" * 4: "UTF-16", b"\0\1" * 4: "UTF-16", b"\1\0\0\0" * 2: "UTF-32", b"\0\0\0\1" * 2: "UTF-32"}
"""Without a byte order mark: which of the first eight bytes are 0."""
_BEFORE_TEXT = re.compile(rb"(?:[ \t\r\n\0]|\xef\xbb\xbf)*+")
_TAR = slice(257, 262)


class Layout(StrEnum):
    """How rows are arranged in the decompressed text."""

    LINES = "JSON lines"
    LIST = "JSON list"
    OBJECTS = "JSON objects over many lines"
    CSV = "CSV"
    TSV = "TSV"
    SEMICOLONS = "CSV with semicolons"


_SEPARATORS = {",": Layout.CSV, "\t": Layout.TSV, ";": Layout.SEMICOLONS}


AnyRow = RawRow | Row | Problem


class Start(NamedTuple):
    """Where the first byte is that may be of a row, in the decompressed text."""

    line: int = 1
    offset: int = 0


class Container(AbstractContextManager["Container"]):
    """An open file, whose rows can be read once. As text it says how they are stored, such as `JSON lines, gzip`."""

    def __init__(
        self, source: Source, title: str, rows: Iterator[AnyRow], stream: io.BufferedReader, start: Start | None = None
    ) -> None:
        self.path = source.name
        self.in_place = title == Layout.LINES
        """Whether the bytes of a row are in the file as they are: JSON lines that are not compressed."""
        self.start = start or Start()
        self._title = title
        self._stream = stream
        self._rows = _until_damage(rows, source, start)

    def __str__(self) -> str:
        return self._title

    def raw_rows(self) -> Iterator[AnyRow]:
        """Every row that is not blank, and a `Problem` for each that can't be read. Closes the file."""
        with self:
            yield from self._rows

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file."""
        self._rows.close()
        self._stream.close()


def _until_damage(rows: Iterator[AnyRow], source: Source, start: Start | None) -> Generator[AnyRow, None, None]:
    """The rows under the file's name. `start` is that of a text; a kind's own reader has none."""
    line, damage = (start.line, DAMAGE) if start else (0, (Exception,))  # what a library for the kind may raise
    what, after = "the file", ""
    try:
        for row in rows:
            line, what, after = row.line, "the rest of the file", "; the rows before it were read"
            yield replace(row, path=source.name) if isinstance(row, Problem) else row
    except FormatError as error:
        raise FormatError(str(error).replace(str(source.path), source.name)) from None
    except damage as error:
        why = one_line(" ".join(str(error).split())) or type(error).__name__
        yield Problem(source.name, line + 1, f"{what} can't be read: {why}{after}")
    finally:
        if isinstance(rows, Generator):
            rows.close()


def open_container(file: FileLike) -> Container:
    """Opens a file and detects how it is compressed and arranged. Raises `FormatError` if it holds no rows at all."""
    source = source_of(file)
    name = source.name
    raw = _open_file(source.path, name)
    try:
        head = raw.peek(_HEAD_BYTES)[:_HEAD_BYTES]
        for kind in known_containers():
            if kind.claims(head, name):
                raw.close()
                return Container(source, kind.name, kind.open(source.path), raw)
        stream, compression = decompressed(raw)
        _refuse_foreign(stream.peek(_HEAD_BYTES)[:_HEAD_BYTES], name)
        start = _skip_blank_start(stream, name)
        layout = _layout(stream.peek(_LONG_HEAD_BYTES)[:_LONG_HEAD_BYTES], name)
    except FormatError:
        raw.close()
        raise
    except DAMAGE as error:
        raw.close()
        raise FormatError(f"{name}: can't be decompressed: {one_line(str(error))}: create the file again") from None
    title = f"{layout}, {compression}" if compression else str(layout)
    return Container(source, title, _rows_of_text(stream, layout, name, start), stream, start)


def _rows_of_text(stream: io.BufferedReader, layout: Layout, path: str, start: Start) -> Iterator[AnyRow]:
    match layout:
        case Layout.LINES:
            return _lines(stream, path, *start)
        case Layout.LIST | Layout.OBJECTS:
            chunks = iter(lambda: stream.read1(BUFFER_BYTES), b"")
            return split_json(chunks, path, start.line, MAX_ROW_BYTES, offset=start.offset)
        case Layout.CSV | Layout.TSV | Layout.SEMICOLONS:
            separator = next(each for each, its_layout in _SEPARATORS.items() if its_layout is layout)
            return read_csv(stream, separator, path, *start, MAX_ROW_BYTES)


def _lines(stream: io.BufferedReader, path: str, line: int, offset: int) -> Iterator[RawRow | Problem]:
    limit = MAX_ROW_BYTES
    while data := stream.readline(limit + 1):
        terminated = data.endswith(b"\n")
        size = len(data)
        if size > limit and not terminated:
            while more := stream.readline(BUFFER_BYTES):
                size += len(more)
                if more.endswith(b"\n"):
                    break
            yield too_long(path, line, offset, size, data, limit)
        elif not data.isspace():
            yield RawRow(line, data, terminated, offset)
        line, offset = line + 1, offset + size


def _open_file(path: Path, name: str) -> io.BufferedReader:
    try:
        return cast("io.BufferedReader", path.open("rb", buffering=BUFFER_BYTES))
    except FileNotFoundError:
        raise FormatError(f"{name}: no such file: check the path") from None
    except IsADirectoryError:
        raise FormatError(f"{name}: is a directory: pass a file in it") from None
    except PermissionError:
        raise FormatError(f"{name}: can't be read: check its permissions") from None
    except (OSError, ValueError) as error:
        raise FormatError(f"{name}: can't be opened: {one_line(str(error))}") from None


def _skip_blank_start(stream: io.BufferedReader, name: str) -> Start:
    line, offset, nuls = 1, 0, False
    while head := stream.peek(_HEAD_BYTES):
        text = _BEFORE_TEXT.sub(b"", head, count=1)
        blank = len(head) - len(text)
        nuls = nuls or b"\0" in head[:blank]
        line += head[:blank].count(b"\n")
        offset += len(stream.read(blank))
        if text:
            return Start(line, offset)
    if nuls:
        raise FormatError(f"{name}: has only NUL bytes, as after a crash or on a full disk: write it again")
    raise FormatError(f"{name}: is empty: write one JSON object per line")


def _layout(head: bytes, name: str) -> Layout:
    if head.startswith(b"["):
        return Layout.LIST
    if head.startswith(b"{"):
        return Layout.OBJECTS if _goes_on(head) else Layout.LINES
    _refuse_binary(head[:_HEAD_BYTES], name)
    separator = delimiter_of(head, name)
    return _SEPARATORS[separator] if separator else Layout.LINES


def _goes_on(head: bytes) -> bool:
    """Whether the object that a text begins with does not end on its line, or another one follows it there."""
    first, newline, rest = head.partition(b"\n")
    parts = list(split_json([first], "", 1, len(first)))
    if isinstance(parts[0], Problem) and "cut off" in parts[0].message:
        ending, following = first.rstrip()[-1:], rest.lstrip(BETWEEN_ROWS)
        open_ended = ending in b"{[" or (ending in b",:" and not following.startswith(b'{"'))  # else a line cut short
        return bool(newline) and open_ended
    return len(parts) > 1 and isinstance(parts[1], RawRow)


def _refuse_foreign(head: bytes, name: str) -> None:
    for magic, what, fix in _FOREIGN:
        if head.startswith(magic):
            raise FormatError(f"{name}: is {what}: {fix}")
    if head[_TAR] == b"ustar":
        raise FormatError(f"{name}: is a tar archive: unpack it and pass the files inside")
    if wide := _WIDE.get(bytes(map(bool, head[:8]))):
        raise FormatError(f"{name}: is {wide} text: {_AS_UTF8.format(wide)}")


def _refuse_binary(head: bytes, name: str) -> None:
    text = head.replace(b"\0", b"")  # those of a crash
    control = sum(byte < 32 and byte not in b"\t\r\n\f\x1b" for byte in text)
    if control * 10 > len(text) or (len(text) < len(head) and not _is_utf8(text)):
        raise FormatError(f"{name}: is a binary file: use JSON lines, a JSON list, CSV or Parquet (compressed is fine)")


def read_rows(container: Container) -> Iterator[Row | Problem]:
    """Every object in the container, and a `Problem` for each row that is not an object.

    A row that is a list of objects is as many rows. One that is a list of texts holds the samples of a task that is
    named by the row's place, from 0. Raises `FormatError` if none of the first `HOPELESS_ROWS` rows is an object.
    """
    usable = 0
    why = ""
    for place, raw in enumerate(container.raw_rows()):
        for item in decoded(container.path, raw, place) if isinstance(raw, RawRow) else (raw,):
            if isinstance(item, Problem):
                why = why or f"line {item.line}: {item.message}"
            else:
                usable += 1
            yield item
        if not usable and place + 1 >= HOPELESS_ROWS:
            container.close()
            raise FormatError(
                f"{container.path}: none of the first {place + 1:,} lines is a JSON object: "
                f"use JSON lines or a JSON list ({why})"
            )


def is_incomplete(line: bytes) -> bool:
    """Whether the last line of a file of JSON lines is half written: it has no newline yet, and its object no end."""
    if line.endswith(b"\n"):
        return False
    *_, last = (None, *split_json([line], "", 1, len(line)))  # nothing of NULs alone, which may become a row
    return last is None or (isinstance(last, Problem) and last.reason == CUT_OFF)


def decoded(path: str, raw: RawRow, place: int) -> Sequence[Row | Problem]:
    """The objects of one row, or what is wrong with it. `place` is the row's number in its file, from 0."""
    try:
        value = decode_json(raw.data)
    except JsonError as error:
        data = raw.data.strip(BETWEEN_ROWS)
        if data and len(data.strip()) < len(raw.data.strip()):
            return decoded(path, raw._replace(data=data), place)
        rows = _joined(raw)
        if rows and b"\0" not in data:
            return rows
        return (*rows, Problem(path, raw.line, _cause(raw, str(error)), snippet_of(raw.data), offset=raw.offset))
    if isinstance(value, dict):
        return (Row(raw.line, value, raw.offset),)
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return [Row(raw.line, item, raw.offset) for item in value]
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return (Row(raw.line, {"task_id": place, "completions": value}, raw.offset),)
    message = f"the row must be a JSON object, not {_json_name(value)}: it is skipped"
    return (Problem(path, raw.line, message, snippet_of(raw.data), offset=raw.offset),)


def _joined(raw: RawRow) -> list[Row]:
    """The objects of a line that holds several: of files that were joined, or on both sides of NULs that a crash left.

    None where there is something else on it, but for what NULs are in.
    """
    rows = []
    for part in filter(None, raw.data.split(b"\0")):
        found = list(split_json([part], "", raw.line, len(part)))
        try:
            values = [decode_json(each.data) for each in found if isinstance(each, RawRow)]
        except JsonError:
            values = []
        if len(values) == len(found) and all(isinstance(value, dict) for value in values):
            rows += [Row(raw.line, value, raw.offset) for value in values if isinstance(value, dict)]
        elif b"\0" not in raw.data:
            return []
    return rows


def _cause(raw: RawRow, error: str) -> str:
    if b"\0" in raw.data:
        nuls = f"{raw.data.count(0):,} NUL bytes in the row, as after a crash or on a full disk"
        return f"not JSON: {nuls}: write it again"
    if error.startswith("not UTF-8") and (raw.terminated or not _is_utf8(raw.data)):
        return f"{error} of the row: {NOT_UTF8_FIX}"
    if raw.terminated or not is_incomplete(raw.data):
        return error
    return f"the last line is not complete ({error}): is the file still being written?"


def _is_utf8(data: bytes) -> bool:
    """Whether it is so far: its last character may be cut off."""
    try:
        codecs.getincrementaldecoder("utf-8")("surrogatepass").decode(data)
    except UnicodeDecodeError:
        return False
    return True


def _json_name(value: JsonValue) -> str:
    names = {list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "null")
