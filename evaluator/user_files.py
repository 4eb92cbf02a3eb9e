"""Where the user's files are that can be made again, and how a file is written whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

TEMPORARY: Final = ".tmp"
"""How the name of a file ends that is being written."""


def cache_folder(kind: str) -> Path:
    """The folder for files of one kind that can be made again: in `$XDG_CACHE_HOME`, else `~/.cache`.

    Raises `RuntimeError` without a home.
    """
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "rollscope" / kind


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Another name to write a file under. At the end it is put in place, so that no reader sees half of it."""
    temporary = path.with_name(path.name + TEMPORARY)
    try:
        yield temporary
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()  # may free the space that a full disk lacks
        raise
