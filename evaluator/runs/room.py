"""Room on the disk that a run keeps while it grows, so that `run.json` can still say that a full disk stopped it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

ROOM: Final = ".room"
_BYTES: Final = 1 << 20
"""More than a manifest with its 1,000 bad lines takes."""


def reserve(run: Path) -> None:
    """Take the room. A disk that has not even that much is no error here: the first part will say so."""
    try:
        with (run / ROOM).open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, _BYTES)
    except OSError:
        release(run)


def release(run: Path) -> None:
    """Give it back."""
    with contextlib.suppress(OSError):
        (run / ROOM).unlink()
