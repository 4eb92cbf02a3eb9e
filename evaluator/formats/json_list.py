"""Splits a JSON list into its elements while reading it, so that a list of any length fits in memory.

It only finds where elements begin and end (strings and brackets). Each element is parsed later by itself, so a broken
one does not affect the others as long as its quotes and brackets balance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_TOKEN = re.compile(rb'["{}\[\],]')
_STRING_REST = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_KEPT_OF_OVERSIZE = 1024


class ListElement(NamedTuple):
    """One element. `oversize` is None, or its size in bytes if it was too long to keep whole."""

    line: int
    data: bytes
    oversize: int | None


class ListDamage(NamedTuple):
    """The list itself is wrong at this line."""

    line: int
    message: str
    data: bytes


class _Element:
    """The element being read: its bytes up to the limit, its size, and the line on which it begins."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self.size = 0
        self.line = 0

    def add(self, data: bytes, line: int) -> int:
        """Adds bytes that begin on `line`; returns the line after them."""
        if not self.size:
            text = data.lstrip(b" \t\r\n")
            self.line = line + data[: len(data) - len(text)].count(b"\n")
            kept = text
        else:
            kept = data
        if kept:
            self.size += len(kept)
            if self.size <= self._limit:
                self._parts.append(kept)
            else:
                self._parts = [(self._parts or [kept])[0][:_KEPT_OF_OVERSIZE]]
        return line + data.count(b"\n")

    def take(self) -> ListElement:
        data = b"".join(self._parts)
        element = ListElement(self.line, data, self.size if self.size > self._limit else None)
        self._parts, self.size = [], 0
        return element


def split_json_list(chunks: Iterable[bytes], line: int, max_bytes: int) -> Iterator[ListElement | ListDamage]:
    """The elements of the list whose text is in `chunks`; its first byte is `[`, on `line` (from 1).

    An element longer than `max_bytes` has only its first bytes, and its size. Text after the list, and a list that
    does not end, are a `ListDamage`.
    """
    scan, element = _Scan(), _Element(max_bytes)
    stream = iter(chunks)
    for chunk in stream:
        begin = 0
        for cut in scan.cuts(chunk):
            line = element.add(chunk[begin:cut], line)
            if element.size:
                yield element.take()
            begin = cut + 1
        if scan.ended:
            yield from _after_the_list(chunk[begin:], stream, line)
            return
        line = element.add(chunk[begin:], line)
    rest = element.take()
    where = rest.line if rest.data else line
    yield ListDamage(where, "the list is cut off: is the file still being written?", rest.data)


class _Scan:
    """Finds a list's own brackets and commas, in chunks that may end anywhere."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self.ended = False

    def cuts(self, chunk: bytes) -> Iterator[int]:
        """Positions of the opening bracket, of each comma between elements and of the closing bracket."""
        position, end = 0, len(chunk)
        while position < end:
            if self._in_string:
                position = self._through_string(chunk, position)
                continue
            found = _TOKEN.search(chunk, position)
            if found is None:
                return
            position = found.end()
            if self._is_cut(chunk[position - 1]):
                yield position - 1
                if self.ended:
                    return

    def _is_cut(self, token: int) -> bool:
        if token in b"{[":
            self._depth += 1
            return self._depth == 1
        if token in b"}]":
            self._depth -= 1
            self.ended = self._depth == 0
            return self.ended
        self._in_string = token in b'"'
        return not self._in_string and self._depth == 1

    def _through_string(self, chunk: bytes, position: int) -> int:
        """The position after the string's end, or the chunk's end."""
        if self._escaped:
            self._escaped = False
            return position + 1
        rest = _STRING_REST.match(chunk, position)
        stop = rest.end() if rest else position
        if stop < len(chunk):
            self._in_string = chunk[stop] not in b'"'
            self._escaped = self._in_string  # stopped at a backslash that is the chunk's last byte
        return stop + 1


def _after_the_list(rest: bytes, stream: Iterator[bytes], line: int) -> Iterator[ListDamage]:
    while True:
        text = rest.lstrip(b" \t\r\n")
        if text:
            line += rest[: len(rest) - len(text)].count(b"\n")
            yield ListDamage(line, "text after the end of the list: it is skipped", text)
            return
        line += rest.count(b"\n")
        following = next(stream, None)
        if following is None:
            return
        rest = following
