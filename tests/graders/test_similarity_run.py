"""A whole run by a judge that fails now and then: it ends, says why, and can be resumed where it failed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import command_line
from tests.graders.judge_server import (
    PATIENCE_S,
    Answer,
    Asked,
    Handler,
    JudgeServer,
    closes,
    hangs,
    judge_server,
    own_environment,
    refuses,
    says,
    sends,
)

ROOT = Path(__file__).resolve().parent.parent.parent
KEY = "sk-not-to-be-seen-anywhere"
FAILING: dict[str, tuple[Answer, str]] = {
    "silent": (hangs, "the judge did not answer in 3 s"),
    "textual": (sends("hello", kind="text/plain"), "the judge's reply is not a chat completion: 'hello'"),
    "unclear": (says("8/10 great"), "the judge gave no score: its last line is '8/10 great', not 'Score: N'"),
    "limited": (refuses(429, "slow down"), "the judge answered 429: slow down"),
    "broken": (refuses(500, f"no {KEY}"), "the judge answered 500: no [key]"),
    "closed": (closes, "failed: Server disconnected without sending a response."),
}
SCORES = {"Paris": 10, "Lyon": 2}
COMPLETIONS = [*SCORES, *FAILING]


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[JudgeServer]:
    own_environment(monkeypatch, tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with judge_server() as made:
        yield made


def completion_of(asked: Asked) -> str:
    return next(word for word in COMPLETIONS if f">\n{word}\n</completion-" in asked.text)


def failing(handler: Handler, asked: Asked) -> None:
    word = completion_of(asked)
    answer = FAILING[word][0] if word in FAILING else says(f"Well.\nScore: {SCORES[word]}")
    answer(handler, asked)


def rollscope(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "evaluator.cli", *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE_S * 2)


def rows(path: Path, *made: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in made))
    return path


def exported(run: Path) -> dict[str, dict[str, object]]:
    done = command_line.rollscope("export", run, cwd=run.parent)
    return {str(row["sample_id"]): row for row in map(json.loads, done.stdout.splitlines())}


@pytest.fixture
def arguments(judge: JudgeServer, tmp_path: Path) -> list[object]:
    dataset = rows(tmp_path / "tasks.jsonl", {"task_id": "fr", "prompt": "Capital of France?", "answer": "Paris"})
    rollouts = rows(
        tmp_path / "rollouts.jsonl",
        *({"task_id": "fr", "sample_id": word, "completion": word} for word in COMPLETIONS),
    )
    grader = tmp_path / "judge.json"
    options = {"model": "m", "base_url": judge.url, "timeout_s": 3, "retries": 0}
    grader.write_text(json.dumps({"name": "similarity"} | options))
    return ["grade", rollouts, "--dataset", dataset, "--grader", grader, "--out", tmp_path / "run"]


def test_a_run_ends_though_its_judge_fails_and_is_resumed_where_it_did(
    judge: JudgeServer, arguments: list[object], tmp_path: Path
) -> None:
    judge.answers = [failing]
    done = rollscope(*arguments)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    grades = exported(tmp_path / "run")
    assert len(grades) == len(COMPLETIONS)
    for word, (_, reason) in FAILING.items():
        assert (grades[word]["verdict"], grades[word]["reward"]) == ("unknown", None)
        assert reason in str(grades[word]["error_message"])
        assert grades[word]["flags"] == ["judge_failed"]
    assert {word: grades[word]["reward"] for word in SCORES} == {"Paris": 1.0, "Lyon": 0.2}
    assert {grade["grader"] for grade in grades.values()} == {"similarity"}

    judge.asked.clear()
    judge.answers = [says("Better.\nScore: 7")]
    resumed = rollscope(*arguments, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert sorted(map(completion_of, judge.asked)) == sorted(FAILING)
    grades = exported(tmp_path / "run")
    assert {word: grade["reward"] for word, grade in grades.items()} == {
        "Paris": 1.0,
        "Lyon": 0.2,
        **dict.fromkeys(FAILING, 0.7),
    }

    judge.asked.clear()
    assert rollscope(*arguments, "--resume").returncode == 0
    assert judge.asked == []


def test_the_key_is_in_no_file_and_no_output(judge: JudgeServer, arguments: list[object], tmp_path: Path) -> None:
    judge.answers = [failing]
    done = rollscope(*arguments)
    assert {asked.authorization for asked in judge.asked} == {f"Bearer {KEY}"}
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 4
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
    assert (
        KEY
        not in done.stdout + done.stderr + rollscope("export", tmp_path / "run", "--columns", "flag_evidence").stdout
    )


def test_a_judge_without_a_model_is_refused_before_anything_is_graded(
    judge: JudgeServer, arguments: list[object], tmp_path: Path
) -> None:
    (tmp_path / "judge.json").write_text('{"name": "similarity"}')
    done = rollscope(*arguments)
    assert done.returncode == 2
    [line] = done.stderr.strip().splitlines()
    assert "model is missing: name the judge's, as in similarity:model=NAME" in line
    assert judge.asked == []
    assert not (tmp_path / "run").exists()
