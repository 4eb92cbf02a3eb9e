"""A template: a confined process that has compiled a program, runs none of it, and forks once for each test case."""

from __future__ import annotations

import gc
import os
import socket
from collections.abc import Callable

from evaluator.sandbox.guest import channel, leftovers, linux, new_processes


def serve(connection: int, run: Callable[[list[int]], None]) -> None:
    """For each `F`, forks a process that calls `run` with the received descriptors; answers `E` when it has ended.

    `run` does not return. Ends the process when the parent closes the connection.
    """
    linux.set_dumpable(False)  # so that its forks can't write to its memory
    control = socket.socket(fileno=connection)
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
