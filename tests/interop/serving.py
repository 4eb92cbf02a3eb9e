"""Running servers: `rollscope serve` as a process, and any application in a thread of this one."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
import uvicorn
from starlette.types import ASGIApp

from evaluator.cli import main
from evaluator.interop import http_server
from tests.sandbox.refusing import command

ROOT = Path(__file__).resolve().parents[2]
# A server that ends in the midst of a run lets go of its files as its process ends, which Python may warn of.
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error,ignore::ResourceWarning"}
PATIENCE_S = 120


class Answer(NamedTuple):
    """Status, and the decoded body, or its text."""

    status: int
    body: Any


class Served:
    """A server as people start it."""

    def __init__(
        self,
        *arguments: object,
        port: int = 0,
        without: tuple[str, ...] = (),
        system: str = "nemo-gym",
        **variables: str,
    ) -> None:
        """`without`: what the machine refuses (see `tests.sandbox.refusing`). `variables`: of its environment."""
        words = [sys.executable, "-m", "evaluator.cli", "serve", system, "--port", str(port), *map(str, arguments)]
        self.process = subprocess.Popen(
            command(without, *words), env=ENVIRONMENT | variables, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
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
        listener = http_server.listen("127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        config = uvicorn.Config(application, log_level="critical", timeout_graceful_shutdown=1, ws="none")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listener]})
        self._thread.start()

    def end(self) -> None:
        self._server.should_exit = True
        self._thread.join()


def ask(url: str, method: str, path: str, body: object = None, **headers: str) -> Answer:
    """`body`: text or bytes as they are, anything else as JSON."""
    sent = body if isinstance(body, str | bytes | None) else json.dumps(body)
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE_S)
    try:
        connection.request(method, path, sent, {"content-type": "application/json"} | headers)
        answer = connection.getresponse()
        text = answer.read().decode()
    finally:
        connection.close()
    return Answer(answer.status, json.loads(text) if text.startswith("{") else text)


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """The line of a server that does not come to listen for what it was told, in this process."""
    with pytest.raises(SystemExit) as exited:
        main(["serve", *map(str, words)])
    out, told = capsys.readouterr()
    assert (exited.value.code, out, told.count("\n")) == (2, "", 1)
    return told
