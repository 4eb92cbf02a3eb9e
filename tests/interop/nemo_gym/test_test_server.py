"""`rollscope test-server` on good servers and on broken ones: folders whose app.py it starts, and running servers."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator.cli import main
from evaluator.interop.nemo_gym.new_server import write_server
from evaluator.interop.nemo_gym.server_checks import Status
from evaluator.interop.nemo_gym.server_folder import check_configuration, check_data
from tests.documents import nemo_gym_custom_resource_server as document
from tests.interop.serving import InThread

Server = Callable[..., str]
Findings = dict[str, tuple[str, str]]
Tried = Callable[..., tuple[int, Findings]]

PLAIN_SERVER = """
import json, os, random, signal
import uvicorn, yaml
from fastapi import FastAPI, Request, Response

app = FastAPI()


@app.post("/seed_session")
async def seed_session(request: Request):
    return {}


@app.post("/verify")
async def verify(request: Request):
    body = await request.json()
    text = json.dumps(body.get("response"))
    reward = float("print(6" in text)
    more = {}
    #RULE
    return Response(json.dumps({**body, "reward": reward, **more}), media_type="application/json")


@app.post("/aggregate_metrics")
async def aggregate_metrics(request: Request):
    return {"agent_metrics": {}}


#MORE
"""
START = """
config = yaml.safe_load(os.environ["NEMO_GYM_CONFIG_DICT"])[os.environ["NEMO_GYM_CONFIG_PATH"]]
fields = next(iter(config["resources_servers"].values()))
uvicorn.run(app, host=fields["host"], port=fields["port"], log_level="critical")
"""
ROW = {
    "responses_create_params": {"input": "Print 42."},
    "verifier_metadata": {"reference": "print(6 * 7)"},
}


def plain(folder: Path, more: str = "") -> Path:
    """The folder of a server that uses nothing of ours."""
    (folder / "data").mkdir()
    (folder / "data" / "example.jsonl").write_text(json.dumps(ROW) + "\n")
    (folder / "app.py").write_text(PLAIN_SERVER.replace("#MORE", more) + START)
    return folder


@pytest.fixture
def tried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Tried:
    """`tried(rule, more)`: what is found of such a server, with a rule of its own, that is running."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps(ROW) + "\n")

    def try_it(rule: str = "", more: str = "") -> tuple[int, Findings]:
        names: dict[str, Any] = {}
        exec(PLAIN_SERVER.replace("#RULE", rule).replace("#MORE", more), names)
        running = InThread(names["app"])
        try:
            return run(capsys, running.url, "--rows", rows)
        finally:
            running.end()

    return try_it


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("new") / "my_task"
    write_server(folder)
    return folder


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, Findings]:
    with pytest.raises(SystemExit) as ended:
        main(["test-server", *map(str, arguments), "--json"])
    told = capsys.readouterr()
    found = json.loads(told.out)
    assert isinstance(ended.value.code, int)
    return ended.value.code, {each["check"]: (each["status"], each["seen"]) for each in found}


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["test-server", *map(str, arguments)])
    told = capsys.readouterr().err
    assert (ended.value.code, told.count("\n")) == (2, 1)
    return told


def statuses(found: Findings, status: str) -> list[str]:
    return [check for check, (each, _) in found.items() if each == status]


def test_a_new_server_passes_everything(new: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = run(capsys, new, "--validate-data")
    assert statuses(found, "ok") == list(found), found
    assert code == 0
    assert {"starts", "rewards", "right answers", "tool /look_up", "ends on SIGTERM", "ends on SIGINT"} <= set(found)
    assert {"configs/my_task.yaml", "data/example.jsonl", "data/example_metrics.json"} <= set(found)


def test_the_table_names_each_check_and_what_was_seen(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["test-server", server()])
    lines = capsys.readouterr().out.splitlines()
    assert ended.value.code == 0
    assert lines[0].split() == ["check", "result", "seen"]
    assert re.match(r"\d+ checks: \d+ ok", lines[-1])


def test_a_running_server_is_asked_by_its_url(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = run(capsys, server())
    assert (code, statuses(found, "failed"), found["right answers"][0]) == (0, [], "ok")
    assert "starts" not in found


def test_rows_may_be_given(server: Server, new: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = run(capsys, server(), "--rows", new / "data" / "validation.jsonl")
    assert (code, found["right answers"]) == (0, ("ok", "reward 1 for the solutions of 4 rows"))
    # That server knows nothing of the tool that a row of train.jsonl offers.
    code, found = run(capsys, server(), "--rows", new / "data" / "train.jsonl")
    assert (code, statuses(found, "failed")) == (1, ["tool /look_up"])


def test_a_server_of_somebody_elses_passes_in_its_folders_own_environment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    python = plain(tmp_path) / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\ntouch "{tmp_path}/used"\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    code, found = run(capsys, tmp_path)
    assert (code, statuses(found, "failed"), statuses(found, "warning")) == (0, [], [])
    assert statuses(found, "skipped") == ["/reverify_mode", "/close_session", "tools"]
    assert (tmp_path / "used").exists()


BROKEN = {
    "a 500 for what is malformed": (
        "reward = float('6' in body['verifier_metadata']['reference'])",
        "malformed requests",
    ),
    "rewards by chance": ("reward = random.random()", "same reward twice"),
    "NaN": ("reward = float('nan')", "rewards"),
    "a text": ("reward = '1.0'", "rewards"),
    "above 1": ("reward = 10.0 * reward", "rewards"),
    "below 0": ("reward = reward - 1.5", "rewards"),
    "always masked as broken": (
        "more = {'mask_sample': True, 'failure_kind': 'verifier_error', 'failure_reason': 'x'}",
        "rewards",
    ),
    "masked without a reason": ("more = {'mask_sample': True}", "rewards"),
    "no reward for what is right": ("reward = 0.0", "right answers"),
    "the request is not echoed": ("body = {}", "/verify"),
}


@pytest.mark.parametrize(("rule", "check"), BROKEN.values(), ids=BROKEN)
def test_a_broken_rule_is_found(tried: Tried, rule: str, check: str) -> None:
    code, found = tried(rule)
    assert (code, found[check][0]) == (1, "failed"), found


@pytest.mark.parametrize(
    ("method", "path", "check"),
    [
        ("get", "/healthz", "health"),
        ("get", "/reverify_mode", "/reverify_mode"),
        ("post", "/close_session", "/close_session"),
        ("post", "/seed_session", "/seed_session"),
        ("post", "/aggregate_metrics", "/aggregate_metrics"),
    ],
)
def test_a_broken_endpoint_is_found(tried: Tried, method: str, path: str, check: str) -> None:
    before = f"app.router.routes = [route for route in app.router.routes if route.path != {path!r}]\n"
    broken = f'@app.{method}("{path}")\nasync def broken():\n    raise OSError("broken")\n'
    code, found = tried(more=before + broken)
    assert (code, statuses(found, "failed")) == (1, [check]), found


@pytest.mark.parametrize(
    ("rule", "check"),
    [
        ("reward = 1.0", "answers to nothing"),
        ("reward = 1.0", "empty responses"),
        ("more = {'mask_sample': True, 'failure_reason': 'no judge'}", "rewards"),
    ],
)
def test_what_may_be_meant_is_a_warning(tried: Tried, rule: str, check: str) -> None:
    code, found = tried(rule)
    assert (code, found[check][0]) == (0, "warning"), found


def test_a_tool_that_breaks_is_found(tried: Tried) -> None:
    tool = '@app.post("/count")\nasync def count(request: Request):\n    return len((await request.json())["text"])\n'
    code, found = tried(more=tool)
    assert (code, found["tool /count"][0]) == (1, "failed")


def test_a_server_that_does_not_end_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stays = "uvicorn.Server.capture_signals = __import__('contextlib').nullcontext\n"
    stays += "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    stays += "signal.signal(signal.SIGINT, lambda *_: os._exit(0))\n"
    code, found = run(capsys, plain(tmp_path, stays))
    assert (code, statuses(found, "failed")) == (1, ["ends on SIGTERM"])


def test_a_server_that_does_not_start_says_what_it_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "app.py").write_text("import no_such_module\n")
    code, found = run(capsys, tmp_path)
    assert (code, list(found)) == (1, ["starts"])
    assert "ModuleNotFoundError: No module named 'no_such_module'" in found["starts"][1]


def test_the_tutorials_server_is_tried_though_nothing_starts_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("configs", "data"):
        (tmp_path / name).mkdir()
    (tmp_path / "app.py").write_text(
        document.SERVER.replace("nemo_gym.base_resources_server", "evaluator.interop.nemo_gym")
    )
    (tmp_path / "configs" / "my_task.yaml").write_text(document.CONFIGURATION)
    (tmp_path / "data" / "train.jsonl").write_text(document.DATASET)
    code, found = run(capsys, tmp_path)
    assert (code, statuses(found, "failed")) == (1, ["starts"])
    assert found["starts"][1].endswith('end it with: if __name__ == "__main__": YOUR_SERVER.run_webserver()')
    assert found["rewards"] == ("ok", "1 to 1 for 3 rows")
    assert "tool /my_tool" in found


def change(folder: Path, name: str, where: int | str, text: str) -> None:
    """Puts a text in the place of a line, or of another text where it stands first."""
    path = folder / name
    lines = path.read_text().splitlines(keepends=True)
    was = lines[where - 1] if isinstance(where, int) else where
    assert was in path.read_text()
    path.write_text(path.read_text().replace(was, text + "\n" * isinstance(where, int), 1))


CONFIG = "configs/my_task.yaml"
INPUT = "responses_create_params.input"
WRONG_DATA: dict[str, tuple[str, int | str, str, str]] = {
    "not JSON": ("data/train.jsonl", 2, "{oops", "line 2: must be a JSON object"),
    "a row of the tutorial's": ("data/train.jsonl", 3, '{"query": "?"}', "line 3: no responses_create_params"),
    "no input": ("data/train.jsonl", 1, '{"responses_create_params": {"input": []}}', f"line 1: {INPUT} is empty"),
    "no message": ("data/train.jsonl", 4, '{"responses_create_params": {"input": ["x"]}}', f"line 4: {INPUT}: each"),
    "four examples": ("data/example.jsonl", 5, "", "4 rows: give exactly 5"),
    "four rollouts": ("data/example_rollouts.jsonl", 1, "", "4 rollouts: give one per example, 5"),
    "figures of others": ("data/example_metrics.json", 1, "[", '"Number of examples" is None'),
    "a domain of one's own": (CONFIG, "coding\n", "code\n", "domain is 'code': give one of math, coding"),
    "no license": (CONFIG, "license: Apache 2.0", "", "dataset train: license is None"),
    "an agent of nothing": (CONFIG, "  name: my_task\n", "  name: a\n", "resources_server is 'a' (known: my_task)"),
    "no file": (CONFIG, "train.jsonl", "no.jsonl", "no.jsonl: no such file"),
    "an environment of nothing": (CONFIG, "    name: my_task_simple_agent", "    name: b", "agent_server is 'b'"),
    "no YAML": (CONFIG, 2, "{", "can't be read"),
}  # fmt: skip


@pytest.mark.parametrize(("file", "where", "text", "told"), WRONG_DATA.values(), ids=WRONG_DATA)
def test_wrong_data_is_told_with_its_place(
    file: str, where: int | str, text: str, told: str, new: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "my_task"
    shutil.copytree(new, folder, ignore=shutil.ignore_patterns("__pycache__"))
    change(folder, file, where, text)
    failed = [each for each in (*check_configuration(folder), *check_data(folder)) if each.status is Status.FAILED]
    assert [each.check for each in failed] == [file]
    assert told in failed[0].seen


def test_a_folder_of_another_name_is_not_where_it_is_looked_for(new: Path, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    shutil.copytree(new, folder)
    assert any("looks for 'my_task' in resources_servers/my_task" in each.seen for each in check_configuration(folder))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["no_such_folder"], "not a server's folder (no app.py)"),
        (["https://example.invalid"], "only plain HTTP is supported"),
        (["http://127.0.0.1:9"], "is the server running?"),
        (["http://127.0.0.1:9", "--validate-data"], "give DIR in place of URL"),
        (["http://127.0.0.1:9", "--rows", "no_such_file"], "no such file"),
    ],
)
def test_what_can_not_be_tried_is_refused(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert told in refusal(capsys, *arguments)
