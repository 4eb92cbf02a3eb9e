"""`POST /verify` of the stand-alone server: code_gen's rows and answers, and the verification patterns of NeMo Gym's
tutorial, had by configuration alone."""

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from evaluator.interop.nemo_gym.config import ServerConfig, require_short, with_time_for_all
from evaluator.model import Task
from evaluator.options import task_limits
from tests.graders.judge_server import JudgeServer, judge_server, refuses, says
from tests.interop.nemo_gym.client import Client, answer_of, fenced, request
from tests.waiting import HANG_S

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
    same = {"reward", "result", "extracted_model_output", "extracted_model_code"}
    same |= set() if stored["reward"] else {"metadata"}
    assert {name: told[name] for name in same} == {name: stored[name] for name in same}
    assert told["tests_total"] == len(row["verifier_metadata"]["unit_tests"]["inputs"])
    assert not told["mask_sample"]


@pytest.mark.parametrize(
    ("code", "verdict", "result", "message"),
    [
        ("print(int(input()) ** 2)", "passed", [True, True], None),
        ("print(int(input()) + 2)", "wrong_answer", [True, -2], "Wrong answer at output_line_idx=0: 7 != 25"),
        ("print(4)\nprint()\nprint(1)", "wrong_answer", [-2], "Wrong answer: mismatched output length"),
        ("print(1 / 0)", "runtime_error", [-4], "Runtime Error"),
        ("print('x'", "compile_error", [-4], "Error during testing: '(' was never closed (<string>, line 1)"),
        ("import time\ntime.sleep(600)", "time_limit", [-3], "Time Limit Exceeded"),
        ("x = bytearray(10**9)\nx[::4096] = x[::4096]", "memory_limit", [-1], "Memory Limit"),
    ],
    ids=["right", "wrong", "lines", "raises", "syntax", "endless", "greedy"],
)
def test_what_a_program_does_has_a_verdict_and_a_code(
    server: Server, code: str, verdict: str, result: list[object], message: str | None
) -> None:
    url = server("memory_mb: 100\nunit_test_timeout_secs: " + ("1" if verdict == "time_limit" else "60"))
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


def test_the_requests_own_parts_come_back(server: Server) -> None:
    body = request(RIGHT, SQUARES, difficulty="hard") | {"task_id": "squares", "hash_id": "x"}
    for temperature, told_as in ((0.5, 0.5), (float("nan"), None), (float("inf"), None)):  # no JSON has the others
        body["responses_create_params"]["temperature"] = temperature
        told = verified(server(), body)
        assert (told["reward"], told["responses_create_params"]["temperature"]) == (1.0, told_as)
    assert told["responses_create_params"] == body["responses_create_params"] | {"temperature": None}
    assert {**body["response"], "usage": None} == told["response"]
    assert (told["difficulty"], told["task_id"]) == ("hard", "squares")
    assert "verifier_metadata" not in told


def test_the_rest_of_the_tests_is_run_where_it_is_asked_for(server: Server) -> None:
    tests = {"inputs": ["1\n", "2\n", "3\n"], "outputs": ["9", "4", "9"]}
    told = verified(server("run_all_tests: true\ngrader: tests:reward=fraction"), request(RIGHT, tests))
    assert (told["test_verdicts"], told["result"]) == ("WPP", [-2, True, True])
    assert told["reward"] == told["pass_rate"] == pytest.approx(2 / 3)
    told = verified(server(), request(RIGHT, tests))
    assert (told["test_verdicts"], told["reward"], told["pass_rate"]) == ("W..", 0.0, 0.0)


def test_without_a_fence_there_is_no_code_unless_it_may_be(server: Server) -> None:
    for text, output in (("", None), (" \n\t", None), ("print(int(input()) ** 2)",) * 2):
        told = verified(server(), request(text, SQUARES))
        assert (told["reward"], told["verdict"], told["mask_sample"]) == (0.0, "no_code", False)
        assert (told["extracted_model_output"], told["extracted_model_code"]) == (output, None)
    assert verified(server("unfenced_code: true"), request(text, SQUARES))["reward"] == 1.0


def test_thinking_in_the_answer_has_a_price(server: Server) -> None:
    config = "reasoning_format_penalty: -0.5"
    told = verified(server(config), request(f"<think>so</think>\n{RIGHT}", SQUARES))
    assert (told["reward"], told["reasoning_format_violation_rate"], told["verdict"]) == (-0.5, 1.0, "passed")
    assert "thinking tags" in told["error_message"]
    assert told["flags"] == ["reasoning_format"]
    assert verified(server(config), request(RIGHT, SQUARES))["reward"] == 1.0


UNGRADABLE: list[object] = [
    {"unit_tests": None},
    {"unit_tests": {"inputs": ["1\n", "2\n"], "outputs": ["1"]}},
    {"unit_tests": {"packed": "nonsense"}},
    {"unit_tests": "tests"},
    {"unit_tests": {"inputs": [{"a": 1}], "outputs": ["1"], "fn_name": 3}},
    *(None, [], 3),
]


def test_a_row_that_can_not_be_graded_is_masked(server: Server) -> None:
    for metadata in UNGRADABLE:
        told = answered(server(), RIGHT, metadata)
        assert (told["reward"], told["mask_sample"], told["verdict"]) == (0.0, True, "unknown"), metadata
        assert told["failure_kind"] == "rollscope:ungradable_task"
        assert told["failure_reason"]
    for text in ("", "no code", RIGHT):  # whatever the answer
        told = verified(server(), request(text, {"inputs": [], "outputs": []}))
        assert (told["mask_sample"], told["failure_reason"]) == (True, "the task has no test cases")


def test_a_row_names_its_checker_and_loads_no_file(server: Server, tmp_path: Path) -> None:
    body = request(fenced("print(1)\nprint(2)"), {"inputs": ["1\n"], "outputs": ["1 2"]})
    assert verified(server(), body)["reward"] == 0.0
    body["verifier_metadata"]["checker"] = "tokens"
    assert verified(server(), body)["reward"] == 1.0
    body["verifier_metadata"]["checker"] = "nothing"
    told = verified(server(), body)
    assert (told["mask_sample"], "unknown" in told["failure_reason"]) == (True, True)
    own = request(fenced("print(2)"), {"inputs": ["1\n"], "outputs": ["1"]}, checker_code="print(1)")
    assert verified(server(), own)["reward"] == 1.0
    (tmp_path / "mine.py").write_text("def score(task, completion): return 1.0\n")
    told = verified(server(), request(RIGHT, SQUARES, grader=f"{tmp_path}/mine.py:score"))
    assert (told["mask_sample"], told["reward"], "file" in told["failure_reason"]) == (True, 0.0, True)


def test_a_datasets_time_limit_counts_up_to_what_the_server_allows() -> None:
    config = ServerConfig(unit_test_timeout_secs=5, max_timeout_secs=30)
    task = Task.from_row({"task_id": "t", "in_outs": SQUARES, "time_limit": "1000 seconds"})
    require_short(task, config)
    limits = task_limits(with_time_for_all(task, config), config.options)
    assert (limits.wall_s, limits.cpu_s, limits.total_s) == (30, 30, 2 * 31 + 5)


def test_no_answer_of_a_model_is_an_error_of_the_server(server: Server) -> None:
    half = "\ud800"  # of a pair
    codes = (f"print('{half}')", "print('\x00')", "print(" * 5000)
    for text in (f"{half} {RIGHT}", *map(fenced, codes), "x" * 3_000_000):
        assert verified(server(), request(text, SQUARES))["mask_sample"] is False


def test_a_response_of_any_shape_is_answered(server: Server) -> None:
    body = request(RIGHT, SQUARES)
    for output in (None, [], ["text"], [None], [{"type": "odd"}], *([message(content)] for content in (None, [1]))):
        body["response"]["output"] = output
        told = verified(server(), body)
        assert (told["reward"], told["verdict"], told["mask_sample"]) == (0.0, "no_code", False), output


def message(content: object) -> dict[str, object]:
    return {"type": "message", "content": content}


def test_what_is_no_request_is_refused(server: Server) -> None:
    for missing in ("response", "responses_create_params"):
        body = request(RIGHT, SQUARES)
        del body[missing]
        answer = Client(server()).post("/verify", body)
        assert (answer.status, answer.body["detail"][0]["loc"]) == (422, ["body", missing])
    for text in ("", "{", "[]", '{"a":' * 5000):
        assert Client(server()).post("/verify", text).status in (400, 422)


def test_an_answer_that_says_nothing_of_reasoning_is_read_by_its_messages_alone(server: Server) -> None:
    body = request(RIGHT, SQUARES)
    reasoning = {"type": "reasoning", "id": "x", "summary": [{"type": "summary_text", "text": fenced("print(0)")}]}
    call = {"type": "function_call", "call_id": "c", "name": "execute_code", "arguments": '{"code": "print(0)"}'}
    body["response"]["output"] = [reasoning, call, *answer_of(RIGHT)["output"]]
    assert verified(server(), body)["reward"] == 1.0


def test_of_many_at_once_none_is_lost_and_each_answer_is_its_own(server: Server) -> None:
    url, many = server(), 32
    together = threading.Barrier(many)

    def ask(number: int) -> dict[str, Any]:
        """Right and wrong by turns, to tests of its own."""
        together.wait()
        code = f"print(int(input()) + {number}, {number % 2})"
        tests = {"inputs": ["3\n"], "outputs": [f"{3 + number} 0\n"]}
        return verified(url, request(fenced(code), tests, difficulty=f"level {number}"))

    with ThreadPoolExecutor(many) as threads:
        answers = list(threads.map(ask, range(many)))
    assert [answer["reward"] for answer in answers] == [1.0, 0.0] * (many // 2)
    assert [answer["difficulty"] for answer in answers] == [f"level {number}" for number in range(many)]
    wrong = [answer["metadata"]["output"].split() for answer in answers[1::2]]
    assert wrong == [[str(3 + number), "1"] for number in range(1, many, 2)]


def answered(url: str, text: str, metadata: object = None, **row: object) -> dict[str, Any]:
    return verified(url, request(text, None) | {"verifier_metadata": metadata, **row})


def paid(told: dict[str, Any]) -> float:
    assert not told["mask_sample"], told["failure_reason"]
    return float(told["reward"])


def test_exact_match(server: Server) -> None:
    url = server("grader: exact_match")
    assert [paid(answered(url, text, {"answer": "Paris"})) for text in (" Paris\n", "paris")] == [1.0, 0.0]
    assert paid(answered(url, "Paris", answer="Paris")) == 1.0  # in the row itself
    assert paid(answered(server(), "Paris", answer="Paris")) == 1.0  # which needs no grader to be named
    url = server("grader: {name: exact_match, marker: 'Answer:', case: ignore}")
    assert paid(answered(url, "France, so\nAnswer: PARIS", {"answer": "Paris"})) == 1.0


@pytest.fixture(scope="module")
def judge() -> Iterator[JudgeServer]:
    with judge_server() as running:
        yield running


def test_semantic_similarity(server: Server, judge: JudgeServer) -> None:
    options = {"name": "similarity", "model": "m", "base_url": judge.url, "scale": 10, "cache": False}
    url = server(json.dumps({"grader": options | {"retries": 1, "backoff_s": 0, "timeout_s": HANG_S}}))
    judge.answers = [says("Close.\nScore: 7")]
    assert paid(answered(url, "The city of Paris", reference_answer="Paris")) == 0.7
    assert "The city of Paris" in judge.asked[-1].text
    for failing in (says("I will not say."), refuses(500, "down"), says("Score: 11")):
        judge.answers = [failing]
        told = answered(url, "Paris", {"answer": "Paris"})
        assert (told["mask_sample"], told["failure_kind"], told["reward"]) == (True, "judge_failed", 0.0)
        assert told["failure_reason"]


def test_several_metrics(server: Server) -> None:
    parts = [
        {"grader": "tests:reward=fraction", "weight": 0.8, "name": "accuracy"},
        {"grader": "tests", "weight": 0.2, "name": "complete"},
    ]
    url = server(json.dumps({"grader": {"name": "weighted", "graders": parts}, "run_all_tests": True}))
    told = verified(url, request(fenced("print(4)"), SQUARES))
    assert paid(told) == pytest.approx(0.4)
    assert told["reward_components"] == {"accuracy": 0.5, "complete": 0.0}
    assert (told["component_accuracy"], told["component_complete"]) == (0.5, 0.0)
