"""A file to read: where its bytes are, and what it is called. What a pipe holds is copied once to a file."""

from __future__ import annotations

import atexit
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import msgspec

from evaluator.formats.problems import FormatError, one_line


class Source(msgspec.Struct, frozen=True):
    """A local file that is known by another name: a copy of what came through a pipe, or from a store.

    `name` is shown, and read for what a file's name says. `typed` is the word that it was found by.
    """

    path: Path
    name: str
    typed: str = ""

    def __str__(self) -> str:
        return self.name


FileLike: TypeAlias = str | Path | Source

_copies: dict[tuple[int, int], Path] = {}
"""The copy of each pipe, by its device and number: what was read from a pipe is not in it any more."""


def source_of(file: FileLike) -> Source:
    """The file by its own name, or a copy of it where it can be read only once. Raises `FormatError`."""
    if isinstance(file, Source):
        return file
    name = one_line(str(file))
    return Source(_readable_again(Path(file), name), name, str(file))


def _readable_again(path: Path, name: str) -> Path:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return path  # opening it says why
    if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
        return path
    if stat.S_ISBLK(status.st_mode) or path.name in ("zero", "random", "urandom", "full"):
        raise FormatError(f"{name}: is a device: pass a file")
    key = (status.st_dev, status.st_ino)
    if key not in _copies:
        _copies[key] = _copy(path, name)
    return _copies[key]


def _copy(path: Path, name: str) -> Path:
    try:
        with path.open("rb") as pipe, tempfile.NamedTemporaryFile(prefix="rollscope-", delete=False) as copy:
            atexit.register(_remove, Path(copy.name))
            shutil.copyfileobj(pipe, copy, 1 << 20)
        return Path(copy.name)
    except OSError as error:
        why = one_line(error.strerror or str(error))
        raise FormatError(f"{name}: can't be copied to {tempfile.gettempdir()} to be read: {why}") from None


def _remove(copy: Path) -> None:
    with suppress(OSError):
        copy.unlink()
