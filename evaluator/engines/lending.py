"""A server lends its worker processes to this user's other processes, which then need not start any.

Trainers run many reward processes on a machine, some for a single completion, and a sandbox takes longer to start than
most completions run. Where a server of ours runs, single calls of the others go to it: through a socket in the folder
that only this user can enter, and only between processes that would give the same grades. What travels are the messages
of `messages`, and at this end they become calls of `warm`.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import queue
import socket
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from evaluator.engines import borrowed_hand, warm
from evaluator.engines.lender_socket import GREETING, abandoned, lender_socket
from evaluator.engines.messages import (
    Done,
    Frames,
    FromHand,
    Job,
    Ready,
    Setup,
    ToHand,
    Withdraw,
    Withdrawn,
    Work,
    framed,
    packed,
    task_in,
    to_hand,
)
from evaluator.model import Task
from evaluator.options import Options

_READ: Final = 1 << 20
_PAUSE_S: Final = 0.1


@contextmanager
def lending() -> Iterator[None]:
    """Inside, this process lends, unless another one does already or there is no folder for it. It borrows nothing."""
    borrowed_hand.do_without(math.inf)
    path = lender_socket()
    listener = _listener(path) if path is not None else None
    if path is None or listener is None:
        yield
        return
    threading.Thread(target=_accept, args=(listener,), daemon=True).start()
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        listener.shutdown(socket.SHUT_RDWR)  # which ends `accept`; closing it would not
        listener.close()


def _listener(path: Path) -> socket.socket | None:
    for each in abandoned(path.parent):
        each.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(os.fspath(path))
        listener.listen(socket.SOMAXCONN)
    except OSError:  # another one lends
        listener.close()
        return None
    return listener


def _accept(listener: socket.socket) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):  # it is closed
                return
            time.sleep(_PAUSE_S)
            continue
        threading.Thread(target=_Borrower(connection).serve, daemon=True).start()


class _Borrower:
    """Who is at the other end of a connection. As any hand, it does one job after the other."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._answers: queue.SimpleQueue[FromHand | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._tasks: dict[int, tuple[Task, Options]] = {}
        self._todo: deque[Job] = deque()
        self._doing: warm.Call | None = None
        self._measure = False

    def serve(self) -> None:
        """Until the connection is closed, which ends what it wanted."""
        frames = Frames()
        threading.Thread(target=self._answer, daemon=True).start()
        try:
            with contextlib.suppress(OSError):
                self._connection.sendall(GREETING)
                while data := self._connection.recv(_READ):
                    for body in frames.feed(data):
                        self._take(to_hand(body))
        finally:
            with self._lock:
                self._todo.clear()
                doing = self._doing
            if doing is not None:
                doing.abort()
            self._answers.put(None)

    def _answer(self) -> None:
        """In a thread of its own, because who does not read may not keep anybody else waiting."""
        with self._connection, contextlib.suppress(OSError):  # nobody is there any more, which `serve` notices
            while (answer := self._answers.get()) is not None:
                self._connection.sendall(framed(answer))
            self._connection.shutdown(socket.SHUT_RDWR)

    def _take(self, message: ToHand) -> None:
        if isinstance(message, Setup):
            self._answers.put(Ready())
        elif isinstance(message, Withdraw):
            self._answers.put(Withdrawn(self._without(set(message.numbers))))
        elif isinstance(message, Work):
            with self._lock:
                self._measure = message.measure
                for number in message.forget:
                    self._tasks.pop(number, None)
                for each in message.tasks:
                    self._tasks[each.number] = task_in(each)
                self._todo.extend(message.jobs)
            self._begin_next()

    def _without(self, numbers: set[int]) -> list[int]:
        with self._lock:
            found = [job.number for job in self._todo if job.number in numbers]
            self._todo = deque(job for job in self._todo if job.number not in numbers)
        return found

    def _begin_next(self) -> None:
        began = time.monotonic()
        with self._lock:
            if self._doing is not None or not self._todo:
                return
            job = self._todo.popleft()
            task, options = self._tasks[job.task]
            service = warm.service("local", None, options)
            call = self._doing = service.call(task, job.rollout, options, measure=self._measure)
        call.future.add_done_callback(lambda future: self._ended(job, time.monotonic() - began, future))

    def _ended(self, job: Job, seconds: float, future: Future[warm.Answer]) -> None:
        try:
            grade, spent = future.result()
            verdicts = {grade.verdict.value: 1}
            self._answers.put(
                Done([job.number], packed([grade]), verdicts, int(grade.cached), seconds, seconds, spent=spent)
            )
            self._doing = None
            self._begin_next()
        except BaseException:  # no sandbox, or nobody waits: the other end tries by itself, and says what is wrong
            self._answers.put(None)
