"""`rollscope serve agentfly` as people run it: a process, its first line, its answers, and how it ends."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.engines.processes import descendants, wait_until_none
from tests.sandbox.refusing import command

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "evaluator.cli", "serve"]
# A server that ends in the midst of a run lets go of its files as its process ends, which Python may warn of.
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error,ignore::ResourceWarning"}
PATIENCE_S = 120

Answer = tuple[int, dict[str, str]]


class Served:
    """A running server."""

    def __init__(self, *arguments: object) -> None:
        words = [*COMMAND, *map(str, arguments)]
        self.process = subprocess.Popen(
            words, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert self.process.stdout
        self.first_line = self.process.stdout.readline().strip()
        self.url = self.first_line.removeprefix("listening on ")

    def ask(self, method: str, path: str, body: str | bytes | None = None, **headers: str) -> Answer:
        if body is not None:
            headers = {"content-type": "application/json"} | headers
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=PATIENCE_S)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        return answer.status, json.loads(text) if text.startswith("{") else {"text": text}

    def run(self, code: Any) -> Answer:
        return self.ask("POST", "/exec", json.dumps({"code": code}))

    def end(self, number: signal.Signals) -> tuple[int, str]:
        """Its exit status and what it wrote to stderr."""
        self.process.send_signal(number)
        _, told = self.process.communicate(timeout=30)
        return self.process.returncode, told


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    server = Served("agentfly", "--port", 0)
    yield server
    assert server.end(signal.SIGTERM) == (0, "")


@pytest.fixture
def serve() -> Iterator[Callable[..., Served]]:
    started: list[Served] = []

    def start(*arguments: object) -> Served:
        started.append(Served(*arguments))
        return started[-1]

    yield start
    for server in started:
        server.process.kill()
        server.process.communicate()


def refused(*arguments: object) -> tuple[int, str]:
    """Exit status and stderr of a server that does not come to listen."""
    words = [*COMMAND, *map(str, arguments)]
    done = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    return done.returncode, done.stderr


def test_it_says_where_it_listens_and_that_it_is_well(served: Served) -> None:
    assert served.first_line.startswith("listening on http://127.0.0.1:")
    assert served.ask("GET", "/health") == (200, {"status": "ok"})


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("print('Hello, World!')", (200, {"output": "Hello, World!\n"})),
        ("def f(n): return n and n + g(n - 1)\ndef g(n): return f(n)\nprint(f(3))", (200, {"output": "6\n"})),
        ("print(1)\nraise SystemExit(0)", (200, {"output": "1\n"})),
        ("", (200, {"output": ""})),
        ("print('x' * 20_000)", (200, {"output": "x" * 16_384})),
        ("print(nope)", (400, {"detail": "NameError: name 'nope' is not defined\n"})),
        ("raise ValueError('x' * 10**5)", None),
        ("x = (", (400, {"detail": "SyntaxError: '(' was never closed\n"})),
        ("raise SystemExit(3)", (400, {"detail": "SystemExit: 3"})),
        ("b'x' * (1 << 33)", (400, {"detail": "Memory limit exceeded"})),
    ],
)
def test_what_it_answers(served: Served, code: str, answer: Answer | None) -> None:
    status, told = served.run(code)
    if answer is None:
        assert (status, len(told["detail"]) <= 8_192) == (400, True)
    else:
        assert (status, told) == answer


@pytest.mark.parametrize("body", ["", "{", "[]", "{}", '{"code": 1}', b"\xff"])
def test_a_request_without_code_is_told_so(served: Served, body: str | bytes) -> None:
    status, told = served.ask("POST", "/exec", body)
    assert status == 422
    assert told["detail"].startswith('give {"code": "..."}: ')


def test_a_request_that_is_too_long_is_refused(served: Served) -> None:
    assert served.run("#" * (9 << 20)) == (413, {"detail": "the request is longer than 8 MiB"})


def test_other_paths_and_methods(served: Served) -> None:
    assert served.ask("GET", "/exec")[0] == 405
    assert served.ask("GET", "/nope")[0] == 404


def test_a_name_of_somebody_elses_is_refused(served: Served) -> None:
    assert served.ask("GET", "/health", Host="rebound.example")[0] == 400
    assert served.ask("GET", "/health", Host="localhost:8000")[0] == 200


def test_fifty_at_once(served: Served) -> None:
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda number: served.run(f"print({number})"), range(50)))
    assert answers == [(200, {"output": f"{number}\n"}) for number in range(50)]


def test_limits_from_a_file(serve: Callable[..., Served], tmp_path: Path) -> None:
    (tmp_path / "limits.toml").write_text("[limits]\ncpu_s = 0.3\n")
    server = serve("agentfly", "--port", 0, "--config", tmp_path / "limits.toml")
    assert server.run("while True: pass") == (408, {"detail": "Execution timed out"})
    assert server.run("print(1)") == (200, {"output": "1\n"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[limits", "not TOML"),
        ("[limits]\nseconds = 3\n", "limits: Object contains unknown field `seconds` (fields: wall_s"),
        ("[limits]\nwall_s = 0\n", "limits.wall_s is 0"),
        ("[server]\nport = 3\n", "has server: give one table, [limits]"),
    ],
)
def test_a_bad_file_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(text)
    status, told = refused("agentfly", "--port", 0, "--config", file)
    assert status == 2
    assert told.startswith(f"rollscope: {file}: {message}")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    status, told = refused("agentfly", "--port", 0, "--config", tmp_path / "none.toml")
    assert (status, told) == (2, f"rollscope: {tmp_path / 'none.toml'}: No such file or directory\n")


def test_colossalai_takes_no_file(tmp_path: Path) -> None:
    status, told = refused("colossalai", "--config", tmp_path / "any.toml")
    assert status == 2
    assert "`serve colossalai` has nothing to configure" in told


def test_a_taken_port_and_an_address_of_another_machine() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, told = refused("agentfly", "--port", port)
    assert (status, told) == (
        2,
        f"rollscope: can't listen on port {port} of 127.0.0.1 (address already in use): give another --port, or 0\n",
    )  # fmt: skip
    assert refused("agentfly", "--port", 0, "--host", "192.0.2.1") == (
        2, "rollscope: --host 192.0.2.1: not an address of this machine\n"
    )  # fmt: skip


def test_a_system_that_is_not_there() -> None:
    status, told = refused("moon")
    assert status == 2
    assert "agentfly" in told


def test_without_a_sandbox_it_never_listens() -> None:
    words = command(["namespaces", "landlock"], *COMMAND, "agentfly", "--port", "0")
    done = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("rollscope: no sandbox: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_at_once_with_all_it_has_started(serve: Callable[..., Served], number: signal.Signals) -> None:
    server = serve("agentfly", "--port", 0)
    below = descendants(server.process.pid)
    running = threading.Thread(target=lambda: server.run("import time\ntime.sleep(600)"))
    running.start()
    wait_until_none(lambda: descendants(server.process.pid) <= below)
    below |= descendants(server.process.pid)
    status, told = server.end(number)
    running.join(30)
    assert (status, told) == (0, "")
    assert below
    assert wait_until_none(lambda: [each for each in below if Path(f"/proc/{each}").exists()]) == []


def test_others_are_told_that_there_is_no_password(serve: Callable[..., Served]) -> None:
    server = serve("agentfly", "--port", 0, "--host", "0.0.0.0")
    assert server.ask("GET", "/health") == (200, {"status": "ok"})
    assert server.end(signal.SIGTERM) == (0, "other machines can reach this server: it has no password\n")
