"""Notes what a task's reference needs from the machine and can't get in the sandbox: programs, other hosts.

It uses Python's audit events, so it is only for trusted code in a separate process.
"""

from __future__ import annotations

import os
import shutil
import sys
from typing import Any

_MOST = 10
_OF_HOSTS = frozenset(f"socket.{name}" for name in ("connect", "getaddrinfo", "gethostbyname", "gethostbyaddr", "bind"))
_HERE = ("localhost", "127.0.0.1", "::1", "0.0.0.0", "::", "", "sandbox")  # noqa: S104 - nothing is bound


class Lacking:
    """Takes notes until the process ends."""

    def __init__(self, *, processes: bool, loopback: bool) -> None:
        """`processes`, `loopback`: what the task may use."""
        self._processes = processes
        self._loopback = loopback
        self.needs: list[str] = []
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        need = ""
        if event in ("subprocess.Popen", "os.exec", "os.posix_spawn"):
            need = self._of_program(os.fsdecode(arguments[0]))
        elif event == "os.system":
            words = os.fsdecode(arguments[0]).split()
            need = self._of_program("/bin/sh") or (self._of_program(words[0]) if words else "")
        elif event in ("os.fork", "os.forkpty") and not self._processes:
            need = "starts processes"
        elif event in _OF_HOSTS:
            address = arguments[1] if event in ("socket.connect", "socket.bind") else arguments[0]
            need = self._of_host(address[0] if type(address) is tuple else address)
        if need and need not in self.needs and len(self.needs) < _MOST:
            self.needs.append(need)

    def _of_program(self, name: str) -> str:
        return "" if self._processes and shutil.which(name) else f"starts `{name[:80]}`"

    def _of_host(self, host: Any) -> str:
        text = host.decode("utf-8", "replace") if type(host) is bytes else str(host or "")
        return "" if self._loopback and text in _HERE else f"connects to `{text[:80]}`"
