"""What a completion says of its objects does not decide a check, and no name leads it into the check's insides."""

from __future__ import annotations

import pytest

from evaluator.model import Limits, Verdict
from tests.graders.conftest import Graded
from tests.graders.split_descriptions import DECEITS, Deceit
from tests.graders.split_tasks import assert_not_paid, source

_each = pytest.mark.parametrize("deceit", DECEITS, ids=lambda deceit: deceit.name)


@_each
def test_none_is_paid(graded: Graded, deceit: Deceit) -> None:
    assert_not_paid(graded(deceit.task, source(deceit.code), Limits(wall_s=3, cpu_s=3, total_s=10)))


@_each
def test_the_honest_are_paid(graded: Graded, deceit: Deceit) -> None:
    grade = graded(deceit.task, source(deceit.honest))
    assert (grade.verdict, grade.verified) == (Verdict.PASSED, True), grade
