"""A dataset as trainers have it: its tests in a column that reward functions read, its rows found by their prompts."""

import json
from pathlib import Path

import pytest

from evaluator.formats import Problem, load_rollouts, load_task
from evaluator.formats.reading.dataset import load_dataset, load_with_prompts
from evaluator.model import JsonValue, Mode, RecordError

ASSERTS = "assert add(1, 2) == 3\nassert add(0, 0) == 0"
TALK = [{"role": "user", "content": "Write add."}]
ABOUT = {"limits": {"wall_s": 1}, "reference": "def add(a, b): return a + b", "answer": "5", "level": 2}


@pytest.mark.parametrize(
    ("column", "tests", "mode"),
    [
        ("tests", ASSERTS, Mode.ASSERT),
        ("tests", ASSERTS.splitlines(), Mode.ASSERT),
        ("ground_truth", json.dumps(ASSERTS.splitlines()), Mode.ASSERT),
        ("test_cases", [{"input": "1", "output": "1"}], Mode.STDIN),
        ("ground_truth", {"inputs": [[1, 2]], "outputs": [3], "fn_name": "add"}, Mode.CALL),
    ],
)
@pytest.mark.parametrize("named", [{}, {"task_id": "t", "mode": "assert", "in_outs": {"inputs": None}}])
def test_the_tests_are_in_any_column_that_a_reward_reads(
    column: str, tests: JsonValue, mode: Mode, named: dict[str, JsonValue]
) -> None:
    task = load_task({**named, "prompt": TALK, column: tests, **ABOUT})
    assert (task.mode, task.prompt, task.source) == (mode, "Write add.", "")
    assert (task.limits, task.answer, task.metadata) == ({"wall_s": 1}, "5", {"level": 2})


def test_rows_of_rollouts_have_asserts_as_text_too() -> None:
    task = load_task({"input": "Write add.", "output": "...", "gts": ASSERTS, "score": 1.0})
    assert (task.mode, task.entry_point) == (Mode.ASSERT, "add")


@pytest.mark.parametrize("samples", [{"completion": "x"}, {"completions": ["x"]}])
@pytest.mark.parametrize("owner", [{"prompt": "Write add."}, {"task_id": "t"}])
def test_samples_beside_the_tests_of_their_task_are_their_own_dataset(
    samples: dict[str, JsonValue], owner: dict[str, JsonValue], tmp_path: Path
) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps({**owner, **samples, "tests": ASSERTS}) + "\n")
    both = load_with_prompts(path, path)
    rollouts = load_rollouts(path)
    assert [(task.mode, task.task_id) for task in both.tasks] == [(Mode.ASSERT, each.task_id) for each in rollouts]


def test_what_is_no_tests_is_told_or_is_an_answer() -> None:
    with pytest.raises(RecordError, match=r"tests: the tests are text without an assert: give .*or one text"):
        load_task({"task_id": "t", "prompt": "p", "tests": "see above"})
    assert load_task({"task_id": "t", "prompt": "p", "tests": "see above", "answer": "5"}).mode is Mode.ANSWER


def test_rollouts_that_have_only_prompts_are_found_by_them(tmp_path: Path) -> None:
    names = {"a": "Write add.", "b": "Write sub.", "c": "Write sub."}
    rows = [{"task_id": name, "prompt": prompt, "tests": ASSERTS} for name, prompt in names.items()]
    samples = [{"step": 1, "prompt": p, "completion": "x", "reward": 1.0} for p in (TALK, "Write sub.", "Write mul.")]
    for name, each in (("d.jsonl", rows), ("r.jsonl", samples)):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in each))
    problems: list[Problem] = []
    data = load_dataset(tmp_path / "d.jsonl", on_problem=problems.append)
    first, *others = data.named(load_rollouts(tmp_path / "r.jsonl"))
    assert (first.task_id, first.sample_id, problems) == ("a", "a#0", [])
    assert all(rollout.task_id.startswith("prompt-") for rollout in others)
    both = load_with_prompts(tmp_path / "r.jsonl", tmp_path / "d.jsonl")
    assert [task.task_id for task in both.tasks] == ["a", "b", "c", *(rollout.task_id for rollout in others)]
