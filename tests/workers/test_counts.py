"""How many processes, pages, bytes, system calls and switches a completion takes at most, and each test case of it."""

from __future__ import annotations

import pytest

from evaluator.model import Kind, Limits, Mode, Rollout, Task, TestCase
from evaluator.options import Options
from evaluator.tasks.import_headers import CONTEST
from tests.workers.counting import Counts, Slope, counted, slope

PATIENTLY = Options(limits=Limits(wall_s=300, cpu_s=60, total_s=300))
FUNCTION = "def double(number):\n    return 2 * number\n"
PROGRAM = "print(2 * int(input()))\n"
MOST = Slope(
    completion=Counts(processes=1.5, pages=700, bytes=3500, calls=50, waits=4, functions=240, switches=5),
    test=Counts(processes=0.2, pages=30, bytes=450, calls=4, waits=1, functions=20, switches=1),
)
"""Sent together, inputs take no call at all of the parent's; some go one by one where the machine is busy."""


def call_task(tests: int) -> Task:
    cases = tuple(TestCase(number, f"{number}", f"{2 * number}") for number in range(tests))
    return Task(task_id="t", mode=Mode.CALL, entry_point="double", cases=cases)


def stdin_task(tests: int, preamble: str = "") -> Task:
    cases = tuple(TestCase(number, f"{number}\n", f"{2 * number}\n") for number in range(tests))
    return Task(task_id="t", mode=Mode.STDIN, cases=cases, preamble=preamble)


@pytest.mark.parametrize(
    "kind", ["call", *(pytest.param(each, marks=pytest.mark.slow) for each in ("stdin", "stdin under a header"))]
)
def test_a_completion_and_a_test_case_take_little(kind: str) -> None:
    def of(tests: int) -> Counts:
        preamble = CONTEST if kind == "stdin under a header" else ""
        task = call_task(tests) if kind == "call" else stdin_task(tests, preamble)
        code = FUNCTION if kind == "call" else PROGRAM
        rollouts = [
            Rollout(task_id="t", sample_id=str(number), completion=f"# {number}\n{code}", kind=Kind.FULL)
            for number in range(60)
        ]
        return counted([task], rollouts, PATIENTLY)

    counts = slope(of)
    beyond = {
        f"{of_what}: {name}": value
        for of_what, found in counts._asdict().items()
        for name, value in found._asdict().items()
        if value > getattr(getattr(MOST, of_what), name)
    }
    assert beyond == {}, counts
