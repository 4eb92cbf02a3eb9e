"""A task's own code that can't be run is the task's fault, and nobody else can put a failure on it."""

import pytest

from evaluator.model import Limits, Mode, Task, TestCase, Verdict
from tests.graders.conftest import PATIENT, Graded

RIGHT = {Mode.CALL: "def f(x): return x", Mode.STDIN: "print(input())"}


def task(mode: Mode, preamble: str) -> Task:
    cases = (TestCase(0, "1", "1"), TestCase(1, "2", "2"))
    return Task(task_id="t", mode=mode, entry_point="f", cases=cases, preamble=preamble)


BROKEN = {
    "def (": "SyntaxError: invalid syntax (preamble.py, line 1)",
    "import math\nhalf = 1 / 0": "ZeroDivisionError: division by zero",
    "import no_such_module": "ModuleNotFoundError: No module named 'no_such_module'",
    "import os; os._exit(3)": "status 3",
    "import os; os.abort()": "SIGABRT",
    "while True: pass": "0.5 s of",
    "room = [0] * 10**10": "MemoryError",
    "print('x' * 10**7)": "4 MiB",
}


@pytest.mark.parametrize("mode", RIGHT)
@pytest.mark.parametrize("preamble", BROKEN)
def test_a_preamble_that_can_not_be_run_is_unknown_and_says_why(graded: Graded, mode: Mode, preamble: str) -> None:
    endless = preamble.startswith("while")
    found = graded(task(mode, preamble), RIGHT[mode], Limits(wall_s=0.5) if endless else PATIENT)
    assert (found.verdict, found.reward, found.pass_rate) == (Verdict.UNKNOWN, None, None)
    assert str(found.error_message).startswith("the task's preamble can't be run: ")
    assert BROKEN[preamble] in str(found.error_message)


def test_a_preamble_may_read_the_input_and_may_not_end_the_program(graded: Graded) -> None:
    reads = task(Mode.STDIN, "given = int(input())")
    assert graded(reads, "print(given + 1)").verdict is Verdict.WRONG_ANSWER
    assert graded(reads, "print(given)").reward == 1.0
    found = graded(task(Mode.STDIN, "import sys\nprint(1)\nsys.exit()"), RIGHT[Mode.STDIN])
    assert (found.verdict, found.reward) == (Verdict.UNKNOWN, None)
    assert "exit status 0" in str(found.error_message)


FAILING = {
    (Mode.CALL, "def g(x): return x"): Verdict.COMPILE_ERROR,
    (Mode.CALL, "def f(x): return 1 / 0"): Verdict.RUNTIME_ERROR,
    (Mode.CALL, "def f(x): return helper(x)"): Verdict.RUNTIME_ERROR,
    (Mode.CALL, "def f(x): return 3"): Verdict.WRONG_ANSWER,
    (Mode.STDIN, "helper(0)"): Verdict.RUNTIME_ERROR,
    (Mode.STDIN, "print(3)"): Verdict.WRONG_ANSWER,
    (Mode.STDIN, "import os; os._exit(3)"): Verdict.WRONG_ANSWER,
    (Mode.STDIN, "import os; os.abort()"): Verdict.RUNTIME_ERROR,
}


@pytest.mark.parametrize(("mode", "code"), FAILING)
def test_a_failure_after_a_good_preamble_is_the_completions(graded: Graded, mode: Mode, code: str) -> None:
    found = graded(task(mode, "import math\ndef helper(x): return 1 / 0"), code)
    assert (found.verdict, found.reward) == (FAILING[mode, code], 0.0)


FORGED = """
import json, os
failure = ["SyntaxError", "invalid syntax (preamble.py, line 1)", [], 0]
payload = b"C" + json.dumps({"failure": failure}).encode()
os.write(3, len(payload).to_bytes(4, "big") + payload)
os._exit(0)
"""


@pytest.mark.parametrize("mode", RIGHT)
def test_no_completion_can_put_the_blame_on_the_preamble(graded: Graded, mode: Mode) -> None:
    """A rollout that is `unknown` has no reward: who could cause that would be spared a 0."""
    assert graded(task(mode, "import math"), FORGED).reward == 0.0
