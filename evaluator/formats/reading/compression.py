"""Decompresses in bounded memory: files as they are read, members of ZIP archives, and fields of rows.

Files are gzip, Zstandard, bzip2 or xz, known by their first bytes. A ZIP archive may have members that are packed with
Zstandard, which Python's own reader does not know.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable
from typing import IO

import zstandard

from evaluator.formats.reading.json_text import JsonError, decode_json
from evaluator.model import JsonValue, RecordError

BUFFER_BYTES = 1 << 20
DAMAGE = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, zstandard.ZstdError, OSError)
"""What reading a damaged file raises."""

_PIECE_BYTES = 64 << 10
_ZSTD_PIECE_BYTES = 1 << 10
"""They unpack to 32 MiB at most, a block of 128 KiB for every four bytes."""
_XZ_MEMORY = 256 << 20
"""What xz may allocate; `xz -9` takes 65 MiB."""
_FREE = 256 << 20
_MOST_TIMES = 200
"""A file that unpacks to more than `_FREE` and to this many times its size is refused. Rollouts reach about 50."""
MAX_UNPACKED_BYTES = 256 << 20
"""Of a field."""

_ZIP_ZSTD = 93
_ZIP_ENCRYPTED = 0x1
_ZIP_HEADER = 30
"""Bytes before a member's name; the lengths of the name and of what follows it are the last four."""


class _Zstd:
    """A decoder of one frame of Zstandard, as `bz2` and `lzma` have one: the library's own has no bound."""

    def __init__(self) -> None:
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._held = b""

    @property
    def eof(self) -> bool:
        return self._frame.eof and not self._held

    @property
    def needs_input(self) -> bool:
        return not self._held and not self._frame.eof

    @property
    def unused_data(self) -> bytes:
        return self._frame.unused_data

    def decompress(self, data: bytes, size: int, /) -> bytes:
        held = self._held or self._frame.decompress(data)
        self._held = held[size:]
        return held[:size]


_Decoder = bz2.BZ2Decompressor | lzma.LZMADecompressor | _Zstd


class _Frames:
    """Frames one after another. Raises `EOFError` if one is cut off."""

    def __init__(self, packed: IO[bytes], new: Callable[[], _Decoder], piece: int = _PIECE_BYTES) -> None:
        self._packed = packed
        self._new = new
        self._piece = piece
        self._frame: _Decoder | None = None
        self._rest = b""

    def read1(self, size: int = -1, /) -> bytes:
        while True:
            data = b""
            if self._frame is None:
                piece = self._rest or self._packed.read(self._piece)
                if not piece:
                    return b""
                self._rest, data = b"", piece.lstrip(b"\0")  # xz may pad a frame
                if not data:
                    continue
                self._frame = self._new()
            elif self._frame.needs_input:
                data = self._packed.read(self._piece)
                if not data:
                    raise EOFError("compressed file ends in the middle of a frame")
            data = self._frame.decompress(data, size)
            if self._frame.eof:
                self._rest, self._frame = self._frame.unused_data, None
            if data:
                return data


_Reads = gzip.GzipFile | _Frames
"""What returns as much as it has, up to a size, and raises if the compressed data is damaged."""


class _Unpacked(io.RawIOBase):
    """Decompressed bytes as a raw stream. Reads no further than requested, so that all bytes before damage come out."""

    def __init__(self, unpacker: _Reads, packed: io.BufferedReader) -> None:
        self._unpacker = unpacker
        self._packed = packed
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._unpacker.read1(len(buffer))
        buffer[: len(data)] = data
        self._count += len(data)
        if self._count > max(_FREE, _MOST_TIMES * self._packed.tell()):
            raise OSError(f"it unpacks to more than {_MOST_TIMES} times its size; if you trust it, unpack it yourself")
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._packed.close()
        super().close()


_KINDS: tuple[tuple[bytes, str, Callable[[io.BufferedReader], _Reads]], ...] = (
    (b"\x1f\x8b", "gzip", lambda raw: gzip.GzipFile(fileobj=raw)),
    (b"\x28\xb5\x2f\xfd", "zstd", lambda raw: _Frames(raw, _Zstd, _ZSTD_PIECE_BYTES)),
    (b"BZh", "bzip2", lambda raw: _Frames(raw, bz2.BZ2Decompressor)),
    (b"\xfd7zXZ\0", "xz", lambda raw: _Frames(raw, lambda: lzma.LZMADecompressor(memlimit=_XZ_MEMORY))),
)


def decompressed(raw: io.BufferedReader) -> tuple[io.BufferedReader, str]:
    """The stream of what is in an open file, and how that is compressed: "" where it is not."""
    head = raw.peek(8)[:8]
    for magic, name, unpacker in _KINDS:
        if head.startswith(magic):
            return io.BufferedReader(_Unpacked(unpacker(raw), raw), BUFFER_BYTES), name
    return raw, ""


class MemberError(ValueError):
    """A member that can't be read. The message says why."""


def read_member(archive: zipfile.ZipFile, file: IO[bytes], member: zipfile.ZipInfo, most: int) -> bytes:
    """A member's bytes. `file` is the archive's own. Raises `MemberError` if there are more than `most`."""
    if member.flag_bits & _ZIP_ENCRYPTED:
        raise MemberError("is encrypted")
    try:
        if member.compress_type == _ZIP_ZSTD:
            frames = zstandard.ZstdDecompressor().stream_reader(_packed(file, member, most), read_across_frames=True)
            data = frames.read(most + 1)
        else:
            with archive.open(member) as stream:
                data = stream.read(most + 1)
    except NotImplementedError:
        raise MemberError(f"is packed in a way that can't be read (method {member.compress_type})") from None
    except (zipfile.BadZipFile, zstandard.ZstdError, EOFError, OSError) as error:
        raise MemberError(f"is damaged: {error}") from None
    if len(data) > most:
        raise MemberError(f"has more than {most // 1024**2} MiB")
    return data


def _packed(file: IO[bytes], member: zipfile.ZipInfo, most: int) -> bytes:
    file.seek(member.header_offset)
    header = file.read(_ZIP_HEADER)
    if len(header) < _ZIP_HEADER or not header.startswith(b"PK\x03\x04"):
        raise MemberError("is damaged: it has no header")
    if member.compress_size > most:
        raise MemberError(f"has more than {most // 1024**2} MiB")
    file.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
    return file.read(member.compress_size)


class _FieldError(Exception):
    """A field that can't be unpacked. The message says why."""


class _Field(io.RawIOBase):
    """The bytes in base64-encoded zlib, unpacked as they are read. Raises `_FieldError`."""

    def __init__(self, packed: str) -> None:
        self._packed = packed
        self._taken = 0
        self._unpacker = zlib.decompressobj()
        self._count = 0

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._count

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = b""
        try:
            while not data and not self._unpacker.eof and (piece := self._piece()):
                data = self._unpacker.decompress(piece, min(len(buffer), _PIECE_BYTES))
        except (binascii.Error, ValueError, zlib.error):
            raise _FieldError("is neither JSON nor base64-encoded zlib") from None
        buffer[: len(data)] = data
        self._count += len(data)
        _require_fitting(self._count)
        return len(data)

    def _piece(self) -> bytes:
        if self._unpacker.unconsumed_tail:
            return self._unpacker.unconsumed_tail
        begin, self._taken = self._taken, self._taken + _PIECE_BYTES  # whole groups of four characters
        return base64.b64decode(self._packed[begin : self._taken], validate=True)


class UnpackedField(io.BufferedReader):
    """The bytes of a packed field, to be read in pieces."""

    def read(self, size: int | None = -1, /) -> bytes:
        """As of any file; what is too long is refused before there is room for it."""
        _require_fitting(size or 0)
        return super().read(size)


def _require_fitting(size: int) -> None:
    """Raises `_FieldError` for more bytes than a field may unpack to."""
    if size > MAX_UNPACKED_BYTES:
        raise _FieldError(f"unpacks to more than {MAX_UNPACKED_BYTES // (1024 * 1024)} MiB")


def all_of(unpacked: UnpackedField) -> bytearray:
    """All bytes, held once."""
    data = bytearray()
    while piece := unpacked.read1():
        data += piece
    return data


def unpacked_json(
    value: str, name: str, fix: str, text_of: Callable[[UnpackedField], bytearray | str] = all_of
) -> JsonValue:
    """The JSON in base64-encoded zlib, as datasets pack their test cases. `text_of` finds the JSON's text in the bytes.

    Raises `RecordError`, with the `fix`, for other text and above the limit.
    """
    try:
        return decode_json(text_of(UnpackedField(_Field(value), _PIECE_BYTES)))
    except _FieldError as error:
        raise RecordError(f"{name} {error}: {fix}") from None
    except JsonError as error:
        raise RecordError(f"{name} unpacks to text that is {error}: {fix}") from None


def first_member(head: bytes) -> bytes:
    """The name of the first member of the ZIP archive whose first bytes these are; empty if they are of none."""
    return head[30 : 30 + int.from_bytes(head[26:28], "little")] if head.startswith(b"PK\x03\x04") else b""
