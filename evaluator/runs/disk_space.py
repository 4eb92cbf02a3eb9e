"""Disk space that a run reserves while it grows, so that `run.json` can still say that a full disk stopped it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

RESERVED: Final = ".reserved"
_BYTES: Final = 1 << 20
"""More than a manifest with its 1,000 bad lines takes."""


def reserve(run: Path) -> None:
    """Reserves it. On a disk without even that much nothing is raised here: writing the first part will fail."""
    try:
        with (run / RESERVED).open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, _BYTES)
    except OSError:
        release(run)


def release(run: Path) -> None:
    """Frees it."""
    with contextlib.suppress(OSError):
        (run / RESERVED).unlink()
