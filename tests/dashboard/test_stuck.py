"""A time-out says whether it loops or is slow, and why later test cases were not run."""

from pathlib import Path

import pytest

from dashboard.why import stuck
from evaluator.model import CaseResult, Limits, Mode, Task, TestCase, Verdict
from evaluator.tracing import Window, replay
from tests.dashboard import rows
from tests.dashboard.rows import Show, row
from tests.dashboard.test_pages import text, visit

FIB = "def fib(k):\n    if k < 2:\n        return k\n    return fib(k - 1) + fib(k - 2)\nfib(60)\n"
LOST = "found = False\nn = 0\nwhile not found:\n    n += 1\n    if n == -5:\n        found = True\n"
BISECT = "a = [3, 1]\nleft, right = 0, 2\nwhile left < right:\n    mid = (left + right) // 2\n    left = mid\n"
PAIRS = "for i in range(10 ** 9):\n    for j in range(3):\n        i * j\n"
BITS = "n, s = 1, 0\nwhile n:\n    s += 1\n    n ^= n - 1\n"
OBJECT = "x = object()\nwhile x:\n    pass\n"
PROGRAMS = {
    "a state that stays": (BITS, "It loops: ", "`while n`, line 2", "n = 1 in"),
    "no way out": ("i = 0\nwhile True:\n    i += 1\n", "It loops: ", "`while True`, line 2", "without a break"),
    "what the condition depends on": (BISECT, "It loops: ", "line 3", "left = 1, mid = 1, right = 2"),
    "a condition that a counter leads to": (LOST, "Slow, as it still moves on: ", "`while not found`, line 3", "; n: "),
    "the outermost loop": (PAIRS, "Slow, as it still moves on: ", "`for i in range(10 ** 9)`, line 1", "; i: "),
    "an object that is not shown": (OBJECT, "Nothing shows that it would end: ", "`while x`, line 2", ""),
    "a recursion": (FIB, "Slow: ", "calls of fib, line 1", ""),
    "a generator expression": ("sum(i for i in range(10 ** 10))", "Slow: ", "within `sum(i for", ""),
    "an end": ("print(1)", "", "", ""),
}  # fmt: skip


@pytest.mark.parametrize(("code", "begin", "where", "shown"), PROGRAMS.values(), ids=PROGRAMS)
def test_a_replay_says_whether_it_loops(code: str, begin: str, where: str, shown: str) -> None:
    task = Task(task_id="t", mode=Mode.STDIN, cases=(TestCase(0, "", ""),))
    found = stuck.said(replay(task, code, 0, window=Window(most_s=0.6), limits=Limits()), code)
    assert found.startswith(begin)
    assert where in found
    assert shown in found
    assert bool(begin) == bool(found)


@pytest.mark.slow
def test_one_step_that_takes_all_the_time_is_no_loop() -> None:
    code = "n = 2\nx = sum(range(10 ** 12))\n"
    task = Task(task_id="t", mode=Mode.STDIN, cases=(TestCase(0, "", ""),))
    found = stuck.said(replay(task, code, 0, window=Window(most_s=0.3), limits=Limits()), code)
    assert found.startswith("Slow: one step of `x = sum(range(10 ** 12))`, line 2, ")


def test_the_page_says_why_later_test_cases_are_not_run(tmp_path: Path, show: Show) -> None:
    words = {
        "s0": [Verdict.PASSED, Verdict.TIME_LIMIT, Verdict.NOT_RUN, Verdict.NOT_RUN],
        "s1": [Verdict.PASSED, Verdict.PASSED, Verdict.REJECTED, Verdict.NOT_RUN],
        "s2": [Verdict.TIME_LIMIT, Verdict.TIME_LIMIT, Verdict.NOT_RUN, Verdict.NOT_RUN],
        "s3": [Verdict.PASSED, Verdict.PASSED, Verdict.PASSED, Verdict.WRONG_ANSWER],
    }
    found = [
        row("t", sample, reward=0.0, cases=tuple(
            CaseResult(index=n, verdict=word, wall_s=1.0) for n, word in enumerate(verdicts)
        ))
        for sample, verdicts in words.items()
    ]  # fmt: skip
    show(rows.write(tmp_path / "run", found))
    said = [text(visit("completion", task="t", sample=sample)) for sample in words]
    assert "Tests 2 to 3 were not run (.): test 1 timed out, which decides the reward" in said[0]
    assert "Test 3 was not run (.): the program was rejected in test 2." in said[1]
    assert "1 was the second to time out" in said[2]
    assert "not run (" not in said[3]
    assert "Does it loop?" in [button.label for button in visit("completion", task="t", sample="s0").button]
