"""No completion is paid for what it does to a check: nothing that it tries ends as passed and verified."""

from __future__ import annotations

import pytest

from evaluator.model import Limits
from tests.graders import (
    split_endings,
    split_forging,
    split_lying_objects,
    split_lying_values,
    split_replacing,
    split_spying,
)
from tests.graders.conftest import Graded
from tests.graders.split_attacks import CHECKS, Attack, Attacked
from tests.graders.split_tasks import Row, assert_not_paid, source

BRIEF = Limits(wall_s=1, cpu_s=1, total_s=8)
HASTY = Limits(wall_s=0.4, cpu_s=0.4, total_s=4)
"""For what never ends by itself. A machine so busy that another is out of time as well does not pay it either."""

ATTACKS = [
    attack
    for module in (
        split_lying_values,
        split_lying_objects,
        split_endings,
        split_replacing,
        split_spying,
        split_forging,
    )
    for attack in module.ATTACKS
]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_none_is_paid(graded: Graded, attack: Attack) -> None:
    limits = HASTY if attack.shown == "hangs" else BRIEF
    check = CHECKS[attack.check]
    assert_not_paid(graded(check.task, source(attack.code), limits), objects=check.objects)


@pytest.mark.parametrize("attack", split_forging.DOWNGRADES, ids=lambda attack: attack.name)
def test_none_can_have_its_check_made_in_its_own_process(graded: Graded, attack: Attack) -> None:
    assert graded(CHECKS[attack.check].task, source(attack.code), BRIEF).reward == 0.0


@pytest.mark.parametrize("name", CHECKS)
def test_the_honest_are_paid_in_the_same_sandbox(graded: Graded, name: str) -> None:
    attacked: Attacked = CHECKS[name]
    row = Row(name, attacked.task, attacked.honest, "", verified=None if name == "isclose, not imported" else True)
    row.assert_judged(graded(attacked.task, row.completion("right")), "right")
