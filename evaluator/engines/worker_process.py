"""The process that grades for another one: `Desk` over a socket. It is started by exec, and imports nothing large.

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

from evaluator.engines.desk import Desk
from evaluator.engines.gate import Gate
from evaluator.engines.messages import Frames, FromHand, framed, to_hand

_READ: Final = 1 << 20
_ENDS_WITHIN_S: Final = 2.0
"""How long a grader that is in the middle of something, and runs no completion, may take to notice the end."""


def main(descriptor: int, gate: int, caller: int) -> None:
    """Grades for the process `caller` at the other end of the socket until that is closed. Does not return."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the caller's, who then says what happens here
    connection = socket.socket(fileno=descriptor)
    desk = Desk(lambda message: _send(connection, message), Gate(gate))
    ended = threading.Event()
    threading.Thread(target=_listen, args=(connection, caller, desk, ended), daemon=True).start()
    try:
        desk.run()
    finally:
        ended.set()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(0)


def _send(connection: socket.socket, message: FromHand) -> None:
    with contextlib.suppress(OSError):  # nobody is there any more, which `_listen` notices
        connection.sendall(framed(message))


def _listen(connection: socket.socket, caller: int, desk: Desk, ended: threading.Event) -> None:
    frames = Frames()
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    lifeline = _lifeline(caller)
    if lifeline is not None:
        poll.register(lifeline, select.POLLIN)
    while True:
        patience = desk.patience()
        ready = dict(poll.poll(None if patience is None else patience * 1000))
        if lifeline in ready or (connection.fileno() in ready and not _take(connection, frames, desk)):
            break
        desk.tick()
    desk.end()
    if desk.waits_for_room or not ended.wait(_ENDS_WITHIN_S):
        desk.close()
        os._exit(1)


def _take(connection: socket.socket, frames: Frames, desk: Desk) -> bool:
    """Whether there is still somebody at the other end."""
    try:
        data = connection.recv(_READ)
    except OSError:
        return False
    for body in frames.feed(data):
        desk.take(to_hand(body))
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
