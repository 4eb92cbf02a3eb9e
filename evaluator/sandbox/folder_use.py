"""How much lies in a completion's own folder, where no file system of its own keeps it within bounds."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_BLOCK = 512
_MIB = 2**20
MOST_FILES = 2048


def passed(folder: str, most_mb: float, process: int) -> str:
    """What is over the bounds, in words; empty where nothing is. Looks at no more entries than are allowed.

    `process`: the one whose folder it is; what it has removed but still holds open counts too.
    """
    used, entries = _removed(process, Path(folder).stat().st_dev), 0
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as found:
                for entry in found:
                    entries += 1
                    told = entry.stat(follow_symlinks=False)
                    used += told.st_blocks * _BLOCK
                    if entries > MOST_FILES:
                        return f"more than {MOST_FILES} files and folders"
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:  # gone, or closed to us
            continue
    return f"{used / _MIB:.0f} MiB of files ({most_mb} MiB may be written)" if used > most_mb * _MIB else ""


def _removed(process: int, device: int) -> int:
    """Bytes in files of that device that have no name any more."""
    used = 0
    try:
        entries = list(os.scandir(f"/proc/{process}/fd"))
    except OSError:
        return 0
    for entry in entries:
        try:
            told = entry.stat()
        except OSError:  # closed meanwhile
            continue
        if told.st_nlink == 0 and told.st_dev == device and stat.S_ISREG(told.st_mode):
            used += told.st_blocks * _BLOCK
    return used
