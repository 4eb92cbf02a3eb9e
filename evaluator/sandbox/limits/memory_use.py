"""How much memory a completion holds, as looked at from outside: its processes', and what lies in files in memory.

A page that several processes share, or that is both mapped and in a file, is counted once. What we may not see is
counted as far as it is resident.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from evaluator.sandbox.limits.process_table import lines, mapped_files, open_files

_MIB = 2**20
_BLOCK = 512
_FOLDERS = ("tmp", "dev/shm")


class MemoryUse(NamedTuple):
    """MiB."""

    private: float = 0.0
    """Resident, of no file in memory."""
    in_files: float = 0.0
    """Shared mappings, memfds, the files in /tmp and /dev/shm."""

    @property
    def total(self) -> float:
        return self.private + self.in_files

    def told(self) -> str:
        """In words."""
        if self.in_files < 1:
            return f"{self.total:.0f} MiB resident"
        return f"{self.total:.0f} MiB, {self.in_files:.0f} of them in files in memory or shared"


def memory_use(process: int, folders: Sequence[str], own_files: Iterable[int], largest_mb: float) -> MemoryUse:
    """What the processes whose /proc folders are given hold together.

    `process`: the main one. `own_files`: descriptors of our memfds that it was given, which are not its own.
    `largest_mb`: what any one file may hold. Raises `TooManyMappingsError`.
    """
    resident = resident_use(folders)
    told = [os.fstat(descriptor) for descriptor in own_files]
    files = {each.st_ino: 0 for each in told}  # of unnamed files in memory, by number: bytes
    for folder in folders:
        _add_open(folder, told[0].st_dev, files)
        _add_mapped(folder, told[0].st_dev, files, int(largest_mb * _MIB))
    in_files = sum(files.values()) + _in_folders(process)
    return MemoryUse(resident.private, max(in_files / _MIB, resident.in_files))


def resident_use(folders: Sequence[str]) -> MemoryUse:
    """What is resident of these processes: of files in memory only what they have mapped."""
    private = mapped = 0
    for folder in folders:
        its_private, its_mapped = _shares(folder) if len(folders) > 1 else _resident(folder)
        private += its_private
        mapped += its_mapped
    return MemoryUse(private / _MIB, mapped / _MIB)


def most_resident(folders: Sequence[str]) -> MemoryUse:
    """The most that any one of these processes has had resident at any moment since it was forked.

    The kernel notes it (`VmHWM`), so what was given back between two looks is in it. No process in the sandbox can
    write to the file under /proc that would set it back.
    """
    return MemoryUse(max((_noted(folder) for folder in folders), default=0) / _MIB)


def _noted(folder: str) -> int:
    return _numbers(f"{folder}/status", (b"VmHWM",)).get(b"VmHWM", 0)


def _resident(folder: str) -> tuple[int, int]:
    """Private and shared bytes of one process."""
    told = _numbers(f"{folder}/status", (b"RssAnon", b"RssFile", b"RssShmem"))
    return told.get(b"RssAnon", 0) + told.get(b"RssFile", 0), told.get(b"RssShmem", 0)


def _shares(folder: str) -> tuple[int, int]:
    """The same of one process of several: of a page that n of them have, the nth part."""
    told = _numbers(f"{folder}/smaps_rollup", (b"Pss_Anon", b"Pss_File", b"Pss_Shmem"))
    if not told:
        return _resident(folder)
    return told.get(b"Pss_Anon", 0) + told.get(b"Pss_File", 0), told.get(b"Pss_Shmem", 0)


def _numbers(path: str, names: Sequence[bytes]) -> dict[bytes, int]:
    found = {}
    for line in lines(path):
        name, _, rest = line.partition(b":")
        if name in names:
            found[name] = int(rest.split()[0]) * 1024
    return found


def _add_open(folder: str, device: int, files: dict[int, int]) -> None:
    """Adds the unnamed files in memory that a process has open."""
    for told in open_files(folder):
        if told.st_dev == device:
            files.setdefault(told.st_ino, told.st_blocks * _BLOCK)


def _add_mapped(folder: str, device: int, files: dict[int, int], largest: int) -> None:
    """Adds those that it has mapped. Only root sees how full they are: else a memfd counts as `largest`."""
    for each in mapped_files(folder, device):
        if each.number in files:
            continue
        try:
            size = Path(f"{folder}/map_files/{each.first:x}-{each.last:x}").stat().st_blocks * _BLOCK
        except OSError:
            size = max(each.last - each.first, largest) if each.path.startswith(b"/memfd:") else 0
        files[each.number] = size


def _in_folders(process: int) -> int:
    """What is in its own /tmp and /dev/shm; nothing where these are the machine's."""
    used = 0
    for name in _FOLDERS:
        inside, outside = Path(f"/proc/{process}/root/{name}"), Path(f"/{name}")
        try:
            if outside.exists() and inside.stat().st_dev == outside.stat().st_dev:
                continue
            told = os.statvfs(inside)
        except OSError:
            continue
        used += (told.f_blocks - told.f_bfree) * told.f_frsize
    return used
