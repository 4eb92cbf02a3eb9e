"""Who may run a completion now, among processes: the gate of one caller's workers, and the slots of all of a user's.

Both lock single bytes of a file. The kernel releases a lock however its process ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
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
_FLOCK: Final = struct.Struct("hhqqi4x")  # struct flock
_TURNSTILE, _ROOM, _BOTH = 0, 1, 2
_QUEUE, _FIRST_SLOT = 0, 1
_SHARE_S: Final = 0.05
"""How long a worker keeps its slot for completions that follow each other."""
_QUICK_S: Final = 0.0005
_SLOW_S: Final = 0.005
_LONGEST_S: Final = 120.0
"""A completion takes a minute at most by default. If no slot is free for so long, their processes were halted."""


class Gate:
    """A gate that lets many workers in at once, or one alone.

    Workers enter with `shared`; inside, `alone` waits until every other worker is outside. A worker that waits to be
    alone counts as outside, so two of them can't wait for each other. And nobody enters while one waits to be alone, so
    it need not wait for long.

    Two bytes of a file in memory are locked: the turnstile for the moment of entering, the room while one is inside. A
    lock belongs to an opened file, so each thread opens it anew.
    """

    def __init__(self, descriptor: int | None = None) -> None:
        """`descriptor`: that of the gate of another process, inherited from it; it is this gate's. None: a new gate."""
        self.descriptor: Final = os.memfd_create("gate") if descriptor is None else descriptor
        self._opened = threading.local()

    def __del__(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self.descriptor)

    def shared(self) -> AbstractContextManager[None]:
        return _Inside(self._door())

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Use it inside `shared`."""
        door = self._door()
        try:
            with stage("queue"):
                door.unlock(_ROOM)
                door.lock(_TURNSTILE)
                door.lock(_ROOM)
            yield
        finally:  # also if Ctrl-C ends the wait: the gate is used again
            with stage("queue"):
                door.lock(_ROOM, fcntl.F_RDLCK)
            door.unlock(_TURNSTILE)

    def _door(self) -> _Bytes:
        """This thread's own."""
        door: _Bytes | None = getattr(self._opened, "door", None)
        if door is None:
            door = self._opened.door = _Bytes(f"/proc/self/fd/{self.descriptor}")
        return door


class _Inside(AbstractContextManager[None]):
    """Among others; for `Gate.shared`."""

    def __init__(self, door: _Bytes) -> None:
        self._door = door

    def __enter__(self) -> None:
        try:
            with stage("queue"):
                self._door.lock(_TURNSTILE, fcntl.F_RDLCK, _BOTH)
                self._door.unlock(_TURNSTILE)
        except BaseException:  # Ctrl-C
            self.__exit__()
            raise

    def __exit__(self, *raised: object) -> None:
        self._door.unlock(_TURNSTILE, _BOTH)


class _Bytes:
    """A file, opened anew, whose bytes can be locked. The locks end with it."""

    def __init__(self, path: str | Path, flags: int = 0) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | flags, 0o600)

    def __del__(self) -> None:
        with contextlib.suppress(OSError, AttributeError):
            os.close(self._descriptor)

    def lock(self, byte: int, how: int = fcntl.F_WRLCK, count: int = 1) -> None:
        """Waits until it can have all of them at once."""
        fcntl.fcntl(self._descriptor, fcntl.F_OFD_SETLKW, _flock(byte, how, count))

    def lock_if_free(self, byte: int) -> bool:
        try:
            fcntl.fcntl(self._descriptor, fcntl.F_OFD_SETLK, _flock(byte))
        except (BlockingIOError, PermissionError):  # EAGAIN or EACCES: another has it
            return False
        return True

    def is_free(self, byte: int) -> bool:
        """Whether nobody else has it."""
        found: bytes = fcntl.fcntl(self._descriptor, fcntl.F_OFD_GETLK, _flock(byte))
        return bool(_FLOCK.unpack(found)[0] == fcntl.F_UNLCK)

    def unlock(self, byte: int, count: int = 1) -> None:
        """Also where a forked child has a copy of the descriptor."""
        fcntl.fcntl(self._descriptor, fcntl.F_OFD_SETLK, _flock(byte, fcntl.F_UNLCK, count))


def _flock(byte: int, how: int = fcntl.F_WRLCK, count: int = 1) -> bytes:
    return _FLOCK.pack(how, os.SEEK_SET, byte, count, 0)


class Slot:
    """A process's way to one of the slots, which all processes of one user share. For one thread at a time.

    Trainers run 4 to 64 reward processes on a machine, and each has workers of its own. If all of them ran at once,
    each completion would have a fraction of a core, and its time limit would say nothing about it. So no more run at
    once than this machine has cores.

    The file is in a folder that only this user can enter; without such a folder there is always room. Whoever finds no
    slot free waits in a queue; the first in it looks again and again, the others sleep.
    """

    def __init__(self, count: int | None = None, folder: Path = SHARED_FOLDER) -> None:
        """`count`: how many slots there are; None: as many as this process may have workers."""
        self._slots = range(_FIRST_SLOT, _FIRST_SLOT + (count or worker_count()))
        self._file = _shared_file(folder)
        self._since: float | None = None
        """When it got the slot that it has."""
        self.waiting = False

    def take(self) -> None:
        """Waits for a slot, and keeps it until `give`. One that was kept for long is given to who waits for it."""
        if self._file is None or (self._since is not None and time.monotonic() - self._since < _SHARE_S):
            return
        self.give()
        try:
            with stage("queue"):
                self.waiting = True
                self._file.lock(_QUEUE)
                self._wait(self._file)
        finally:
            self.waiting = False
            self._file.unlock(_QUEUE)
        self._since = time.monotonic()

    def give(self) -> None:
        """Leaves the slot to others; nothing if there is none."""
        if self._file is not None:
            self._file.unlock(_FIRST_SLOT, len(self._slots))
        self._since = None

    def is_full(self) -> bool:
        """Whether others have all slots now, or wait for one."""
        if self._file is None:
            return False
        return not (any(map(self._file.is_free, self._slots)) and self._file.is_free(_QUEUE))

    def _wait(self, file: _Bytes) -> None:
        pause, until = _QUICK_S, time.monotonic() + _LONGEST_S
        while not any(map(file.lock_if_free, self._slots)) and time.monotonic() < until:
            time.sleep(pause)
            pause = min(_SLOW_S, pause * 1.5)


def is_machine_wide() -> bool:
    """Whether single calls share this machine with those of other processes. Raises `EngineError`."""
    told = os.environ.get(MACHINE_WIDE, "").lower()
    if told not in (*_YES, *_NO):
        raise EngineError(f"{MACHINE_WIDE} is {told!r}: give yes or no, or remove it")
    return told in _YES


def _shared_file(folder: Path) -> _Bytes | None:
    """The file for those who may use the same cores; None if there is no folder that is this user's alone."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
        if not is_ours or stat.S_IMODE(found.st_mode) & 0o077:
            return None
        cores = sum(1 << core for core in os.sched_getaffinity(0))
        return _Bytes(folder / f"cores-{cores:x}", os.O_CREAT | os.O_NOFOLLOW)
    except OSError:
        return None
