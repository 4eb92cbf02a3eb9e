"""`compute_score` as verl calls it: by keyword, from threads, and from a file that it loads by its path."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.interop import verl
from evaluator.interop.verl import UngradedError, compute_score
from evaluator.model import RecordError
from tests.sandbox.refusing import command

ROOT = Path(__file__).resolve().parents[2]

CALL = {"inputs": ["1\n2", "2\n2"], "outputs": ["3", "4"], "fn_name": "add"}
STDIN = {"inputs": ["1\n", "2\n"], "outputs": ["1\n", "2\n"]}
ASSERTS = ["assert add(1, 2) == 3", "assert add(2, 2) == 4"]
RIGHT = "Like this:\n```python\ndef add(a, b):\n    return a + b\n```"
HALF = "```python\ndef add(a, b):\n    return 3\n```"
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
        "score": 1.0, "acc": 1.0, "pass_rate": 1.0, "tests_passed": 2, "tests_total": 2,
        "verdict": "passed", "error": "",
    }  # fmt: skip
    assert [score["verdict"] for score in scores[1:]] == ["wrong_answer", "no_code", "compile_error"]
    assert all(score["error"] for score in scores[1:])
    assert len({tuple((key, type(value)) for key, value in score.items()) for score in scores}) == 1


def test_the_share_where_it_is_asked_for() -> None:
    score = compute_score("apps", HALF, CALL, {}, continuous=True)
    assert (score["score"], score["acc"], score["pass_rate"]) == (0.5, 0.0, 0.5)
    assert compute_score("apps", HALF, CALL, {})["score"] == 0.0


def test_what_else_a_trainer_passes_is_unused() -> None:
    more = {"reward_router_address": "x", "reward_model_tokenizer": object(), "limits": {"wall_s": 20}}
    assert compute_score("apps", RIGHT, CALL, {}, **more)["score"] == 1.0  # type: ignore[arg-type]


def test_limits_are_the_rewards_own() -> None:
    forever = "```python\ndef add(a, b):\n    while True: pass\n```"
    assert compute_score("apps", forever, CALL, {}, limits={"cpu_s": 0.2})["verdict"] == "time_limit"
    with pytest.raises(RecordError, match=r"limits: .*`seconds`"):
        compute_score("apps", RIGHT, CALL, {}, limits={"seconds": 1})


@pytest.mark.parametrize(
    ("ground_truth", "message"),
    [
        ({"inputs": [], "outputs": []}, r"^apps: no grade \(unknown\): .*no test cases"),
        ({"inputs": ["1"], "outputs": []}, "^apps: in_outs has 1 inputs but 0 outputs"),
        ("no JSON", '^apps: the tests are text that is not JSON: .*give {"inputs"'),
        ({"answers": 1}, "^apps: the tests have only answers: give"),
        ({"language": "cpp", "test_cases": CASES}, "^apps: language is 'cpp', not Python"),
        ([{"input": "1"}], "^apps: the tests are a list that can't be read"),
        (None, "^apps: the tests are of type NoneType"),
    ],
)
def test_what_can_not_be_graded_raises(ground_truth: object, message: str) -> None:
    with pytest.raises(UngradedError, match=message) as raised:
        compute_score("apps", RIGHT, ground_truth, {})
    assert "\n" not in str(raised.value)


def test_from_many_threads() -> None:
    with ThreadPoolExecutor(8) as pool:
        scores = pool.map(lambda n: compute_score("apps", RIGHT if n % 2 else HALF, CALL, {})["score"], range(24))
    assert list(scores) == [0.0, 1.0] * 12


def test_loaded_by_its_path() -> None:
    assert verl.__file__
    spec = importlib.util.spec_from_file_location("custom_module", verl.__file__)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.compute_score("apps", RIGHT, CALL, {})["score"] == 1.0


WITHOUT_SANDBOX = f"""
from evaluator import SandboxUnavailable
from evaluator.interop.verl import compute_score
try:
    print(compute_score("apps", {RIGHT!r}, {CALL!r}, {{}}))
except SandboxUnavailable as error:
    print("none:", error)
"""


def test_without_a_sandbox_there_is_no_score() -> None:
    words = command(["namespaces", "landlock"], sys.executable, "-c", WITHOUT_SANDBOX)
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.startswith("none: no sandbox: ")
