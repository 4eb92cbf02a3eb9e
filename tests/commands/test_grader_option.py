"""`rollscope grade --grader`: every form of it, what a run keeps of it, and going on with such a run."""

import csv
import json
import shlex
from pathlib import Path

import pytest

from evaluator.runs.reading import Run
from evaluator.runs.resuming import resume_command
from tests.commands.command_line import Ask, write_rows

TASK = {"query": "6 * 7?", "answer": 42, "metadata": {"task_id": "sum"}}
SAMPLES = ("42", "It is 42", "41")

OWN = """
from pathlib import Path
from evaluator.model import Flag, Grade, Verdict

RUNS_CODE = False
HERE = Path(__file__).parent


def brief(task, rollout, bench):
    return 1.0 if len(rollout.completion) == 2 else 0.25


def judged(task, rollout, bench):
    with (HERE / "asked").open("a") as file:
        file.write(rollout.completion + chr(10))
    if rollout.completion == "41" and not (HERE / "back").exists():
        return Grade(
            task_id="", sample_id="", verdict=Verdict.UNKNOWN, reward=None, error_message="no answer",
            flags=(Flag("judge_failed", "no answer"),),
        )
    return None if rollout.completion == "42" else 0.5
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    """A dataset, rollouts and a user's graders."""
    write_rows(tmp_path / "d.jsonl", TASK)
    rows = ({"task_id": "sum", "sample_id": f"s{n}", "completion": text} for n, text in enumerate(SAMPLES))
    write_rows(tmp_path / "r.jsonl", *rows)
    (tmp_path / "own.py").write_text(OWN)


def rewards(run: Path) -> list[float | None]:
    with Run.open(run).connect() as connection:
        return [reward for (reward,) in connection.sql("SELECT reward FROM rollouts ORDER BY sample_id").fetchall()]


WEIGHTED = {"name": "weighted", "graders": [{"grader": "exact_match", "weight": 3}, {"grader": "own.py:brief"}]}
TOML = """
name = "weighted"
[[graders]]
grader = {name = "exact_match", marker = "It is"}
[[graders]]
grader = "own.py:brief"
weight = 2
"""


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, [1.0, 0.0, 0.0]),
        ("exact_match:marker=It is", [0.0, 1.0, 0.0]),
        ('{"name": "exact_match", "pattern": "[0-9]+"}', [1.0, 1.0, 0.0]),
        ("own.py:brief", [1.0, 0.25, 1.0]),
        (json.dumps(WEIGHTED), [4.0, 0.25, 1.0]),
        ("graders/w.json", [4.0, 0.5, 1.0]),
        ("graders/w.toml", [2.0, 2.0, 2.0]),
    ],
)
def test_every_form(ask: Ask, tmp_path: Path, given: str | None, expected: list[float]) -> None:
    (tmp_path / "graders").mkdir()
    (tmp_path / "graders/own.py").write_text(OWN.replace("0.25", "0.5"))
    (tmp_path / "graders/w.json").write_text(json.dumps(WEIGHTED))
    (tmp_path / "graders/w.toml").write_text(TOML)
    chosen = [] if given is None else ["--grader", given]
    assert ask("grade", "r.jsonl", "--dataset", "d.jsonl", "--output", "run", *chosen) == 0
    assert rewards(tmp_path / "run") == expected


def test_a_run_is_gone_on_with_from_any_folder(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "w.json").write_text(json.dumps(WEIGHTED))
    run, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert ask("grade", "r.jsonl", "--dataset", "d.jsonl", "--output", run, "--grader", "w.json", "--limit", 1) == 0
    (tmp_path / "w.json").unlink()  # the run keeps what stood in it
    words = shlex.split(resume_command(run, Run.open(run).manifest))
    limit = words.index("--limit")
    assert ask(*words[1:limit], *words[limit + 2 :], cwd=elsewhere) == 0
    assert len(rewards(run)) == 3
    assert ask(*words[1:limit], *words[limit + 2 :], "--grader", "exact_match", cwd=elsewhere) == 2
    assert "grader" in ask.err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("none.py:f", "none.py: no such file"),
        ("none.json", "none.json: No such file"),
        ("list.json", "list.json: must hold an object"),
        ("broken.json", "broken.json: can't be read as JSON"),
        ("broken.toml", "broken.toml: can't be read as TOML"),
        ("dated.toml", "dated.toml: can't be read as TOML"),
        ("nameless.json", 'no "name"'),
    ],
)
def test_a_bad_grader_is_one_line_before_anything_is_graded(ask: Ask, tmp_path: Path, given: str, told: str) -> None:
    files = {
        "list.json": "[]", "broken.json": "{", "broken.toml": "name =",
        "dated.toml": 'name = "tests"\nreward = 2020-01-01', "nameless.json": "{}",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert ask("grade", "r.jsonl", "--dataset", "d.jsonl", "--output", "run", "--grader", given) == 2
    [line] = ask.err.strip().splitlines()
    assert told in line
    assert "Traceback" not in line
    assert not (tmp_path / "run").exists()


def test_what_a_judge_did_not_answer_is_asked_again_and_nothing_else(ask: Ask, tmp_path: Path) -> None:
    arguments = ["grade", "r.jsonl", "--dataset", "d.jsonl", "--output", "run", "--grader", "own.py:judged", "--resume"]
    assert ask(*arguments) == 0
    assert rewards(tmp_path / "run") == [None, 0.5, None]
    assert sorted((tmp_path / "asked").read_text().split("\n")) == ["", "41", "42", "It is 42"]
    assert ask(*arguments) == 0
    assert rewards(tmp_path / "run") == [None, 0.5, None], "it has not come back"
    (tmp_path / "back").touch()
    (tmp_path / "asked").unlink()
    assert ask(*arguments) == 0
    assert rewards(tmp_path / "run") == [None, 0.5, 0.5], "a grader that could not decide is not called again"
    assert (tmp_path / "asked").read_text().split() == ["41"]
    assert Run.open(tmp_path / "run").manifest.counts == {"rollouts": 3, "unknown": 1, "wrong_answer": 2}
    (tmp_path / "asked").unlink()
    assert ask(*arguments) == 0
    assert not (tmp_path / "asked").exists()


def test_components_are_exported_where_there_are_any(ask: Ask, tmp_path: Path) -> None:
    grade = ["grade", "r.jsonl", "--dataset", "d.jsonl"]
    assert ask(*grade, "--output", "parts", "--grader", json.dumps(WEIGHTED)) == 0
    assert ask(*grade, "--output", "plain") == 0
    assert ask("export", "parts") == 0
    rows = [json.loads(line) for line in ask.out.splitlines()]
    assert json.loads(rows[1]["components"]) == [
        {"name": "exact_match", "reward": 0.0, "weight": 3.0, "verdict": "wrong_answer",
         "message": "expected '42', got 'It is 42'"},
        {"name": "own.py:brief", "reward": 0.25, "weight": 1.0, "verdict": "wrong_answer", "message": None},
    ]  # fmt: skip
    assert ask("export", "parts", "--to", "parts.csv") == 0
    with (tmp_path / "parts.csv").open(newline="") as file:
        header = next(csv.reader(file))
    assert header[header.index("grader") + 1] == "components"
    assert ask("export", "plain") == 0
    assert "components" not in ask.out


def test_text_that_no_encoding_has_is_kept_all_the_same(ask: Ask, tmp_path: Path) -> None:
    given = "{'reward': 1, 'message': r.completion, 'components': {r.completion: 1}}"
    body = f"RUNS_CODE = False\ndef f(t, r, b): return {given}\n"
    (tmp_path / "echo.py").write_text(body)
    write_rows(tmp_path / "d.jsonl", TASK | {"answer": "a \ud800", "query": "\ud800?"})
    write_rows(tmp_path / "r.jsonl", {"task_id": "sum", "completion": "a \ud800"})
    assert ask("grade", "r.jsonl", "--dataset", "d.jsonl", "--output", "plain") == 0
    assert rewards(tmp_path / "plain") == [1.0]
    weighted = {"name": "weighted", "graders": [{"grader": "echo.py:f"}]}
    for name, given in (("own", "echo.py:f"), ("sum", json.dumps(weighted))):
        assert ask("grade", "r.jsonl", "--dataset", "d.jsonl", "--output", name, "--grader", given) == 0
        assert ask("export", name) == 0
        assert "a \\\\ud800" in json.loads(ask.out)["components"]


def test_a_dataset_of_answers_is_checked(ask: Ask, tmp_path: Path) -> None:
    right = TASK | {"reference": "42"}
    wrong = {"query": "b?", "answer": "b", "reference": "c", "metadata": {"id": "wrong"}}
    odd = {"query": "c?", "answer": {"a": 1}, "metadata": {"id": "odd"}}
    file = {"query": "d?", "answer": "d", "grader": "own.py:brief", "metadata": {"id": "file"}}
    path = write_rows(tmp_path / "all.jsonl", right, wrong, odd, file)
    assert ask("check", path, "--json") == 1
    report = json.loads(ask.out)
    assert report["references"] == 2
    assert [(each["task_id"], each["what"].partition(":")[0]) for each in report["findings"]] == [
        ("wrong", "its own reference does not pass"),
        ("odd", "can't be graded"),
        ("file", "can't be graded"),
    ]
