"""A whole run by a judge that fails now and then: it ends, says why, and can be resumed where it failed."""

import json
from pathlib import Path

import pytest

from tests.commands.command_line import Done, rollscope, write_rows
from tests.graders.judge_server import Answer, Asked, Handler, JudgeServer, refuses, says, sends

KEY = "sk-not-to-be-seen-anywhere"
FAILING: dict[str, tuple[Answer, str]] = {
    "textual": (sends("hello", kind="text/plain"), "the judge's reply is not a chat completion: 'hello'"),
    "broken": (refuses(500, f"no {KEY}"), "the judge answered 500: no [key]"),
}
SCORES = {"Paris": 10, "Lyon": 2}
COMPLETIONS = [*SCORES, *FAILING]


def completion_of(asked: Asked) -> str:
    return next(word for word in COMPLETIONS if f">\n{word}\n</completion-" in asked.text)


def failing(handler: Handler, asked: Asked) -> None:
    word = completion_of(asked)
    answer = FAILING[word][0] if word in FAILING else says(f"Well.\nScore: {SCORES[word]}")
    answer(handler, asked)


def grade(folder: Path, judge: JudgeServer, *more: str) -> Done:
    """What `rollscope grade` says of all completions."""
    task = {"task_id": "fr", "prompt": "Capital of France?", "answer": "Paris"}
    rows = ({"task_id": "fr", "sample_id": word, "completion": word} for word in COMPLETIONS)
    dataset, rollouts = write_rows(folder / "tasks.jsonl", task), write_rows(folder / "rollouts.jsonl", *rows)
    options = {"name": "similarity", "model": "m", "base_url": judge.url, "retries": 0}
    grader = write_rows(folder / "judge.json", options)
    return rollscope("grade", rollouts, "--dataset", dataset, "--grader", grader, "--output", "run", *more, cwd=folder)


def exported(folder: Path) -> dict[str, dict[str, object]]:
    done = rollscope("export", "run", cwd=folder)
    return {str(row["sample_id"]): row for row in map(json.loads, done.stdout.splitlines())}


def test_a_run_ends_though_its_judge_fails_and_is_resumed_where_it_did(
    judge: JudgeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    judge.answers = [failing]
    done = grade(tmp_path, judge)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    grades = exported(tmp_path)
    assert len(grades) == len(COMPLETIONS)
    for word, (_, reason) in FAILING.items():
        assert (grades[word]["verdict"], grades[word]["reward"]) == ("unknown", None)
        assert reason in str(grades[word]["error_message"])
        assert grades[word]["flags"] == ["judge_failed"]
    assert {word: grades[word]["reward"] for word in SCORES} == {"Paris": 1.0, "Lyon": 0.2}
    assert {row["grader"] for row in grades.values()} == {"similarity"}

    # The key is in no file and no output.
    assert {asked.authorization for asked in judge.asked} == {f"Bearer {KEY}"}
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 4
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
    evidence = rollscope("export", "run", "--columns", "flag_evidence", cwd=tmp_path).stdout
    assert KEY not in done.stdout + done.stderr + evidence

    judge.asked.clear()
    judge.answers = [says("Better.\nScore: 7")]
    resumed = grade(tmp_path, judge, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert sorted(map(completion_of, judge.asked)) == sorted(FAILING)
    rewards = {word: row["reward"] for word, row in exported(tmp_path).items()}
    assert rewards == {"Paris": 1.0, "Lyon": 0.2, **dict.fromkeys(FAILING, 0.7)}

    judge.asked.clear()
    assert grade(tmp_path, judge, "--resume").returncode == 0
    assert judge.asked == []
