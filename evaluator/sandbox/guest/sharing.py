"""Processes that follow one another in the zygote's own namespaces: while one runs, the next waits, already confined.

This is how 93 % of the completions run on real sets: all without a test suite.

The waiting one has no code yet: its order, with the code, comes when the one before it has ended and what it left in
the folders is gone. Neither reaches the other: a filter lets a process send signals to itself alone, each is in a
Landlock domain of its own, the waiting one can't be traced, and /proc shows a process only itself. A process can start
no other, so that its end is the end of all that it did.
"""

from __future__ import annotations

import _socket
import fcntl
import os
import resource
import select
import struct
from collections.abc import Callable
from typing import Any

from evaluator.sandbox.guest import channel, folders, linux, new_processes

ENDED = struct.Struct("!Bidq")
"""Which process ended (its number modulo 256), exit status, CPU seconds, memory in KiB."""

FIRST_OWN = 50
"""The zygote's own descriptors begin here: those of a process arrive with the numbers that they have in it."""

OPEN_FILES = 128
_FOLDER_MODE = 0o1777


def settle(settings: dict[str, Any], abi: int) -> Callable[[], int] | None:
    """Makes what all processes have in common: mounts, limits, no capabilities. Returns what confines one by Landlock.

    Neither the zygote nor the waiting process can be traced, or read through /proc.
    """
    linux.be_killed_first()
    linux.mount_memory(b"/tmp", folders.FILES_MB)
    linux.mount_memory(b"/dev/shm", folders.SHARED_MEMORY_MB)
    linux.mount_own_proc(b"hidepid=2")
    set_common_limits()
    os.chdir(folders.home)
    linux.set_no_new_privileges()
    empty()
    restrict = None
    if abi:
        ruleset = fcntl.fcntl(linux.landlock_ruleset(abi, settings["rules"]), fcntl.F_DUPFD_CLOEXEC, FIRST_OWN)
        restrict = linux.landlock_restriction(ruleset)
    linux.drop_capabilities()
    linux.set_dumpable(False)
    return restrict


def set_common_limits() -> None:
    """The limits that are the same for every process."""
    set_limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    for limit in (resource.RLIMIT_CORE, resource.RLIMIT_MEMLOCK, resource.RLIMIT_MSGQUEUE):
        set_limit(limit, 0)


def set_limit(limit: int, value: int) -> None:
    resource.setrlimit(limit, (value, value))


def serve(control: _socket.socket, begin: Callable[[list[int]], None]) -> None:
    """Forks a process for each `F`, which calls `begin` with the received descriptors; a `K` kills one.

    Each message has the process's number, modulo 256. Answers `E` when one has ended and the folders are empty again.
    Ends with all processes when the parent closes the connection.
    """
    poll = select.poll()
    poll.register(control, select.POLLIN)
    processes: dict[int, tuple[int, int, bool]] = {}  # number, process, and whether it was killed, by handle
    os.closerange(0, FIRST_OWN)
    while True:
        for ready, _ in poll.poll():
            if ready != control.fileno():
                number, child, killed = processes.pop(ready)
                poll.unregister(ready)
                os.close(ready)
                _report(control.fileno(), number, child, killed)
                continue
            message, descriptors = _order(control)
            if message[:1] == b"K":
                for handle, (number, child, _) in processes.items():
                    if number == message[1]:
                        os.kill(child, 9)
                        processes[handle] = number, child, True
                continue
            child = new_processes.fork()
            if child == 0:
                begin(descriptors)
            handle = os.pidfd_open(child)  # before the descriptors of the next one find a number free
            for descriptor in descriptors:
                os.close(descriptor)
            processes[handle] = message[1], child, False
            poll.register(handle, select.POLLIN)


def _order(control: _socket.socket) -> tuple[bytes, list[int]]:
    try:
        message, descriptors = channel.receive_with_descriptors(control, channel.MOST_DESCRIPTORS, 2)
    except channel.ClosedError:
        os._exit(0)  # and all others with us: our namespace ends
    return message, descriptors


def _report(connection: int, number: int, child: int, killed: bool) -> None:
    """Of a process that was killed nobody asks what it used, and the kernel's record of that costs a dozen pages."""
    if killed:
        _, status = os.waitpid(child, 0)
        record = ENDED.pack(number, os.waitstatus_to_exitcode(status), 0.0, 0)
    else:
        ended = linux.wait_for(child)
        record = ENDED.pack(number, ended["exit_status"], ended["cpu_s"], ended["memory_kib"])
    empty()
    channel.send(connection, b"E", record)


def empty() -> None:
    """Removes what a process left in the folders, and resets what it can change of the folders themselves."""
    for folder in folders.writable:
        os.chmod(folder, _FOLDER_MODE)
        try:
            for name in os.listdir(folder):
                os.unlink(f"{folder}/{name}")
        except OSError:  # it left a folder
            folders.empty(folder)
        os.utime(folder, (0, 0))
