"""The system calls that a completion tried and was refused, as the kernel reports them while it waits for our answer.

It is asked to for the 4 % of completions on real sets that could make such a call at all.

The kernel asks by seccomp's user notification; the answer is always that the call is not permitted. No message of the
process is involved, so every noted call was really tried.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import platform
import re
import select
import struct
from functools import cache

from evaluator.model import Flag
from evaluator.sandbox.host.launch.seccomp import CLONE, CLONE_THREAD, REPORTED

_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_NOTICE = struct.Struct("QIIiIQ6Q")
_ANSWER = struct.Struct("Qqii")
_CONTINUE = 1
_MOST = 20

_SIGNS = ("exec", "eval", "getattr", "ctypes", "modules", "socket", "process", "._os")
_SPECIAL = re.compile(r"\b__\w+")
_OPERATORS = "add sub mul matmul truediv floordiv mod pow and or xor lshift rshift".split()
_HARMLESS = frozenset(
    f"__{name}__"
    for name in [
        *"name main future annotations doc slots version author all init post_init new repr str format".split(),
        *"bytes hash bool eq ne lt le gt ge len iter next reversed contains getitem setitem delitem".split(),
        *"missing call enter exit int float index divmod neg pos abs invert round copy deepcopy".split(),
        *(prefix + operator for operator in _OPERATORS for prefix in ("", "r", "i")),
    ]
)
"""The special names by which nothing else can be reached: of a module and of operators."""
_MODULES = re.compile(
    r"\b(?:os|posix|_?signal|pty|resource|fcntl|mmap|asyncio|shutil|platform|uuid|webbrowser|urllib|http|ssl|requests|"
    r"importlib|pathlib|concurrent|ftplib|smtplib|pdb|site|inspect|gc|codecs|cffi|_thread|tempfile)\b"
)


def may_try(source: str) -> bool:
    """Whether code could make a refused call at all: that needs a module with system calls, or a way to get one."""
    if any(map(source.__contains__, _SIGNS)):
        return True
    if "__" in source and not _HARMLESS.issuperset(_SPECIAL.findall(source)):
        return True
    return any(_MODULES.search(line) for line in source.splitlines() if "import" in line)


@cache
def _names() -> dict[int, str]:
    column = {"x86_64": 1, "aarch64": 2}[platform.machine()]
    rows = (row.split() for row in REPORTED.split(";"))
    names = {int(row[column]): row[0] for row in rows if row[column] != "-"}
    return names | {CLONE[platform.machine()]: "clone"}


class Refusals:
    """One process's refused calls; `descriptor` becomes readable when one waits for its answer.

    If the kernel can't count a program's threads, it also asks about each new one.
    """

    def __init__(self, descriptor: int, threads: int) -> None:
        """`threads`: how many it may have at once."""
        self._file = os.fdopen(descriptor, "rb", buffering=0)
        self.descriptor = descriptor
        self._threads = threads
        self._tried: dict[str, int] = {}

    def answer_waiting(self) -> None:
        """Answers all that wait now."""
        poll = select.poll()
        poll.register(self.descriptor, select.POLLIN)
        for _ in range(_MOST):
            if not any(event & select.POLLIN for _, event in poll.poll(0)):
                return
            self.answer()

    def answer(self) -> None:
        """Answers a call; one must be waiting."""
        notice = bytearray(_NOTICE.size)
        try:
            fcntl.ioctl(self._file, _RECEIVE, notice)
        except OSError:  # it no longer waits: a signal came, or its process ended
            return
        number, thread, _flags, call, _architecture, _place, first, *_ = _NOTICE.unpack(notice)
        if call == CLONE[platform.machine()] and first & CLONE_THREAD:
            allowed = _threads_of(thread) < self._threads
            answer = _ANSWER.pack(number, 0, 0, _CONTINUE) if allowed else _ANSWER.pack(number, 0, -errno.EAGAIN, 0)
        else:
            self._note(_names().get(call, f"system call {call}"))
            answer = _ANSWER.pack(number, 0, -errno.EPERM, 0)
        with contextlib.suppress(OSError):  # its process was killed
            fcntl.ioctl(self._file, _SEND, answer)

    def _note(self, name: str) -> None:
        if name in self._tried or len(self._tried) < _MOST:
            self._tried[name] = self._tried.get(name, 0) + 1

    def notes(self) -> tuple[Flag, ...]:
        """One flag for each call that was tried since the last call of this, with the number of times."""
        calls = [(name, "" if times == 1 else f", {times} times") for name, times in self._tried.items()]
        self._tried.clear()
        return tuple(Flag("refused_call", f"{name}: the kernel refused it{often}") for name, often in calls)

    def close(self) -> None:
        self._file.close()


def _threads_of(thread: int) -> int:
    try:
        return len(os.listdir(f"/proc/{thread}/task"))  # noqa: PTH208
    except OSError:  # it has just ended
        return 0
