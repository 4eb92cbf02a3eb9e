"""Honest suites: completions that pass in plain Python pass here, and those that fail there fail here."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from evaluator.model import Grade, Task, Verdict
from tests.graders.conftest import Graded
from tests.suites.honest import THEMES
from tests.suites.honest_suite import Suite

ALL = [suite for suites in THEMES.values() for suite in suites]
EACH = pytest.mark.parametrize("suite", ALL, ids=lambda suite: suite.name)
EACH_WRONG = pytest.mark.parametrize(
    ("suite", "wrong"),
    [pytest.param(suite, wrong, id=f"{suite.name}-{n}") for suite in ALL for n, wrong in enumerate(suite.wrong, 1)],
)
LEAST_VERIFIED = 0.9
"""Share of the right completions that have to be passed and verified."""
OWN_OPERATORS = frozenset(
    """subclass-of-user-list callable-polynomial mapping-with-history multi-set-operators flags fraction-like
    points-in-sets-and-dicts money-of-two-currencies vector-arithmetic sum-needs-radd total-ordering matrix-indices
    compared-within-containers interval-operators""".split()
)
"""Suites that compare with the completion's own `==`, `<` or `+`, which could return anything: never verified."""

pytestmark = pytest.mark.attacks
_RUNNER = Path(__file__).with_name("plain_python.py")
_grades: dict[str, Grade] = {}


def _grade_of_right(graded: Graded, suite: Suite) -> Grade:
    """Each suite's right completion is graded once, by the first test that needs it."""
    if suite.name not in _grades:
        _grades[suite.name] = graded(suite.task, suite.right)
    return _grades[suite.name]


@cache
def plain_failures(theme: str) -> dict[str, list[str | None]]:
    """What failed of each suite of a theme in plain Python: of its right completion, and of the wrong ones after it."""
    suites = THEMES[theme]
    rows = [_row(suite.task, program) for suite in suites for program in (suite.right, *suite.wrong)]
    done = subprocess.run(
        [sys.executable, "-I", _RUNNER],
        input=json.dumps(rows),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results = iter(json.loads(done.stdout))
    return {suite.name: [next(results) for _ in (suite.right, *suite.wrong)] for suite in suites}


def _row(task: Task, program: str) -> list[str | None]:
    return [task.mode.value, task.entry_point, f"{task.preamble}\n{program}", task.test]


def test_there_are_enough() -> None:
    assert len(ALL) >= 150
    assert sum(len(suite.wrong) for suite in ALL) >= 200
    assert {suite.name for suite in ALL} >= OWN_OPERATORS
    assert [name for name, count in Counter(suite.name for suite in ALL).items() if count > 1] == []


@pytest.mark.parametrize(
    ("theme", "suite"),
    [pytest.param(theme, suite, id=suite.name) for theme, suites in THEMES.items() for suite in suites],
)
def test_suite_holds_in_plain_python(theme: str, suite: Suite) -> None:
    right, *wrong = plain_failures(theme)[suite.name]
    assert right is None, right
    assert None not in wrong, f"wrong completion {wrong.index(None) + 1} passes"


@EACH
def test_right_completion(suite: Suite, graded: Graded) -> None:
    grade = _grade_of_right(graded, suite)
    assert grade.verdict in (Verdict.PASSED, Verdict.UNKNOWN), grade
    if suite.name in OWN_OPERATORS:
        assert (grade.verdict, grade.verified) == (Verdict.PASSED, False), grade


@EACH_WRONG
def test_wrong_completion(suite: Suite, wrong: str, graded: Graded) -> None:
    grade = graded(suite.task, wrong)
    assert grade.verdict not in (Verdict.PASSED, Verdict.UNKNOWN), grade
    assert grade.reward == 0.0, grade


def test_most_right_completions_are_verified(graded: Graded) -> None:
    grades = {suite.name: _grade_of_right(graded, suite) for suite in ALL}
    others = {
        name: grade.unverified_reason or grade.error_message or grade.verdict.value
        for name, grade in grades.items()
        if not (grade.verdict is Verdict.PASSED and grade.verified)
    }
    assert len(grades) - len(others) >= LEAST_VERIFIED * len(grades), others
