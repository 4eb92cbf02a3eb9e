"""The system calls that a completion tried and was refused, as the kernel tells them while it waits for our answer.

The kernel asks by seccomp's user notification; the answer is always that the call is not permitted. Nothing that the
process says is involved, so what is noted was tried.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import platform
import re
import struct
from functools import cache

from evaluator.model import Flag
from evaluator.sandbox.seccomp import CLONE, TELLING

_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_NOTICE = struct.Struct("QIIiIQ6Q")
_ANSWER = struct.Struct("Qqii")
_MOST = 20

_NEEDS = re.compile(
    r"\b(?:_?ctypes|_?socket|_?posixsubprocess|os|posix|subprocess|multiprocessing|_?multiprocessing|signal|_?signal|pty|"
    r"resource|fcntl|mmap|asyncio|shutil|platform|uuid|webbrowser|urllib|http|ssl|requests|importlib|pathlib|sys\.modules|"
    r"exec|eval|getattr|concurrent|socketserver|ftplib|smtplib|pdb|site|inspect|gc|codecs|cffi|numpy)\b|__"
)


def may_try(source: str) -> bool:
    """Whether code could come to a refused call at all: it takes a module that reaches the system, or a way to one."""
    return _NEEDS.search(source) is not None


@cache
def _names() -> dict[int, str]:
    column = {"x86_64": 1, "aarch64": 2}[platform.machine()]
    rows = (row.split() for row in TELLING.split(";"))
    names = {int(row[column]): row[0] for row in rows if row[column] != "-"}
    return names | {CLONE[platform.machine()]: "clone"}


class Refusals:
    """One process's refused calls; `descriptor` becomes readable when one waits for its answer."""

    def __init__(self, descriptor: int) -> None:
        self._file = os.fdopen(descriptor, "rb", buffering=0)
        self.descriptor = descriptor
        self._tried: dict[str, int] = {}

    def answer(self) -> bool:
        """Refuses the call that waits. False when there is none and never will be: the process is gone."""
        notice = bytearray(_NOTICE.size)
        try:
            fcntl.ioctl(self._file, _RECEIVE, notice)
        except OSError as error:
            return error.errno in (errno.EINTR, errno.EAGAIN)
        number, _process, _flags, call, *_ = _NOTICE.unpack(notice)
        name = _names().get(call, f"system call {call}")
        if name in self._tried or len(self._tried) < _MOST:
            self._tried[name] = self._tried.get(name, 0) + 1
        with contextlib.suppress(OSError):  # it was killed while it waited
            fcntl.ioctl(self._file, _SEND, _ANSWER.pack(number, 0, -errno.EPERM, 0))
        return True

    def notes(self) -> tuple[Flag, ...]:
        """One flag for each call that was tried since this was last asked, with how often."""
        told = [(name, "" if times == 1 else f", {times} times") for name, times in self._tried.items()]
        self._tried.clear()
        return tuple(Flag("refused_call", f"{name}: the kernel refused it{often}") for name, often in told)

    def close(self) -> None:
        self._file.close()
