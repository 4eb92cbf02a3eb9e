"""Remembers the ids of a file and their lines in little memory."""

from __future__ import annotations

from array import array
from hashlib import blake2b

_FIRST_SLOTS = 1 << 10


class IdTable:
    """First lines by id: an open-addressing table of 8-byte hashes, 16 bytes per slot, at most two thirds full.

    Two different ids among a million share a hash with a probability of about 3e-8.
    """

    def __init__(self) -> None:
        self._count = 0
        self._hashes = array("Q", bytes(8 * _FIRST_SLOTS))
        self._lines = array("Q", bytes(8 * _FIRST_SLOTS))

    def first_line(self, text: str, line: int) -> int | None:
        """The line on which this id came first, or None if `line` is the first (it is then remembered)."""
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        key = int.from_bytes(digest, "little") or 1  # 0 marks a free slot
        slot = self._slot(key)
        if self._hashes[slot]:
            return self._lines[slot]
        self._hashes[slot], self._lines[slot] = key, line
        self._count += 1
        if self._count * 3 > len(self._hashes) * 2:
            self._grow()
        return None

    def _slot(self, key: int) -> int:
        hashes, mask = self._hashes, len(self._hashes) - 1
        slot = key & mask
        while hashes[slot] and hashes[slot] != key:
            slot = (slot + 1) & mask
        return slot

    def _grow(self) -> None:
        old = zip(self._hashes, self._lines, strict=True)
        size = 2 * len(self._hashes)
        self._hashes, self._lines = array("Q", bytes(8 * size)), array("Q", bytes(8 * size))
        for key, line in old:
            if key:
                slot = self._slot(key)
                self._hashes[slot], self._lines[slot] = key, line
