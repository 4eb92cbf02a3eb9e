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
from typing import NamedTuple

import msgspec

from evaluator.formats.reading.problems import Problem, snippet_of, too_long
from evaluator.model import JsonValue
from evaluator.tasks import long_numbers, nesting


class JsonError(ValueError):
    """Text that is not JSON. The message is the cause, without a position in any file."""


def decode_json(data: bytes | bytearray | str) -> JsonValue:
    """The value of a JSON text. Raises `JsonError`.

    Accepts `NaN`, `Infinity`, numbers beyond a double and lone surrogates: Python's `json` writes them, so the field's
    files have them.
    """
    try:
        nesting.require_shallow(data)
        return msgspec.json.decode(data)
    except nesting.NestedError as error:
        raise JsonError(f"not usable: {error}") from None
    except (msgspec.DecodeError, UnicodeError):
        return _decode_slowly(data)


def _decode_slowly(data: bytes | bytearray | str) -> JsonValue:
    try:
        text = data if isinstance(data, str) else data.decode("utf-8", "surrogatepass")
        return long_numbers.loads(text.rstrip())  # a final line feed would shift the position to the next line
    except UnicodeDecodeError as error:
        raise JsonError(f"not UTF-8 at byte {error.start + 1}") from None
    except json.JSONDecodeError as error:
        raise JsonError(f"not JSON: {error.msg.removesuffix(' at')} at column {error.colno}") from None
    except ValueError as error:
        raise JsonError(f"not usable: {error}") from None


_TOKEN = re.compile(rb'["{}\[\],]')
_BEFORE_ROWS = (b"{", b"[", b",", b"")
_STRING_REST = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
BETWEEN_ROWS = b" \t\r\n\0\xef\xbb\xbf"
"""White space, NUL bytes, as a crash leaves them, and those of byte order marks, which are where files were joined."""
_KEPT_OF_OVERSIZE = 1024
_DEEPER = {b"{": 1, b"[": 1, b"}": -1, b"]": -1}


class RawRow(NamedTuple):
    """One row's bytes, and where they begin. `terminated` is False for a last line without a newline."""

    line: int
    data: bytes
    terminated: bool
    offset: int


class _Row:
    """The row being read: its bytes up to the limit, its size, and where it begins."""

    def __init__(self, line: int, offset: int) -> None:
        self._parts: list[bytes] = []
        self._next = line, offset
        self._begin = line, offset
        self.size = 0

    def add(self, data: bytes, limit: int) -> None:
        if not self.size:
            self.skip(data[: len(data) - len(data.lstrip(BETWEEN_ROWS))])
            data = data.lstrip(BETWEEN_ROWS)
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

    def take(self, path: str, limit: int) -> RawRow | Problem:
        line, offset = self._begin
        data, size = b"".join(self._parts), self.size
        self._parts, self.size = [], 0
        if size > limit:
            return too_long(path, line, offset, size, data, limit)
        return RawRow(line, data, terminated=True, offset=offset)

    def why_cut(self) -> str:
        if any(b"\0" in part for part in self._parts):
            return "a row has NUL bytes, as after a crash or on a full disk, so it and all that follows it are skipped"
        return "is the file still being written?"

    def damage(self, path: str, message: str, data: bytes = b"") -> Problem:
        line, offset = self._begin if self.size else self._next
        return Problem(path, line, message, snippet_of(data or b"".join(self._parts)), offset=offset)


def split_json(
    chunks: Iterable[bytes], path: str, line: int, max_bytes: int, *, offset: int = 0
) -> Iterator[RawRow | Problem]:
    """The rows of the text in `chunks`, whose first byte is on `line` (from 1), at `offset`.

    A row longer than `max_bytes` is a `Problem`, and so is text between or after the values, which ends the reading,
    and a value that does not end.
    """
    row, tokens = _Row(line, offset), _Tokens()
    depth, what = 0, "object"
    for chunk in chunks:
        begin = 0
        for at, token in tokens.of(chunk):
            if depth:
                depth += _DEEPER.get(token, 0)
                is_end = not depth or (token == b"," and depth == 1 and what == "list")
                if not is_end and token:
                    continue
                end = at if depth or what == "list" else at + 1
                row.add(chunk[begin:end], max_bytes)
                if is_end and row.size:
                    yield row.take(path, max_bytes)
                row.skip(chunk[end : at + 1])
                begin = at + 1
            else:
                text = chunk[begin:at].lstrip(BETWEEN_ROWS)
                if text or token not in _BEFORE_ROWS:
                    row.skip(chunk[begin : at - len(text)])
                    message = f"text after the end of the {what}: it and all that follows it are skipped"
                    yield row.damage(path, message, chunk[at - len(text) :])
                    return
                if token == b"[":
                    depth, what = 1, "list"
                elif token == b"{":
                    depth, what = 1, "object"
                following = at if token == b"{" else at + 1
                row.skip(chunk[begin:following])
                begin = following
    if depth:
        yield row.damage(path, f"the {what} is cut off: {row.why_cut()}")


class _Tokens:
    """Finds brackets, commas and the beginnings of strings, in chunks that may end anywhere."""

    def __init__(self) -> None:
        self._in_string = False
        self._escaped = False

    def of(self, chunk: bytes) -> Iterator[tuple[int, bytes]]:
        """Where each token is, none inside of strings; at last the chunk's end, with no token."""
        position, end = 0, len(chunk)
        while position < end:
            if self._escaped:
                self._escaped = False
                position += 1
            elif self._in_string:
                rest = _STRING_REST.match(chunk, position)
                position = rest.end() if rest else position
                last = chunk[position : position + 1]
                self._in_string, self._escaped = last != b'"', last == b"\\"
                position += 1
            else:
                found = _TOKEN.search(chunk, position)
                if found is None:
                    break
                position = found.end()
                self._in_string = found[0] == b'"'
                yield found.start(), found[0]
        yield end, b""
