"""How much lies in a completion's own folder, where no file system of its own keeps it within bounds."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_BLOCK = 512
_MIB = 2**20
MOST_FILES = 2048


def passed(folder: str, most_mb: float, process: int, largest_mb: float) -> str:
    """What is over the bounds, in words; empty where nothing is. Looks at no more entries than are allowed.

    `process`: the one whose folder it is; what it has removed but still holds open counts too, and what it has mapped
    of removed files, each as `largest_mb`, which is as much as one may hold.
    """
    try:
        device = Path(folder).stat().st_dev
    except FileNotFoundError:  # the process has just ended
        return ""
    removed = _open_of(process, device)
    for number in _mapped_of(process, device):
        removed.setdefault(number, int(largest_mb * _MIB))
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


def _open_of(process: int, device: int) -> dict[int, int]:
    """Bytes in each file of that device that is open and has no name any more, by number."""
    used: dict[int, int] = {}
    try:
        entries = list(os.scandir(f"/proc/{process}/fd"))
    except OSError:
        return used
    for entry in entries:
        try:
            told = entry.stat()
        except OSError:  # closed meanwhile
            continue
        if told.st_nlink == 0 and told.st_dev == device and stat.S_ISREG(told.st_mode):
            used[told.st_ino] = told.st_blocks * _BLOCK
    return used


def _mapped_of(process: int, device: int) -> set[int]:
    """The files of that device that are mapped and have no name any more, by number."""
    name = b"%02x:%02x" % (os.major(device), os.minor(device))
    try:
        lines = Path(f"/proc/{process}/maps").read_bytes().splitlines()
    except OSError:
        return set()
    found = (line.split(maxsplit=5) for line in lines if line.endswith(b"(deleted)"))
    return {int(fields[4]) for fields in found if fields[3] == name}
