"""The warm interpreter from which each completion's process is forked.

It reads nothing that comes from a completion: for each it gets a byte and the descriptors that it hands on.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import importlib
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

from evaluator.sandbox.inside import channel, failures, leftovers, linux, process

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
_THREAD_STACK = 8 * 2**20


def main(control: socket.socket, settings: dict[str, Any], register_at_fork: Callable[..., None]) -> None:
    """Warms up, answers `R`, then forks a process for each `F` until the parent closes the connection.

    `register_at_fork` is put back when everything is imported. What `threading` and `random` would do in each forked
    process costs more than the fork itself: locks made anew that nobody holds here, for there is one thread, and a
    seed that we replace.
    """
    _prepare(settings)
    os.register_at_fork = register_at_fork
    landlock_abi = linux.landlock_abi() if settings["landlock"] else 0
    confinement = process.Confinement(
        linux.SeccompFilter(settings["seccomp"]),
        linux.SeccompFilter(settings["seccomp_of_template"]),
        linux.SeccompFilter(settings["seccomp_of_fork"]),
        landlock_abi,
        settings["rules"],
    )
    own_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    channel.send(control.fileno(), b"R", bytes([landlock_abi]))
    while True:
        try:
            message, descriptors = channel.receive_with_descriptors(control, 5)
        except channel.ClosedError:
            os._exit(0)
        if message != b"F":
            continue  # a `K` for a process that has ended by itself
        init = linux.start_init()
        child = _fork_into(init, own_namespace)
        if child == 0:
            process.serve(descriptors, confinement)
        for descriptor in descriptors:
            os.close(descriptor)
        _watch(control, child, init)


def _fork_into(init: int, own_namespace: int) -> int:
    """Forks a process into the pid namespace of `init`; children after it come into our own again."""
    handle = os.pidfd_open(init)
    linux.setns(handle, linux.CLONE_NEWPID)
    child = os.fork()
    if child:
        linux.setns(own_namespace, linux.CLONE_NEWPID)
        os.close(handle)
    return child


def _watch(control: socket.socket, child: int, init: int) -> None:
    """Waits for the process's end; `K` kills its whole namespace. Answers `E` with how it ended, when all is gone."""
    handle = os.pidfd_open(child)
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    poll.register(control.fileno(), select.POLLIN)
    while handle not in [descriptor for descriptor, _ in poll.poll()]:
        message = control.recv(1)
        if not message:
            os._exit(0)  # takes everything below with it
        os.kill(init, signal.SIGKILL)
    ended = linux.wait_for(child)
    os.close(handle)
    os.kill(init, signal.SIGKILL)
    os.waitpid(init, 0)
    channel.send(control.fileno(), b"E", channel.as_json(ended))


def _prepare(settings: dict[str, Any]) -> None:
    sys.path[:] = settings["path"]
    sys.argv[:] = ["main.py"]
    site = importlib.import_module("site")
    site.setquit()
    site.setcopyright()
    site.sethelper()
    for name in settings["preload"]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    leftovers.keep()
    leftovers.seed()
    linux.set_default_thread_stack(_THREAD_STACK)
    # Works without the GIL and without running any Python, so also within a call into C that does not end.
    faulthandler.register(channel.STACK_SIGNAL, file=channel.STACK_DESCRIPTOR, all_threads=False)
    code = compile(_DUMMY, "dummy.py", "exec", dont_inherit=True)
    leftovers.is_plain(code)
    try:
        raise LookupError("warm")
    except LookupError as error:
        failures.report(error)
    for name in list(sys.modules):
        if name == "evaluator" or name.startswith("evaluator."):
            del sys.modules[name]
    gc.collect()
    gc.freeze()
