"""Reads members of a ZIP archive, also those packed with Zstandard, which Python's own reader does not know."""

from __future__ import annotations

import zipfile
from typing import IO

import zstandard

_ZSTD = 93
_ENCRYPTED = 0x1
_LOCAL_HEADER = 30
"""Bytes before a member's name; the lengths of the name and of what follows it are the last four."""

_PIECE_BYTES = 1024
"""Of packed data: it unpacks to 32 MiB at most."""


class MemberError(ValueError):
    """A member that can't be read. The message says why."""


def read_member(archive: zipfile.ZipFile, file: IO[bytes], member: zipfile.ZipInfo, most: int) -> bytes:
    """A member's bytes. `file` is the archive's own. Raises `MemberError` if there are more than `most`."""
    if member.flag_bits & _ENCRYPTED:
        raise MemberError("is encrypted")
    try:
        if member.compress_type == _ZSTD:
            data = _unpacked(_packed(file, member, most), most)
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
    header = file.read(_LOCAL_HEADER)
    if len(header) < _LOCAL_HEADER or not header.startswith(b"PK\x03\x04"):
        raise MemberError("is damaged: it has no header")
    if member.compress_size > most:
        raise MemberError(f"has more than {most // 1024**2} MiB")
    file.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
    return file.read(member.compress_size)


def _unpacked(packed: bytes, most: int) -> bytes:
    """The data of all frames, or a little more than `most` of it."""
    found, place = bytearray(), 0
    frame: zstandard.ZstdDecompressionObj | None = None
    while place < len(packed) and len(found) <= most:
        frame = frame or zstandard.ZstdDecompressor().decompressobj()
        piece = packed[place : place + _PIECE_BYTES]
        found += frame.decompress(piece)
        place += len(piece)
        if frame.eof:
            place, frame = place - len(frame.unused_data), None
    if frame is not None and len(found) <= most:
        raise EOFError("it ends in the middle of a frame")
    return bytes(found)
