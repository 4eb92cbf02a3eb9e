"""`code_eval.compute` as harnesses call it, and as `evaluate.load` gives it to them. `evaluate` is not needed."""

from __future__ import annotations

import math
import sys
from types import ModuleType

import pytest

from evaluator.interop import code_eval
from evaluator.interop.code_eval import compute, use_in_evaluate

ADD = "def add(a, b):\n    return a + b\n"
TIMES = "def add(a, b):\n    return a * b\n"
ASSERTS = "assert add(2, 3) == 5\nassert add(0, 1) == 1"
CHECK = "def check(candidate):\n    assert candidate(2, 3) == 5\n\ncheck(add)"


def words(reference: str, *candidates: str, timeout: float = 10) -> list[str]:
    _, results = compute([reference], [candidates], [1], timeout=timeout)
    return [result["result"] for _, result in results[0]]


def test_two_tasks_with_two_candidates_each() -> None:
    pass_at_k, results = compute(references=[ASSERTS, CHECK], predictions=[[TIMES, ADD], [ADD, ADD]], k=[1, 2, 10])
    assert pass_at_k == {"pass@1": 0.75, "pass@2": 1.0}
    assert [[number for number, _ in each] for each in results.values()] == [[0, 1], [0, 1]]
    failed = results[0][0][1]
    assert failed == {"task_id": 0, "passed": False, "result": failed["result"], "completion_id": 0}
    assert failed["result"] == "failed: wrong_answer: expected 5, got 6"
    assert results[1][1] == (1, {"task_id": 1, "passed": True, "result": "passed", "completion_id": 1})


def test_what_lm_eval_passes() -> None:
    assert compute(references=["assert add(2, 3)==5"], predictions=[["def add(a,b): return a*b"]], k=[1])[0] == {
        "pass@1": 0
    }
    assert compute(references=[ASSERTS], predictions=[[ADD]], k=[10], num_workers=20)[0] == {}
    assert words(ASSERTS, "") == ["failed: no_code: the completion is empty"]


@pytest.mark.parametrize(
    "attack",
    [
        "import sys\nsys.exit(0)\n",
        "import os\nos._exit(0)\n",
        "class Yes:\n    def __eq__(self, other):\n        return True\n\ndef add(a, b):\n    return Yes()\n",
        "import builtins\nbuiltins.AssertionError = None\n\ndef add(a, b):\n    return 0\n",
        "def add(a, b):\n    raise SystemExit(0)\n",
    ],
)
def test_an_attack_on_the_asserts_does_not_pass(attack: str) -> None:
    for reference in (ASSERTS, CHECK, f"numbers = (2, 3)\nassert add(*numbers) == 5\n{ASSERTS}"):
        [word] = words(reference, attack)
        assert word.startswith("failed: ")


def test_statements_run_after_the_program_as_they_are() -> None:
    statements = "for n in range(3):\n    assert add(n, n) == 2 * n\n"
    assert words(statements, ADD) == ["passed"]
    assert words(statements, TIMES)[0].startswith("failed: wrong_answer")


def test_what_passes_in_one_process_alone_passes() -> None:
    assert words("text = 'long' * 99\nassert same(text) is text", "def same(text):\n    return text\n") == ["passed"]


def test_a_program_that_takes_too_long_and_one_that_does_not_load() -> None:
    slow = "import time\n\ndef add(a, b):\n    end = time.process_time() + 0.6\n"
    slow += "    while time.process_time() < end:\n        pass\n    return a + b\n"
    assert words(ASSERTS, slow, timeout=0.3) == ["timed out"]
    assert words(f"{ASSERTS}\nassert add(1, 1) == 2", slow, timeout=1) == ["timed out"]  # each alone is quick enough
    assert words(ASSERTS, slow, timeout=60) == ["passed"]
    assert words(ASSERTS, "def add(") == ["failed: compile_error: SyntaxError: '(' was never closed"]


def test_a_reference_that_can_not_be_read_counts_for_nothing() -> None:
    with pytest.warns(
        UserWarning, match="1 of 3 programs have no grade and do not count; the first: unknown: the test code"
    ):
        pass_at_k, results = compute([ASSERTS, "assert ("], [[ADD, TIMES], [ADD]], k=[1])
    assert pass_at_k == {"pass@1": 0.5}
    assert results[1][0][1]["passed"] is None
    with pytest.warns(UserWarning, match="1 of 1 programs"):
        assert math.isnan(compute(["assert 1 == 1"], [[ADD]], k=[1])[0]["pass@1"])


def test_arguments_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="1 references for 2 predictions: give one for each task"):
        compute([ASSERTS], [[ADD], [ADD]])
    with pytest.raises(ValueError, match="a prediction is text: give a list of candidates for each task"):
        compute([ASSERTS], [ADD])


def test_evaluate_loads_ours_and_everything_else_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a module in the place of `evaluate`, of which only `load` is used."""
    theirs = ModuleType("evaluate")
    theirs.load = lambda path, **options: (path, options)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "evaluate", theirs)
    use_in_evaluate()
    assert theirs.load("code_eval") is code_eval
    assert theirs.load("bleu", keep_in_memory=True) == ("bleu", {"keep_in_memory": True})
