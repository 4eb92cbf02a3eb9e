"""Honest suites: completions that pass in plain Python pass here, and those that fail there fail here."""

import json
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from evaluator.model import Task, Verdict
from tests.graders.conftest import Graded
from tests.suites.honest import THEMES
from tests.suites.honest_suite import Suite

ALL = [suite for suites in THEMES.values() for suite in suites]
SAMPLE = frozenset(
    "brackets-true-or-false constants-and-globals event-emitter patched-urlopen text-files-into-a-zip".split()
)
"""Those that `make test` grades: literals, live names, callbacks, mocks, files."""
OWN_OPERATORS = frozenset("dataclasses-answered-with mapping-with-history vector-arithmetic".split())
"""Suites that compare with the completion's own `==`, `<` or `+`, which could return anything: never verified."""
ONE_PROCESS = frozenset("decorator-on-methods enums-as-keys flags subclass-of-float".split())
"""What is decided in the completion's process: never verified."""
DISAGREEING = frozenset(
    """answers-that-are-added-and-ordered namespaces-that-are-equal nan-that-comes-back
    one-object-of-a-library-and-one-mock""".split()
)
"""Suites whose right completions pass only in one process: unknown."""

_RUNNER = Path(__file__).with_name("plain_python.py")


@cache
def plain_failures(theme: str) -> dict[str, list[str | None]]:
    """What failed of each suite of a theme in plain Python: of its right completion, and of the wrong ones after it."""
    suites = THEMES[theme]
    rows = [_row(suite.task, program) for suite in suites for program in (suite.right, *suite.wrong)]
    done = subprocess.run(
        [sys.executable, "-I", _RUNNER],
        input=json.dumps(rows),
        stdout=subprocess.PIPE,
        text=True,
        timeout=240,
        check=True,
    )
    results = iter(json.loads(done.stdout))
    return {suite.name: [next(results) for _ in (suite.right, *suite.wrong)] for suite in suites}


def _row(task: Task, program: str) -> list[str | None]:
    return [task.mode.value, task.entry_point, f"{task.preamble}\n{program}", task.test]


def test_there_are_enough() -> None:
    names = Counter(suite.name for suite in ALL)
    assert len(names) >= 38
    assert all(suite.wrong for suite in ALL)
    assert names.keys() >= SAMPLE | OWN_OPERATORS | ONE_PROCESS | DISAGREEING
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.attacks
@pytest.mark.parametrize(
    ("theme", "suite"),
    [pytest.param(theme, suite, id=suite.name) for theme, suites in THEMES.items() for suite in suites],
)
def test_suite_holds_in_plain_python(theme: str, suite: Suite) -> None:
    right, *wrong = plain_failures(theme)[suite.name]
    assert right is None, right
    assert None not in wrong, f"wrong completion {wrong.index(None) + 1} passes"


@pytest.mark.parametrize(
    "suite",
    [pytest.param(suite, id=suite.name, marks=() if suite.name in SAMPLE else pytest.mark.attacks) for suite in ALL],
)
def test_only_the_right_completion_passes(suite: Suite, graded: Graded) -> None:
    grade = graded(suite.task, suite.right)
    passes = Verdict.UNKNOWN if suite.name in DISAGREEING else Verdict.PASSED
    verified = suite.name not in OWN_OPERATORS | ONE_PROCESS | DISAGREEING
    assert (grade.verdict, grade.verified) == (passes, verified), grade
    for wrong in suite.wrong:
        grade = graded(suite.task, wrong)
        assert grade.verdict not in (Verdict.PASSED, Verdict.UNKNOWN), grade
        assert grade.reward == 0.0, grade
