"""Slots for completions, which all processes of one user share: so many run at once as this machine has cores.

Trainers run 4 to 64 reward processes on a machine, and each has workers of its own. If all of them ran at once, each
completion would have a fraction of a core, and its time limit would say nothing about it.

A slot is a locked byte of a file in a folder that only this user can enter. The kernel releases a lock however its
process ends. Whoever finds no slot free waits in a queue; the first in it looks again and again, the others sleep.
"""

from __future__ import annotations

import fcntl
import os
import stat
import struct
import time
from pathlib import Path
from typing import Final

from evaluator.stages import stage
from evaluator.workers.engine import EngineError
from evaluator.workers.worker_count import worker_count

SHARED_FOLDER: Final = Path(f"/tmp/rollscope-{os.getuid()}")  # noqa: S108 - used only if it is this user's alone
MACHINE_WIDE: Final = "ROLLSCOPE_MACHINE_WIDE"
"""The environment variable that says "no" if processes are to run as many each as if they were alone."""

_YES: Final = ("", "yes", "1", "true")
_NO: Final = ("no", "0", "false")
_LOCK: Final = struct.Struct("hhqqi4x")  # struct flock
_QUEUE: Final = 0
_SHARE_S: Final = 0.05
"""How long a worker keeps its slot for completions that follow each other."""
_QUICK_S: Final = 0.0005
_SLOW_S: Final = 0.005
_LONGEST_S: Final = 120.0
"""A completion takes a minute at most by default. If no slot is free for so long, their processes were halted."""


class Slot:
    """A process's way to a slot. For one thread at a time."""

    def __init__(self, count: int | None = None, folder: Path = SHARED_FOLDER) -> None:
        """`count`: how many slots there are; None: as many as this process may have workers."""
        self._count = count or worker_count()
        self._path = _file(folder)
        self._held: int | None = None
        """The descriptor whose locks are ours."""
        self._since = 0.0
        self.waiting = False

    @property
    def shared(self) -> bool:
        """Whether other processes' completions count. Not if the folder is not ours alone."""
        return self._path is not None

    def take(self) -> None:
        """Waits for a slot, and keeps it until `give`. One that was kept for long is given to who waits for it."""
        if self._path is None:
            return
        if self._held is not None:
            if time.monotonic() - self._since < _SHARE_S:
                return
            self.give()
        descriptor = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        _locking.add(descriptor)
        try:
            with stage("queue"):
                self.waiting = True
                fcntl.fcntl(descriptor, fcntl.F_OFD_SETLKW, _lock(_QUEUE))
                self._wait(descriptor)
                fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _lock(_QUEUE, fcntl.F_UNLCK))
        except BaseException:
            _close(descriptor)
            raise
        finally:
            self.waiting = False
        self._held, self._since = descriptor, time.monotonic()

    def give(self) -> None:
        """Leaves the slot to others; nothing if there is none."""
        if self._held in _locking:  # it is not in a forked child
            _close(self._held)
        self._held = None

    def is_full(self) -> bool:
        """Whether all slots are taken now, or somebody waits for one."""
        if self._path is None:
            return False
        descriptor = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        try:
            free = any(_is_free(descriptor, number) for number in self._numbers())
            return not (free and _is_free(descriptor, _QUEUE))
        finally:
            os.close(descriptor)

    def _numbers(self) -> range:
        return range(_QUEUE + 1, _QUEUE + 1 + self._count)

    def _wait(self, descriptor: int) -> None:
        pause, until = _QUICK_S, time.monotonic() + _LONGEST_S
        while not any(_taken(descriptor, number) for number in self._numbers()) and time.monotonic() < until:
            time.sleep(pause)
            pause = min(_SLOW_S, pause * 1.5)


_locking: set[int] = set()
"""The descriptors that have locks. A forked child's copies would keep them, however its parent gave them back."""


def _close(descriptor: int) -> None:
    _locking.discard(descriptor)
    os.close(descriptor)


def _forget_in_child() -> None:
    """Its parent's slots are not the child's."""
    for descriptor in list(_locking):
        _close(descriptor)


os.register_at_fork(after_in_child=_forget_in_child)


def is_machine_wide() -> bool:
    """Whether single calls share this machine with those of other processes. Raises `EngineError`."""
    told = os.environ.get(MACHINE_WIDE, "").lower()
    if told not in (*_YES, *_NO):
        raise EngineError(f"{MACHINE_WIDE} is {told!r}: give yes or no, or remove it")
    return told in _YES


def _taken(descriptor: int, number: int) -> bool:
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _lock(number))
    except (BlockingIOError, PermissionError):  # EAGAIN or EACCES: another has it
        return False
    return True


def _is_free(descriptor: int, number: int) -> bool:
    found: bytes = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, _lock(number))
    return bool(_LOCK.unpack(found)[0] == fcntl.F_UNLCK)


def _lock(byte: int, how: int = fcntl.F_WRLCK) -> bytes:
    return _LOCK.pack(how, os.SEEK_SET, byte, 1, 0)


def shared_folder(folder: Path = SHARED_FOLDER) -> Path | None:
    """The folder that this user's processes share, made if need be; None if it is not this user's alone."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not stat.S_IMODE(found.st_mode) & 0o077
    return folder if is_ours else None


def _file(folder: Path) -> Path | None:
    """The file for those who may use the same cores; None if there is no folder for it."""
    found = shared_folder(folder)
    if found is None:
        return None
    path = found / f"cores-{sum(1 << core for core in os.sched_getaffinity(0)):x}"
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
    except OSError:
        return None
    return path
