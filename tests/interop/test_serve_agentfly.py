"""`rollscope serve agentfly` as people run it: a process, its first line, its answers, and how it ends."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.engines.processes import descendants, wait_until_none
from tests.interop.serving import Answer, Served, ask, refused


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = Served(system="agentfly")
    assert server.first_line.startswith("listening on http://127.0.0.1:")
    yield server.url
    assert server.end() == (0, "")


def ran(url: str, code: str) -> Answer:
    return ask(url, "POST", "/exec", {"code": code})


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("print('Hello, World!')", (200, {"output": "Hello, World!\n"})),
        ("", (200, {"output": ""})),
        ("print('x' * 20_000)", (200, {"output": "x" * 16_384})),
        ("print(nope)", (400, {"detail": "NameError: name 'nope' is not defined\n"})),
        ("raise SystemExit(3)", (400, {"detail": "SystemExit: 3"})),
        ("b'x' * (1 << 33)", (400, {"detail": "Memory limit exceeded"})),
    ],
)
def test_what_it_answers(url: str, code: str, answer: Answer) -> None:
    assert ran(url, code) == answer


def test_a_long_message_is_cut(url: str) -> None:
    status, told = ran(url, "raise ValueError('x' * 10**5)")
    assert (status, len(told["detail"]) <= 8_192) == (400, True)


@pytest.mark.parametrize("body", ["", "{", "[]", "{}", '{"code": 1}', b"\xff"])
def test_a_request_without_code_is_told_so(url: str, body: str | bytes) -> None:
    status, told = ask(url, "POST", "/exec", body)
    assert status == 422
    assert told["detail"].startswith('give {"code": "..."}: ')


def test_other_requests(url: str) -> None:
    assert ask(url, "GET", "/health") == (200, {"status": "ok"})
    assert ask(url, "GET", "/exec").status == 405
    assert ask(url, "GET", "/nope").status == 404
    assert ask(url, "GET", "/health", Host="rebound.example").status == 400
    assert ask(url, "GET", "/health", Host="localhost:8000").status == 200
    assert ran(url, "#" * (9 << 20)) == (413, {"detail": "the request is longer than 8 MiB"})


def test_fifty_at_once(url: str) -> None:
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda number: ran(url, f"print({number})"), range(50)))
    assert answers == [(200, {"output": f"{number}\n"}) for number in range(50)]


def test_limits_from_a_file_and_others_are_told_that_there_is_no_password(tmp_path: Path) -> None:
    (tmp_path / "limits.toml").write_text("[limits]\ncpu_s = 0.3\n")
    server = Served("--config", tmp_path / "limits.toml", "--host", "0.0.0.0", system="agentfly")
    assert ran(server.url, "while True: pass") == (408, {"detail": "Execution timed out"})
    assert ran(server.url, "print(1)") == (200, {"output": "1\n"})
    assert server.end() == (0, "other machines can reach this server: it has no password\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[limits", "not TOML"),
        ("[limits]\nseconds = 3\n", "limits: Object contains unknown field `seconds` (fields: wall_s"),
        ("[limits]\nwall_s = 0\n", "limits.wall_s is 0"),
        ("[server]\nport = 3\n", "has server: give one table, [limits]"),
    ],
)
def test_a_bad_file_is_one_line(tmp_path: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(text)
    assert refused(capsys, "agentfly", "--config", file).startswith(f"rollscope: {file}: {message}")


def test_what_can_not_be_served_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    none = tmp_path / "none.toml"
    assert refused(capsys, "agentfly", "--config", none) == f"rollscope: {none}: No such file or directory\n"
    assert "`serve colossalai` has nothing to configure" in refused(capsys, "colossalai", "--config", none)
    assert "agentfly" in refused(capsys, "moon")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert refused(capsys, "agentfly", "--port", port) == (
            f"rollscope: can't listen on port {port} of 127.0.0.1 (address already in use): give another --port, or 0\n"
        )
    told = refused(capsys, "agentfly", "--port", 0, "--host", "192.0.2.1")
    assert told == "rollscope: --host 192.0.2.1: not an address of this machine\n"


def test_without_a_sandbox_it_never_listens() -> None:
    served = Served(without=("namespaces", "landlock"), system="agentfly")
    status, told = served.end()
    assert (served.first_line, status, told.count("\n")) == ("", 3, 1)
    assert told.startswith("rollscope: no sandbox: ")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_at_once_with_all_it_has_started(number: signal.Signals) -> None:
    server = Served(system="agentfly")
    below = descendants(server.process.pid)
    running = threading.Thread(target=lambda: ran(server.url, "import time\ntime.sleep(600)"))
    running.start()
    wait_until_none(lambda: descendants(server.process.pid) <= below)
    below |= descendants(server.process.pid)
    assert server.end(number) == (0, "")
    running.join(30)
    assert below
    assert wait_until_none(lambda: [each for each in below if Path(f"/proc/{each}").exists()]) == []
