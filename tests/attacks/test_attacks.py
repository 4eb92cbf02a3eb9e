"""No attack earns a reward: each is shown to work without a sandbox, then graded in one."""

import os
from typing import Any

import pytest

from tests.attacks.corpus import Attack, attacks, honest
from tests.attacks.escapes import NEEDS
from tests.attacks.proofs import Proof, proofs
from tests.attacks.surroundings import OURS, graded_in

ATTACKS = attacks()
HONEST = {program.name for program in honest()}
NAMES = [attack.name for attack in ATTACKS]
SHOWABLE = [attack for attack in ATTACKS if os.geteuid() == 0 or attack.name not in NEEDS]
"""Some need what only root has, which another user's grader can't give them."""

OVER_ITS_LIMIT_S = 1.0
HARD_CAP, CAP_MARGIN_S = 10, 20.0
"""In times the limit; the margin is for a machine so busy that the grader waits too."""

Records = dict[str, dict[str, Any]]
pytestmark = pytest.mark.attacks


@pytest.fixture(scope="module")
def shown() -> dict[str, Proof]:
    return proofs(SHOWABLE)


@pytest.fixture(scope="module", params=OURS, ids=str)
def report(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    """The runner's records, in each of the environments that this user can have."""
    return graded_in(request.param)


@pytest.fixture(scope="module")
def graded(report: list[dict[str, Any]]) -> Records:
    return {record["name"]: record for record in report[:-1] if record["kind"] == "attack"}


def test_each_attack_has_a_name_and_a_code_of_its_own() -> None:
    assert len({*NAMES, *HONEST}) == len(NAMES) + len(HONEST)
    assert len({attack.code for attack in ATTACKS}) == len(ATTACKS)


def test_plain_exec_is_fooled_by_attacks_alone() -> None:
    answers = {
        "right": "def f(x): return 2 * x",
        "wrong": "def f(x): return 0",
        "raises": "def f(x): raise ValueError",
        "endless": "import threading\ndef f(x): threading.Event().wait()",
    }
    found = proofs(Attack(name, "control", "", "single", code) for name, code in answers.items())
    assert [name for name, proof in found.items() if proof.paid] == ["right"]
    assert not any(proof.hung or proof.marked for proof in found.values())


@pytest.mark.parametrize("attack", SHOWABLE, ids=lambda attack: attack.name)
def test_it_works_without_a_sandbox(shown: dict[str, Proof], attack: Attack) -> None:
    assert shown[attack.name].shows(attack), shown[attack.name].said


@pytest.mark.parametrize("name", NAMES)
def test_it_earns_nothing_in_the_sandbox(graded: Records, name: str) -> None:
    record = graded[name]
    assert not (record["reward"] and record["verified"]), record
    assert record["reward"] == 0.0, "it caused a fault of ours and was spared the 0"
    assert not record["marked"], "it wrote to a file outside"
    assert record["alive"], "the worker failed an honest program after it"


@pytest.mark.clock("docs/concepts/sandbox.md promises a second at most")
def test_none_outlives_its_limit(graded: Records) -> None:
    """The counted time leaves out waits for a CPU; at ten times the limit everything ends."""
    late = {
        name: (record["counted_s"], record["wall_s"], record["limit_s"])
        for name, record in graded.items()
        if record["counted_s"] > record["limit_s"] + OVER_ITS_LIMIT_S
        or record["wall_s"] > HARD_CAP * record["limit_s"] + CAP_MARGIN_S
    }
    assert late == {}


def test_honest_programs_earn_their_rewards_on_the_same_workers(report: list[dict[str, Any]]) -> None:
    seen = {
        record["name"]: [record[name] for name in ("reward", "verified", "verdict", "message", "flags")]
        for record in report[:-1]
        if record["kind"] == "honest"
    }
    assert seen == {name: [1.0, True, "passed", "", []] for name in HONEST}


def test_nothing_is_left_behind(report: list[dict[str, Any]]) -> None:
    assert {kind: new for kind, new in report[-1]["left"].items() if new} == {}
