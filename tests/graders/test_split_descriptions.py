"""A completion's descriptions of its objects don't decide a test, and no name in them reaches the test's internals."""

from __future__ import annotations

import pytest

from evaluator.model import Limits, Verdict
from tests.graders.conftest import Graded
from tests.graders.split_descriptions import DECEITS, Deceit
from tests.graders.split_tasks import assert_not_paid, source

_each = pytest.mark.parametrize("deceit", DECEITS, ids=lambda deceit: deceit.name)


@_each
def test_no_deceit_is_rewarded(graded: Graded, deceit: Deceit) -> None:
    assert_not_paid(graded(deceit.task, source(deceit.code), Limits(wall_s=3, cpu_s=3, total_s=10)))


@_each
def test_honest_completions_are_rewarded(graded: Graded, deceit: Deceit) -> None:
    grade = graded(deceit.task, source(deceit.honest))
    assert (grade.verdict, grade.verified) == (Verdict.PASSED, True), grade
