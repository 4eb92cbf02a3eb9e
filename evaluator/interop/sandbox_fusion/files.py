"""The files that a request sends along and wants back.

Both happen within the sandbox, before and after the program, in code that is put before it. What it fetches is written
to stdout after a mark. A program may forge that: it would only change its own files.
"""

from __future__ import annotations

import base64
import binascii
import secrets
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

import msgspec

from evaluator.sandbox import Stream

_FOLDER: Final = "/tmp"  # noqa: S108 - the program's own folder in the sandbox
_WRITE: Final = """\
def _write(files):
    import base64, os
    for path, content in files.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(content))
_write({files!r})
del _write
"""
_FETCH: Final = """\
def _fetch(paths, mark):
    import atexit, base64, json, os, sys
    def fetched():
        found = {{}}
        for name, path in paths.items():
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    found[name] = base64.b64encode(file.read()).decode()
        sys.stdout.flush()
        print(mark, json.dumps(found), sep="", end="", file=sys.__stdout__, flush=True)
    atexit.register(fetched)
_fetch({paths!r}, {mark!r})
del _fetch
"""


class Files:
    """The files of one request."""

    def __init__(self, files: Mapping[str, str | None], fetch_files: Sequence[str]) -> None:
        """As in `run_code.Request`. Raises `ValueError` for a path outside the program's folder, or bad base64."""
        self._mark = secrets.token_hex(16)
        written = {_path(name): _base64(name, content) for name, content in files.items() if content is not None}
        paths = {name: _path(name) for name in fetch_files}
        self.preamble = _WRITE.format(files=written) if written else ""
        """Code to put before the program."""
        if paths:
            self.preamble += _FETCH.format(paths=paths, mark=self._mark)
        self._names = frozenset(paths)

    def taken_from(self, stdout: Stream) -> tuple[str, dict[str, str]]:
        """What the program itself wrote to stdout, and the files that were fetched, by name, as base64."""
        before, mark, after = stdout.data.partition(self._mark.encode())
        if not mark:
            return stdout.text(), {}
        try:
            found = msgspec.json.decode(after, type=dict[str, str])
        except msgspec.DecodeError:  # cut off at the output limit
            found = {}
        return Stream(before, len(before)).text(), {name: found[name] for name in found if name in self._names}


def _path(name: str) -> str:
    path = PurePosixPath(_FOLDER, name)
    if ".." in path.parts or path.parts[:2] != ("/", "tmp") or len(path.parts) < 3:
        raise ValueError(f"file {name!r} is not in the program's folder: give a relative path, or one in {_FOLDER}")
    return str(path)


def _base64(name: str, content: str) -> str:
    try:
        base64.b64decode(content, validate=True)
    except binascii.Error as error:
        raise ValueError(f"file {name!r} is not base64: {error}") from None
    return content
