"""No attack of a completion on its test is rewarded: none ends as passed and verified."""

import pytest

from evaluator.model import Limits
from tests.graders import split_descriptions, split_endings, split_forging, split_lying, split_replacing, split_spying
from tests.graders.conftest import Graded
from tests.graders.split_attacks import CHECKS, Attack
from tests.graders.split_tasks import Row, assert_not_paid, source

BRIEF = Limits(wall_s=1, cpu_s=1, total_s=8)
HASTY = Limits(wall_s=0.4, cpu_s=0.4, total_s=4)
"""For attacks that never end by themselves. If a busy machine stops others too, they earn nothing either."""

ATTACKS = [
    pytest.param(attack, marks=pytest.mark.attacks if module is not split_descriptions else ())
    for module in (split_descriptions, split_lying, split_endings, split_replacing, split_spying, split_forging)
    for attack in module.ATTACKS
]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_no_attack_is_rewarded(graded: Graded, attack: Attack) -> None:
    limits = HASTY if attack.endless else BRIEF
    check = CHECKS[attack.check]
    assert_not_paid(graded(check.task, source(attack.code), limits), objects=check.objects)


@pytest.mark.attacks
@pytest.mark.parametrize("attack", split_forging.DOWNGRADES, ids=lambda attack: attack.name)
def test_no_attack_can_move_its_test_into_its_own_process(graded: Graded, attack: Attack) -> None:
    assert graded(CHECKS[attack.check].task, source(attack.code), BRIEF).reward == 0.0


@pytest.mark.parametrize("name", CHECKS)
def test_honest_completions_are_rewarded_in_the_same_sandbox(graded: Graded, name: str) -> None:
    task, honest, _ = CHECKS[name]
    row = Row(name, task, honest, "", verified=None if name == "isclose, not imported" else True)
    row.assert_judged(graded(task, row.completion("right")), "right")
