"""`POST /verify` of the stand-alone server: code_gen's rows and answers, and what is more."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.interop.nemo_gym.client import Client, answer_of, fenced, request

FIVE = [json.loads(line) for line in (Path(__file__).parent / "code_gen_five.jsonl").read_text().splitlines()]
SQUARES = {"inputs": ["2\n", "5\n"], "outputs": ["4", "25"]}
RIGHT = fenced("print(int(input()) ** 2)")

Server = Callable[..., str]


def verified(url: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = Client(url).post("/verify", body)
    assert answer.status == 200, answer
    told: dict[str, Any] = answer.body
    return told


@pytest.mark.parametrize("number", range(5))
def test_a_rollout_of_code_gen_is_paid_and_told_as_there(server: Server, number: int) -> None:
    row, stored = FIVE[number]["row"], FIVE[number]["rollout"]
    body = {**row, "responses_create_params": stored["responses_create_params"], "response": stored["response"]}
    told = verified(server(), body)
    assert (told["reward"], told["result"]) == (stored["reward"], stored["result"])
    assert told["extracted_model_output"] == stored["extracted_model_output"]
    assert told["extracted_model_code"] == stored["extracted_model_code"]
    if not stored["reward"]:
        assert told["metadata"] == stored["metadata"]
    assert told["tests_total"] == len(row["verifier_metadata"]["unit_tests"]["inputs"])
    assert not told["mask_sample"]


@pytest.mark.parametrize("number", [2, 4])
def test_another_checker_pays_what_code_gen_failed_for_white_space(server: Server, number: int) -> None:
    row, stored = FIVE[number]["row"], FIVE[number]["rollout"]
    told = verified(server("checker: tokens"), {**row, "response": stored["response"]})
    assert (stored["reward"], told["reward"], told["verdict"]) == (0.0, 1.0, "passed")


@pytest.mark.parametrize(
    ("code", "verdict", "result", "message"),
    [
        ("print(int(input()) ** 2)", "passed", [True, True], None),
        ("print(int(input()) + 2)", "wrong_answer", [True, -2], "Wrong answer at output_line_idx=0: 7 != 25"),
        ("print(4)\nprint()\nprint(1)", "wrong_answer", [-2], "Wrong answer: mismatched output length"),
        ("print(1 / 0)", "runtime_error", [-4], "Runtime Error"),
        ("print('x'", "compile_error", [-4], "Error during testing: '(' was never closed (<string>, line 1)"),
        ("while True: pass", "time_limit", [-3], "Time Limit Exceeded"),
        ("x = bytearray(10**9)\nx[::4096] = x[::4096]", "memory_limit", [-1], "Memory Limit"),
    ],
    ids=["right", "wrong", "lines", "raises", "syntax", "endless", "greedy"],
)
def test_what_a_program_does_has_a_verdict_and_a_code(
    server: Server, code: str, verdict: str, result: list[object], message: str | None
) -> None:
    url = server("unit_test_timeout_secs: 1\nmemory_mb: 100")
    told = verified(url, request(fenced(code), SQUARES))
    assert (told["verdict"], told["result"]) == (verdict, result)
    assert told["metadata"].get("error_message") == message
    assert told["reward"] == float(verdict == "passed")
    assert (told["mask_sample"], told["failure_kind"], told["failure_reason"]) == (False, None, None)


def test_a_function_is_called_with_a_value_a_line(server: Server) -> None:
    tests = {"inputs": ["2\n[1, 2]", "0\n[3]"], "outputs": ["[2, 4]", "[0]"], "fn_name": "scaled"}
    code = "class Solution:\n    def scaled(self, by, values):\n        return [by * value for value in values]"
    assert verified(server(), request(fenced(code), tests))["result"] == [True, True]
    wrong = verified(server(), request(fenced(code.replace("by *", "1 *")), tests))
    seen = {"output": "[1, 2]", "inputs": "[2, [1, 2]]", "expected": "[2, 4]"}
    assert wrong["metadata"] == {**seen, "error_code": -2, "error_message": "Wrong Answer"}


def test_packed_tests_are_unpacked(server: Server) -> None:
    assert verified(server(), request(RIGHT, packed(SQUARES)))["tests_passed"] == 2


def packed(tests: dict[str, Any]) -> dict[str, str]:
    import base64
    import zlib

    return {"packed": base64.b64encode(zlib.compress(json.dumps(tests).encode())).decode()}


def test_the_requests_own_parts_come_back(server: Server) -> None:
    body = request(RIGHT, SQUARES, difficulty="hard") | {"task_id": "squares", "hash_id": "x"}
    body["responses_create_params"]["temperature"] = 0.5
    told = verified(server(), body)
    assert told["responses_create_params"] == body["responses_create_params"]
    assert {**body["response"], "usage": None} == told["response"]
    assert (told["difficulty"], told["task_id"]) == ("hard", "squares")
    assert "verifier_metadata" not in told


def test_a_row_that_asks_nothing_is_graded_by_its_tests(server: Server) -> None:
    body = request(RIGHT, SQUARES)
    body["responses_create_params"] = {"input": ""}
    assert verified(server(), body)["reward"] == 1.0


def test_the_rest_of_the_tests_is_run_where_it_is_asked_for(server: Server) -> None:
    tests = {"inputs": ["1\n", "2\n", "3\n"], "outputs": ["9", "4", "9"]}
    told = verified(server("run_all_tests: true\ngrader: tests:reward=fraction"), request(RIGHT, tests))
    assert (told["test_verdicts"], told["result"]) == ("WPP", [-2, True, True])
    assert told["reward"] == told["pass_rate"] == pytest.approx(2 / 3)
    told = verified(server(), request(RIGHT, tests))
    assert (told["test_verdicts"], told["reward"], told["pass_rate"]) == ("W..", 0.0, 0.0)


def test_unfenced_code_is_none_unless_it_may_be(server: Server) -> None:
    bare = request("print(int(input()) ** 2)", SQUARES)
    told = verified(server(), bare)
    assert (told["reward"], told["verdict"], told["extracted_model_code"]) == (0.0, "no_code", None)
    assert told["extracted_model_output"] == "print(int(input()) ** 2)"
    assert verified(server("unfenced_code: true"), bare)["reward"] == 1.0


@pytest.mark.parametrize("text", ["", " \n\t"], ids=["empty", "blank"])
def test_an_empty_answer_earns_nothing(server: Server, text: str) -> None:
    told = verified(server(), request(text, SQUARES))
    assert (told["reward"], told["verdict"], told["mask_sample"]) == (0.0, "no_code", False)
    assert told["extracted_model_output"] is None


def test_thinking_in_the_answer_has_a_price(server: Server) -> None:
    config = "reasoning_format_penalty: -0.5"
    told = verified(server(config), request(f"<think>so</think>\n{RIGHT}", SQUARES))
    assert (told["reward"], told["reasoning_format_violation_rate"], told["verdict"]) == (-0.5, 1.0, "passed")
    assert "thinking tags" in told["error_message"]
    assert told["flags"] == ["reasoning_format"]
    assert verified(server(config), request(RIGHT, SQUARES))["reward"] == 1.0


UNGRADABLE = {
    "no tests": None,
    "empty tests": {"inputs": [], "outputs": []},
    "fewer outputs": {"inputs": ["1\n", "2\n"], "outputs": ["1"]},
    "not packed": {"packed": "nonsense"},
    "text": "tests",
    "input no text": {"inputs": [{"a": 1}], "outputs": ["1"], "fn_name": 3},
}


@pytest.mark.parametrize("name", UNGRADABLE)
def test_a_row_that_can_not_be_graded_is_masked(server: Server, name: str) -> None:
    told = verified(server(), request(RIGHT, UNGRADABLE[name]))
    assert (told["reward"], told["mask_sample"], told["verdict"]) == (0.0, True, "unknown")
    assert told["failure_kind"] == "rollscope:ungradable_task"
    assert told["failure_reason"]


def test_a_row_without_test_cases_is_masked_whatever_the_answer(server: Server) -> None:
    for text in ("", "no code", RIGHT):
        told = verified(server(), request(text, {"inputs": [], "outputs": []}))
        assert (told["mask_sample"], told["failure_reason"]) == (True, "the task has no test cases")


@pytest.mark.parametrize("metadata", [None, [], "x", 3], ids=["null", "list", "text", "number"])
def test_metadata_of_any_kind_is_answered(server: Server, metadata: object) -> None:
    told = verified(server(), {**request(RIGHT, SQUARES), "verifier_metadata": metadata})
    assert (told["mask_sample"], told["verdict"]) == (True, "unknown")


def test_a_row_names_its_checker_and_limits(server: Server) -> None:
    tests = {"inputs": ["1\n"], "outputs": ["1 2"]}
    body = request(fenced("print(1)\nprint(2)"), tests)
    assert verified(server(), body)["reward"] == 0.0
    body["verifier_metadata"]["checker"] = "tokens"
    assert verified(server(), body)["reward"] == 1.0
    body["verifier_metadata"]["checker"] = "nothing"
    told = verified(server(), body)
    assert (told["mask_sample"], "unknown" in told["failure_reason"]) == (True, True)


def test_a_row_can_not_have_a_file_loaded(server: Server, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def score(task, completion): return 1.0\n")
    told = verified(server(), request(RIGHT, SQUARES, grader=f"{tmp_path}/mine.py:score"))
    assert (told["mask_sample"], told["reward"]) == (True, 0.0)
    assert "file" in told["failure_reason"]


@pytest.mark.parametrize(
    "text",
    [f"\ud800 {RIGHT}", fenced("print('\ud800')"), fenced("print('\x00')"), fenced("print(" * 5000), "x" * 3_000_000],
    ids=["half a pair", "half a pair in code", "nul", "deep", "long"],
)
def test_no_answer_of_a_model_is_an_error_of_the_server(server: Server, text: str) -> None:
    told = verified(server(), request(text, SQUARES))
    assert told["mask_sample"] is False


ODD_OUTPUTS: dict[str, object] = {
    "null": None,
    "none": [],
    "text": ["text"],
    "nothing": [None],
    "odd": [{"type": "odd"}],
    "no content": [{"type": "message", "content": None}],
    "no part": [{"type": "message", "content": [1]}],
}


@pytest.mark.parametrize("output", ODD_OUTPUTS.values(), ids=ODD_OUTPUTS)
def test_a_response_of_any_shape_is_answered(server: Server, output: object) -> None:
    body = request(RIGHT, SQUARES)
    body["response"]["output"] = output
    told = verified(server(), body)
    assert (told["reward"], told["verdict"], told["mask_sample"]) == (0.0, "no_code", False)


@pytest.mark.parametrize("value", [float("nan"), float("inf")], ids=["nan", "infinity"])
def test_what_no_json_has_comes_back_as_null(server: Server, value: float) -> None:
    body = request(RIGHT, SQUARES)
    body["responses_create_params"]["temperature"] = value
    told = verified(server(), body)
    assert (told["reward"], told["responses_create_params"]["temperature"]) == (1.0, None)


@pytest.mark.parametrize("missing", ["response", "responses_create_params"])
def test_a_body_without_its_parts_is_refused(server: Server, missing: str) -> None:
    body = request(RIGHT, SQUARES)
    del body[missing]
    answer = Client(server()).post("/verify", body)
    assert answer.status == 422
    assert answer.body["detail"][0]["loc"] == ["body", missing]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a":' * 5000], ids=["empty", "torn", "list", "deep"])
def test_what_is_no_request_is_refused(server: Server, text: str) -> None:
    assert Client(server()).post_text("/verify", text).status in (400, 422)


def test_a_completion_learns_no_expected_output(server: Server) -> None:
    code = """
import gc, re, sys
held = [value for value in gc.get_objects() if isinstance(value, (list, dict))]
frame = sys._getframe()
while frame:
    held.append(frame.f_locals)
    frame = frame.f_back
print(*re.findall(r"\\b9[0-9]{11}\\b", repr(held))[:1])
"""
    told = verified(server(), request(fenced(code), {"inputs": ["1\n"], "outputs": ["912345678901"]}))
    assert told["verdict"] == "wrong_answer"


def test_an_answer_that_says_nothing_of_reasoning_is_read_by_its_messages_alone(server: Server) -> None:
    body = request(RIGHT, SQUARES)
    reasoning = {"type": "reasoning", "id": "x", "summary": [{"type": "summary_text", "text": fenced("print(0)")}]}
    call = {"type": "function_call", "call_id": "c", "name": "execute_code", "arguments": '{"code": "print(0)"}'}
    body["response"]["output"] = [reasoning, call, *answer_of(RIGHT)["output"]]
    assert verified(server(), body)["reward"] == 1.0
