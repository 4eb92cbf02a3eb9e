"""A zygote seen from the parent: started, asked for templates, ended."""

from __future__ import annotations

import contextlib
import socket
import subprocess

from evaluator.sandbox import launch
from evaluator.sandbox.unavailable import SandboxUnavailable

_START_S = 30.0
_ANSWER_S = 10.0


class Zygote:
    """A warm interpreter in its own namespaces. Not for several threads at once."""

    def __init__(self, *, numpy: bool) -> None:
        """Starts it and waits until it is warm. Raises `SandboxUnavailable` with bubblewrap's own words."""
        self._process, self._control, self._errors = launch.start(numpy=numpy)
        self._control.settimeout(_START_S)
        try:
            answer = self._control.recv(6, socket.MSG_WAITALL)
        except OSError:
            answer = b""
        if answer[4:5] != b"R":
            said = self._last_words()
            self.close()
            raise SandboxUnavailable(f"it does not start ({said})", _mend(said))
        self.landlock_abi = answer[5]
        self._control.settimeout(_ANSWER_S)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def fork(self) -> socket.socket:
        """A new template, the one before it ended; returns the connection to it. Raises `OSError`."""
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._control, [b"F"], [theirs.fileno()])
        return ours

    def end_template(self) -> None:
        """Kills the living template with everything below it; returns when it is gone. Raises `OSError`."""
        self._control.send(b"K")
        if not self._control.recv(5, socket.MSG_WAITALL):
            raise ConnectionError("the zygote has gone")

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
