"""Decodes JSON as the field's files need it: fast, and tolerant of what Python's own writer produces.

`split_json` splits values that follow one another into rows while it reads them, so that a file of any length fits in
memory. An object is a row, over however many lines; of a list, each element is one. It only finds where rows begin and
end (strings and brackets). Each is parsed later by itself, so a broken one does not affect the others as long as its
quotes and brackets balance.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

import msgspec

from evaluator import long_numbers
from evaluator.model import JsonValue


class JsonError(ValueError):
    """Text that is not JSON. The message is the cause, without a position in any file."""


def decode_json(data: bytes | str) -> JsonValue:
    """The value of a JSON text. Raises `JsonError`.

    Accepts `NaN`, `Infinity`, numbers beyond a double and lone surrogates: Python's `json` writes them, so the field's
    files have them.
    """
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return _decode_slowly(data)


def _decode_slowly(data: bytes | str) -> JsonValue:
    try:
        text = data if isinstance(data, str) else data.decode("utf-8", "surrogatepass")
        return long_numbers.loads(text.rstrip())  # a final line feed would shift the position to the next line
    except UnicodeDecodeError as error:
        raise JsonError(f"not UTF-8 at byte {error.start + 1}") from None
    except json.JSONDecodeError as error:
        raise JsonError(f"not JSON: {error.msg.removesuffix(' at')} at column {error.colno}") from None
    except RecursionError:
        raise JsonError("not usable: nested too deeply") from None
    except ValueError as error:
        raise JsonError(f"not usable: {error}") from None


_TOKEN = re.compile(rb'["{}\[\],]')
_STRING_REST = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_BLANK = b" \t\r\n"
_KEPT_OF_OVERSIZE = 1024


class ListElement(NamedTuple):
    """One row. `oversize` is None, or its size in bytes if it was too long to keep whole. `offset` counts from 0."""

    line: int
    data: bytes
    oversize: int | None
    offset: int = 0


class ListDamage(NamedTuple):
    """The file itself is wrong at this line."""

    line: int
    message: str
    data: bytes
    offset: int = 0


class _Element:
    """The row being read: its bytes up to the limit, its size, and where it begins."""

    def __init__(self, line: int, offset: int) -> None:
        self._parts: list[bytes] = []
        self._next = line, offset
        self._begin = line, offset
        self.size = 0

    def add(self, data: bytes, limit: int) -> None:
        if not self.size:
            self.skip(data[: len(data) - len(data.lstrip(_BLANK))])
            data = data.lstrip(_BLANK)
            self._begin = self._next
        if data:
            self.size += len(data)
            if self.size <= limit:
                self._parts.append(data)
            else:
                self._parts = [(self._parts or [data])[0][:_KEPT_OF_OVERSIZE]]
            self.skip(data)

    def skip(self, data: bytes) -> None:
        line, offset = self._next
        self._next = line + data.count(b"\n"), offset + len(data)

    def take(self, limit: int) -> ListElement:
        line, offset = self._begin
        element = ListElement(line, b"".join(self._parts), self.size if self.size > limit else None, offset)
        self._parts, self.size = [], 0
        return element

    def damage(self, message: str, data: bytes) -> ListDamage:
        line, offset = self._begin if self.size else self._next
        return ListDamage(line, message, data, offset)


class _What(Enum):
    """What the bytes up to a cut are."""

    ROW = 1
    NOTHING = 2
    RUBBISH = 3


class _Cut(NamedTuple):
    end: int
    following: int
    """Where the bytes after the cut begin."""
    what: _What


def split_json(
    chunks: Iterable[bytes], line: int, max_bytes: int, *, offset: int = 0, max_object: int | None = None
) -> Iterator[ListElement | ListDamage]:
    """The rows of the text in `chunks`, whose first byte is on `line` (from 1), at `offset`.

    A row longer than `max_bytes` (`max_object` for one outside of a list) has only its first bytes, and its size. Text
    between or after the values, which ends the reading, and a value that does not end are a `ListDamage`.
    """
    scan, element = _Scan(), _Element(line, offset)
    of_object = max_bytes if max_object is None else max_object
    for chunk in chunks:
        begin = 0
        for cut in scan.cuts(chunk):
            limit = max_bytes if scan.in_list else of_object
            if cut.what is _What.RUBBISH:
                element.skip(chunk[begin : cut.end])
                yield element.damage(f"text after the end of the {scan.last}: it is skipped", chunk[cut.end :])
                return
            if cut.what is _What.ROW:
                element.add(chunk[begin : cut.end], limit)
                if element.size:
                    yield element.take(limit)
                element.skip(chunk[cut.end : cut.following])
            else:
                element.skip(chunk[begin : cut.following])
            begin = cut.following
        if scan.depth:
            element.add(chunk[begin:], max_bytes if scan.in_list else of_object)
        else:
            element.skip(chunk[begin:])
    if scan.depth:
        message = f"the {scan.last} is cut off: is the file still being written?"
        damage = element.damage(message, b"")
        yield damage._replace(data=element.take(max_bytes).data)


class _Scan:
    """Finds where rows begin and end, in chunks that may end anywhere."""

    def __init__(self) -> None:
        self.depth = 0
        self.in_list = False
        self._in_string = False
        self._escaped = False

    @property
    def last(self) -> str:
        return "list" if self.in_list else "object"

    def cuts(self, chunk: bytes) -> Iterator[_Cut]:
        """Where each list begins, each row ends and each object outside of a list begins; and rubbish, at last."""
        position, end = 0, len(chunk)
        while position < end:
            if self._in_string:
                position = self._through_string(chunk, position)
                continue
            found = _TOKEN.search(chunk, position)
            if not self.depth:
                between = chunk[position : found.start() if found else end]
                if between.strip(_BLANK):
                    yield _Cut(position + len(between) - len(between.lstrip(_BLANK)), end, _What.RUBBISH)
                    return
            if found is None:
                return
            position = found.end()
            cut = self._cut_at(chunk[position - 1], position)
            if cut:
                yield cut

    def _cut_at(self, token: int, after: int) -> _Cut | None:
        if not self.depth:
            return self._begins(token, after)
        if token in b"{[":
            self.depth += 1
        elif token in b"}]":
            self.depth -= 1
            if not self.depth:
                return _Cut(after - self.in_list, after, _What.ROW)
        elif token in b'"':
            self._in_string = True
        elif self.depth == 1 and self.in_list:
            return _Cut(after - 1, after, _What.ROW)
        return None

    def _begins(self, token: int, after: int) -> _Cut:
        if token in b"{[":
            self.depth, self.in_list = 1, token in b"["
            return _Cut(after - 1, after if self.in_list else after - 1, _What.NOTHING)
        return _Cut(after - 1, after, _What.NOTHING if token in b"," else _What.RUBBISH)

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
