"""A judge for tests: a real HTTP server on this machine whose answers a test chooses."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from evaluator.graders import Bench, get_grader
from evaluator.model import Grade, JsonValue, Mode, Rollout, Task
from evaluator.sandbox import Sandbox
from tests.waiting import HANG_S

DRIP_S = 0.05
"""Between two bytes: more of them would be too much of a header before it is too late."""
PATIENCE_S = HANG_S
"""For what should end by itself."""


@dataclass
class Asked:
    """One request as it came in."""

    path: str
    body: dict[str, Any]
    authorization: str

    @property
    def text(self) -> str:
        """The user's message."""
        return str(self.body["messages"][-1]["content"])


Answer = Callable[["Handler", Asked], None]


def says(text: str | None, **choice: object) -> Answer:
    """A chat completion with this text."""
    message = {"role": "assistant", "content": text}
    body = {"id": "1", "object": "chat.completion", "choices": [{"index": 0, "message": message} | choice]}
    return sends(json.dumps(body))


def sends(text: str, status: int = 200, kind: str = "application/json", **headers: str) -> Answer:
    """Any body."""

    def answer(handler: Handler, asked: Asked) -> None:
        body = text.encode()
        handler.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def refuses(status: int, message: str, code: str | None = None, **headers: str) -> Answer:
    """An error as OpenAI's servers put it."""
    return sends(json.dumps({"error": {"message": message, "code": code}}), status, **headers)


def closes(handler: Handler, asked: Asked) -> None:
    """Not a byte."""
    handler.close_connection = True


def breaks_off(handler: Handler, asked: Asked) -> None:
    """Less than was promised."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.close_connection = True


def hangs(handler: Handler, asked: Asked) -> None:
    """Takes the request, and says nothing until the server ends."""
    handler.judge.ended.wait()


def drips(start: bytes, more: bytes) -> Answer:
    """A byte now and then, without an end."""

    def answer(handler: Handler, asked: Asked) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + start)
        while not handler.judge.ended.wait(DRIP_S):
            handler.wfile.write(more)

    return answer


def floods(status: int) -> Answer:
    """A body without an end, as fast as it is taken."""

    def answer(handler: Handler, asked: Asked) -> None:
        handler.wfile.write(f"HTTP/1.1 {status} Told\r\nContent-Type: application/json\r\n\r\n".encode())
        while not handler.judge.ended.is_set():
            handler.wfile.write(b'{"choices": [' + b" " * 65536)

    return answer


@dataclass
class JudgeServer:
    """`answers` are given one after another, the last one from then on."""

    answers: list[Answer] = field(default_factory=lambda: [says("Fine.\nScore: 8")])
    asked: list[Asked] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)
    url: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, asked: Asked) -> Answer:
        with self.lock:
            self.asked.append(asked)
            return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    judge: JudgeServer

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:  # who asked has gone
            self.close_connection = True
            return
        asked = Asked(self.path, json.loads(body), self.headers["Authorization"] or "")
        try:
            self.judge.take(asked)(self, asked)
        except OSError:  # who asked has gone
            self.close_connection = True

    def log_message(self, *arguments: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    """Of connections that wait for a thread: of one more, the kernel lets go, and who asked tries again in a second."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing to tell of who goes between two requests: it would stand among what the code under test says."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def judge_server() -> Iterator[JudgeServer]:
    judge = JudgeServer()
    handler = type("JudgeHandler", (Handler,), {"judge": judge})
    server = Server(("127.0.0.1", 0), handler)
    judge.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield judge
    finally:
        judge.ended.set()
        server.shutdown()
        thread.join()
        server.server_close()


def own_environment(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """No key, no server and no cache but the test's own."""
    for name in [name for name in os.environ if name.startswith("OPENAI_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def spec(judge: JudgeServer, **more: object) -> str:
    """The grader's text, without waiting before retries."""
    options = {"model": "m", "base_url": judge.url, "retries": 1, "backoff_s": 0, "timeout_s": PATIENCE_S}
    return json.dumps({"name": "similarity"} | options | more)


def graded(
    judge: JudgeServer,
    completion: str = "Paris",
    *,
    answer: JsonValue = "Paris",
    question: str = "Which is the capital of France?",
    **options: object,
) -> Grade:
    """A completion's grade by the judge."""
    task = Task(task_id="t", mode=Mode.ANSWER, prompt=question, answer=answer)
    rollout = Rollout(task_id="t", sample_id="t#0", completion=completion)
    return get_grader(spec(judge, **options)).grade(task, rollout, Bench(Sandbox()))
