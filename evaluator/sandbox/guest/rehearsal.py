"""Does a few times in advance what a forked process will do: a program, and calls, from the order to the answers.

Python rewrites code while it runs it for the first times, and looks names up in a slower way that writes to more
objects: each forked process would copy those pages.
"""

from __future__ import annotations

import _socket
import contextlib
import fcntl
import marshal
import os
import resource
import sys
from collections.abc import Callable, Iterable
from typing import NoReturn

from evaluator.sandbox.guest import channel, linux, process, programs

_TIMES = 12
_LIMITS = {
    "virtual_bytes": resource.RLIMIT_AS,
    "output_bytes": resource.RLIMIT_FSIZE,
    "cpu_s": resource.RLIMIT_CPU,
    "tasks": resource.RLIMIT_NPROC,
}
_MOST_OUTPUT = 2**62
_OURS = 90
"""Away from the numbers that the files of a process get."""


class _EndedError(BaseException):
    """The process would have ended here."""


def _end(status: int) -> NoReturn:  # noqa: ARG001 - as `os._exit`
    raise _EndedError


def rehearse(
    orders: Iterable[bytes], filters: dict[str, linux.SeccompFilter], parts: process.Parts, *others: Callable[[], None]
) -> None:
    """Does in this process what each of these orders says, and each of `others`. The code is ours.

    All that is left of it is the code's file, in a folder that is emptied later.
    """
    streams, leave = (sys.stdin, sys.stdout, sys.stderr), os._exit
    kept = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _OURS + 1) for number in range(3)]
    os._exit = _end
    confinement = process.Confinement(filters, 0, [], namespaces=True, shared=True, cores=set(), counts_tasks=True)
    try:
        for _ in range(_TIMES):
            for order in orders:
                _send(order)
                with contextlib.suppress(_EndedError):
                    process.answer(confinement, parts, rehearses=True)
            for other in others:
                other()
    finally:  # so that an error is printed where the parent reads it
        os._exit = leave
        os.closerange(0, channel.MOST_DESCRIPTORS + 3)
        for number, descriptor in enumerate(kept):
            os.dup2(descriptor, number)
        os.closerange(_OURS, kept[-1] + 1)
    sys.stdin, sys.stdout, sys.stderr = streams
    sys.modules.pop("solution", None)
    programs.prepare()


def _send(order: bytes) -> None:
    """Gives this process the descriptors that a forked one has, and the order, after which the parent is gone."""
    os.closerange(0, channel.MOST_DESCRIPTORS + 3)
    for number in range(channel.CHANNEL):
        os.dup2(os.memfd_create(""), number)
    theirs, ours = _socket.socketpair()
    os.dup2(theirs.detach(), channel.CHANNEL)
    os.dup2(ours.fileno(), _OURS)
    os.close(ours.detach())
    ours = _socket.socket(fileno=_OURS)
    for number in (channel.STACK_DESCRIPTOR, channel.ANSWERS_DESCRIPTOR):
        os.dup2(os.memfd_create(""), number)
    unchanged = {name: resource.getrlimit(limit)[1] for name, limit in _LIMITS.items()}
    if unchanged["output_bytes"] == resource.RLIM_INFINITY:
        unchanged["output_bytes"] = _MOST_OUTPUT
    channel.send(_OURS, b"I", marshal.dumps(marshal.loads(order) | unchanged, 2))  # noqa: S302 - our own
    ours.shutdown(_socket.SHUT_WR)
    ours.detach()
