"""Requests that no honest client sends, as data. `test_servers.py` sends them to each server.

To add one: a line here. A value goes into every field of a good request in turn; a body is sent as it is.
"""

import json
from collections.abc import Iterator
from typing import Any

DEEP = 100_000

VALUES: dict[str, str] = {
    "null": "null",
    "true": "true",
    "zero": "0",
    "minus one": "-1",
    "a fraction": "0.5",
    "2**31": str(2**31),
    "2**63": str(2**63),
    "10**400": "1" + "0" * 400,
    "an integer of 5,000 digits": "9" * 5000,
    "1e999": "1e999",
    "NaN": "NaN",
    "minus infinity": "-Infinity",
    "the least fraction": "5e-324",
    "no text": '""',
    "NUL": r'"a\u0000b"',
    "half a surrogate pair": r'"print(1) # \ud800"',
    "surrogates the wrong way round": r'"\udc00\ud800"',
    "right to left": r'"\u202e\u2066\u200b\ufeff"',
    "a path": '"../../../etc/passwd"',
    "markup": '"<img src=x onerror=alert(1)>"',
    "a grader's spec": '"similarity:timeout=1e999,url=file:///etc/passwd"',
    "a line of a megabyte": json.dumps("x" * 2**20),
    "no list": "[]",
    "a list of nothing": "[null]",
    "a list of lists": "[[[[]]]]",
    "a list of numbers": "[1, -1, 1e999]",
    "no object": "{}",
    "an object without names": '{"": {"": null}}',
    "an object of objects": '{"type": {"type": 1}, "inputs": {"a": 1}, "outputs": 5, "text": {}, "content": {}}',
    "1,000 lists deep": "[" * 1000 + "]" * 1000,
}
"""By what it is, JSON to put in the place of any field."""

BODIES: dict[str, bytes] = {
    "nothing": b"",
    "null": b"null",
    "a list": b"[]",
    "a text": b'"x"',
    "a number": b"1e999",
    "no JSON": b"code=print(1)",
    "half a body": b'{"code": "print(1)"',
    "two bodies": b"{}{}",
    "no UTF-8": b'{"code": "\xff\xfe"}',
    "a byte order mark": b'\xef\xbb\xbf{"code": 1}',
    "UTF-16": '{"code": "print(1)"}'.encode("utf-16"),
    "NUL": b"\0" * 1000,
    "the same name twice": b'{"code": "1", "code": 1, "in_outs": {}, "in_outs": 1, "response": {}, "response": 1}',
    "lists, deep": b"[" * DEEP,
    "objects, deep": b'{"a":' * DEEP,
    "lists, deep and closed": b"[" * DEEP + b"]" * DEEP,
    "an integer of 100,000 digits": b"9" * DEEP,
    "many names": b"{" + b",".join(b'"%d": 0' % number for number in range(DEEP)) + b"}",
}
"""By what it is, a whole body."""

REFUSED: dict[str, tuple[int, dict[str, str]]] = {
    "text": (415, {"content-type": "text/plain"}),
    "text that says JSON": (415, {"content-type": "text/plain; application/json"}),
    "a form": (415, {"content-type": "application/x-www-form-urlencoded"}),
    "a form of parts": (415, {"content-type": "multipart/form-data; boundary=x"}),
    "no type": (415, {"content-type": ""}),
    "a type like JSON": (415, {"content-type": "application/jsonp"}),
    "another's page": (403, {"origin": "https://evil.example"}),
    "another's page on this machine": (403, {"origin": "http://localhost:1"}),
    "a page without origin": (403, {"origin": "null"}),
    "a file": (403, {"origin": "file://"}),
    "a name that was made to point here": (400, {"host": "rebound.example"}),
    "its page": (400, {"host": "rebound.example", "origin": "http://rebound.example"}),
    "a name that begins as ours": (400, {"host": "localhost.evil.example"}),
    "an address that begins as ours": (400, {"host": "127.0.0.1.evil.example:80"}),
    "an address before a name": (400, {"host": "127.0.0.1@evil.example"}),
    "any address": (400, {"host": "0.0.0.0:8000"}),
    "an address of the network": (400, {"host": "192.168.0.1"}),
    "no name": (400, {"host": ""}),
    "no address": (400, {"host": "[::1"}),
}
"""By who sends it, the answer to a good request with these headers."""

TAKEN: dict[str, dict[str, str]] = {
    "with a charset": {"content-type": "application/json; charset=utf-8"},
    "in capitals": {"content-type": "Application/JSON"},
    "localhost": {"host": "localhost:8000"},
    "another address of loopback": {"host": "127.9.9.9"},
    "IPv6": {"host": "[::1]:8000"},
    "its own page": {"host": "localhost:8000", "origin": "http://localhost:8000"},
}
"""By what is odd in it, headers of good requests."""


def with_values(good: Any) -> Iterator[tuple[str, bytes]]:
    """A good request with each value in the place of each of its fields, and a name for it."""
    for place in list(_places(good)):
        for name, text in VALUES.items():
            yield f"{'.'.join(map(str, place))}: {name}", _replaced(good, place, text).encode()


def _places(value: Any) -> Iterator[tuple[str | int, ...]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield (key,)
        yield from ((key, *inner) for inner in _places(part))


def _replaced(good: Any, place: tuple[str | int, ...], text: str) -> str:
    copy = json.loads(json.dumps(good))
    inner = copy
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = "<here>"
    return json.dumps(copy).replace('"<here>"', text, 1)
