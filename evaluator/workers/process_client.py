"""A worker that is a process of this machine (`worker_process`), at the other end of a socket."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from typing import Final

from evaluator.workers.engine import Engine, WorkerLostError
from evaluator.workers.messages import Frames, FromWorker, ToWorker, framed
from evaluator.workers.worker_count import worker_count

_BOOT: Final = (
    "import json, sys; path, *rest = json.loads(sys.argv[1]); sys.path[:] = path; "
    "from evaluator.workers.worker_process import main; main(*rest)"
)
_BUFFER: Final = 1 << 20
_READ: Final = 1 << 20
_MOST_READ: Final = 16
_ENDS_WITHIN_S: Final = 5.0
_GATE: Final = os.memfd_create("gate")
"""The file of the gate that all worker processes of this process, and of its forks, go through: see `locks`."""


def local_engine(workers: int | None = None) -> Engine:
    """This machine's worker processes; None: as many as `worker_count` says."""
    count, cores = workers or worker_count(), tuple(os.sched_getaffinity(0))
    return Engine(ProcessClient, count, cores=cores if len(cores) == count else ())


class ProcessClient:
    """One process. It is started by exec without a copy of the caller's memory, however large that is (vfork)."""

    def __init__(self) -> None:
        """Starts it. Raises `WorkerLostError` if there is no room for it."""
        try:
            ours, theirs = socket.socketpair()
            with theirs, contextlib.ExitStack() as failing:
                failing.callback(ours.close)
                for each in (ours, theirs):
                    each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
                self._process = self._started(theirs.fileno())
                failing.pop_all()
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            raise WorkerLostError(str(error)) from error
        ours.setblocking(False)
        self._connection = ours
        self._owner = os.getpid()
        self._frames = Frames[FromWorker](FromWorker)
        self._unsent = bytearray()
        self._lost = ""

    @staticmethod
    def _started(descriptor: int) -> subprocess.Popen[bytes]:
        arguments = json.dumps([sys.path, descriptor, _GATE, os.getpid()])
        return subprocess.Popen(
            [sys.executable, "-c", _BOOT, arguments],
            stdin=subprocess.DEVNULL,
            pass_fds=(descriptor, _GATE),
            start_new_session=True,  # Ctrl-C in a terminal is for the caller
        )

    def fileno(self) -> int:
        return self._connection.fileno()

    def send(self, message: ToWorker) -> None:
        if self._unsent:
            self._unsent += framed(message)
        else:
            self._unsent = framed(message)
        self.flush()

    def flush(self) -> bool:
        try:
            while self._unsent:
                del self._unsent[: self._connection.send(self._unsent)]
        except BlockingIOError:
            return True
        except OSError:
            self._unsent.clear()  # it has ended, which `receive` says
        return False

    def receive(self) -> list[FromWorker]:
        found: list[FromWorker] = []
        try:
            for _ in range(0 if self._lost else _MOST_READ):
                data = self._connection.recv(_READ)
                found += self._frames.feed(data)
                if not data:
                    self._lost = self._how_it_ended()
                if len(data) < _READ:
                    break
        except BlockingIOError:
            pass
        except OSError:
            self._lost = self._how_it_ended()
        if self._lost and not found:
            raise WorkerLostError(self._lost)
        return found

    def drop(self, _: int) -> bool:
        return False

    def end(self) -> None:
        if os.getpid() == self._owner:
            with contextlib.suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)  # also where a forked child of ours holds it open

    def gone(self) -> bool:
        if os.getpid() == self._owner and self._process.poll() is None:
            return False
        self._connection.close()
        return True

    def close(self) -> None:
        self.end()
        self._connection.close()
        if os.getpid() != self._owner:
            return  # a forked child: the process is its parent's
        try:
            self._process.wait(_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _how_it_ended(self) -> str:
        end = time.monotonic() + 1.0
        while (code := self._process.poll()) is None and time.monotonic() < end:
            time.sleep(0.005)
        if code is None:
            return "a worker process closed its connection"
        how = f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
        return f"the worker process {how}"
