"""A zygote seen from the parent: started, asked for processes, ended."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Sequence

import msgspec

from evaluator.sandbox import launch
from evaluator.sandbox.reports import Ended
from evaluator.sandbox.unavailable import SandboxUnavailable
from evaluator.sandbox.wire import BrokenFrameError, Connection, SilenceError, Watch

_START_S = 30.0
_ANSWER_CAP = 4096


class Zygote:
    """A warm interpreter in its own namespaces, with one child at a time. Not for several threads at once."""

    def __init__(self, *, numpy: bool) -> None:
        """Starts it and waits until it is warm. Raises `SandboxUnavailable` with bubblewrap's own words."""
        self._process, control, self._errors = launch.start(numpy=numpy)
        self._control = Connection(control)
        try:
            kind, answer = self._control.receive(time.monotonic() + _START_S, _ANSWER_CAP)
        except (EOFError, SilenceError, BrokenFrameError, OSError):
            kind, answer = b"", b""
        if kind != b"R":
            said = self._last_words()
            self.close()
            raise SandboxUnavailable(f"it does not start ({said})", _mend(said))
        self.landlock_abi = answer[0]

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def fork(self, descriptors: Sequence[int]) -> None:
        """Starts a child with the parent's connection and what becomes its 0, 1 and 2. Raises `OSError`."""
        self._control.send_descriptors(b"F", descriptors)

    def kill_child(self) -> None:
        """Kills the child with everything below it; `await_end` says when that is done. Raises `OSError`."""
        self._control.send_descriptors(b"K", [])

    def await_end(self, watch: Watch | float) -> Ended:
        """How the child ended, when it is gone. Raises `EOFError`, `SilenceError`, or what `watch` raises."""
        try:
            kind, payload = self._control.receive(watch, _ANSWER_CAP)
            if kind == b"E":
                return msgspec.json.decode(payload, type=Ended)
        except (BrokenFrameError, msgspec.DecodeError):
            pass
        raise EOFError("the zygote speaks nonsense")

    def kill(self) -> None:
        """Kills it and everything in its namespaces, at once; it must still be closed."""
        self._process.kill()

    def close(self) -> None:
        """Ends it and everything in its namespaces; returns when all of it is gone."""
        self._control.close()
        try:
            self._process.wait(2.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()

    def _last_words(self) -> str:
        """What bubblewrap or Python wrote before it ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        self._errors.seek(0)
        lines = self._errors.read(4000).decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it ended without a word"


def _mend(said: str) -> str:
    if any(word in said for word in ("namespace", "uid map", "not permitted")):
        settings = "user.max_user_namespaces=15000 kernel.apparmor_restrict_unprivileged_userns=0"
        return f"allow user namespaces, as root: sysctl -w {settings}"
    return "see `rollscope doctor`"
