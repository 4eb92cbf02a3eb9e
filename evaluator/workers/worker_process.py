"""The process that grades for another one: a `WorkerLoop` over a socket. It is started by exec, and imports little.

It ends when its caller closes the socket, and at once when its caller is gone, however that ended. Nothing that it
started outlives it.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import threading
from typing import Final

from evaluator.workers.gate import Gate
from evaluator.workers.messages import Frames, FromWorker, framed, to_worker
from evaluator.workers.worker_loop import WorkerLoop

_READ: Final = 1 << 20
_STACK_BYTES: Final = 8 << 20
_ENDS_WITHIN_S: Final = 2.0
"""How long a grader that is in the middle of something, and runs no completion, may take to notice the end."""


def main(descriptor: int, gate: int, caller: int) -> None:
    """Grades for the process `caller` at the other end of the socket until that is closed. Does not return."""
    threading.stack_size(_STACK_BYTES)  # the default is the caller's RLIMIT_STACK, which may be larger than memory
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the caller's, who then says what happens here
    connection = socket.socket(fileno=descriptor)
    loop = WorkerLoop(lambda message: _send(connection, message), Gate(gate))
    ended = threading.Event()
    threading.Thread(target=_listen, args=(connection, caller, loop, ended), daemon=True).start()
    try:
        loop.run()
    finally:
        ended.set()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(0)


def _send(connection: socket.socket, message: FromWorker) -> None:
    with contextlib.suppress(OSError):  # nobody is there any more, which `_listen` notices
        connection.sendall(framed(message))


def _listen(connection: socket.socket, caller: int, loop: WorkerLoop, ended: threading.Event) -> None:
    frames = Frames()
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    lifeline = _lifeline(caller)
    if lifeline is not None:
        poll.register(lifeline, select.POLLIN)
    while True:
        patience = loop.patience()
        ready = dict(poll.poll(None if patience is None else patience * 1000))
        if lifeline in ready or (connection.fileno() in ready and not _take(connection, frames, loop)):
            break
        loop.tick()
    loop.end()
    if loop.waits_for_slot or not ended.wait(_ENDS_WITHIN_S):
        loop.close()
        os._exit(1)


def _take(connection: socket.socket, frames: Frames, loop: WorkerLoop) -> bool:
    """Whether there is still somebody at the other end."""
    try:
        data = connection.recv(_READ)
    except OSError:
        return False
    for body in frames.feed(data):
        loop.take(to_worker(body))
    return bool(data)


def _lifeline(caller: int) -> int | None:
    """A descriptor that can be read from when the caller has ended; None where the kernel has none.

    A process that the caller forked may hold the socket's other end, so that its closing does not tell.
    """
    try:
        lifeline = os.pidfd_open(caller)
    except OSError:
        return None
    if os.getppid() != caller:  # it ended before that, and its number may be another's
        os._exit(1)
    return lifeline
