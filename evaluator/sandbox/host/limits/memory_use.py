"""What a completion uses of memory and of its folder, counted from outside where the kernel does not limit it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from evaluator.sandbox.host.limits.process_table import lines, mapped_files, open_files

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


_FOLDERS = ("tmp", "dev/shm")


class MemoryUse(NamedTuple):
    """In MiB."""

    private: float = 0.0
    """Resident memory outside files in memory."""
    in_files: float = 0.0
    """Shared mappings, memfds, the files in /tmp and /dev/shm."""

    @property
    def total(self) -> float:
        return self.private + self.in_files

    def text(self) -> str:
        """For a message."""
        if self.in_files < 1:
            return f"{self.total:.0f} MiB resident"
        return f"{self.total:.0f} MiB, {self.in_files:.0f} of them in files in memory or shared"


def memory_use(process: int, folders: Sequence[str], own_files: Iterable[int], largest_mb: float) -> MemoryUse:
    """The memory of the processes with these folders under /proc.

    `process`: the main one. `own_files`: descriptors of our memfds that it got from us, which don't count.
    `largest_mb`: what one file may hold at most. Raises `TooManyMappingsError`.
    """
    resident = resident_use(folders)
    ours = [os.fstat(descriptor) for descriptor in own_files]
    files = {each.st_ino: 0 for each in ours}  # bytes of unnamed files in memory, by number
    for folder in folders:
        _add_open(folder, ours[0].st_dev, files)
        _add_mapped(folder, ours[0].st_dev, files, int(largest_mb * _MIB))
    in_files = sum(files.values()) + _in_folders(process)
    return MemoryUse(resident.private, max(in_files / _MIB, resident.in_files))


def resident_use(folders: Sequence[str]) -> MemoryUse:
    """The resident memory of these processes: of files in memory only the mapped parts."""
    private = mapped = 0
    for folder in folders:
        its_private, its_mapped = _shares(folder) if len(folders) > 1 else _resident(folder)
        private += its_private
        mapped += its_mapped
    return MemoryUse(private / _MIB, mapped / _MIB)


def most_resident(folders: Sequence[str]) -> MemoryUse:
    """The largest resident memory that any of these processes has had since it was forked.

    The kernel records it (`VmHWM`), including memory that was freed between two measurements. No process in the sandbox
    can write to the file under /proc that would reset it.
    """
    return MemoryUse(max((_peak(folder) for folder in folders), default=0) / _MIB)


def _peak(folder: str) -> int:
    return _numbers(f"{folder}/status", (b"VmHWM",)).get(b"VmHWM", 0)


def _resident(folder: str) -> tuple[int, int]:
    """Private and shared bytes of one process."""
    sizes = _numbers(f"{folder}/status", (b"RssAnon", b"RssFile", b"RssShmem"))
    return sizes.get(b"RssAnon", 0) + sizes.get(b"RssFile", 0), sizes.get(b"RssShmem", 0)


def _shares(folder: str) -> tuple[int, int]:
    """The same for one process of several: a page that n of them have counts as an nth."""
    sizes = _numbers(f"{folder}/smaps_rollup", (b"Pss_Anon", b"Pss_File", b"Pss_Shmem"))
    if not sizes:
        return _resident(folder)
    return sizes.get(b"Pss_Anon", 0) + sizes.get(b"Pss_File", 0), sizes.get(b"Pss_Shmem", 0)


def _numbers(path: str, names: Sequence[bytes]) -> dict[bytes, int]:
    sizes = {}
    for line in lines(path):
        name, _, rest = line.partition(b":")
        if name in names:
            sizes[name] = int(rest.split()[0]) * 1024
    return sizes


def _add_open(folder: str, device: int, files: dict[int, int]) -> None:
    """Adds the unnamed files in memory that a process has open."""
    for file in open_files(folder):
        if file.st_dev == device:
            files.setdefault(file.st_ino, file.st_blocks * _BLOCK)


def _add_mapped(folder: str, device: int, files: dict[int, int], largest: int) -> None:
    """Adds those that it has mapped. Only root can see their size; otherwise a memfd counts as `largest`."""
    for each in mapped_files(folder, device):
        if each.number in files:
            continue
        try:
            size = Path(f"{folder}/map_files/{each.first:x}-{each.last:x}").stat().st_blocks * _BLOCK
        except OSError:
            size = max(each.last - each.first, largest) if each.path.startswith(b"/memfd:") else 0
        files[each.number] = size


def _in_folders(process: int) -> int:
    """The bytes in its own /tmp and /dev/shm; 0 if these are the machine's."""
    used = 0
    for name in _FOLDERS:
        inside, outside = Path(f"/proc/{process}/root/{name}"), Path(f"/{name}")
        try:
            if outside.exists() and inside.stat().st_dev == outside.stat().st_dev:
                continue
            blocks = os.statvfs(inside)
        except OSError:
            continue
        used += (blocks.f_blocks - blocks.f_bfree) * blocks.f_frsize
    return used
