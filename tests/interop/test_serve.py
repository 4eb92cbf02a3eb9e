"""`rollscope serve`: what each system's server is started with, what it refuses, and how it ends."""

import contextlib
import json
import signal
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from evaluator.interop.nemo_gym import ServerConfig
from evaluator.interop.nemo_gym.config import config_from_file
from tests.interop.nemo_gym.client import Client, fenced, request
from tests.interop.serving import Answer, Served, ask, refused, served_here
from tests.waiting import HANG_S, wait_until
from tests.workers.processes import descendants, wait_until_none

SLEEP = "import time\ntime.sleep(600)"
SLEEPERS: dict[str, tuple[str, dict[str, object]]] = {
    "nemo-gym": ("/execute_code", {"code": SLEEP}),
    "agentfly": ("/exec", {"code": SLEEP}),
    "colossalai": (
        "/check_correctness",
        {"in_outs": {"inputs": ["1"], "outputs": ["1"]}, "generation": SLEEP, "timeout": 60},
    ),
    "sandbox-fusion": ("/run_code", {"code": SLEEP, "language": "python", "run_timeout": 60}),
}


OTHERS = [("nemo-gym", signal.SIGINT), ("agentfly", signal.SIGINT), ("colossalai", signal.SIGTERM)]
OTHERS += [("sandbox-fusion", signal.SIGINT)]


@pytest.mark.parametrize(
    ("system", "number"),
    [("nemo-gym", signal.SIGTERM), *(pytest.param(*other, marks=pytest.mark.slow) for other in OTHERS)],
)
def test_a_process_ends_at_once_with_all_it_has_started(system: str, number: signal.Signals) -> None:
    server = Served(system)
    assert server.first_line.startswith("listening on http://127.0.0.1:")
    of_server = server.process.pid
    idle = descendants(of_server)

    def sleep() -> None:
        with contextlib.suppress(OSError):  # the server ends before the answer
            ask(server.url, "POST", *SLEEPERS[system])

    asking = threading.Thread(target=sleep)
    asking.start()
    wait_until(lambda: descendants(of_server) - idle, "no program runs")
    below = idle | descendants(of_server)
    assert server.end(number) == (0, "")
    asking.join(HANG_S)
    wait_until_none(lambda: [each for each in below if Path(f"/proc/{each}").exists()])


def test_limits_from_a_file_and_others_are_told_that_there_is_no_password(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "limits.toml").write_text("[limits]\ncpu_s = 0.3\nwall_s = 240\ntotal_s = 240\n")

    def use(url: str) -> list[Answer]:
        return [ask(url, "POST", "/exec", {"code": code}) for code in ("while True: pass", "print(1)")]

    words = ("agentfly", "--port", 0, "--config", tmp_path / "limits.toml", "--host", "0.0.0.0")
    answers, out, told = served_here(capsys, use, *words)
    assert answers == [(408, {"detail": "Execution timed out"}), (200, {"output": "1\n"})]
    assert (out, told) == ("", "other machines can reach this server: it has no password\n")


def test_limits_and_the_longest_time_out_of_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "limits.toml").write_text("[limits]\nmemory_mb = 100\n")

    def ran(url: str, size: int, **fields: object) -> Any:
        body = {"code": f"x = [0] * (1 << {size})", "language": "python", "run_timeout": 90, **fields}
        return ask(url, "POST", "/run_code", body).body["run_result"]["return_code"]

    words = ("sandbox-fusion", "--port", 0, "--config", tmp_path / "limits.toml", "--max-timeout", 90)
    codes, *said = served_here(capsys, lambda url: (ran(url, 28), ran(url, 25, memory_limit_MB=1000)), *words)
    assert (codes, said) == ((-9, 0), ["", ""])


SQUARES = request(fenced("print(int(input()) ** 2)"), {"inputs": ["2\n", "5\n"], "outputs": ["4", "25"]})
SPACED = request(fenced("print(1)\nprint(2)"), {"inputs": ["\n"], "outputs": ["1 2"]})
"""Right by the checker `tokens`."""
STAGES = ["extraction", "queue", "sandbox start", "run", "compare", "rest", "total"]


@pytest.mark.parametrize(
    ("words", "config"), [([], "checker: tokens"), (["--profile"], ""), ([], "profile: true")], ids=str
)
def test_it_has_its_configuration_and_says_where_the_time_went(
    words: list[str], config: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.yaml").write_text(config or "{}")

    def rewards(url: str) -> list[float]:
        return [Client(url).post("/verify", body).body["reward"] for body in (SQUARES, SQUARES, SPACED)]

    words = ["nemo-gym", "--port", "0", "--config", str(tmp_path / "a.yaml"), *words]
    found, out, table = served_here(capsys, rewards, *words, number=signal.SIGINT)
    if "tokens" in config:
        assert (found, out, table) == ([1.0, 1.0, 1.0], "", "")
        return
    told = json.loads(out)
    assert (found, told["requests"]) == ([1.0, 1.0, 0.0], 3)
    assert [each["stage"] for each in told["stages"]] == STAGES
    *parts, total = [each["total_s"] for each in told["stages"]]
    assert sum(parts) == pytest.approx(total)
    lines = table.splitlines()
    assert lines[0].split()[:2] == ["stage", "total"]
    assert [line.partition("  ")[0] for line in lines[1:]] == STAGES


def test_a_configuration_may_be_in_any_of_its_forms(tmp_path: Path) -> None:
    for name, content in (
        ("a.yaml", "checker: tokens\n"),
        ("a.toml", 'checker = "tokens"\n'),
        ("a.json", '{"checker": "tokens"}'),
        ("b.yaml", "mine:\n  resources_servers:\n    mine: {entrypoint: app.py, domain: coding, checker: tokens}\n"),
    ):
        (tmp_path / name).write_text(content)
        assert config_from_file(ServerConfig, tmp_path / name).checker == "tokens"


BAD = {
    "agentfly": [
        ("a.toml", "[limits", "not TOML"),
        ("a.toml", "[limits]\nseconds = 3\n", "limits: Object contains unknown field `seconds`"),
        ("a.toml", "[limits]\nwall_s = 0\n", "limits.wall_s is 0"),
    ],
    "sandbox-fusion": [("a.toml", "[server]\nport = 3\n", "has server: give one table, [limits]")],
    "nemo-gym": [
        ("a.yaml", "grder: tests", "grder is not a field of a server"),
        ("a.yaml", "memory_mb: -1", "memory_mb: input should be greater than 0"),
        ("a.yaml", "grader: nothing", "grader 'nothing' is unknown"),
        ("a.yaml", "[1]", "must be an object"),
        ("a.yaml", "a: [", "can't be read: line 1, column 5: "),
        ("a.yaml", "a: {resources_servers: {a: {entrypoint: app.py, memory_mbs: 1}}}", "memory_mbs is not a field"),
        ("a.toml", "a = ", "can't be read"),
        ("a.json", '{"checker": "nothing"}', "checker 'nothing' is unknown"),
    ],
}


@pytest.mark.parametrize("system", BAD)
def test_a_bad_configuration_is_one_line(system: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, content, told in BAD[system]:
        (tmp_path / name).write_text(content)
        error = refused(capsys, system, "--config", tmp_path / name)
        assert error.startswith(f"rollscope: {tmp_path / name}: ")
        assert told in error


def test_what_can_not_be_served_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    none = tmp_path / "none.toml"
    assert refused(capsys, "agentfly", "--config", none) == f"rollscope: {none}: No such file or directory\n"
    assert "`serve colossalai` has nothing to configure" in refused(capsys, "colossalai", "--config", none)
    assert refused(capsys, "agentfly", "--profile").startswith("rollscope: --profile: ")
    assert "agentfly" in refused(capsys, "moon")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert refused(capsys, "agentfly", "--port", port) == (
            f"rollscope: can't listen on port {port} of 127.0.0.1 (address already in use): give another --port, or 0\n"
        )
    told = refused(capsys, "agentfly", "--port", 0, "--host", "192.0.2.1")
    assert told == "rollscope: --host 192.0.2.1: not an address of this machine\n"
    (tmp_path / "a.yaml").write_text("host: 203.0.113.1")
    assert refused(capsys, "nemo-gym", "--config", tmp_path / "a.yaml").startswith("rollscope: --host 203.0.113.1: not")
