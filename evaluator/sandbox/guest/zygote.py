"""The warm interpreter from which each completion's process is forked.

It reads nothing from completions: for each it gets a byte from the parent, and descriptors to pass on.
"""

from __future__ import annotations

import _socket
import contextlib
import faulthandler
import fcntl
import gc
import importlib
import os
import select
import signal
import sys
from collections.abc import Callable
from typing import Any

from evaluator.sandbox.guest import (
    channel,
    failures,
    folders,
    forking,
    header,
    leftovers,
    linux,
    memory,
    new_processes,
    process,
    rehearsal,
    reusable,
    sharing,
)

_DUMMY = """
import sys
class C:
    def method(self, a, b=1, *c, **d):
        return [x for x in a if x] + [{b: c}]
def f(n):
    try:
        with open(n) as g:
            return f"{g!r:>10}"
    except ValueError as e:
        raise KeyError from e
async def h(): yield await 1
"""
_MOST_DIGITS = 50_000
"""As the contest graders of LiveCodeBench and NeMo Gym have it; Python's own limit is 4,300."""
_THREAD_STACK = 8 * 2**20


def main(control: _socket.socket, settings: dict[str, Any], register_at_fork: Callable[..., None]) -> None:
    """Warms up, answers `R`, then forks a process for each `F` until the parent closes the connection.

    `register_at_fork` is restored after all imports. The hooks of `threading` and `random` cost more than the fork
    itself and are not needed: they renew locks that no other thread can hold, and a seed that we replace.
    """
    # Away from the numbers that the files of a process get.
    number = fcntl.fcntl(control.fileno(), fcntl.F_DUPFD_CLOEXEC, sharing.FIRST_OWN)
    control.close()
    control = _socket.socket(fileno=number)
    parts = process.Parts(_part("suites.guest.suite_roles"), _part("sandbox.guest.runner"))
    filters = {name: linux.SeccompFilter(program) for name, program in settings["filters"].items()}
    _prepare(settings, filters, parts, register_at_fork)
    landlock_abi = linux.landlock_abi()
    shared = settings["shared"]
    confinement = process.Confinement(
        filters,
        landlock_abi,
        settings["rules"],
        settings["namespaces"],
        shared,
        os.sched_getaffinity(0),
        settings["counts_tasks"],
    )
    begin = process.server(confinement, parts, sharing.settle(settings, landlock_abi) if shared else None)
    gc.collect()
    memory.fill()
    gc.freeze()
    channel.send(control.fileno(), b"R", bytes([landlock_abi]))
    if shared:
        sharing.serve(control, begin)
    forks: forking.Forking = forking.InNamespaces() if settings["namespaces"] else forking.InOwnFolder()
    while True:
        try:
            message, descriptors = channel.receive_with_descriptors(control, channel.MOST_DESCRIPTORS)
        except channel.ClosedError:
            forks.leave()
        if message != b"F":
            continue  # a `K` for a process that has already ended
        child = forks.fork()
        if child == 0:
            begin(descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        _watch(control, child, forks)


def _part(name: str) -> Any:
    """A module that only some interpreters have, or None."""
    return sys.modules.get(f"evaluator.{name}")


def _watch(control: _socket.socket, child: int, forks: forking.Forking) -> None:
    """Waits for the process's end; `K` kills it and all it started. Answers `E` with how it ended, when all have."""
    handle = os.pidfd_open(child)
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    poll.register(control.fileno(), select.POLLIN)
    while handle not in [descriptor for descriptor, _ in poll.poll()]:
        message = control.recv(1)
        if not message:
            forks.leave()
        forks.kill()
    os.close(handle)
    channel.send(control.fileno(), b"E", channel.as_json(forks.wait()))


def _flush(_number: int, _frame: object) -> None:
    """Writes what a program that is about to be stopped has printed, and says that it did."""
    with contextlib.suppress(BaseException):
        sys.stdout.flush()
    with contextlib.suppress(OSError):
        os.write(channel.STACK_DESCRIPTOR, channel.FLUSHED)


def _prepare(
    settings: dict[str, Any],
    filters: dict[str, linux.SeccompFilter],
    parts: process.Parts,
    register_at_fork: Callable[..., None],
) -> None:
    folders.settle(settings["home"], settings["writable"])
    sys.argv[:] = ["main.py"]
    sys.set_int_max_str_digits(_MOST_DIGITS)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # who starts us may ignore Ctrl-C
    os.environ.pop("LD_LIBRARY_PATH", None)  # only the interpreter itself needed it
    site = importlib.import_module("site")
    site.setquit()
    site.setcopyright()
    site.sethelper()
    new_processes.fork_by_default()
    new_processes.refuse()
    if parts.runner is not None:
        parts.runner.prepare()
    if not settings["namespaces"]:
        new_processes.keep_locks_in_process()
    os.register_at_fork = register_at_fork
    reusable.keep()
    header.keep({*reusable.HARMLESS, "builtins"})
    leftovers.keep()
    leftovers.seed()
    linux.set_default_thread_stack(_THREAD_STACK)
    signal.signal(channel.STACK_SIGNAL, _flush)
    # Works without the GIL and without running Python, so also in a call into C that does not return; then `_flush`.
    faulthandler.register(channel.STACK_SIGNAL, file=channel.STACK_DESCRIPTOR, all_threads=False, chain=True)
    rehearsal.rehearse(settings["rehearsals"], filters, parts, *([parts.suites.rehearse] if parts.suites else []))
    if parts.suites:
        parts.suites.prepare()
    leftovers.seed()
    code = compile(_DUMMY, "dummy.py", "exec", dont_inherit=True)
    reusable.examine(code, [])
    try:
        raise LookupError("warm")
    except LookupError as error:
        failures.report(error)
    for name in list(sys.modules):
        if name == "evaluator" or name.startswith("evaluator."):
            del sys.modules[name]
    memory.enlarge_pages()
