"""One answer earns the same at every door that takes given inputs and outputs."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from evaluator.formats import contests, load_task, nemo_gym
from evaluator.interop import slime, trl, verl
from evaluator.interop.colossalai import InOutsError, run_test
from evaluator.interop.opencompass import LCBCodeGenerationEvaluator
from evaluator.interop.sandbox_fusion import ProgramTests, results_of_stdio
from evaluator.model import Limits, Rollout, Task
from evaluator.options import Options
from evaluator.sandbox import Sandbox
from evaluator.tasks import long_numbers
from evaluator.workers.worker import Worker
from tests.interop.test_slime import Sample

InOuts = dict[str, Any]

ROWS: list[tuple[InOuts, str, float]] = [
    ({"fn_name": "f", "inputs": [[1, 2]], "outputs": [[3]]}, "def f(a, b): return a + b", 1.0),
    ({"fn_name": "f", "inputs": [[1, 2]], "outputs": [[3]]}, "def f(a, b): return [a + b]", 1.0),
    ({"fn_name": "f", "inputs": [[1, 2], [3, 4]], "outputs": [[3], [7, 0]]}, "def f(a, b): return a + b", 0.0),
    ({"fn_name": "f", "inputs": [["bob"]], "outputs": ["hi bob"]}, "def f(a): return 'hi ' + a", 1.0),
    ({"fn_name": "f", "inputs": [[1]], "outputs": ["12"]}, "def f(a): return 12", 0.0),
    ({"fn_name": "f", "inputs": ["1\n2"], "outputs": ["3"]}, "def f(a, b): return a + b", 1.0),
    ({"fn_name": "f", "inputs": [[1]], "outputs": [0.0]}, "def f(a): return 1e-17", 1.0),
    ({"fn_name": "f", "inputs": [[3]], "outputs": [3**10_000]}, "def f(a): return a ** 10_000", 1.0),
    ({"fn_name": "f", "inputs": [[1]], "outputs": [1]}, f"N = {'1' * 5000}\ndef f(a): return N % 10", 1.0),
    ({"inputs": ["10000\n"], "outputs": [str(7**1000)]}, "print(7 ** (int(input()) // 10))", 1.0),
    ({"inputs": [["1", "2"]], "outputs": [["3"]]}, "print(int(input()) + int(input()))", 1.0),
    ({"inputs": ["yes\r\n3\r\n"], "outputs": ["6\r\n"]}, "print(6 if input() == 'yes' else 0)", 1.0),
]
READERS: dict[str, Callable[[InOuts], Task]] = {
    "a native row": lambda given: Task.from_row({"task_id": "1", "in_outs": given}),
    "apps": lambda given: contests.read_apps({"question": "Q", "input_output": long_numbers.dumps(given)}),
    "livecodebench": lambda given: contests.read_livecodebench(
        {"question_id": "1", "question_content": "Q", "input_output": long_numbers.dumps(given)}
    ),
    "nemo_gym": lambda given: nemo_gym.read_task(
        {"responses_create_params": {"input": "Q"}, "verifier_metadata": {"unit_tests": given}}
    ),
}


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Sandbox() as sandbox:
        yield Worker(Options(), sandbox=sandbox)


@pytest.mark.parametrize("reader", READERS)
def test_formats(worker: Worker, reader: str) -> None:
    for given, code, reward in ROWS:
        grade = worker.grade(READERS[reader](given), Rollout(task_id="1", completion=code))
        assert grade.reward == reward, (given, code, grade.error)


def test_reward_functions() -> None:
    for given, code, reward in ROWS:
        text = f"```python\n{code}\n```"
        for tests in (given, long_numbers.dumps(given)):
            assert verl.compute_score("d", text, tests, None)["score"] == reward, (given, code)
            assert trl.code_reward(completions=[text], in_outs=[tests]) == [reward], (given, code)
            assert asyncio.run(slime.custom_rm(None, Sample(text, tests))) == reward, (given, code)


def test_asserts_are_a_list_or_one_text(worker: Worker) -> None:
    asserts = ["assert f(1, 2) == 3", "assert f(0, 0) == 0"]
    for tests in (asserts, "\n".join(asserts)):
        task = load_task({"prompt": "Q", "tests": tests})
        for code, reward in (("def f(a, b): return a + b", 1.0), ("def f(a, b): return 3", 0.0)):
            assert worker.grade(task, Rollout(task_id="1", completion=code)).reward == reward, tests
            assert verl.compute_score("d", code, tests, None)["score"] == reward, tests
            assert trl.code_reward(completions=[code], tests=[tests]) == [reward], tests
            assert asyncio.run(slime.custom_rm(None, Sample(code, tests))) == reward, tests


def test_evaluators() -> None:
    for given, code, reward in ROWS:
        row = {"question_id": "q", "evaluation_sample": long_numbers.dumps(given), "question_content": "Q"}
        assert LCBCodeGenerationEvaluator().score([code], ["q"], [row])["pass@1"] == 100 * reward, (given, code)
        if "fn_name" not in given and isinstance(given["inputs"][0], str):
            tests = [{"input": given["inputs"][0], "output": given["outputs"][0]}]
            assert asyncio.run(results_of_stdio(ProgramTests(code, tests), Limits())).results == [reward], (given, code)


def test_the_published_function_takes_texts_alone() -> None:
    for given, code, reward in ROWS:
        if not isinstance(given["inputs"][0], str):
            with pytest.raises(InOutsError, match="not text"):
                run_test(given, test=code, timeout=60)
            continue
        right = reward == 1.0 and "\r" not in given["inputs"][0]  # as published, it keeps every carriage return
        results, _ = run_test(given, test=code, timeout=60)
        assert all(result is True for result in results) == right, (given, code, results)
