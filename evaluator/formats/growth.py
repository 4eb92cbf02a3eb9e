"""Tells whether files that were read before have only grown since: whether they still begin with the same bytes.

Several files count as one, in their order: a new one at the end is growth too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evaluator.formats.problems import FormatError
from evaluator.formats.source import Source

_PIECE = 1 << 20


class Extent(NamedTuple):
    """So many bytes from the start, as they are on the disk, and their hash in the form of `dataset_hash`."""

    size: int
    digest: str


def extent_after(files: Sequence[Source], before: Extent) -> Extent:
    """All bytes that there are now. Raises `FormatError` unless they begin with those of before."""
    digest, size, start = hashlib.sha256(), 0, Extent(0, _named(hashlib.sha256()))
    for piece in _pieces(files, before.size):
        digest.update(piece)
        size += len(piece)
        if size <= before.size:
            start = Extent(size, _named(digest))
    if size < before.size:
        was = f"{size:,} bytes, and had {before.size:,} when it was graded: it was cut off or replaced"
        raise FormatError(f"{files[0]}: has {was}: use another --out")
    if before.size and start.digest != before.digest:
        raise FormatError(
            f"{files[0]}: its first {before.size:,} bytes are not the ones that were graded: use another --out"
        )
    return Extent(size, _named(digest))


def same_files(some: Sequence[Source], others: Sequence[Source]) -> bool:
    """Whether two lists name the same files."""
    return len(some) == len(others) and all(map(_same, some, others))


def _same(one: Source, other: Source) -> bool:
    return one.path == other.path or (one.path.exists() and other.path.exists() and one.path.samefile(other.path))


def _pieces(files: Sequence[Source], end: int) -> Iterator[bytes]:
    """The bytes of all files; one piece ends at `end`."""
    size = 0
    for source in files:
        try:
            with source.path.open("rb") as file:
                while piece := file.read(min(_PIECE, end - size) if size < end else _PIECE):
                    size += len(piece)
                    yield piece
        except OSError as error:
            raise FormatError(f"{source}: can't be read: {error.strerror}") from None


def _named(digest: hashlib._Hash) -> str:
    return f"sha256:{digest.hexdigest()}"
