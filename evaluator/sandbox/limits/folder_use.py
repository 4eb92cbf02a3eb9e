"""How much lies in a completion's own folder, where no file system of its own keeps it within bounds."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from evaluator.sandbox.limits.process_table import mapped_files, open_files

_BLOCK = 512
_MIB = 2**20
MOST_FILES = 2048


def passed(folder: str, most_mb: float, process: int, largest_mb: float) -> str:
    """What is over the bounds, in words; empty where nothing is. Looks at no more entries than are allowed.

    `process`: the one whose folder it is; what it has removed but still holds open counts too, and what it has mapped
    of removed files, each as `largest_mb`, which is as much as one may hold. Raises `TooManyMappingsError`.
    """
    try:
        device = Path(folder).stat().st_dev
    except FileNotFoundError:  # the process has just ended
        return ""
    own = f"/proc/{process}"
    removed = {
        told.st_ino: told.st_blocks * _BLOCK
        for told in open_files(own)
        if told.st_nlink == 0 and told.st_dev == device and stat.S_ISREG(told.st_mode)
    }
    for part in mapped_files(own, device):
        if part.path.endswith(b"(deleted)"):
            removed.setdefault(part.number, int(largest_mb * _MIB))
    used, entries = sum(removed.values()), 0
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
