"""`rollscope grade --grader stored`: the rewards that rollouts came with, as a run, with and without a dataset."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator import grade_all
from evaluator.formats import dataset_hash
from evaluator.model import Rollout
from evaluator.runs.reading import Run
from tests.commands.command_line import Ask, write_rows

Row = dict[str, Any]
TESTS = {"inputs": ["a\n", "b\n"], "outputs": ["a\n", "b\n"]}


def answered(question: str, reward: float | None, text: str = "An answer.", **more: object) -> Row:
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}]
    asked = {"input": [{"role": "user", "content": question}]}
    response = {"object": "response", "output": output, "model": "m"}
    return {"responses_create_params": asked, "response": response, "reward": reward} | more


def grades(run: Path, columns: str = "task_id, reward, verdict", table: str = "rollouts ORDER BY row") -> list[Any]:
    with Run.open(run).connect() as connection:
        return connection.execute(f"SELECT {columns} FROM {table}").fetchall()


def tasks(run: Path) -> list[Any]:
    return grades(run, "task_id, prompt, mode", "tasks ORDER BY prompt")


def test_rollouts_need_no_dataset_and_have_their_prompts(tmp_path: Path, ask: Ask) -> None:
    rows = [answered("How far?", 0.25), answered("How far?", 19.5), answered("How long?", -2.0, task_id="long")]
    rollouts = write_rows(tmp_path / "out.jsonl", *rows, answered("How long?", 0.0, mask_sample=True))
    assert ask("grade", rollouts, "--grader", "stored", "--output", "run") == 0
    found = grades(tmp_path / "run", "reward, verdict, verified, grader")
    assert found == [
        (0.25, "wrong_answer", False, "stored"),
        (19.5, "passed", False, "stored"),
        (-2.0, "wrong_answer", False, "stored"),
        (None, "unknown", False, "stored"),
    ]
    (_, far, mode), (name, long, _) = tasks(tmp_path / "run")
    assert (far, long, mode, name) == ("How far?", "How long?", "answer", "long")


def test_the_tests_of_the_inputs_beside_are_shown_also_where_a_row_names_a_grader(tmp_path: Path, ask: Ask) -> None:
    inputs = {"responses_create_params": {"input": "Echo."}, "verifier_metadata": {"unit_tests": TESTS}}
    named = {"responses_create_params": {"input": "Say x."}, "verifier_metadata": {"answer": "x"}}
    unusable = {"responses_create_params": {"input": "Judge."}, "verifier_metadata": {"rubric": "kind"}}
    named["verifier_metadata"]["grader"] = "exact_match"
    write_rows(tmp_path / "out_materialized_inputs.jsonl", inputs, named, unusable)
    rollouts = write_rows(
        tmp_path / "out.jsonl",
        answered("Echo.", 0.0, "```python\nprint()\n```", result=[True, -2]),
        answered("Say x.", 0.5, "x"),
        answered("Judge.", 0.75),
    )
    assert ask("grade", rollouts, "--grader", "stored", "--output", "run") == 0
    found = grades(tmp_path / "run", "reward, verdict, tests_passed, tests_total")
    assert found == [(0.0, "wrong_answer", 1, 2), (0.5, "wrong_answer", 0, 0), (0.75, "wrong_answer", 0, 0)]
    assert len(tasks(tmp_path / "run")) == 3
    assert not Run.open(tmp_path / "run").manifest.problems


def test_a_bad_line_is_told_once_and_the_others_are_kept(tmp_path: Path, ask: Ask) -> None:
    rollouts = write_rows(
        tmp_path / "out.jsonl", answered("How far?", 1.0), {"responses_create_params": {"input": "x"}}
    )
    assert ask("grade", rollouts, "--grader", "stored", "--output", "run") == 0
    assert ask.err.count("out.jsonl:2: response is missing") == 1
    assert len(grades(tmp_path / "run")) == 1


def test_rollouts_of_another_format_have_theirs_too(tmp_path: Path, ask: Ask) -> None:
    row = {"task_id": "a", "sample_id": "a#0", "completion": "x", "reward": 0.5, "prompt": "Which?"}
    assert ask("grade", write_rows(tmp_path / "r.jsonl", row), "--grader", "stored", "--output", "run") == 0
    assert grades(tmp_path / "run") == [("a", 0.5, "wrong_answer")]
    assert tasks(tmp_path / "run") == [("a", "Which?", "answer")]


def test_it_can_be_gone_on_with(tmp_path: Path, ask: Ask) -> None:
    rollouts = write_rows(tmp_path / "out.jsonl", answered("How far?", 0.5), answered("How long?", 1.0))
    assert ask("grade", rollouts, "--grader", "stored", "--output", "run", "--limit", 1) == 0
    assert ask("grade", rollouts, "--dataset", rollouts, "--output", "run", "--resume") == 0
    assert [reward for _, reward, _ in grades(tmp_path / "run")] == [0.5, 1.0]


def test_every_other_grader_asks_for_a_dataset(tmp_path: Path, ask: Ask) -> None:
    rollouts = write_rows(tmp_path / "out.jsonl", answered("How far?", 1.0))
    for grader in ("tests", '{"name": "weighted", "graders": [{"grader": "stored"}]}'):
        assert ask("grade", rollouts, "--grader", grader) == 2
        assert "Missing option '--dataset'" in ask.err


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def test_a_file_that_has_grown_is_gone_on_with(tmp_path: Path, ask: Ask) -> None:
    rollouts = write_rows(tmp_path / "out.jsonl", answered("How far?", 0.5), answered("How long?", 1.0))
    half = json.dumps(answered("How old?", 0.25))
    append(rollouts, half[:40])
    assert ask("grade", rollouts, "--grader", "stored", "--output", "run") == 0
    append(rollouts, half[40:] + "\n" + json.dumps(answered("How far?", 0.75)) + "\n")
    for _ in range(2):
        assert ask("grade", "out.jsonl", "--output", "run", "--resume") == 0
        assert [reward for _, reward, _ in grades(tmp_path / "run")] == [0.5, 1.0, 0.25, 0.75]
    assert [prompt for _, prompt, _ in tasks(tmp_path / "run")] == ["How far?", "How long?", "How old?"]
    manifest = Run.open(tmp_path / "run").manifest
    assert (manifest.dataset_bytes, manifest.dataset_hash) == (rollouts.stat().st_size, dataset_hash(rollouts))
    assert (manifest.counts["rollouts"], manifest.problems) == (4, [])


@pytest.mark.slow
def test_a_folder_with_another_step_is_gone_on_with(tmp_path: Path, ask: Ask) -> None:
    row = {"task_id": "a", "completion": "x", "reward": 0.5}
    (tmp_path / "steps").mkdir()
    for step in (9, 10):
        write_rows(tmp_path / "steps" / f"{step}.jsonl", row | {"sample_id": str(step)})
        assert ask("grade", "steps", "--grader", "stored", "--output", "run", "--resume") == 0
    assert grades(tmp_path / "run", "sample_id, reward") == [("9", 0.5), ("10", 0.5)]


@pytest.mark.slow
def test_new_rollouts_of_tasks_that_are_in_no_dataset_have_their_prompts(tmp_path: Path, ask: Ask) -> None:
    write_rows(tmp_path / "d.jsonl", {"task_id": "a", "answer": "x"})
    rollouts = write_rows(tmp_path / "r.jsonl", {"task_id": "a", "completion": "x", "reward": 1})
    options = ("--dataset", "d.jsonl", "--grader", "stored", "--output", "run", "--resume")
    assert ask("grade", rollouts, *options) == 0
    append(rollouts, json.dumps({"task_id": "b", "completion": "y", "prompt": "Why?", "reward": 0}) + "\n")
    assert ask("grade", rollouts, *options) == 0
    assert grades(tmp_path / "run", "task_id, reward") == [("a", 1.0), ("b", 0.0)]
    assert ("b", "Why?", "answer") in tasks(tmp_path / "run")


def test_a_rollout_whose_task_came_after_the_tasks_were_read_has_its_grade() -> None:
    late = Rollout(task_id="late", completion="x", sample_id="s", given_reward=0.5)
    assert [grade.reward for grade in grade_all([], [late], grader="stored")] == [0.5]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "had {} when it was graded: it was cut off or replaced: use another --output"),
        (
            json.dumps({"task_id": "c", "completion": "x" * 90}) + "\n",
            "r.jsonl: its first {} bytes are not the ones that were graded: use another --output",
        ),
    ],
)
def test_a_file_that_was_cut_off_or_changed_is_refused(tmp_path: Path, ask: Ask, content: str, said: str) -> None:
    row = {"task_id": "a", "completion": "x", "reward": 1}
    rollouts = write_rows(tmp_path / "r.jsonl", row, row | {"task_id": "b"})
    size = rollouts.stat().st_size
    assert ask("grade", rollouts, "--grader", "stored", "--output", "run") == 0
    rollouts.write_text(content or json.dumps(row) + "\n")
    assert ask("grade", rollouts, "--output", "run", "--resume") == 2
    told = ask.err
    assert said.format(size) in told
    assert told.count("\n") == 1
    assert len(grades(tmp_path / "run")) == 2
