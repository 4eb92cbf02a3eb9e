"""Opens a file of rows: JSON lines, JSON lists, JSON objects over many lines, CSV; plain or compressed.

Detects which by its bytes; its name helps with CSV alone. Yields rows as bytes or decoded, one at a time, with their
physical line and their offset. Files of other kinds are in `evaluator.formats.container_kinds`.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Self, cast

from msgspec.structs import replace

from evaluator.formats.compression import BUFFER_BYTES, DAMAGE, decompressed
from evaluator.formats.container_kinds import ContainerKind, Row, known_containers
from evaluator.formats.csv_rows import delimiter_of, read_csv
from evaluator.formats.json_list import ListDamage, ListElement, split_json
from evaluator.formats.problems import FormatError, Problem, one_line, snippet_of
from evaluator.formats.sources import FileLike, Source, source_of

MAX_ROW_BYTES = 32 * 1024 * 1024
"""A longer row is reported and skipped; no more than this of it is held in memory."""
MAX_OBJECT_BYTES = 4 * MAX_ROW_BYTES
"""The same for an object that is a file, or its first line: it may hold all tasks or samples."""

_HEAD_BYTES = 4096
_LONG_HEAD_BYTES = 1 << 16
_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n"

_FOREIGN: tuple[tuple[bytes, str, str], ...] = (
    (b"PAR1", "a compressed Parquet file", "decompress it first"),
    (b"ARROW1", "an Arrow file", "convert it to Parquet or JSON lines first"),
    (b"PK\x03\x04", "a ZIP archive", "unpack it and pass the file inside"),
    (b"\x80\x04\x95", "a pickle", "pickles are never loaded: convert it to JSON lines"),
    (b"SQLite format 3", "an SQLite database", "export the table as JSON lines"),
    (b"\xff\xfe", "UTF-16 text", "save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text", "save it as UTF-8"),
)


class Layout(StrEnum):
    """How rows are arranged in the decompressed text."""

    LINES = "JSON lines"
    LIST = "JSON list"
    OBJECTS = "JSON objects over many lines"
    CSV = "CSV"
    TSV = "TSV"


class RawRow(NamedTuple):
    """One row's bytes, and where they begin. `terminated` is False for a last line without a newline."""

    line: int
    data: bytes
    terminated: bool
    offset: int


class Start(NamedTuple):
    """Where the first byte is that is neither a byte order mark nor white space, in the decompressed text."""

    line: int = 1
    offset: int = 0


class Container:
    """An open file and how it is packed. Rows can be read once."""

    def __init__(self, path: str, stream: io.BufferedReader, layout: Layout, compression: str, start: Start) -> None:
        self.path = path
        self.layout = layout
        self.compression = compression
        self.start = start
        self._stream = stream

    def __str__(self) -> str:
        return f"{self.layout}, {self.compression}" if self.compression else str(self.layout)

    @property
    def in_place(self) -> bool:
        """Whether the bytes of a row are in the file as they are: JSON lines that are not compressed."""
        return self.layout is Layout.LINES and not self.compression

    def raw_rows(self) -> Iterator[RawRow | Row | Problem]:
        """Every row that is not blank, and a `Problem` for each that can't be read. Closes the file."""
        line = self.start.line
        try:
            for row in self._rows():
                line = row.line
                yield row
        except DAMAGE as error:
            yield _damaged(self.path, line, error)
        finally:
            self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file; reading it again raises."""
        self._stream.close()

    def _rows(self) -> Iterator[RawRow | Row | Problem]:
        match self.layout:
            case Layout.LINES:
                return self._lines()
            case Layout.LIST | Layout.OBJECTS:
                return self._elements()
            case Layout.CSV | Layout.TSV:
                delimiter = "," if self.layout is Layout.CSV else "\t"
                return read_csv(self._stream, delimiter, self.path, *self.start, MAX_ROW_BYTES)

    def _lines(self) -> Iterator[RawRow | Problem]:
        stream, (line, offset), limit = self._stream, self.start, MAX_OBJECT_BYTES
        while data := stream.readline(limit + 1):
            terminated = data.endswith(b"\n")
            size = len(data)
            if size > limit and not terminated:
                size += self._skip_rest_of_line()
                yield self._oversize(line, offset, size, data, limit)
            elif not data.isspace():
                yield RawRow(line, data, terminated, offset)
            line, offset, limit = line + 1, offset + size, MAX_ROW_BYTES

    def _skip_rest_of_line(self) -> int:
        skipped = 0
        while data := self._stream.readline(BUFFER_BYTES):
            skipped += len(data)
            if data.endswith(b"\n"):
                break
        return skipped

    def _elements(self) -> Iterator[RawRow | Problem]:
        chunks = iter(lambda: self._stream.read1(BUFFER_BYTES), b"")
        line, offset = self.start
        limit = MAX_ROW_BYTES if self.layout is Layout.LIST else MAX_OBJECT_BYTES
        for part in split_json(chunks, line, MAX_ROW_BYTES, offset=offset, max_object=limit):
            match part:
                case ListElement(line, data, None, offset):
                    yield RawRow(line, data, terminated=True, offset=offset)
                case ListElement(line, data, size, offset):
                    yield self._oversize(line, offset, size or 0, data, limit)
                case ListDamage(line, message, data, offset):
                    yield Problem(self.path, line, message, snippet_of(data) if data else "", offset=offset)

    def _oversize(self, line: int, offset: int, size: int, data: bytes, limit: int) -> Problem:
        message = f"the row has {size / 1e6:.1f} MB, more than the limit of {limit >> 20} MiB per row: it is skipped"
        return Problem(self.path, line, message, snippet_of(data), offset=offset)


class ReadyContainer:
    """An open file of a kind with a reader of its own. Its rows come decoded."""

    compression = ""
    in_place = False
    start = Start()

    def __init__(self, source: Source, kind: ContainerKind) -> None:
        self.path = source.name
        self._source = source
        self._kind = kind
        self._rows = kind.open(source.path)

    def __str__(self) -> str:
        return self._kind.name

    def raw_rows(self) -> Iterator[Row | Problem]:
        """Every row, and a `Problem` for each that can't be read. Closes the file."""
        line = 0
        try:
            for row in self._rows:
                line = row.line
                yield replace(row, path=self.path) if isinstance(row, Problem) else row
        except FormatError as error:
            raise FormatError(str(error).replace(str(self._source.path), self.path)) from None
        except Exception as error:  # whatever a library for the kind raises, the rows before it count
            yield _damaged(self.path, line, error)
        finally:
            self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file; reading it again raises."""
        close = getattr(self._rows, "close", None)
        if close is not None:
            close()


AnyContainer = Container | ReadyContainer


def open_container(file: FileLike) -> AnyContainer:
    """Opens a file and detects how it is compressed and arranged. Raises `FormatError` if it holds no rows at all."""
    source = source_of(file)
    name = source.name
    raw = _open_file(source.path, name)
    try:
        head = raw.peek(_HEAD_BYTES)[:_HEAD_BYTES]
        for kind in known_containers():
            if kind.claims(head, name):
                raw.close()
                return ReadyContainer(source, kind)
        stream, compression = decompressed(raw)
        start = _skip_blank_start(stream, name)
        layout = _layout(stream.peek(_LONG_HEAD_BYTES)[:_LONG_HEAD_BYTES], name)
    except FormatError:
        raw.close()
        raise
    except DAMAGE as error:
        raw.close()
        raise FormatError(f"{name}: can't be decompressed: {one_line(str(error))}: create the file again") from None
    return Container(name, stream, layout, compression, start)


def _damaged(path: str, line: int, error: Exception) -> Problem:
    why = one_line(str(error)) or type(error).__name__
    return Problem(path, line + 1, f"the rest of the file can't be read: {why}; the rows before it were read")


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
    offset = len(stream.read(len(_BOM))) if stream.peek(len(_BOM)).startswith(_BOM) else 0
    line = 1
    while head := stream.peek(_HEAD_BYTES):
        text = head.lstrip(_BLANK)
        blank = len(head) - len(text)
        line += head[:blank].count(b"\n")
        offset += len(stream.read(blank))
        if text:
            return Start(line, offset)
    raise FormatError(f"{name}: is empty: write one JSON object per line")


def _layout(head: bytes, name: str) -> Layout:
    _refuse_foreign(head[:_HEAD_BYTES], name)
    if head.startswith(b"["):
        return Layout.LIST
    if head.startswith(b"{"):
        return Layout.OBJECTS if _goes_on(head) else Layout.LINES
    if delimiter := delimiter_of(head, name):
        return Layout.CSV if delimiter == "," else Layout.TSV
    return Layout.LINES


def _goes_on(head: bytes) -> bool:
    """Whether the object that a text begins with does not end on its line, or another one follows it there."""
    first, newline, rest = head.partition(b"\n")
    parts = list(split_json([first], 1, len(first)))
    if isinstance(parts[0], ListDamage) and "cut off" in parts[0].message:
        ending, following = first.rstrip()[-1:], rest.lstrip(_BLANK)
        open_ended = ending in b"{[" or (ending in b",:" and not following.startswith(b'{"'))  # else a line cut short
        return bool(newline) and open_ended
    return len(parts) > 1 and isinstance(parts[1], ListElement)


def _refuse_foreign(head: bytes, name: str) -> None:
    for magic, what, fix in _FOREIGN:
        if head.startswith(magic):
            raise FormatError(f"{name}: is {what}: {fix}")
    if head.startswith((b"{", b"[")):
        return
    control = sum(byte < 32 and byte not in b"\t\r\n\f\x1b" for byte in head)
    if b"\0" in head or control * 10 > len(head):
        raise FormatError(f"{name}: is a binary file: use JSON lines, a JSON list, CSV or Parquet (compressed is fine)")
