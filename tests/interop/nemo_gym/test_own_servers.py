"""`rollscope init-server`, whose server runs and passes its own tests, and `rollscope test-server` on good servers and
broken ones: folders whose app.py it starts, and running servers."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import evaluator
from evaluator.cli import main
from evaluator.interop.nemo_gym import server_folder
from evaluator.interop.nemo_gym.server_checks import Status
from evaluator.interop.nemo_gym.server_folder import check_configuration, check_data
from tests.documents import nemo_gym_custom_resource_server as document
from tests.interop.serving import ROOT, in_thread

Server = Callable[..., str]
Findings = dict[str, tuple[str, str]]
Tried = Callable[..., tuple[int, Findings]]


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("new") / "my_task"
    with pytest.raises(SystemExit) as ended:
        main(["init-server", str(made)])
    assert ended.value.code == 0
    return made


def refusal(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    with pytest.raises(SystemExit) as ended:
        main([*map(str, words)])
    told = capsys.readouterr().err
    assert (ended.value.code, told.count("\n")) == (2, 1)
    return told


def started(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    settings = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    settings |= {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", *words], cwd=cwd, env=settings, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_its_own_tests_pass(new: Path) -> None:
    done = started("pytest", "-q", "-p", "no:cacheprovider", cwd=new)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b\d\d passed", done.stdout)


def test_a_linter_finds_nothing(new: Path) -> None:
    assert started("ruff", "check", "--isolated", ".", cwd=new).stdout == "All checks passed!\n"
    assert started("ruff", "format", "--isolated", "--check", ".", cwd=new).returncode == 0


def test_its_names_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["init-server", str(tmp_path / "Some Folder"), "--name", "word_sums"])
    assert ended.value.code == 0
    config = yaml.safe_load((tmp_path / "Some Folder" / "configs" / "word_sums.yaml").read_text())
    assert list(config) == ["word_sums", "word_sums_simple_agent", "word_sums_environment_server"]
    assert "class WordSumsResourcesServer" in (tmp_path / "Some Folder" / "app.py").read_text()
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_it_is_installed_from_the_checkout_or_by_version(
    new: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (new / "requirements.txt").read_text().splitlines()[:2] == [f"-e {ROOT.as_uri()}", "rollscope[serve]"]
    monkeypatch.setattr(evaluator, "__file__", str(tmp_path / "site-packages" / "evaluator" / "__init__.py"))
    assert server_folder.requirement() == f"rollscope[serve]=={evaluator.__version__}"


def test_an_empty_folder_is_taken_and_what_is_there_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    server_folder.write_server(tmp_path / "empty", "one")
    assert (tmp_path / "empty" / "app.py").is_file()
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "mine.txt").write_text("kept")
    assert "not empty (it has mine.txt)" in refusal(capsys, "init-server", tmp_path / "used", "--name", "one")
    assert [path.name for path in (tmp_path / "used").iterdir()] == ["mine.txt"]
    (tmp_path / "file").write_text("")
    assert "a file of that name exists" in refusal(capsys, "init-server", tmp_path / "file")


def test_a_bad_name_is_told_with_a_good_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    better = {"My-Task": "my_task", "1st": "my_task", "": "my_task", "a/b": "a_b", "ünder": "nder", "x" * 41: "x" * 40}
    told = {name: refusal(capsys, "init-server", tmp_path / "new", "--name", name) for name in better}
    assert {name: error.rpartition("give --name ")[2].strip() for name, error in told.items()} == better
    assert not (tmp_path / "new").exists()


# test-server

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
ROW = {"responses_create_params": {"input": "Print 42."}, "verifier_metadata": {"reference": "print(6 * 7)"}}


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
        with in_thread(names["app"]) as url:
            return run(capsys, url, "--rows", rows)

    return try_it


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, Findings]:
    with pytest.raises(SystemExit) as ended:
        main(["test-server", *map(str, arguments), "--json"])
    assert isinstance(ended.value.code, int)
    found = json.loads(capsys.readouterr().out)
    return ended.value.code, {each["check"]: (each["status"], each["seen"]) for each in found}


def statuses(found: Findings, status: str) -> list[str]:
    return [check for check, (each, _) in found.items() if each == status]


@pytest.mark.slow
def test_a_new_server_passes_everything(new: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = run(capsys, new, "--validate-data")
    assert statuses(found, "ok") == list(found), found
    assert code == 0
    assert {"starts", "rewards", "right answers", "tool /look_up", "ends on SIGTERM", "ends on SIGINT"} <= set(found)
    assert {"configs/my_task.yaml", "data/example.jsonl", "data/example_metrics.json"} <= set(found)


def test_a_running_server_is_asked_by_its_url(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = run(capsys, server())
    assert (code, statuses(found, "failed"), found["right answers"][0]) == (0, [], "ok")
    assert "starts" not in found
    with pytest.raises(SystemExit) as ended:
        main(["test-server", server()])
    lines = capsys.readouterr().out.splitlines()
    assert ended.value.code == 0
    assert lines[0].split() == ["check", "result", "seen"]
    assert re.match(rf"{len(found)} checks: \d+ ok", lines[-1])


def test_rows_may_be_given(server: Server, new: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """That server knows nothing of the tool that one of them offers."""
    code, found = run(capsys, server(), "--rows", new / "data" / "train.jsonl")
    assert (code, statuses(found, "failed")) == (1, ["tool /look_up"])
    assert found["right answers"] == ("ok", "reward 1 for the solutions of 5 rows")


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


def breaks(method: str, path: str, body: str = 'raise OSError("broken")') -> str:
    """The endpoint in the place of the one that is there."""
    rest = f"app.router.routes = [route for route in app.router.routes if route.path != {path!r}]"
    return f'{rest}\n@app.{method}("{path}")\nasync def broken(request: Request):\n    {body}\n'


UNREASONED = "more = {'mask_sample': True}"
MASKED = "more = {'mask_sample': True, 'failure_kind': 'verifier_error', 'failure_reason': 'x'}"
NO_JUDGE = "more = {'mask_sample': True, 'failure_reason': 'no judge'}"
BROKEN: dict[str, tuple[str, str, str, str]] = {
    "a 500 for what is malformed": (
        "reward = float('6' in body['verifier_metadata']['reference'])", "", "malformed requests", "failed",
    ),
    "rewards by chance": ("reward = random.random()", "", "same reward twice", "failed"),
    "NaN": ("reward = float('nan')", "", "rewards", "failed"),
    "a text": ("reward = '1.0'", "", "rewards", "failed"),
    "above 1": ("reward = 10.0 * reward", "", "rewards", "failed"),
    "below 0": ("reward = reward - 1.5", "", "rewards", "failed"),
    "always masked as broken": (MASKED, "", "rewards", "failed"),
    "masked without a reason": (UNREASONED, "", "rewards", "failed"),
    "no reward for what is right": ("reward = 0.0", "", "right answers", "failed"),
    "the request is not echoed": ("body = {}", "", "/verify", "failed"),
    "health": ("", breaks("get", "/healthz"), "health", "failed"),
    "modes": ("", breaks("get", "/reverify_mode"), "/reverify_mode", "failed"),
    "closing": ("", breaks("post", "/close_session"), "/close_session", "failed"),
    "seeding": ("", breaks("post", "/seed_session"), "/seed_session", "failed"),
    "figures": ("", breaks("post", "/aggregate_metrics"), "/aggregate_metrics", "failed"),
    "a tool": ("", breaks("post", "/count", "return len((await request.json())['text'])"), "tool /count", "failed"),
    "a reward for nothing": ("reward = 1.0", "", "answers to nothing", "warning"),
    "a reward for an empty response": ("reward = 1.0", "", "empty responses", "warning"),
    "masked with a reason": (NO_JUDGE, "", "rewards", "warning"),
}  # fmt: skip
"""A rule of `/verify`, or an endpoint; the check that finds it, and whether that fails or only warns."""


@pytest.mark.parametrize(("rule", "more", "check", "status"), BROKEN.values(), ids=BROKEN)
def test_what_is_broken_is_found(tried: Tried, rule: str, more: str, check: str, status: str) -> None:
    code, found = tried(rule, more)
    assert (code, found[check][0]) == (int(status == "failed"), status), found
    assert not more or statuses(found, "failed") == [check]


@pytest.mark.slow  # since it is given five seconds
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


@pytest.mark.slow
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
    content = (folder / file).read_text()
    old = content.splitlines()[where - 1] if isinstance(where, int) else where
    (folder / file).write_text(content.replace(old, text, 1))
    failed = [each for each in (*check_configuration(folder), *check_data(folder)) if each.status is Status.FAILED]
    assert [each.check for each in failed] == [file]
    assert told in failed[0].seen


def test_a_folder_of_another_name_is_not_where_it_is_looked_for(new: Path, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    shutil.copytree(new, folder)
    assert any("looks for 'my_task' in resources_servers/my_task" in each.seen for each in check_configuration(folder))


def test_what_can_not_be_tried_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, told in (
        (["no_such_folder"], "not a server's folder (no app.py)"),
        (["https://example.invalid"], "only plain HTTP is supported"),
        (["http://127.0.0.1:9"], "is the server running?"),
        (["http://127.0.0.1:9", "--validate-data"], "give DIR in place of URL"),
        (["http://127.0.0.1:9", "--rows", "no_such_file"], "no such file"),
    ):
        assert told in refusal(capsys, "test-server", *arguments)
