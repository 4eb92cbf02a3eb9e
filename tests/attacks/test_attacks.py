"""No attack earns a reward: each is shown to work where nothing keeps it in, then graded here."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest

from tests.attacks.corpus import GROUPS, TASKS, Attack, attacks, honest
from tests.attacks.escapes import NEEDS
from tests.attacks.proofs import Proof, proofs
from tests.attacks.surroundings import OURS, graded_in

ATTACKS = attacks()
HONEST = {program.name for program in honest()}
NAMES = [attack.name for attack in ATTACKS]
SHOWABLE = [attack for attack in ATTACKS if os.geteuid() == 0 or attack.name not in NEEDS]
"""Some ask for what only root has; another user's grader has nothing to give them."""

OVER_ITS_LIMIT_S = 1.0
HARD_CAP = 10

Records = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def shown() -> dict[str, Proof]:
    return proofs(SHOWABLE)


@pytest.fixture(scope="module", params=OURS, ids=str)
def told(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    """What the runner said of all, in each of the surroundings that this user can have."""
    return graded_in(request.param)


@pytest.fixture(scope="module")
def graded(told: list[dict[str, Any]]) -> Records:
    return {record["name"]: record for record in told[:-1] if record["kind"] == "attack"}


def test_the_suite_is_wide() -> None:
    assert len(set(NAMES)) == len(NAMES) >= 120
    assert HONEST.isdisjoint(NAMES)
    codes = Counter(attack.code for attack in ATTACKS)
    assert [attack.name for attack in ATTACKS if codes[attack.code] > 1] == []
    assert {attack.group for attack in ATTACKS} == set(GROUPS)
    techniques = Counter((attack.group, attack.technique) for attack in ATTACKS)
    assert {technique: count for technique, count in techniques.items() if count > 6} == {}
    assert {attack.task for attack in ATTACKS} <= set(TASKS)


def test_plain_exec_is_fooled_by_attacks_alone() -> None:
    answers = {
        "right": "def f(x): return 2 * x",
        "wrong": "def f(x): return 0",
        "raises": "def f(x): raise ValueError",
        "endless": "def f(x):\n    while True: pass",
    }
    found = proofs(Attack(name, "control", "", "single", code, "hangs") for name, code in answers.items())
    assert [name for name, proof in found.items() if proof.paid] == ["right"]
    assert not any(proof.hung or proof.marked for proof in found.values())


@pytest.mark.parametrize("attack", SHOWABLE, ids=lambda attack: attack.name)
def test_it_works_where_nothing_keeps_it_in(shown: dict[str, Proof], attack: Attack) -> None:
    assert shown[attack.name].shows(attack), shown[attack.name].said


@pytest.mark.parametrize("name", NAMES)
def test_it_earns_nothing_here(graded: Records, name: str) -> None:
    record = graded[name]
    assert not (record["reward"] and record["verified"]), record
    assert record["reward"] == 0.0, "who could cause a fault of ours would be spared a 0"
    assert not record["marked"], "it wrote to a file outside"
    assert record["alive"], "the worker failed an honest program after it"


def test_none_outlives_its_limit(graded: Records) -> None:
    """What is counted leaves out waits for a CPU, of which a busy machine has many; at ten times the limit all ends."""
    late = {
        name: (record["counted_s"], record["wall_s"], record["limit_s"])
        for name, record in graded.items()
        if record["counted_s"] > record["limit_s"] + OVER_ITS_LIMIT_S
        or record["wall_s"] > HARD_CAP * record["limit_s"] + OVER_ITS_LIMIT_S
    }
    assert late == {}


def test_honest_programs_earn_theirs_on_the_same_workers(told: list[dict[str, Any]]) -> None:
    rewards = {record["name"]: record["reward"] for record in told[:-1] if record["kind"] == "honest"}
    assert rewards == dict.fromkeys(HONEST, 1.0)


def test_nothing_is_left_behind(told: list[dict[str, Any]]) -> None:
    assert {kind: new for kind, new in told[-1]["left"].items() if new} == {}
