"""Opens a file of JSON lines or a JSON list, plain or compressed with gzip or Zstandard.

Detects which by its bytes, never by its name. Yields rows as bytes, one at a time, with their physical line.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Protocol, Self, cast

import zstandard

from evaluator.formats.json_list import ListDamage, ListElement, split_json_list
from evaluator.formats.problems import FormatError, Problem, one_line, snippet_of

MAX_ROW_BYTES = 32 * 1024 * 1024
"""A longer row is reported and skipped; no more than this of it is held in memory."""

_BUFFER_BYTES = 1 << 20
_PIECE_BYTES = 1024
"""Of compressed data: it unpacks to 32 MiB at most, a block of 128 KiB for every four bytes."""
_HEAD_BYTES = 4096
_BOM = b"\xef\xbb\xbf"
_DAMAGE = (EOFError, gzip.BadGzipFile, zlib.error, zstandard.ZstdError, OSError)

_FOREIGN: tuple[tuple[bytes, str, str], ...] = (
    (b"PAR1", "a Parquet file", "convert it to JSON lines first"),
    (b"ARROW1", "an Arrow file", "convert it to JSON lines first"),
    (b"PK\x03\x04", "a ZIP archive", "unpack it and pass the file inside"),
    (b"BZh", "a bzip2 file", "decompress it, or compress it with gzip or zstd"),
    (b"\xfd7zXZ\x00", "an xz file", "decompress it, or compress it with gzip or zstd"),
    (b"\x80\x04\x95", "a pickle", "pickles are never loaded: convert it to JSON lines"),
    (b"SQLite format 3", "an SQLite database", "export the table as JSON lines"),
    (b"\xff\xfe", "UTF-16 text", "save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text", "save it as UTF-8"),
)


class Layout(StrEnum):
    """How rows are arranged in the decompressed text."""

    LINES = "JSON lines"
    LIST = "JSON list"


class RawRow(NamedTuple):
    """One row's bytes. `terminated` is False for a last line without a newline."""

    line: int
    data: bytes
    terminated: bool


class _Reads(Protocol):
    """A decompressor: returns what it has, up to a size, and raises if the compressed data is damaged."""

    def read1(self, size: int = ..., /) -> bytes: ...


class _Frames:
    """Decompresses Zstandard. Raises `EOFError` if a frame is cut off, which the library's own reader does not."""

    def __init__(self, packed: io.BufferedReader) -> None:
        self._packed = packed
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._rest = self._ready = b""

    def read1(self, size: int = -1, /) -> bytes:
        while not self._ready:
            piece = self._rest or self._packed.read(_PIECE_BYTES)
            self._rest = b""
            if not piece and self._frame is None:
                return b""
            if not piece:
                raise EOFError("compressed file ends in the middle of a frame")
            self._frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
            self._ready = self._frame.decompress(piece)
            if self._frame.eof:
                self._rest, self._frame = self._frame.unused_data, None
        data, self._ready = self._ready[:size], self._ready[size:]
        return data


class _Unpacked(io.RawIOBase):
    """Decompressed bytes as a raw stream. Reads no further than requested, so that all bytes before damage come out."""

    def __init__(self, unpacker: _Reads, packed: io.BufferedReader) -> None:
        self._unpacker = unpacker
        self._packed = packed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._unpacker.read1(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._packed.close()
        super().close()


class Container:
    """An open file and how it is packed. Rows can be read once."""

    def __init__(self, path: str, stream: io.BufferedReader, layout: Layout, compression: str, line: int) -> None:
        self.path = path
        self.layout = layout
        self.compression = compression
        self._stream = stream
        self._line = line

    def __str__(self) -> str:
        return f"{self.layout}, {self.compression}" if self.compression else str(self.layout)

    def raw_rows(self) -> Iterator[RawRow | Problem]:
        """Every row that is not blank, and a `Problem` for each that can't be read. Closes the file."""
        rows = self._lines() if self.layout is Layout.LINES else self._elements()
        line = self._line
        try:
            for row in rows:
                line = row.line
                yield row
        except _DAMAGE as error:
            why = one_line(str(error))
            yield Problem(
                self.path, line + 1, f"the rest of the file can't be read: {why}; the rows before it were read"
            )
        finally:
            self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file; reading it again raises."""
        self._stream.close()

    def _lines(self) -> Iterator[RawRow | Problem]:
        stream, line = self._stream, self._line
        while data := stream.readline(MAX_ROW_BYTES + 1):
            terminated = data.endswith(b"\n")
            if len(data) > MAX_ROW_BYTES and not terminated:
                size = len(data) + self._skip_rest_of_line()
                yield self._oversize(line, size, data)
            elif not data.isspace():
                yield RawRow(line, data, terminated)
            line += 1

    def _skip_rest_of_line(self) -> int:
        skipped = 0
        while data := self._stream.readline(_BUFFER_BYTES):
            skipped += len(data)
            if data.endswith(b"\n"):
                break
        return skipped

    def _elements(self) -> Iterator[RawRow | Problem]:
        chunks = iter(lambda: self._stream.read1(_BUFFER_BYTES), b"")
        for part in split_json_list(chunks, self._line, MAX_ROW_BYTES):
            match part:
                case ListElement(line, data, None):
                    yield RawRow(line, data, terminated=True)
                case ListElement(line, data, size):
                    yield self._oversize(line, size or 0, data)
                case ListDamage(line, message, data):
                    yield Problem(self.path, line, message, snippet_of(data) if data else "")

    def _oversize(self, line: int, size: int, data: bytes) -> Problem:
        limit = MAX_ROW_BYTES // (1024 * 1024)
        message = f"the row has {size / 1e6:.1f} MB, more than the limit of {limit} MiB per row: it is skipped"
        return Problem(self.path, line, message, snippet_of(data))


def open_container(path: str | Path) -> Container:
    """Opens a file and detects how it is compressed and arranged. Raises `FormatError` if it holds no rows at all."""
    name = one_line(str(path))
    raw = _open_file(Path(path), name)
    try:
        stream, compression = _decompressed(raw)
        line = _skip_blank_start(stream, name)
        layout = _layout(stream.peek(_HEAD_BYTES)[:_HEAD_BYTES], name)
    except FormatError:
        raw.close()
        raise
    except _DAMAGE as error:
        raw.close()
        raise FormatError(f"{name}: can't be decompressed: {one_line(str(error))}: create the file again") from None
    return Container(name, stream, layout, compression, line)


def _open_file(path: Path, name: str) -> io.BufferedReader:
    try:
        return cast("io.BufferedReader", path.open("rb", buffering=_BUFFER_BYTES))
    except FileNotFoundError:
        raise FormatError(f"{name}: no such file: check the path") from None
    except IsADirectoryError:
        raise FormatError(f"{name}: is a directory: pass a file in it") from None
    except PermissionError:
        raise FormatError(f"{name}: can't be read: check its permissions") from None
    except (OSError, ValueError) as error:
        raise FormatError(f"{name}: can't be opened: {one_line(str(error))}") from None


def _decompressed(raw: io.BufferedReader) -> tuple[io.BufferedReader, str]:
    magic = raw.peek(4)[:4]
    if magic.startswith(b"\x1f\x8b"):
        return io.BufferedReader(_Unpacked(gzip.GzipFile(fileobj=raw), raw), _BUFFER_BYTES), "gzip"
    if magic == b"\x28\xb5\x2f\xfd":
        return io.BufferedReader(_Unpacked(_Frames(raw), raw), _BUFFER_BYTES), "zstd"
    return raw, ""


def _skip_blank_start(stream: io.BufferedReader, name: str) -> int:
    """Moves to the first byte that is neither a byte order mark nor white space; returns its line."""
    if stream.peek(3).startswith(_BOM):
        stream.read(3)
    line = 1
    while head := stream.peek(_HEAD_BYTES):
        text = head.lstrip(b" \t\r\n")
        blank = len(head) - len(text)
        line += head[:blank].count(b"\n")
        stream.read(blank)
        if text:
            return line
    raise FormatError(f"{name}: is empty: write one JSON object per line")


def _layout(head: bytes, name: str) -> Layout:
    _refuse_foreign(head, name)
    if head.startswith(b"["):
        return Layout.LIST
    first, newline, _ = head.partition(b"\n")
    if newline and first.strip() == b"{":
        raise FormatError(
            f"{name}: one JSON object over several lines: write one object per line (`jq -c .`) or a JSON list"
        )
    return Layout.LINES


def _refuse_foreign(head: bytes, name: str) -> None:
    for magic, what, fix in _FOREIGN:
        if head.startswith(magic):
            raise FormatError(f"{name}: is {what}: {fix}")
    if head.startswith((b"{", b"[")):
        return
    control = sum(byte < 32 and byte not in b"\t\r\n\f\x1b" for byte in head)
    if b"\0" in head or control * 10 > len(head):
        raise FormatError(f"{name}: is a binary file: use JSON lines or a JSON list (gzip and zstd are fine)")
