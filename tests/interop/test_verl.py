"""The reward functions as verl calls them: by keyword, from threads and processes, awaited, loaded by their path."""

import asyncio
import importlib.util
import inspect
import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest

from evaluator.interop import verl
from evaluator.interop.verl import UngradedError, acompute_score, compute_score, compute_score_batch
from evaluator.model import RecordError
from tests.interop.rows import ASSERTS, CALL, FOREVER, HALF, RIGHT

STDIN = {"inputs": ["1\n", "2\n"], "outputs": ["1\n", "2\n"]}
ECHO = "```python\nprint(input())\n```"
CASES = [{"input": "1\n", "output": "1\n", "fn_name": None, "type": "stdin_stdout"}]

SHAPES: dict[str, tuple[Any, str]] = {
    "JSON text": (json.dumps(CALL), RIGHT),
    "an object": (CALL, RIGHT),
    "without a function": (STDIN, ECHO),
    "no function's name": ({**STDIN, "fn_name": None}, ECHO),
    "from Arrow": ({name: np.array(value, dtype=object) for name, value in STDIN.items()}, ECHO),
    "assert_case": ({"assert_case": ASSERTS}, RIGHT),
    "asserts": (ASSERTS, RIGHT),
    "asserts as JSON text": (json.dumps(ASSERTS), RIGHT),
    "open-r1's": ({"language": "python", "test_cases": CASES}, ECHO),
    "prime's": ({"language": "python", "test_cases": json.dumps(CALL)}, RIGHT),
    "cases": ([{"input": "1\n2", "output": "3", "fn_name": "add"}], RIGHT),
    "a native row": ({"task_id": "t", "mode": "call", "entry_point": "add", "in_outs": CALL}, RIGHT),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_tests_of_any_shape(shape: str) -> None:
    ground_truth, right = SHAPES[shape]
    wrong = "```python\ndef add(a, b):\n    return 0\nprint(0)\n```"
    scores = [
        compute_score(data_source="taco", solution_str=text, ground_truth=ground_truth, extra_info={"index": 1})
        for text in (right, wrong)
    ]
    assert [score["score"] for score in scores] == [1.0, 0.0]
    assert scores[0].keys() == scores[1].keys()


def test_what_is_logged_has_the_same_types_each_time() -> None:
    texts = (RIGHT, HALF, "<think>hm</think> I can't.", "def add(:")
    scores = [compute_score("apps", text, CALL, None) for text in texts]
    assert scores[0] == {
        "score": 1.0, "acc": 1.0, "graded": 1.0, "pass_rate": 1.0, "tests_passed": 2, "tests_total": 2,
        "verdict": "passed", "error": "",
    }  # fmt: skip
    assert [score["verdict"] for score in scores[1:]] == ["wrong_answer", "no_code", "compile_error"]
    assert all(score["error"] for score in scores[1:])
    scores += [compute_score("apps", RIGHT, tests, None, ungraded=0) for tests in (None, {"inputs": [], "outputs": []})]
    assert len({tuple((key, type(value)) for key, value in score.items()) for score in scores}) == 1


def test_the_share_where_it_is_asked_for() -> None:
    score = compute_score("apps", HALF, CALL, {}, continuous=True)
    assert (score["score"], score["acc"], score["pass_rate"]) == (0.5, 0.0, 0.5)
    assert compute_score("apps", HALF, CALL, {})["score"] == 0.0
    with pytest.warns(UserWarning, match="the keyword 'continous' is ignored: is it 'continuous'"):
        assert compute_score("apps", HALF, CALL, {}, continous=True)["score"] == 0.0


def test_limits_are_the_rewards_own_and_what_else_a_trainer_passes_is_unused() -> None:
    more: dict[str, Any] = {"reward_router_address": "x", "reward_model_tokenizer": object(), "limits": {"wall_s": 60}}
    assert compute_score("apps", RIGHT, CALL, {}, **more)["score"] == 1.0
    assert compute_score("apps", FOREVER, CALL, {}, limits={"cpu_s": 0.2})["verdict"] == "time_limit"
    with pytest.raises(RecordError, match=r"limits: .*`seconds`"):
        compute_score("apps", RIGHT, CALL, {}, limits={"seconds": 1})


def test_what_can_not_be_graded_raises() -> None:
    ungradable: dict[str, Any] = {
        r"no grade \(unknown\): .*no test cases": {"inputs": [], "outputs": []},
        "in_outs has 1 inputs but 0 outputs": {"inputs": ["1"], "outputs": []},
        'the tests are text without an assert: give {"inputs"': "no JSON",
        "the tests have only answers: give": {"answers": 1},
        "language is 'cpp', not Python": {"language": "cpp", "test_cases": CASES},
        "the tests are a list that can't be read": [{"input": "1"}],
        "the tests are missing": None,
    }
    for message, tests in ungradable.items():
        with pytest.raises(UngradedError, match=f"^apps, index 7: {message}"):
            compute_score("apps", RIGHT, tests, {"index": 7, "split": "train"})
        with pytest.raises(UngradedError, match=f"^apps: {message}") as raised:
            compute_score("apps", RIGHT, tests, {})
        assert "\n" not in str(raised.value)
        score = compute_score("apps", RIGHT, tests, {}, ungraded=-1)
        assert (score["score"], score["acc"], score["graded"], score["verdict"]) == (-1.0, 0.0, 0.0, "unknown")
        assert f"apps: {score['error']}" == str(raised.value)
        assert compute_score("apps", RIGHT, tests, {}, ungraded=-1, plain=True) == -1.0


def test_a_plain_score_is_the_number_alone() -> None:
    scores = [compute_score("apps", text, CALL, None, plain=True, continuous=True) for text in (RIGHT, HALF, "none")]
    assert scores == [1.0, 0.5, 0.0]
    assert {type(score) for score in scores} == {float}
    ungraded: Any
    for ungraded in ("skip", None, True):
        with pytest.raises(ValueError, match=f'^ungraded is {ungraded!r}: give a number, or "raise"$'):
            compute_score("apps", RIGHT, CALL, {}, ungraded=ungraded)


def test_from_forked_processes_as_the_prime_manager_does() -> None:
    compute_score("apps", RIGHT, CALL, {})  # this process has workers, which are not the others'
    function = partial(compute_score, plain=True)
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        futures = [pool.submit(function, "apps", text, json.dumps(CALL), None) for text in (RIGHT, HALF, RIGHT)]
        assert [future.result() for future in futures] == [1.0, 0.0, 1.0]


def test_awaited_many_at_once() -> None:
    async def scores() -> list[Any]:
        texts = [RIGHT if n % 2 else HALF for n in range(24)]
        calls = [
            acompute_score(data_source="apps", solution_str=text, ground_truth=CALL, extra_info={}, continuous=True)
            for text in texts
        ]
        return [score["score"] for score in await asyncio.gather(*calls)]

    assert asyncio.run(scores()) == [0.5, 1.0] * 12
    assert inspect.iscoroutinefunction(partial(acompute_score, plain=True))  # or verl would not await it
    with pytest.raises(UngradedError, match=r"^apps: the tests are missing"):
        asyncio.run(acompute_score("apps", RIGHT, None))
    with pytest.raises(UngradedError, match=r"^apps: no grade \(unknown\): .*no test cases"):
        asyncio.run(acompute_score("apps", RIGHT, {"inputs": [], "outputs": []}))
    assert asyncio.run(acompute_score("apps", RIGHT, None, ungraded=0.5, plain=True)) == 0.5


def batch(*rows: tuple[str, Any], **settings: Any) -> list[Any]:
    """As verl's batch manager calls it: two arguments are arrays."""
    return compute_score_batch(
        data_sources=np.array(["apps"] * len(rows), dtype=object),
        solution_strs=[text for text, _ in rows],
        ground_truths=[tests for _, tests in rows],
        extra_infos=np.array([{"index": number} for number in range(len(rows))], dtype=object),
        **settings,
    )


def test_a_batch_has_its_scores_in_order() -> None:
    rows = [(RIGHT, CALL), (ECHO, STDIN), (HALF, CALL), (RIGHT, json.dumps(ASSERTS)), (HALF, json.dumps(ASSERTS))] * 4
    assert batch(*rows, plain=True) == [1.0, 1.0, 0.0, 1.0, 0.0] * 4
    assert [score["pass_rate"] for score in batch(*rows[:3], continuous=True)] == [1.0, 1.0, 0.5]
    assert batch() == []


def test_a_batch_with_rows_that_have_no_grade() -> None:
    rows = [(RIGHT, CALL), (RIGHT, "no JSON"), (HALF, CALL), (RIGHT, {"inputs": [], "outputs": []})]
    scores = batch(*rows, ungraded=0.0, continuous=True)
    assert [(score["score"], score["graded"]) for score in scores] == [(1.0, 1.0), (0.0, 0.0), (0.5, 1.0), (0.0, 0.0)]
    with pytest.raises(UngradedError, match=r"^apps, index 1: the tests are text without an assert"):
        batch(*rows)
    with pytest.raises(UngradedError, match=r"^apps, index 1: no grade \(unknown\)"):
        batch(rows[0], rows[3])


def test_a_batch_that_can_not_be_read() -> None:
    with pytest.raises(ValueError, match=r"^2 data_sources, 1 solution_strs, .* give one of each"):
        compute_score_batch(["apps"] * 2, [RIGHT], [CALL])
    # Without an index a response is named by its place.
    with pytest.raises(UngradedError, match=r"^apps, response 1 of the batch: the tests are text without an assert"):
        compute_score_batch(["apps"] * 2, [RIGHT] * 2, [CALL, "no JSON"])


def test_loaded_by_its_path() -> None:
    assert verl.__file__
    spec = importlib.util.spec_from_file_location("custom_module", verl.__file__)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.compute_score("apps", RIGHT, CALL, {})["score"] == 1.0
