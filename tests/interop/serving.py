"""Running servers: `rollscope serve` as a process, and any application in a thread of this one."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import pytest
import uvicorn
from starlette.types import ASGIApp

from evaluator.cli import main
from evaluator.interop import http_server
from evaluator.interop.endpoints import Guard
from evaluator.interop.http_server import Hosts
from tests.waiting import HANG_S, wait_until

Found = TypeVar("Found")
ROOT = Path(__file__).resolve().parents[2]


def environment(**variables: str) -> dict[str, str]:
    """Of a command as a process."""
    # A server that ends in the midst of a run lets go of its files as its process ends, which Python may warn of.
    ours = {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error,ignore::ResourceWarning"}
    return os.environ | ours | variables


class Answer(NamedTuple):
    """Status, and the decoded body, or its text."""

    status: int
    body: Any


class Served:
    """A server as people start it."""

    def __init__(self, system: str, *words: object, **variables: str) -> None:
        """`words`: more options; `variables`: of its environment."""
        command = [sys.executable, "-m", "evaluator.cli", "serve", system, "--port", "0", *map(str, words)]
        self.process = subprocess.Popen(
            command, env=environment(**variables), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert self.process.stdout
        self.first_line = self.process.stdout.readline().strip()
        self.url = self.first_line.removeprefix("listening on ")

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Its exit status and what it wrote to stderr."""
        self.process.send_signal(number)
        _, told = self.process.communicate(timeout=HANG_S)
        return self.process.returncode, told


@contextmanager
def in_thread(application: ASGIApp, longest: float = 8) -> Iterator[str]:
    """Its URL, guarded as `rollscope serve` guards it. `longest`: the largest request, in MiB."""
    listener = http_server.listen("127.0.0.1", 0)
    guarded = Guard(application, Hosts("127.0.0.1"), longest)
    config = uvicorn.Config(guarded, log_level="critical", timeout_graceful_shutdown=1, ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def ask(url: str, method: str, path: str, body: object = None, **headers: str) -> Answer:
    """`body`: text or bytes as they are, anything else as JSON."""
    return asked(url, method, path, body, headers)[0]


def asked(url: str, method: str, path: str, body: object, headers: dict[str, str]) -> tuple[Answer, str | None]:
    """The answer, and the cookie that it sets."""
    sent = body if isinstance(body, str | bytes | None) else json.dumps(body)
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=HANG_S)
    try:
        connection.request(method, path, sent, {"content-type": "application/json"} | headers)
        answer = connection.getresponse()
        text = answer.read().decode()
    finally:
        connection.close()
    cookie = answer.getheader("set-cookie")
    return Answer(answer.status, json.loads(text) if text.startswith("{") else text), cookie


def served_here(
    capsys: pytest.CaptureFixture[str],
    use: Callable[[str], Found],
    *words: object,
    number: signal.Signals = signal.SIGTERM,
) -> tuple[Found, str, str]:
    """Runs `rollscope serve` in this process: what `use` found at its URL, and what else it said, on stdout and stderr.
    The signal then ends it, with status 0."""
    said = ["", ""]
    over = threading.Event()

    def url() -> str | None:
        for place, text in enumerate(capsys.readouterr()):
            said[place] += text
        first, line_end, said[0] = said[0].partition("\n")
        said[0] = said[0] if line_end else first
        return first.removeprefix("listening on ") if line_end else None

    def client() -> Found:
        try:
            found = wait_until(lambda: over.is_set() or url(), "it does not listen")
            assert isinstance(found, str), said
            return use(found)
        finally:
            if not over.is_set():
                os.kill(os.getpid(), number)

    handlers = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    with ThreadPoolExecutor(1) as thread:
        using = thread.submit(client)
        try:
            with pytest.raises(SystemExit) as exited:
                main(["serve", *map(str, words)])
        finally:
            over.set()
            for each, handler in handlers.items():
                signal.signal(each, handler)
        found = using.result()
    assert exited.value.code == 0
    out, told = capsys.readouterr()
    return found, said[0] + out, said[1] + told


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """The line of a server that does not come to listen for what it was told, in this process."""
    with pytest.raises(SystemExit) as exited:
        main(["serve", *map(str, words)])
    out, told = capsys.readouterr()
    assert (exited.value.code, out, told.count("\n")) == (2, "", 1)
    return told
