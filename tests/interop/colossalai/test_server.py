"""`rollscope serve colossalai`, over HTTP."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from evaluator.interop.colossalai import check_correctness_code_api
from tests.interop.serving import Served, ask

ADD = {"fn_name": "add", "inputs": ["1\n2", "3\n4"], "outputs": ["3", "7"]}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    served = Served(system="colossalai")
    yield served.url
    assert served.end(signal.SIGINT) == (0, "")


@pytest.mark.parametrize(
    ("generation", "result", "keys"),
    [
        ("def add(a, b): return a + b", [1, 1], set()),
        ("def add(a, b): return 3", [1, 0], {"output", "expected", "inputs", "error_message"}),
        ("def add(a, b): return a / 0", [-1], {"error", "traceback"}),
        ("def add(a, b) return", [-2], {"error", "traceback"}),
    ],
)
def test_a_completion_is_checked(address: str, generation: str, result: list[int], keys: set[str]) -> None:
    body = {"in_outs": ADD, "generation": generation, "timeout": 5, "debug": False, "eval_mode": True}
    status, answer = ask(address, "POST", "/check_correctness", body)
    assert (status, answer["result"]) == (200, result)
    assert set(answer["metadata"][0]) == keys


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("{", "Expecting property name"),
        ([], "Expected `object`, got `array`"),
        ({"in_outs": ADD}, "missing required field `generation`"),
        ({"in_outs": {**ADD, "inputs": ["{1", "2"]}, "generation": "def add(a): 0"}, "inputs[0], line 1 is not JSON"),
        ({"in_outs": ADD, "generation": "x", "timeout": -1}, "timeout is -1.0: give seconds, or 0 for none"),
        ({"in_outs": {"inputs": ["1"]}, "generation": "x"}, "in_outs must have two lists"),
        ({"in_outs": {"inputs": ["1", "2"], "outputs": ["1"]}, "generation": "x"}, "in_outs must have two lists"),
    ],
)
def test_what_is_wrong_with_a_body_is_told(address: str, body: object, told: str) -> None:
    status, answer = ask(address, "POST", "/check_correctness", body)
    assert status == 422
    assert told in answer["detail"]


def test_it_says_that_it_is_there_and_takes_no_get_for_a_check(address: str) -> None:
    assert address.startswith("http://127.0.0.1:")
    assert ask(address, "GET", "/health") == (200, {"status": "ok"})
    assert ask(address, "GET", "/check_correctness")[0] == 405


def test_the_client_gives_what_check_correctness_gives(address: str) -> None:
    url = f"{address}/check_correctness"
    assert check_correctness_code_api(ADD, "def add(a, b): return a + b", 10, False, url) == ([1, 1], [{}])
    results, metadata = check_correctness_code_api(
        in_outs=ADD, generation="def add(a, b): return 3", debug=False, url=url
    )
    assert (results, metadata[0]["expected"]) == ([1, 0], "7")
    results, metadata = check_correctness_code_api({**ADD, "inputs": ["{1", "2"]}, "def add(a): 0", url=url)
    assert (results, metadata[0]["error"]) == ([-1, -1], "request")
    assert "inputs[0], line 1 is not JSON" in metadata[0]["error_message"]


def test_the_client_says_what_no_completion_caused(address: str) -> None:
    for elsewhere in (address, f"{address}/health"):
        with pytest.raises(
            ConnectionError, match=r"is no verifier \(HTTP Error 40[45]: .*it ends in /check_correctness"
        ):
            check_correctness_code_api(ADD, "", url=elsewhere)
    with pytest.raises(ConnectionError, match="is `rollscope serve colossalai` running"):
        check_correctness_code_api(ADD, "", url="http://127.0.0.1:1/check_correctness")
