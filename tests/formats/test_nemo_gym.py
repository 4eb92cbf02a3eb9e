"""Rows of NeMo Gym: reading datasets, inputs and rollouts, matching them, and reporting the rest."""

import base64
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator.formats import load_rollouts, load_tasks, sniff
from evaluator.formats.nemo_gym import output_text, prompt_of, read_task
from evaluator.formats.nemo_gym_files import failures_path, materialized_inputs_path, read_failures
from evaluator.formats.reading.dataset import load_dataset
from evaluator.model import Kind, Mode, RecordError

Read = Callable[..., tuple[str, list[Any], list[str]]]
Row = dict[str, Any]

QUESTION = "Print the sum of two numbers."
PARAMS: Row = {"input": [{"role": "user", "content": QUESTION}]}
UNIT_TESTS: Row = {"inputs": ["1 2\n", "5 6\n"], "outputs": ["3\n", "11\n"]}
ROW: Row = {
    "responses_create_params": PARAMS,
    "verifier_metadata": {"unit_tests": UNIT_TESTS},
    "hash_id": "1a54",
    "dataset": "taco",
    "source": "codeforces",
}
# As its collection echoes them: all parameters, and the message with its type.
ECHOED: Row = {
    "input": [{"content": QUESTION, "role": "user", "type": "message"}],
    "instructions": None,
    "tools": [],
}
ANSWER = "```python\nprint(sum(map(int, input().split())))\n```"
MESSAGE: Row = {
    "content": [{"annotations": [], "text": ANSWER, "type": "output_text", "logprobs": None}],
    "role": "assistant",
    "type": "message",
}
RESPONSE: Row = {
    "error": None,
    "model": "gpt-4.1-2025-04-14",
    "output": [MESSAGE],
    "usage": None,
}
OLD: Row = {  # of 2025, without any index
    "responses_create_params": ECHOED,
    "response": RESPONSE,
    "reward": 0.0,
    "extracted_model_output": ANSWER,
    "extracted_model_code": "print(sum(map(int, input().split())))",
    "result": [True, -2],
    "metadata": {"output": "12", "inputs": "5 6\n", "expected": "11\n", "error_code": -2},
}
NEW: Row = OLD | {
    "reward": 1.0,
    "mask_sample": False,
    "failure_kind": None,
    "failure_reason": None,
    "difficulty": "easy",
    "_ng_task_index": 0,
    "_ng_rollout_index": 3,
    "agent_ref": {"name": "code_gen_simple_agent"},
}


def row_of(question: str, **metadata: object) -> Row:
    return {"responses_create_params": {"input": question}, "verifier_metadata": metadata}


def answered(*items: Row) -> Row:
    return NEW | {"response": RESPONSE | {"output": list(items)}}


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def packed(value: object) -> str:
    return base64.b64encode(zlib.compress(json.dumps(value).encode())).decode()


CALLED: Row = {"inputs": ["1\n2"], "outputs": ["3"]}


def test_a_function_that_is_named_is_called(read: Read) -> None:
    named = CALLED | {"fn_name": "add"}
    for unit_tests in (named, json.dumps(named), {"packed": packed(CALLED), "fn_name": "add"}):
        row = row_of("Add.", unit_tests=unit_tests, public_tests=CALLED, difficulty="easy")
        _, [task], problems = read(load_tasks, row)
        assert (problems, task.mode, task.entry_point) == ([], Mode.CALL, "add")
        assert [(case.input, case.expected) for case in task.cases] == [("1\n2", "3")]
        assert task.metadata == {"public_tests": CALLED, "difficulty": "easy"}


@pytest.mark.parametrize(
    "fields",
    [
        {"verifier_metadata": {"answer": 42}},
        {"verifier_metadata": {"expected_answer": 42}},
        {"verifier_metadata": {"reference_answer": 42}},
        {"expected_answer": 42},
        {"answer": 42, "verifier_metadata": {"topic": "math"}},
        {"query": "6 * 7?", "answer": 42, "metadata": {"topic": "m"}},
    ],
)
def test_a_row_with_an_answer_is_an_answer_task(read: Read, fields: Row) -> None:
    name, [task], problems = read(load_tasks, {"responses_create_params": {"input": "6 * 7?"}} | fields)
    assert (name, problems) == ("nemo_gym", [])
    assert (task.mode, task.answer, task.prompt) == (Mode.ANSWER, 42, "6 * 7?")


def test_a_question_without_parameters_is_left_to_its_own_format_and_read_on_request(read: Read) -> None:
    row = {"query": "6 * 7?", "answer": 42, "metadata": {"grader": "exact_match", "topic": "math"}}
    name, _, _ = read(load_tasks, row)
    assert name == "query_answer"
    task = read_task(row)
    assert (task.prompt, task.answer, task.grader, task.metadata) == ("6 * 7?", 42, "exact_match", {"topic": "math"})


def test_fields_of_a_native_row_in_the_metadata_are_read_as_such(read: Read) -> None:
    check = "def check(candidate):\n    assert candidate(1) == 2\n"
    suite = "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(task_func(1), 2)\n"
    called = {"inputs": ["1"], "outputs": ["2"], "fn_name": "inc"}
    _, tasks, problems = read(
        load_tasks,
        row_of("a", test=check, entry_point="inc"),
        row_of("b", test=suite, entry_point="task_func", task_id="BigCodeBench/15"),
        row_of("c", in_outs=called, checker="exact", limits={"wall_s": 2}),
        row_of("d", unit_tests=UNIT_TESTS, checker="tokens", weights=[1, 3], exit_code="strict", mode="stdin"),
        row_of("e", answer={"required": ["a"]}, grader={"name": "structured"}),
    )
    assert problems == []
    assert [task.mode for task in tasks] == [Mode.ASSERT, Mode.UNITTEST, Mode.CALL, Mode.STDIN, Mode.ANSWER]
    assert (tasks[2].checker, tasks[2].limits) == ("exact", {"wall_s": 2})
    assert (tasks[3].checker, tasks[3].weights, tasks[3].exit_code) == ("tokens", (1.0, 3.0), "strict")
    assert json.loads(tasks[4].grader) == {"name": "structured"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (row_of("a"), "verifier_metadata.unit_tests is missing"),
        ({"responses_create_params": {"input": "a"}}, "verifier_metadata.unit_tests is missing"),
        (row_of("a", unit_tests={"inputs": []}), "unit_tests must have inputs and outputs"),
        (row_of("a", unit_tests="{"), "unit_tests is text that is not JSON"),
        (row_of("a", unit_tests={"inputs": ["1"], "outputs": []}), "1 inputs but 0 outputs"),
        (row_of("a", unit_tests={"inputs": "1", "outputs": "2"}), "must be lists"),
        (row_of("a", unit_tests=UNIT_TESTS | {"fn_name": 3}), "fn_name must be text"),
        (row_of("a", unit_tests={"packed": "!"}), "packed is neither JSON nor base64-encoded zlib"),
        (row_of("a", unit_tests={"packed": packed([1])}), "packed must unpack to an object, not list"),
        (row_of("a", answer=1, grader="evil.py:grade"), "grader must not be a file"),
        (row_of("a", answer=1, grader={"graders": [{"grader": "e.py:g"}]}), "grader must not be a file"),
        (row_of("a", unit_tests=UNIT_TESTS, mode="hard"), "mode is 'hard'"),
        (row_of("", unit_tests=UNIT_TESTS), "has no text"),
        (ROW | {"responses_create_params": {"input": 3}}, "input must be text"),
        (ROW | {"responses_create_params": {"input": [3]}}, "input[0] must be a message"),
        (row_of("a") | {"verifier_metadata": 3}, "verifier_metadata must be an object"),
        ({"task_id": {"taskset": "t", "task_id": "1"}, "task_input": {}}, "responses_create_params must be an object"),
    ],
)
def test_a_row_that_can_not_be_read_is_reported_and_the_others_are(read: Read, row: Row, message: str) -> None:
    empty = row_of("no tests", unit_tests={"inputs": [], "outputs": []})
    _, tasks, [problem] = read(load_tasks, ROW, row, empty)
    assert [len(task.cases) for task in tasks] == [2, 0]
    assert message in problem


def test_a_bomb_of_packed_tests_is_refused(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.formats.reading.compression.MAX_UNPACKED_BYTES", 2 << 20)
    tests = {"packed": base64.b64encode(zlib.compress(bytes(3 << 20))).decode()}
    _, tasks, problems = read(load_tasks, row_of("a", unit_tests=tests), ROW)
    assert len(tasks) == 1
    assert "packed unpacks to more than 2 MiB" in problems[0]


def test_the_prompt_is_the_whole_input() -> None:
    parts = [{"type": "input_text", "text": "Look"}, {"type": "input_image", "image_url": "x"}]
    call = {"type": "function_call", "name": "run", "arguments": "{}", "call_id": "c"}
    came = {"type": "function_call_output", "output": "3", "call_id": "c"}
    given = [{"role": "user", "content": parts}, call, came, {"type": "reasoning", "summary": []}]
    assert prompt_of({"instructions": "Be brief.", "input": given}) == "Be brief.\n\nLook\n\nrun {}\n\n3"
    with pytest.raises(RecordError, match="responses_create_params must be an object"):
        prompt_of("text")


def test_both_shapes_of_rollouts_find_their_task_by_its_prompt(read: Read) -> None:
    _, [task], _ = read(load_tasks, ROW)
    name, [old, new], problems = read(load_rollouts, OLD, NEW)
    assert (name, problems) == ("nemo_gym", [])
    assert old.task_id == new.task_id == task.task_id
    assert old.completion == new.completion == ANSWER
    assert (old.model, new.model) == ("gpt-4.1-2025-04-14",) * 2
    assert (old.sample_index, old.given_reward, old.expected_pass) == (0, 0.0, False)
    assert (new.sample_index, new.given_reward, new.expected_pass) == (3, 1.0, True)
    assert old.metadata == {"result": [True, -2], "metadata": OLD["metadata"]}
    assert new.metadata["agent_ref"] == {"name": "code_gen_simple_agent"}
    assert (new.metadata["difficulty"], new.metadata["_ng_task_index"]) == ("easy", 0)


def test_a_masked_reward_says_nothing(read: Read) -> None:
    masked = NEW | {"reward": 0.0, "mask_sample": True, "failure_kind": "verifier_error"}
    _, [rollout], _ = read(load_rollouts, masked)
    assert (rollout.given_reward, rollout.expected_pass) == (None, None)
    assert rollout.metadata["failure_kind"] == "verifier_error"


def test_only_a_reward_that_tests_made_says_whether_it_passed(read: Read) -> None:
    judged = {name: NEW[name] for name in ("responses_create_params", "response", "reward")}
    ours = judged | {"verdict": "wrong_answer", "pass_rate": 0.5, "reward": 0.5, "kind": "full"}
    _, [foreign, own], _ = read(load_rollouts, judged, ours)
    assert (foreign.given_reward, foreign.expected_pass, foreign.kind) == (1.0, None, None)
    assert (own.given_reward, own.expected_pass, own.kind) == (0.5, False, Kind.FULL)


def test_the_completion_is_what_the_model_said_in_all_its_messages() -> None:
    refusal = {"type": "refusal", "refusal": "no"}
    more = {"type": "message", "role": "assistant", "content": [refusal, {"type": "output_text", "text": "B"}]}
    played = {"type": "message", "role": "user", "content": "not this"}
    output = [{"type": "message", "content": "A"}, played, 3, {"type": "reasoning"}, more]
    assert output_text({"output": output}) == "AB"
    assert output_text({"output": None}) == ""


def test_a_conversation_is_kept_in_its_order_and_unknown_items_by_their_type(read: Read) -> None:
    items: list[Row] = [
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Try it."}]},
        {"type": "function_call", "call_id": "c", "name": "run", "arguments": '{"code": "1"}'},
        {"type": "function_call_output", "call_id": "c", "output": "1"},
        {"type": "web_search_call", "id": "w", "status": "completed", "action": {"query": "q"}, "x_token_ids": [1]},
        {"type": "message", "role": "user", "content": "Go on."},
        MESSAGE,
    ]
    _, [rollout, plain], _ = read(load_rollouts, answered(*items), answered(MESSAGE))
    assert rollout.metadata["conversation"] == [
        {"type": "reasoning", "text": "Try it."},
        {"type": "function_call", "name": "run", "arguments": '{"code": "1"}'},
        {"type": "function_call_output", "output": "1"},
        {"type": "web_search_call", "text": '{"action": {"query": "q"}}'},
        {"type": "message", "role": "user", "text": "Go on."},
        {"type": "message", "role": "assistant", "text": ANSWER},
    ]
    assert rollout.completion == ANSWER
    assert "conversation" not in plain.metadata


def test_what_is_very_long_is_cut_with_a_note(read: Read) -> None:
    row = answered({"type": "function_call_output", "output": "x" * 30_000}) | {"trace": ["y" * 30_000]}
    _, [rollout], _ = read(load_rollouts, row)
    [item] = rollout.metadata["conversation"]
    assert (len(item["output"]), item["omitted"]) == (20_000, 10_000)
    assert rollout.metadata["trace"] == "left out: 30,004 characters"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"_ng_failure_class": "agent_request_failed", "_ng_failure_message": "503"}, "(agent_request_failed: 503)"),
        ({"reward": 1.0}, "response is missing"),
        ({"reward": 1.0, "response": RESPONSE}, "responses_create_params is missing"),
    ],
)
def test_a_rollout_that_can_not_be_read_is_reported(read: Read, row: Row, message: str) -> None:
    _, rollouts, [problem] = read(load_rollouts, NEW, row | {"_ng_task_index": 0})
    assert len(rollouts) == 1
    assert message in problem


def test_materialised_inputs_are_each_task_once(read: Read) -> None:
    rows = [ROW | {"_ng_task_index": 7, "_ng_rollout_index": n, "agent_ref": {"name": "a"}} for n in range(3)]
    name, [task], problems = read(load_tasks, *rows)
    assert (name, problems) == ("nemo_gym", [])
    assert task.metadata["_ng_task_index"] == 7
    assert "_ng_rollout_index" not in task.metadata


def test_the_typed_rows_of_environments_are_flattened(read: Read) -> None:
    data = {"verifier_metadata": {"unit_tests": UNIT_TESTS}}
    inner = {"responses_create_params": PARAMS, "task_data": data}
    row = {"task_id": {"taskset": "t", "task_id": "sum"}, "task_input": inner, "_ng_task_index": 0}
    _, [plain], _ = read(load_tasks, ROW)
    _, [task], problems = read(load_tasks, row)
    assert (problems, task.task_id, len(task.cases)) == ([], plain.task_id, 2)
    assert task.metadata["task_id"] == "sum"


def test_without_a_prompt_the_row_s_own_id_leads_to_its_task(read: Read) -> None:
    empty = {"responses_create_params": {"input": []}}
    tests = {"verifier_metadata": {"unit_tests": UNIT_TESTS}}
    _, tasks, _ = read(load_tasks, empty | tests | {"task_id": "a"}, empty | tests | {"_ng_task_index": 4})
    answered = empty | {"response": RESPONSE}
    _, rollouts, _ = read(load_rollouts, answered | {"task_id": "a"}, answered | {"_ng_task_index": 4})
    assert [task.task_id for task in tasks] == [rollout.task_id for rollout in rollouts] == ["a", "task-4"]


def test_of_an_account_that_is_too_long_the_short_fields_are_kept(read: Read) -> None:
    account = {"inputs": "1\n" * 20_000, "error_code": -2, "error_message": "Wrong answer"}
    many = {f"field {n}": "x" * 900 for n in range(100)}
    _, [rollout], _ = read(load_rollouts, OLD | {"metadata": account, "extra": many})
    assert rollout.metadata["metadata"] == account | {"inputs": "left out: 40,000 characters"}
    assert rollout.metadata["extra"].startswith("left out: ")


def test_rollouts_that_carry_their_tests_are_a_dataset_too(read: Read, tmp_path: Path) -> None:
    row = NEW | {"verifier_metadata": {"unit_tests": UNIT_TESTS}}
    _, [task], _ = read(load_tasks, row, row)
    assert len(task.cases) == 2
    found = sniff(write(tmp_path / "r.jsonl", row))
    assert (found.role, found.others[0].role) == ("rollouts", "tasks")
    assert sniff(write(tmp_path / "r.jsonl", NEW)).others == ()


def test_one_prompt_with_other_tests_is_reported_and_neither_is_graded_by_the_other_s(tmp_path: Path) -> None:
    other = ROW | {"verifier_metadata": {"unit_tests": {"inputs": ["1 1\n"], "outputs": ["2\n"]}}}
    path = write(tmp_path / "d.jsonl", ROW, row_of("Another.", unit_tests=UNIT_TESTS), other, ROW, other)
    problems: list[Any] = []
    dataset = load_dataset(path, on_problem=problems.append)
    assert [task.prompt for task in dataset.tasks] == ["Another."]
    [problem] = problems
    assert problem.line == 3
    assert "is also on line 1, with different tests" in problem.message
    assert "neither is graded" in problem.message


def test_the_dataset_s_own_names_are_given_to_tasks_and_rollouts(tmp_path: Path) -> None:
    rows = ROW | {"task_id": "sum/1"}, row_of("x", answer=1), row_of("y", answer=1, task_id="x")
    dataset = load_dataset(write(tmp_path / "d.jsonl", *rows), on_problem=pytest.fail)
    assert [task.task_id for task in dataset.tasks if not task.task_id.startswith("prompt-")] == ["sum/1", "x"]
    rollouts = load_rollouts(write(tmp_path / "r.jsonl", OLD, NEW | {"task_id": "another"}), on_problem=pytest.fail)
    named = list(dataset.named(rollouts))
    assert [(rollout.task_id, rollout.sample_id) for rollout in named] == [("sum/1", "sum/1#0"), ("sum/1", "sum/1#1")]


def test_a_name_that_two_tasks_have_is_no_name(tmp_path: Path) -> None:
    path = write(tmp_path / "d.jsonl", *(row_of(word, answer=1, task_id="same") for word in ("x", "y")))
    dataset = load_dataset(path, on_problem=pytest.fail)
    assert len({task.task_id for task in dataset.tasks}) == 2


def failed(rollout: int, kind: str) -> Row:
    return {"_ng_task_index": 0, "_ng_rollout_index": rollout, "_ng_failure_class": kind}


def test_failures_are_counted_by_the_last_attempt(tmp_path: Path) -> None:
    rows = failed(0, "agent_request_failed"), failed(1, "agent_run_error"), failed(0, "agent_run_error"), 3
    path = write(tmp_path / "out_failures.jsonl", *rows)
    assert failures_path(tmp_path / "out.jsonl") == path
    assert read_failures(path) == {"agent_run_error": 2}
    assert not read_failures(write(path))


def test_inputs_are_found_beside_rollouts_however_both_are_packed(tmp_path: Path) -> None:
    assert materialized_inputs_path(tmp_path / "out.jsonl.gz").name == "out_materialized_inputs.jsonl"
    packed = tmp_path / "out_materialized_inputs.jsonl.zst"
    packed.touch()
    assert materialized_inputs_path(tmp_path / "out.jsonl") == packed
