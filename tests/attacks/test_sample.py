"""One attack of each kind and two honest programs, graded in the usual way: all that `make test` runs of the corpus."""

from typing import Any

import pytest

from evaluator.sandbox import Settings
from tests.attacks.runner import run

ATTACKS = (
    "caller-frame",
    "object-equal-to-all",
    "value-then-exit",
    "suppressed-sleep",
    "forks",
    "writes-a-file-outside",
    "passwords",
    "left-temporary-file",
    "zero-bytes-inside",
)
HONEST = ("open-0", "own-equality")


@pytest.fixture(scope="module")
def records() -> dict[str, dict[str, Any]]:
    return {record["name"]: record for record in run(Settings(), 1, {*ATTACKS, *HONEST})}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_earns_nothing(records: dict[str, dict[str, Any]], name: str) -> None:
    record = records[name]
    assert (record["reward"], record["marked"], record["alive"]) == (0.0, False, True), record


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_program_earns_its_reward(records: dict[str, dict[str, Any]], name: str) -> None:
    record = records[name]
    assert (record["reward"], record["verified"], record["flags"]) == (1.0, True, []), record
