"""Measures a completion's own folder, if no separate file system limits it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from evaluator.sandbox.host.limits.process_table import mapped_files, open_files

_BLOCK = 512
_MIB = 2**20
MOST_FILES = 2048


def excess(folder: str, most_mb: float, process: int, largest_mb: float) -> str:
    """Which limit the folder exceeds, as text; empty if none. Visits no more entries than are allowed.

    Removed files that `process`, its owner, still has open count too, and removed files that it has mapped, each as
    `largest_mb`, the most that one may hold. Raises `TooManyMappingsError`.
    """
    try:
        device = Path(folder).stat().st_dev
    except FileNotFoundError:  # the process has just ended
        return ""
    own = f"/proc/{process}"
    removed = {
        file.st_ino: file.st_blocks * _BLOCK
        for file in open_files(own)
        if file.st_nlink == 0 and file.st_dev == device and stat.S_ISREG(file.st_mode)
    }
    for part in mapped_files(own, device):
        if part.path.endswith(b"(deleted)"):
            removed.setdefault(part.number, int(largest_mb * _MIB))
    used, entries = sum(removed.values()), 0
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as listing:
                for entry in listing:
                    entries += 1
                    used += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
                    if entries > MOST_FILES:
                        return f"more than {MOST_FILES} files and folders"
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:  # removed, or not readable by us
            continue
    return f"{used / _MIB:.0f} MiB of files ({most_mb} MiB may be written)" if used > most_mb * _MIB else ""
