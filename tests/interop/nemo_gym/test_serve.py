"""`rollscope serve nemo-gym` as people and NeMo Gym start it: its endpoints, its configuration, and how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluator.interop.nemo_gym import CodeResourcesServer, ServerConfig
from evaluator.interop.nemo_gym.config import config_from_file
from tests.engines.processes import descendants, wait_until_none
from tests.interop.nemo_gym.client import Client, fenced, request
from tests.interop.serving import ENVIRONMENT, Served, ask, refused

Server = Callable[..., str]

SQUARES = {"inputs": ["2\n", "5\n"], "outputs": ["4", "25"]}
RIGHT = fenced("print(int(input()) ** 2)")
SPACED = request(fenced("print(1)\nprint(2)"), {"inputs": ["\n"], "outputs": ["1 2"]})
"""Right by the checker `tokens`."""


def test_it_is_healthy_and_verifies_stored_rollouts_again(server: Server) -> None:
    client = Client(server())
    for path in ("/", "/health", "/healthz", "/livez", "/readyz"):
        assert client.get(path) == (200, {"status": "ok"})
    assert client.get("/reverify_mode") == (200, "stateless")


def test_sessions_open_and_close(server: Server) -> None:
    client = Client(server())
    assert client.post("/seed_session", {"responses_create_params": {"input": "x"}, "agent_ref": {}}) == (200, {})
    typed = {"resources_session_id": "s1", "episode_id": "e", "task_id": {"taskset": "t"}, "task_data": {"a": 1}}
    assert client.post("/seed_session", typed) == (200, {"resources_session_id": "s1"})
    assert client.post("/seed_session", typed).status == 200
    for name in ("s1", "s1", "never seeded"):
        closing = {"resources_session_id": name, "episode_id": "e"}
        assert client.post("/close_session", closing) == (200, {"resources_session_id": name})
        assert client.post("/seed_session", typed | {"resources_session_id": name}).status == 400


def test_the_figures_of_many_rollouts(server: Server) -> None:
    rollouts = [
        {"_ng_task_index": task, "_ng_rollout_index": sample, "reward": float(task == sample), "difficulty": "easy"}
        for task in range(2)
        for sample in range(2)
    ]
    status, told = Client(server()).post("/aggregate_metrics", {"verify_responses": rollouts})
    assert status == 200
    assert told["agent_metrics"]["mean/reward"] == 0.5
    assert told["key_metrics"]["pass@2/accuracy"] == 100.0
    assert len(told["group_level_metrics"]) == 2


STAGES = ["extraction", "queue", "sandbox start", "run", "compare", "rest", "total"]


@pytest.mark.parametrize(
    ("number", "profile", "config"),
    [(signal.SIGTERM, [], "checker: tokens"), (signal.SIGINT, ["--profile"], ""), (signal.SIGINT, [], "profile: true")],
    ids=["plain", "option", "field"],
)
def test_it_ends_cleanly_leaves_no_process_and_says_where_the_time_went(
    number: signal.Signals, profile: list[str], config: str, tmp_path: Path
) -> None:
    (tmp_path / "a.yaml").write_text(config or "{}")
    served = Served("--config", tmp_path / "a.yaml", *profile)
    client = Client(served.url)
    for _ in range(3):
        assert client.post("/verify", request(RIGHT, SQUARES)).body["reward"] == 1.0
    assert client.post("/execute_code", {"code": "x = 1", "keep_state": True}).body["returncode"] == 0
    children = descendants(served.process.pid)
    assert children
    served.process.send_signal(number)
    out, table = served.process.communicate(timeout=60)
    assert served.process.returncode == 0
    assert not wait_until_none(lambda: [each for each in children if Path(f"/proc/{each}").exists()])
    if "tokens" in config:
        assert (out, table) == ("", "")
        return
    told = json.loads(out)
    assert (told["requests"], [each["stage"] for each in told["stages"]]) == (3, STAGES)
    *parts, total = [each["total_s"] for each in told["stages"]]
    assert sum(parts) == pytest.approx(total)
    lines = table.splitlines()
    assert lines[0].split()[:2] == ["stage", "total"]
    assert [line.partition("  ")[0] for line in lines[1:]] == STAGES


def test_it_ends_in_the_midst_of_a_run() -> None:
    served = Served()
    asking = subprocess.Popen(
        [sys.executable, "-c", _ASKS_FOR_AN_ENDLESS_LOOP, served.url], stdout=subprocess.PIPE, env=ENVIRONMENT
    )
    assert asking.stdout
    assert asking.stdout.readline() == b"asked\n"
    children = descendants(served.process.pid)
    assert served.end()[0] == 0
    assert not wait_until_none(lambda: [each for each in children if Path(f"/proc/{each}").exists()])
    asking.wait(timeout=30)


_ASKS_FOR_AN_ENDLESS_LOOP = """
import http.client, json, sys
from urllib.parse import urlsplit
connection = http.client.HTTPConnection(urlsplit(sys.argv[1]).netloc, timeout=30)
body, headers = json.dumps({"code": "while True: pass"}), {"content-type": "application/json"}
connection.request("POST", "/execute_code", body, headers)
print("asked", flush=True)
try:
    connection.getresponse()
except (OSError, http.client.HTTPException):
    pass
"""


def started(environment: dict[str, str], tmp_path: Path, *words: str) -> subprocess.Popen[str]:
    app = tmp_path / "app.py"
    app.write_text(
        "from evaluator.interop.nemo_gym import CodeResourcesServer\n\n"
        'if __name__ == "__main__":\n    CodeResourcesServer.run_webserver()\n'
    )
    return subprocess.Popen(
        [sys.executable, "app.py", *words], cwd=tmp_path, env=ENVIRONMENT | environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


NAME, WHOLE = "NEMO_GYM_CONFIG_PATH", "NEMO_GYM_CONFIG_DICT"
RESOLVED = """
policy_model: {responses_api_models: {openai_model: {entrypoint: app.py, openai_api_key: "secret"}}}
mine:
  resources_servers:
    mine: {entrypoint: app.py, domain: coding, host: 127.0.0.1, port: 0, checker: tokens, description: x}
other:
  resources_servers:
    other: {entrypoint: app.py, domain: coding, host: 203.0.113.1, port: 1}
"""


def test_an_app_is_started_as_nemo_gym_starts_it(tmp_path: Path) -> None:
    process = started({"NEMO_GYM_CONFIG_DICT": RESOLVED, "NEMO_GYM_CONFIG_PATH": "mine"}, tmp_path)
    assert process.stdout
    url = process.stdout.readline().strip().removeprefix("listening on ")
    assert Client(url).post("/verify", SPACED).body["reward"] == 1.0  # by the checker of its configuration
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[1] == ""
    assert process.returncode == 0


def test_an_app_that_is_started_by_hand_reads_its_own_configuration_and_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "mine.yaml").write_text(RESOLVED.partition("other:")[0])
    process = started({}, tmp_path, "--port", "0", "--host", "localhost")
    assert process.stdout
    url = process.stdout.readline().strip().removeprefix("listening on ")
    assert url.startswith("http://localhost:")
    assert Client(url).post("/verify", SPACED).body["reward"] == 1.0
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=60)[1] == ""


def ended(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], app: Path, *words: str) -> str:
    """What an app that can't be started said, in this process."""
    monkeypatch.setattr(sys, "argv", ["app.py", *words])
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(app), raising=False)
    with pytest.raises(SystemExit) as exited:
        CodeResourcesServer.run_webserver()
    assert exited.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "configurations", "told"),
    [
        (["--prot", "1"], {}, "unrecognized arguments: --prot 1"),
        (["--config", "a.yaml"], {}, "a.yaml: no such file or directory"),
        (
            [],
            {"a.yaml": "checker: tokens", "b.yaml": "checker: tokens"},
            "has 2 configurations: name one with --config",
        ),
        ([], {"a.yaml": "checker: nothing"}, "checker 'nothing' is unknown"),
    ],
    ids=["word", "file", "two", "checker"],
)
def test_what_an_app_can_not_be_started_with_is_told(
    words: list[str],
    configurations: dict[str, str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "configs").mkdir()
    for name, content in configurations.items():
        (tmp_path / "configs" / name).write_text(content)
    assert told in ended(monkeypatch, capsys, tmp_path / "app.py", *words).splitlines()[-1]


BAD_ENVIRONMENTS = {
    "name": ({WHOLE: RESOLVED, NAME: "mien"}, "no resources server is called 'mien' (known: mine, other)"),
    "no name": ({WHOLE: RESOLVED}, "no resources server is called None"),
    "no yaml": ({WHOLE: "{"}, "NEMO_GYM_CONFIG_DICT: can't be read"),
    "checker": ({WHOLE: RESOLVED.replace("tokens", "token"), NAME: "mine"}, "checker 'token' is unknown"),
}


@pytest.mark.parametrize(("environment", "told"), BAD_ENVIRONMENTS.values(), ids=BAD_ENVIRONMENTS)
def test_a_bad_environment_is_one_line(
    environment: dict[str, str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    one_line(ended(monkeypatch, capsys, tmp_path / "app.py"), told)


def one_line(error: str, told: str) -> None:
    assert error.startswith("CodeResourcesServer: ")
    assert told in error
    assert error.count("\n") == 1
    assert "secret" not in error


def test_an_address_that_is_not_ours_is_one_line(tmp_path: Path) -> None:
    process = started({WHOLE: RESOLVED, NAME: "other"}, tmp_path)
    one_line(process.communicate(timeout=60)[1], "203.0.113.1: not an address of this machine")
    assert process.returncode == 2


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.yaml", "grder: tests", "grder is not a field of a server"),
        ("a.yaml", "memory_mb: -1", "memory_mb: input should be greater than 0"),
        ("a.yaml", "grader: nothing", "grader 'nothing' is unknown"),
        ("a.yaml", "[1]", "must be an object"),
        ("a.yaml", "a: [", "can't be read: line 1, column 5: "),
        ("a.yaml", "a: {resources_servers: {a: {entrypoint: app.py, memory_mbs: 1}}}", "memory_mbs is not a field"),
        ("a.toml", "a = ", "can't be read"),
        ("a.json", '{"checker": "nothing"}', "checker 'nothing' is unknown"),
        ("a.yaml", "host: 203.0.113.1", "203.0.113.1: not an address"),
    ],
)
def test_a_bad_configuration_is_one_line(
    name: str, content: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_text(content)
    error = refused(capsys, "nemo-gym", "--config", path)
    assert error.startswith("rollscope: --host" if "host" in content else f"rollscope: {path}: ")
    assert told in error


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.yaml", "checker: tokens\n"),
        ("a.toml", 'checker = "tokens"\n'),
        ("a.json", '{"checker": "tokens"}'),
        ("b.yaml", "mine:\n  resources_servers:\n    mine: {entrypoint: app.py, domain: coding, checker: tokens}\n"),
    ],
)
def test_a_configuration_may_be_in_any_of_its_forms(name: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content)
    assert config_from_file(ServerConfig, path).checker == "tokens"


def test_a_profile_is_of_a_resource_server_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, "agentfly", "--profile").startswith("rollscope: --profile: ")


NO_SANDBOX = ("namespaces", "landlock")


def test_without_a_sandbox_it_does_not_start() -> None:
    served = Served(without=NO_SANDBOX)
    status, told = served.end()
    assert (served.first_line, status) == ("", 3)
    assert told.startswith("rollscope: no sandbox: ")
    assert told.count("\n") == 1


def test_without_a_sandbox_answers_are_graded_and_code_is_masked(tmp_path: Path) -> None:
    config = tmp_path / "answers.yaml"
    config.write_text("grader: exact_match")
    served = Served("--config", config, without=NO_SANDBOX)
    client = Client(served.url)
    answer = request("Paris", None) | {"verifier_metadata": {"answer": "Paris"}}
    assert client.post("/verify", answer).body["reward"] == 1.0
    told = client.post("/verify", request(RIGHT, SQUARES, grader="tests")).body
    assert (told["reward"], told["mask_sample"], told["verdict"]) == (0.0, True, "sandbox_error")
    assert told["failure_kind"] == "provider_unavailable"
    tool = client.post("/execute_code", {"code": "print(1)"})
    assert tool.status == 400
    assert "sandbox" in tool.body["error"]
    assert served.end()[0] == 0


def test_a_page_of_another_name_can_not_reach_it(server: Server) -> None:
    answer = ask(server(), "POST", "/execute_code", {"code": "print(1)"}, host="evil.example")
    assert answer.status == 400
