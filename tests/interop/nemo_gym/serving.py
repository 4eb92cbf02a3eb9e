"""Running servers: `rollscope serve nemo-gym` as a process, and any application in a thread of this one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from evaluator.interop import http_serving
from tests.sandbox.refusing import command

ROOT = Path(__file__).resolve().parents[3]
COMMAND = [sys.executable, "-m", "evaluator.cli", "serve", "nemo-gym"]
# A server that ends in the midst of a run lets go of its files as its process ends, which Python may warn of.
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error,ignore::ResourceWarning"}
PATIENCE_S = 60


class Served:
    """A server as people start it."""

    def __init__(self, *arguments: object, port: int = 0, without: tuple[str, ...] = ()) -> None:
        """`without`: what the machine refuses (see `tests.sandbox.refusing`)."""
        words = command(without, *COMMAND, "--port", str(port), *map(str, arguments))
        self.process = subprocess.Popen(
            words, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert self.process.stdout
        self.first_line = self.process.stdout.readline().strip()
        self.url = self.first_line.removeprefix("listening on ")

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Its exit status and what it wrote to stderr."""
        self.process.send_signal(number)
        _, told = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, told


class InThread:
    """An application that this process serves."""

    def __init__(self, application: ASGIApp) -> None:
        listener = http_serving.listening("127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        config = uvicorn.Config(application, log_level="critical", timeout_graceful_shutdown=1, ws="none")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listener]})
        self._thread.start()

    def end(self) -> None:
        self._server.should_exit = True
        self._thread.join()
