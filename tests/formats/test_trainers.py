"""Trainers' and evaluations' files: what is kept and left out of them, their tests, what is never run."""

import json
import struct
import tracemalloc
import zipfile
from pathlib import Path

import pytest
import zstandard

from evaluator import grade
from evaluator.formats import FormatError, load_rollouts, load_tasks
from evaluator.formats.evaluation_logs import sample_rows
from evaluator.formats.reading.problems import Problem
from evaluator.model import Mode, Rollout, Verdict
from tests.formats.conftest import loaded

FILES = Path(__file__).parent / "files"
GOOD, BAD = "print(a + b)", "print(input())"
PASSED, WRONG = Verdict.PASSED, Verdict.WRONG_ANSWER

FOLDERS = (
    "agentfly", "colossalai", "inspect_ai", "lm_eval", "miles", "nemo_rl", "rllm", "slime", "trl", "trl_messages",
    "verifiers", "verifiers_traces", "verl",
)  # fmt: skip
WITH_TESTS = (
    "agentfly/trajectories.jsonl",
    "rllm/train_step_6_epoch_0/episodes.jsonl",
    "slime/rollout_data/4.jsonl",
    "verifiers/outputs/evals/sums--org--model/run/results.jsonl",
    "verifiers_traces/rollouts/step_9/train/all/traces.jsonl",
    "verl/train/12.jsonl",
)


def first(name: str) -> Rollout:
    return loaded(FILES / name)[0][0]


def test_no_list_of_numbers_is_kept():
    paths = [path for folder in FOLDERS for path in (FILES / folder).rglob("*") if path.is_file()]
    read = [path for path in paths if path.suffix != ".pt" and path.name != "agent-rollout-info.jsonl"]
    kept = json.dumps([rollout.metadata for path in read for rollout in loaded(path)[0]])
    assert "0, 1, 2, 3, 4, 5, 6, 7, 8" not in kept
    assert "-0.25, -0.25" not in kept


@pytest.mark.parametrize("name", WITH_TESTS)
def test_tests_in_its_rows_grade_it_without_a_dataset(name):
    (task,), _ = loaded(FILES / name, load_tasks)
    assert (task.mode, len(task.cases)) == (Mode.STDIN, 2)
    rollouts, _ = loaded(FILES / name)
    assert {rollout.task_id for rollout in rollouts} == {task.task_id}
    assert [grade(task, rollout.completion, kind=rollout.kind).verdict for rollout in rollouts] == [PASSED, WRONG]


def test_of_trl_the_verdict_is_what_our_reward_function_logged(read):
    row = {"step": 1, "prompt": "q", "completion": "a", "code_reward": 0.0, "code_reward/verdict": "time_limit"}
    rows = [{**row, "advantage": 0.0}, {**row, "code_reward": None, "code_reward/verdict": None, "advantage": 0.0}]
    _, (graded, maths), _ = read(load_rollouts, *rows)
    assert (graded.recorded_verdict, graded.given_reward, graded.expected_pass) == ("time_limit", 0.0, False)
    assert (maths.recorded_verdict, maths.given_reward, maths.expected_pass) == (None, None, None)


def test_numbers_that_a_trainer_computed_are_named_where_they_are_left_out(read):
    row = {"input": "q", "output": "a", "gts": "1", "score": 1.0, "step": 1, "values": [0.5] * 100, "few": [1, 2]}
    _, (rollout,), _ = read(load_rollouts, row)
    assert rollout.metadata == {"gts": "1", "few": [1, 2], "left_out": ["values"]}


def test_all_turns_are_kept():
    for name in ("miles/trajectory/4.jsonl", "verifiers_traces/rollouts/step_3/train_rollouts.jsonl"):
        rollout = first(name)
        messages = rollout.metadata["messages"]
        assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
        assert messages[1]["tool_calls"] == [{"function": {"name": "run", "arguments": '{"code": "print(3)"}'}}]
        assert rollout.completion == messages[-1]["content"]
        assert GOOD in rollout.completion


def test_agentflys_trajectories_are_read_without_their_monitor(tmp_path):
    alone = tmp_path / "agent-rollout-trajectory.jsonl"
    alone.write_bytes((FILES / "agentfly/monitor/agent-rollout-trajectory.jsonl").read_bytes())
    found, problems = loaded(alone)
    assert [(r.given_reward, GOOD in r.completion) for r in found] == [(None, True), (None, False)]
    assert problems == []


@pytest.mark.parametrize(
    ("value", "reward", "verdict"),
    [
        ("C", 1.0, PASSED),
        ("P", 0.5, WRONG),
        ("N", 0.0, Verdict.NO_CODE),
        (True, 1.0, PASSED),
        (0.7, 0.7, None),
        (float("nan"), None, None),
    ],
)
def test_inspects_values(read, value, reward, verdict):
    message = {"role": "assistant", "content": "x"}
    row = {"id": "a", "epoch": 2, "input": "q", "target": "t", "scores": {"verify": {"value": value}}}
    _, (rollout,), _ = read(load_rollouts, row | {"output": {"choices": [{"message": message}]}})
    assert (rollout.given_reward, rollout.recorded_verdict, rollout.sample_index) == (reward, verdict, 1)


@pytest.mark.parametrize(
    ("metadata", "target", "entry_point"),
    [
        ({"question": "Add."}, ["assert solution(1, 2) == 3", "assert solution(0, 0) == 0"], "solution"),
        ({"prompt": "import os\n\ndef f():\n", "test": "def check(g):\n    assert g()", "entry_point": "f"}, "", "f"),
    ],
)
def test_a_log_of_inspect_has_its_tests(read, metadata, target, entry_point):
    row = {"id": "a", "epoch": 1, "input": "q", "metadata": metadata, "target": target, "output": {"choices": []}}
    _, tasks, problems = read(load_tasks, row)
    assert ([task.entry_point for task in tasks], problems) == ([entry_point], [])
    assert tasks[0].preamble.strip() == ("import os" if "test" in metadata else "")


def test_several_scorers_are_components(read):
    scores = {"verify": {"value": "C"}, "style": {"value": 0.25}}
    row = {"id": "a", "epoch": 1, "input": "q", "target": "t", "scores": scores, "output": {"choices": []}}
    _, (rollout,), _ = read(load_rollouts, row)
    assert rollout.given_reward is None
    assert rollout.recorded_word == "verify=C, style=0.25"
    assert rollout.metadata["reward_components"] == {"verify": 1.0, "style": 0.25}


def test_a_log_that_is_not_whole_is_one_line(tmp_path):
    path = tmp_path / "cut.eval"
    path.write_bytes((FILES / "inspect_ai/log_read_sample_zstd.eval").read_bytes()[:3000])
    with pytest.raises(FormatError, match=r"cut\.eval: can't be read: .* is inspect_ai still writing it\?"):
        loaded(path)


def test_a_log_does_not_unpack_to_more_than_its_cap(tmp_path, monkeypatch):
    monkeypatch.setattr("evaluator.formats.evaluation_logs._MOST_BYTES", 5000)
    for name in ("log_read_sample.eval", "log_read_sample_zstd.eval"):
        (problem,) = sample_rows(FILES / "inspect_ai" / name)
        assert isinstance(problem, Problem)
        assert "samples/1_epoch_1.json has more than" in problem.message


def test_a_damaged_member_does_not_hide_the_others(tmp_path):
    whole = zipfile.ZipFile(FILES / "inspect_ai/log_read_sample.eval")
    path = tmp_path / "two.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_journal/start.json", whole.read("_journal/start.json"))
        archive.writestr("samples/0_epoch_1.json", '{"id": 0, ')
        archive.writestr("samples/1_epoch_1.json", whole.read("samples/1_epoch_1.json"))
    found, (problem,) = loaded(path)
    assert [(r.task_id, r.model) for r in found] == [("1", "ollama/gemma3")]
    assert problem.message.startswith("samples/0_epoch_1.json not JSON")


def test_a_bomb_is_not_unpacked_whole(tmp_path):
    packed = zstandard.ZstdCompressor().compress(bytes(300_000_000))
    path, name = tmp_path / "bomb.eval", b"samples/1_epoch_1.json"
    local = struct.pack("<HHHHHIIIHH", 63, 0, 93, 0, 33, 0, len(packed), 300_000_000, len(name), 0)
    central = b"PK\x01\x02" + struct.pack("<H", 63) + local + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name
    start = 30 + len(name) + len(packed)
    end = struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), start, 0)
    path.write_bytes(b"PK\x03\x04" + local + name + packed + central + b"PK\x05\x06" + end)
    tracemalloc.start()
    try:
        (problem,) = sample_rows(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(problem, Problem)
    assert problem.message == "samples/1_epoch_1.json has more than 64 MiB: it is skipped"
    assert peak < 250_000_000
