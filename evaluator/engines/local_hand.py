"""A hand that is a process of this machine (`worker_process`), at the other end of a socket."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from typing import Final

from evaluator.engines import pool
from evaluator.engines.hands import HandLostError
from evaluator.engines.socket_hand import SocketHand

_BOOT: Final = (
    "import json, sys; path, *rest = json.loads(sys.argv[1]); sys.path[:] = path; "
    "from evaluator.engines.worker_process import main; main(*rest)"
)
_BUFFER: Final = 1 << 20
_ENDS_WITHIN_S: Final = 5.0


class LocalHand(SocketHand):
    """One process. It is started by exec without a copy of the caller's memory, however large that is (vfork)."""

    def __init__(self) -> None:
        """Starts it. Raises `HandLostError` if there is no room for it."""
        try:
            ours, theirs = socket.socketpair()
            with theirs, contextlib.ExitStack() as failing:
                failing.callback(ours.close)
                for each in (ours, theirs):
                    each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
                self._process = self._started(theirs.fileno())
                failing.pop_all()
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            raise HandLostError(str(error)) from error
        super().__init__(ours)

    @staticmethod
    def _started(descriptor: int) -> subprocess.Popen[bytes]:
        gate = pool.gate().descriptor
        order = json.dumps([sys.path, descriptor, gate, os.getpid()])
        return subprocess.Popen(
            [sys.executable, "-c", _BOOT, order],
            stdin=subprocess.DEVNULL,
            pass_fds=(descriptor, gate),
            start_new_session=True,  # Ctrl-C in a terminal is for the caller
        )

    @property
    def number(self) -> int:
        """Its process's."""
        return self._process.pid

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
