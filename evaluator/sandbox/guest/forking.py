"""How a zygote, or a test suite's template, forks a process and ends it with all that it started.

For completions with a test suite, 7 % on real sets, and others that need namespaces of their own.
"""

from __future__ import annotations

import _socket
import contextlib
import gc
import os
import signal
from collections.abc import Callable
from typing import NoReturn, Protocol

from evaluator.sandbox.guest import channel, folders, leftovers, linux, new_processes

Ended = dict[str, int | float]


class Forking(Protocol):
    def fork(self) -> int: ...
    def kill(self) -> None: ...
    def wait(self) -> Ended: ...
    def leave(self) -> NoReturn: ...


class InNamespaces:
    """Each process in a separate pid namespace; ending that ends everything in it."""

    def __init__(self) -> None:
        self._own_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self._init = self._child = 0

    def fork(self) -> int:
        """Forks into a new namespace; later forks are in our own again."""
        self._init = linux.start_init()
        handle = os.pidfd_open(self._init)
        linux.setns(handle, linux.CLONE_NEWPID)
        self._child = new_processes.fork()
        if self._child:
            linux.setns(self._own_namespace, linux.CLONE_NEWPID)
            os.close(handle)
        return self._child

    def kill(self) -> None:
        os.kill(self._init, signal.SIGKILL)

    def wait(self) -> Ended:
        ended = linux.wait_for(self._child)
        self.kill()
        os.waitpid(self._init, 0)
        return ended

    def leave(self) -> NoReturn:
        """Ends everything below as well, because we are the first process of a namespace."""
        os._exit(0)


class InOwnFolder:
    """Each process in a new folder of its own. The filter lets it start no other, so ending it ends all.

    Except a template: its forks die with it, and we wait for them.
    """

    def __init__(self) -> None:
        self._number = os.getpid()
        self._child = 0
        linux.adopt_orphans()

    def fork(self) -> int:
        os.mkdir(folders.home, 0o700)
        self._child = new_processes.fork()
        if self._child == 0:
            linux.die_with_parent(self._number)
        return self._child

    def kill(self) -> None:
        os.kill(self._child, signal.SIGKILL)

    def wait(self) -> Ended:
        ended = linux.wait_for(self._child)
        with contextlib.suppress(ChildProcessError):
            while True:
                os.waitpid(-1, 0)
        self._child = 0
        folders.remove(folders.home)
        return ended

    def leave(self) -> NoReturn:
        """Ends the running process, and removes the folder that contained all others."""
        if self._child:
            self.kill()
            self.wait()
        with contextlib.suppress(OSError):
            folders.remove(os.path.dirname(folders.home))
        os._exit(0)


def serve_template(connection: int, run: Callable[[list[int]], None]) -> None:
    """For each `F`, forks a process that calls `run` with the received descriptors; answers `E` when it has ended.

    `run` does not return. Ends the process when the parent closes the connection.
    """
    linux.set_dumpable(False)  # so that its forks can't write to its memory
    control = _socket.socket(fileno=connection)
    files = leftovers.files_left()
    number = os.getpid()
    gc.freeze()  # so that a collection in a fork does not write to our objects
    while True:
        try:
            _, descriptors = channel.receive_with_descriptors(control, channel.MOST_DESCRIPTORS)
        except channel.ClosedError:
            os._exit(0)
        child = new_processes.fork()
        if child == 0:
            linux.die_with_parent(number)
            linux.set_dumpable(True)
            run(descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        ended = linux.wait_for(child)
        channel.send(connection, b"E", channel.as_json({**ended, "clean": _unchanged(files)}))


def _unchanged(files: leftovers.FileState) -> bool:
    try:
        return leftovers.files_left() == files
    except OSError:  # the folder's permissions were changed
        return False
