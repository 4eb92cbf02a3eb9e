"""The warm interpreter from which each completion's process is forked.

It reads nothing that comes from a completion: one byte and one descriptor of the parent's for each.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import socket
import sys
from typing import Any

from evaluator.sandbox.inside import channel, failures, leftovers, linux, template

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


def main(control: socket.socket, settings: dict[str, Any]) -> None:
    """Warms up, answers `R`, then forks a template for each `F` until the parent closes the connection."""
    _prepare(settings)
    seccomp = linux.SeccompFilter(settings["seccomp"])
    landlock_abi = linux.landlock_abi() if settings["landlock"] else 0
    own_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    channel.send(control.fileno(), b"R", bytes([landlock_abi]))
    living = 0
    while True:
        try:
            message, descriptors = channel.receive_with_descriptors(control, 1)
        except channel.ClosedError:
            os._exit(0)
        if living:
            _end(living)
            living = 0
        if message == b"F":
            linux.unshare(linux.CLONE_NEWPID)
            living = os.fork()
            if living == 0:
                connection = socket.socket(fileno=descriptors[0])
                template.serve(connection, seccomp, landlock_abi, settings["rules"])
            linux.setns(own_namespace, linux.CLONE_NEWPID)
            os.close(descriptors[0])
        else:
            channel.send(control.fileno(), b"K")


def _end(process: int) -> None:
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


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
    linux.set_default_thread_stack(_THREAD_STACK)
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
