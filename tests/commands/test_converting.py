"""`rollscope convert`, and grading NeMo Gym's rollouts with the files that lie beside them."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.formats import load_rollouts, load_tasks
from evaluator.formats.reading.dataset import load_dataset
from evaluator.formats.writers import task_row
from evaluator.model import Component, Flag, Grade, Limits, Rollout, Task, Verdict
from evaluator.runs.reading import Manifest, Run
from evaluator.runs.writing import RunWriter
from tests.commands.command_line import Ask, write_rows

Row = dict[str, Any]

ADD: Row = {
    "task_id": "add", "mode": "call", "prompt": "Add.", "entry_point": "add", "topic": "sums",
    "in_outs": {"inputs": ["1\n2", "2\n2"], "outputs": ["3", "4"], "fn_name": "add"}, "checker": "value",
}  # fmt: skip
ECHO: Row = {
    "task_id": "echo", "mode": "stdin", "prompt": "Echo.", "in_outs": {"inputs": ["hi\n"], "outputs": ["hi\n"]},
    "weights": [2], "limits": {"wall_s": 2}, "exit_code": "strict", "reference": "print(input())",
}  # fmt: skip
CHECK: Row = {
    "task_id": "inc", "mode": "assert", "prompt": "Increment.", "entry_point": "inc", "preamble": "import math",
    "test": "def check(candidate):\n    assert candidate(1) == 2\n", "source": "made", "licence": "MIT",
}  # fmt: skip
TRIVIA: Row = {"task_id": "t", "mode": "answer", "prompt": "6 * 7?", "answer": 42, "grader": "exact_match"}
TASKS = (ADD, ECHO, CHECK, TRIVIA)


def rows_of(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def bare(task: Task) -> Task:
    task.line = 0
    return task


def test_tasks_come_back_from_nemo_gym_s_rows_as_they_were(tmp_path: Path, ask: Ask) -> None:
    native = write_rows(tmp_path / "d.jsonl", *TASKS)
    assert ask("convert", native, "g.jsonl", "--to", "nemo_gym") == 0
    rows = rows_of(tmp_path / "g.jsonl")
    assert rows[0]["responses_create_params"] == {"input": [{"role": "user", "content": "Add."}]}
    assert rows[0]["verifier_metadata"]["unit_tests"] == ADD["in_outs"]
    again = load_dataset(tmp_path / "g.jsonl", on_problem=pytest.fail).tasks
    for task in again:
        del task.metadata["task_id"]
        task.source = "" if task.source == "NeMo Gym" else task.source
    assert [bare(task) for task in again] == [bare(task) for task in load_tasks(native)]


def test_tasks_come_back_from_native_rows_as_they_were(tmp_path: Path, ask: Ask) -> None:
    native = write_rows(tmp_path / "d.jsonl", *TASKS)
    assert ask("convert", native, "n.jsonl", "--to", "native") == 0
    assert [bare(t) for t in load_tasks(tmp_path / "n.jsonl")] == [bare(t) for t in load_tasks(native)]
    assert task_row(Task.from_row(ADD)) == ADD


def test_tasks_without_a_prompt_of_their_own_are_reported(tmp_path: Path, ask: Ask) -> None:
    native = write_rows(tmp_path / "d.jsonl", ADD, ADD | {"task_id": "b"}, ECHO | {"prompt": ""})
    assert ask("convert", native, "g.jsonl", "--to", "nemo_gym") == 0
    message = ask.err
    assert "g.jsonl: 3 tasks" in message
    assert "tasks without a prompt: 1" in message
    assert "tasks that share a prompt with another: 2" in message


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "run"
    writer = RunWriter.create(path, Manifest(dataset="d", rollouts="r"))
    for row in TASKS:
        task = Task.from_row(row)
        writer.add_task(task, task.cases)
    graded = [
        ("echo", "print(input())", Verdict.PASSED, 1.0, ()),
        ("add", "def add(a, b): return 3", Verdict.WRONG_ANSWER, 0.0, ()),
        ("echo", "print(1)", Verdict.SANDBOX_ERROR, None, ()),
        ("t", "42", Verdict.UNKNOWN, None, (Flag("judge_failed", "no answer"),)),
        ("gone", "?", Verdict.UNKNOWN, None, ()),
    ]
    for place, (task_id, completion, verdict, reward, flags) in reversed(list(enumerate(graded))):  # as they end
        name = f"{task_id}#{place}"
        rollout = Rollout(
            task_id=task_id, completion=completion, sample_id=name, model="m", metadata={"usage": {"n": 1}}
        )
        grade = Grade(
            task_id=task_id, sample_id=name, verdict=verdict, reward=reward, flags=flags, limits=Limits(),
            components=(Component(name="part", reward=reward),), error_message="why" if reward is None else None,
        )  # fmt: skip
        writer.add(rollout, grade, place)
    writer.close("finished")
    return path


def test_a_run_becomes_rollouts_with_their_inputs_beside(run: Path, tmp_path: Path, ask: Ask) -> None:
    assert ask("convert", run, "out.jsonl", "--to", "nemo_gym", "--agent", "mine") == 0
    records, inputs = rows_of(tmp_path / "out.jsonl"), rows_of(tmp_path / "out_materialized_inputs.jsonl")
    keys = [(row["_ng_task_index"], row["_ng_rollout_index"]) for row in records]
    assert (
        keys
        == [(row["_ng_task_index"], row["_ng_rollout_index"]) for row in inputs]
        == [(1, 0), (0, 0), (1, 1), (3, 0)]
    )
    assert [(row["reward"], row["mask_sample"], row["failure_kind"]) for row in records] == [
        (1.0, False, None),
        (0.0, False, None),
        (0.0, True, "provider_unavailable"),
        (0.0, True, "judge_failed"),
    ]
    assert [row["failure_reason"] for row in records] == [None, None, "why", "why"]
    assert {row["agent_ref"]["name"] for row in records + inputs} == {"mine"}
    assert "verifier_metadata" not in records[0]
    assert records[0]["response"]["output"][0]["content"][0]["text"] == "print(input())"
    assert (records[0]["response"]["model"], records[0]["response"]["usage"]) == ("m", {"n": 1})
    assert "1 rollout left out: the task is not in the dataset; the first is gone#4" in ask.err


def test_converted_rollouts_find_their_tasks_and_keep_their_rewards(run: Path, tmp_path: Path, ask: Ask) -> None:
    assert ask("convert", run, "out.jsonl", "--to", "nemo_gym") == 0
    dataset = load_dataset(tmp_path / "out_materialized_inputs.jsonl", on_problem=pytest.fail)
    rollouts = list(dataset.named(load_rollouts(tmp_path / "out.jsonl", on_problem=pytest.fail)))
    assert [(r.task_id, r.given_reward, r.expected_pass) for r in rollouts] == [
        ("echo", 1.0, True), ("add", 0.0, False), ("echo", None, None), ("t", None, None),
    ]  # fmt: skip


def test_rollouts_without_a_reward_are_masked(tmp_path: Path, ask: Ask) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", *TASKS)
    rollouts = write_rows(
        tmp_path / "r.jsonl",
        {"task_id": "echo", "completion": "a", "kind": "full"},
        {"task_id": "echo", "completion": "b", "kind": "full", "given_reward": 0.5},
    )
    assert ask("convert", rollouts, "out.jsonl", "--to", "nemo_gym", "--dataset", dataset) == 0
    records = rows_of(tmp_path / "out.jsonl")
    assert [(row["reward"], row["mask_sample"], row["failure_kind"]) for row in records] == [
        (0.0, True, "rollscope:not_graded"),
        (0.5, False, None),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("r.jsonl out.jsonl --to nemo_gym", "name their task file with --dataset"),
        ("r.jsonl out.json --to nemo_gym", "give a name that ends in .jsonl"),
        ("r.jsonl out.jsonl --to parquet", "give a name that ends in .parquet"),
        ("d.jsonl d.jsonl --to nemo_gym", "give another name"),
        ("nowhere.jsonl out.jsonl --to nemo_gym", "no such file"),
        ("r.jsonl out.jsonl --to nemo_gym --dataset nowhere.jsonl", "no such file"),
        ("d.jsonl out.jsonl --to evalplus", "d.jsonl: holds tasks, but evalplus holds only rollouts"),
        ("d.jsonl out.jsonl --to verl", "d.jsonl: holds tasks, but verl holds only rollouts"),
    ],
)
def test_what_can_not_be_converted_is_reported_and_nothing_is_left(
    tmp_path: Path, ask: Ask, arguments: str, message: str
) -> None:
    write_rows(tmp_path / "d.jsonl", *TASKS)
    write_rows(tmp_path / "r.jsonl", {"task_id": "echo", "completion": "a", "kind": "full"})
    before = sorted(tmp_path.iterdir())
    assert ask("convert", *arguments.split()) == 2
    error = ask.err
    assert message in error
    assert error.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


# --- The files beside a file of rollouts ---------------------------------------------------------

PROGRAM = "```python\nprint(input())\n```"


def collected(folder: Path, *, echo_tests: bool = False) -> Path:
    """A file of NeMo Gym's rollouts, as its code_gen server leaves it."""
    tests = {"verifier_metadata": {"unit_tests": ECHO["in_outs"]}} if echo_tests else {}
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": PROGRAM}]}]
    record = tests | {
        "responses_create_params": {"input": "Echo."},
        "response": {"object": "response", "output": output, "model": "m"},
        "reward": 0.0,
        "_ng_task_index": 0,
    }
    return write_rows(folder / "out.jsonl", *(record | {"_ng_rollout_index": index} for index in (1, 0)))


def inputs_beside(folder: Path) -> Path:
    row = {"responses_create_params": {"input": "Echo."}, "verifier_metadata": {"unit_tests": ECHO["in_outs"]}}
    rows = (row | {"_ng_task_index": 0, "_ng_rollout_index": index} for index in (0, 1))
    return write_rows(folder / "out_materialized_inputs.jsonl", *rows)


def test_rollouts_are_graded_by_the_inputs_beside_them(tmp_path: Path, ask: Ask) -> None:
    rollouts, inputs = collected(tmp_path), inputs_beside(tmp_path)
    write_rows(
        tmp_path / "out_failures.jsonl", {"_ng_task_index": 0, "_ng_rollout_index": 2, "_ng_failure_class": "lost"}
    )
    assert ask("grade", rollouts, "--output", "run", "--workers", 1) == 0
    message = ask.err
    assert f"tasks from {inputs}, found next to the rollouts\n" in message
    assert "failed, without a completion: 1 (lost 1)\n" in message
    graded = Run.open(tmp_path / "run")
    assert (graded.manifest.counts["passed"], graded.manifest.dataset) == (2, str(inputs))


@pytest.mark.slow
def test_rollouts_that_have_their_tests_need_no_other_file(tmp_path: Path, ask: Ask) -> None:
    rollouts = collected(tmp_path, echo_tests=True)
    assert ask("grade", rollouts, "--output", "run", "--workers", 1) == 0
    assert f"tasks from {rollouts} itself" in ask.err
    assert Run.open(tmp_path / "run").manifest.counts["passed"] == 2


def test_without_inputs_a_dataset_is_required(tmp_path: Path, ask: Ask) -> None:
    assert ask("grade", collected(tmp_path)) == 2
    assert f"Missing option '--dataset': the rollouts have no tests, and there is no {tmp_path}" in ask.err
    others = write_rows(tmp_path / "r.jsonl", {"task_id": "echo", "completion": "a", "kind": "full"})
    inputs_beside(tmp_path).rename(tmp_path / "r_materialized_inputs.jsonl")
    assert ask("grade", others) == 2
    assert ask.err == "rollscope: Missing option '--dataset' (see rollscope grade --help)\n"
