"""`rollscope convert` into the files of other graders and trainers, and into Parquet: what is written, what is said."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from evaluator.formats import load_rollouts, load_tasks
from evaluator.formats.reading.parquet import ROLLOUT_COLUMNS, TASK_COLUMNS
from evaluator.model import Grade, Kind, Mode, Rollout, Task, Verdict
from evaluator.runs.reading import Manifest
from evaluator.runs.writing import RunWriter
from tests.commands.command_line import Ask, write_rows

Row = dict[str, Any]

PROMPT = 'def inc(x):\n    """One more."""\n'
INC: Row = {
    "task_id": "inc", "mode": "assert", "prompt": PROMPT, "entry_point": "inc",
    "reference": PROMPT + "    return x + 1\n", "level": 3,
    "test": "def check(candidate):\n    assert candidate(1) == 2\n",
}  # fmt: skip
SUM: Row = {
    "task_id": "sum", "mode": "call", "prompt": "Add up.", "entry_point": "f", "answer": None,
    "in_outs": {"inputs": ["[1, 2]"], "outputs": ["3"], "fn_name": "f"}, "weights": [2], "limits": {"wall_s": 2},
}  # fmt: skip
SIX: Row = {"task_id": "six", "mode": "answer", "prompt": "6 * 7?", "answer": 42, "grader": "exact_match"}
FULL = "def inc(x):\n    return x + 1\n"
CHAT = f"Here it is:\n```python\n{FULL}```\nDone."


@pytest.fixture
def rollouts(tmp_path: Path) -> Path:
    """Rollouts of every kind, with the grades of others, and the dataset `d.jsonl`."""
    write_rows(tmp_path / "d.jsonl", INC, SUM, SIX)
    return write_rows(
        tmp_path / "r.jsonl",
        {"task_id": "inc", "completion": "    return x + 1\n", "expected_pass": True, "given_reward": 1.0, "step": 4},
        {"task_id": "inc", "completion": FULL, "recorded_verdict": "time_limit", "recorded_by": "HumanEval"},
        {"task_id": "inc", "completion": CHAT, "kind": "chat", "recorded_verdict": "runtime_error",
         "recorded_word": "failed: name 'y' is not defined", "seed": 7},
        {"task_id": "sum", "completion": "f = sum", "sample_id": "mine", "given_reward": 0.25},
    )  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run whose rollouts came with other grades."""
    with RunWriter.create(tmp_path / "run", Manifest(dataset="d", rollouts="r")) as writer:
        for row in (INC, SUM):
            task = Task.from_row(row)
            writer.add_task(task, task.cases)
        grades = [
            (Verdict.PASSED, 1.0),
            (Verdict.TIME_LIMIT, 0.0),
            (Verdict.RUNTIME_ERROR, 0.0),
            (Verdict.UNKNOWN, None),
        ]
        for place, (verdict, reward) in enumerate(grades):
            rollout = Rollout(
                task_id="inc", completion=CHAT, sample_id=f"inc#{place}", sample_index=place, given_reward=0.5,
                recorded_verdict=Verdict.WRONG_ANSWER, recorded_word="fail", recorded_by="EvalPlus", step=1,
            )  # fmt: skip
            message = "NameError: y" if verdict is Verdict.RUNTIME_ERROR else None
            grade = Grade(
                task_id="inc", sample_id=rollout.sample_id, verdict=verdict, reward=reward, code=FULL, kind=Kind.CHAT,
                error_message=message,
            )  # fmt: skip
            writer.add(rollout, grade, place)
        writer.close("finished")
    return tmp_path / "run"


def rows_of(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def lost(told: str) -> dict[str, int]:
    """What stderr says that the target does not hold."""
    [line] = [line for line in told.splitlines() if line.startswith("not in ")]
    pairs = (part.rpartition(" ") for part in line.partition(": ")[2].split(", "))
    return {name: int(count) for name, _, count in pairs}


def test_human_eval_s_samples_have_the_grades_in_its_words(rollouts: Path, tmp_path: Path, ask: Ask) -> None:
    assert ask("convert", rollouts, "out.jsonl", "--to", "humaneval", "--dataset", "d.jsonl") == 0
    assert rows_of(tmp_path / "out.jsonl") == [
        {"task_id": "inc", "completion": "    return x + 1\n", "passed": True, "result": "passed"},
        {"task_id": "inc", "completion": FULL, "passed": False, "result": "timed out"},
        {"task_id": "inc", "completion": FULL, "passed": False, "result": "failed: name 'y' is not defined"},
        {"task_id": "sum", "completion": "f = sum"},
    ]
    assert lost(ask.err) == {
        "step": 1, "recorded_by": 1, "recorded_word": 1, "seed": 1, "text around the program": 1,
        "sample_id": 1, "given_reward": 1,
    }  # fmt: skip


def test_evalplus_s_samples_are_whole_programs(rollouts: Path, tmp_path: Path, ask: Ask) -> None:
    assert ask("convert", rollouts, "out.jsonl", "--to", "evalplus", "--dataset", "d.jsonl") == 0
    assert rows_of(tmp_path / "out.jsonl") == [
        {"task_id": "inc", "solution": PROMPT + "    return x + 1\n"},
        {"task_id": "inc", "solution": FULL},
        {"task_id": "inc", "solution": FULL},
        {"task_id": "sum", "solution": "f = sum"},
    ]


def test_without_the_prompt_evalplus_puts_a_completion_after_it(rollouts: Path, tmp_path: Path, ask: Ask) -> None:
    assert ask("convert", rollouts, "out.jsonl", "--to", "evalplus") == 0
    first, second, third, _ = rows_of(tmp_path / "out.jsonl")
    assert first == {"task_id": "inc", "completion": "    return x + 1\n"}
    assert second == third == {"task_id": "inc", "solution": FULL}


def test_verl_s_rows_have_the_prompt_the_truth_and_the_score(rollouts: Path, tmp_path: Path, ask: Ask) -> None:
    assert ask("convert", rollouts, "out.jsonl", "--to", "verl", "--dataset", "d.jsonl") == 0
    first, second, _, last = rows_of(tmp_path / "out.jsonl")
    assert first == {
        "input": PROMPT, "output": "    return x + 1\n", "gts": INC["test"], "score": 1.0, "step": 4
    }  # fmt: skip
    assert (second["score"], last["score"], json.loads(last["gts"])) == (None, 0.25, SUM["in_outs"])
    assert lost(ask.err)["task_id"] == 4


def test_verl_s_prompt_may_be_in_the_rollouts_themselves(tmp_path: Path, ask: Ask) -> None:
    write_rows(tmp_path / "r.jsonl", {"task_id": "a", "completion": "x", "prompt": "Which?", "expected_pass": False})
    assert ask("convert", "r.jsonl", "out.jsonl", "--to", "verl") == 0
    assert rows_of(tmp_path / "out.jsonl") == [
        {"input": "Which?", "output": "x", "gts": None, "score": 0.0, "step": None}
    ]


def test_a_run_s_own_grades_are_written(run: Path, tmp_path: Path, ask: Ask) -> None:
    assert ask("convert", run, "h.jsonl", "--to", "humaneval") == 0
    assert [(row.get("passed"), row.get("result"), row["completion"]) for row in rows_of(tmp_path / "h.jsonl")] == [
        (True, "passed", FULL), (False, "timed out", FULL), (False, "failed: NameError: y", FULL), (None, None, FULL),
    ]  # fmt: skip
    assert ask("convert", run, "v.jsonl", "--to", "verl") == 0
    assert [row["score"] for row in rows_of(tmp_path / "v.jsonl")] == [1.0, 0.0, 0.0, None]


@pytest.mark.parametrize("to", ["native", "parquet"])
def test_a_run_keeps_the_grades_that_its_rollouts_came_with(run: Path, tmp_path: Path, ask: Ask, to: str) -> None:
    out = tmp_path / {"native": "n.jsonl", "parquet": "n.parquet"}[to]
    assert ask("convert", run, out, "--to", to) == 0
    for rollout, verdict in zip(read_back(out), ("passed", "time_limit", "runtime_error", "unknown"), strict=True):
        assert (rollout.recorded_verdict, rollout.recorded_word, rollout.recorded_by) == (
            Verdict.WRONG_ANSWER, "fail", "EvalPlus",
        )  # fmt: skip
        assert (rollout.metadata["verdict"], rollout.metadata["source_reward"]) == (verdict, 0.5)
    found = [(rollout.sample_id, rollout.given_reward, rollout.expected_pass) for rollout in read_back(out)]
    assert found == [("inc#0", 1.0, True), ("inc#1", 0.0, False), ("inc#2", 0.0, False), ("inc#3", None, None)]


def read_back(path: Path) -> list[Rollout]:
    rollouts = list(load_rollouts(path, on_problem=pytest.fail))
    for rollout in rollouts:
        rollout.line = 0
    return rollouts


def test_a_dataset_becomes_human_eval_s(tmp_path: Path, ask: Ask) -> None:
    told = INC | {"task_id": "told", "prompt": 'Say """more""".', "preamble": "import math", "checker": "python"}
    bare = INC | {"task_id": "bare", "test": "assert inc(1) == 2\n"}
    write_rows(tmp_path / "d.jsonl", INC, told, bare, SUM, SIX)
    assert ask("convert", "d.jsonl", "out.jsonl", "--to", "humaneval") == 0
    first, second = rows_of(tmp_path / "out.jsonl")
    assert first == {
        "task_id": "inc", "prompt": PROMPT, "entry_point": "inc", "canonical_solution": "    return x + 1\n",
        "test": INC["test"], "level": 3,
    }  # fmt: skip
    for row in (first, second):
        exec(row["prompt"] + row["canonical_solution"] + row["test"] + f"check({row['entry_point']})", {})
    again = list(load_tasks(tmp_path / "out.jsonl"))
    assert [(task.mode, task.test, task.metadata) for task in again] == [(Mode.ASSERT, INC["test"], {"level": 3})] * 2
    assert again[1].prompt.startswith("import math\n")
    message = ask.err
    assert "1 task left out: their test defines no check(candidate); the first is bare" in message
    assert "1 task left out: their mode is call, and HumanEval has only asserts; the first is sum" in message
    assert lost(message) == {"checker": 1}


ODD: tuple[Row, ...] = (
    {"task_id": "a", "completion": "x", "sample_id": "a#0", "sample_index": 0, "step": 3, "model": "m", "kind": "full",
     "group": "g", "expected_pass": False, "given_reward": 0.5, "recorded_verdict": "wrong_answer",
     "recorded_word": "fail", "recorded_by": "EvalPlus", "nested": {"a": [1, None, {"b": 2**70}]}, "note": "\ud800"},
    {"task_id": "a", "completion": "", "sample_id": "a#1", "sample_index": 1, "nested": "text now"},
    {"task_id": "b", "completion": "Ünïcode\n\0", "sample_id": "b#0", "sample_index": 0, "none": None},
)  # fmt: skip


def test_rollouts_come_back_from_parquet_as_they_were(tmp_path: Path, ask: Ask) -> None:
    source = write_rows(tmp_path / "r.jsonl", *ODD)
    assert ask("convert", source, "out.parquet", "--to", "parquet") == 0
    assert read_back(tmp_path / "out.parquet") == read_back(source)
    types = {name: str(kind) for name, kind in zip(*described(tmp_path / "out.parquet"), strict=True)}
    assert list(types) == [*ROLLOUT_COLUMNS, "metadata_json"]
    assert (types["step"], types["given_reward"], types["metadata_json"]) == ("int64", "double", "string")


def described(path: Path) -> tuple[list[str], list[Any]]:
    schema = pq.read_schema(path)
    return schema.names, schema.types


def test_tasks_come_back_from_parquet_as_they_were(tmp_path: Path, ask: Ask) -> None:
    source = write_rows(tmp_path / "d.jsonl", INC, SUM, SIX, SIX | {"task_id": "text", "answer": "42", "x": [None]})
    assert ask("convert", source, "out.parquet", "--to", "parquet") == 0
    before, after = list(load_tasks(source)), list(load_tasks(tmp_path / "out.parquet", on_problem=pytest.fail))
    assert after == before
    assert described(tmp_path / "out.parquet")[0] == [*TASK_COLUMNS, "metadata_json"]


def test_what_is_beside_metadata_of_its_own_is_read_as_it_is(tmp_path: Path) -> None:
    write_rows(tmp_path / "d.jsonl", SIX | {"answer": "42", "none": None, "metadata_json": {"mode": "hard"}})
    [task] = load_tasks(tmp_path / "d.jsonl")
    assert (task.answer, task.metadata) == ("42", {"none": None, "mode": "hard"})


def test_half_a_surrogate_pair_is_escaped_and_counted(tmp_path: Path, ask: Ask) -> None:
    source = write_rows(tmp_path / "r.jsonl", ODD[0] | {"completion": "x\ud800"}, ODD[1])
    assert ask("convert", source, "out.parquet", "--to", "parquet") == 0
    assert read_back(tmp_path / "out.parquet")[0].completion == "x\\ud800"
    assert "rows whose half surrogate pairs are written as \\udXXX: 1" in ask.err


def test_metadata_with_the_names_of_fields_is_kept_apart(tmp_path: Path, ask: Ask) -> None:
    row = {"prompt": "Say.", "uid": "own", "response": "x", "metadata_json": {"task_id": "own", "step": "first"}}
    source = write_rows(tmp_path / "r.jsonl", row)
    assert ask("convert", source, "n.jsonl", "--to", "native", "--map", "task_id=uid,completion=response") == 0
    [rollout] = load_rollouts(tmp_path / "n.jsonl", "native")
    assert rollout.metadata == {"prompt": "Say.", "task_id": "own", "step": "first"}
    assert rollout.task_id == "own"


def test_nemo_gym_is_also_written_with_a_hyphen(rollouts: Path, tmp_path: Path, ask: Ask) -> None:
    assert ask("convert", rollouts, "out.jsonl", "--to", "nemo-gym", "--dataset", "d.jsonl") == 0
    assert len(rows_of(tmp_path / "out_materialized_inputs.jsonl")) == 4
    assert lost(ask.err)["step"] == 1
