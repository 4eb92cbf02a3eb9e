"""`custom_rm` as slime calls it: a sample, or with `--group-rm` a group. slime itself is not needed."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from evaluator.interop.slime import UngradedError, custom_rm, make_custom_rm, share_rm
from tests.interop.rows import ASSERTS, CALL, FOREVER, HALF, RIGHT

UNREADABLE = {"fn_name": "add"}


@dataclass
class Sample:
    """With the fields of slime's that are used, and their defaults."""

    response: str = ""
    label: Any = None
    metadata: Any = field(default_factory=dict)
    remove_sample: bool = False


def rewards(given: Any, function: Any = custom_rm) -> Any:
    return asyncio.run(function(None, given, evaluation=True))


def test_the_label_or_the_metadata_has_the_tests() -> None:
    places: list[dict[str, Any]] = [
        {"label": json.dumps(CALL)},
        {"label": CALL},
        {"label": ASSERTS},
        {"label": "Tokyo", "metadata": {"in_outs": CALL, "rm_type": "code"}},
        {"label": None, "metadata": {"tests": json.dumps(CALL)}},
    ]
    for place in places:
        found = [
            rewards(Sample(RIGHT, **place)),
            rewards(Sample(HALF, **place)),
            rewards(Sample(HALF, **place), share_rm),
        ]
        assert found == [1.0, 0.0, 0.5], place


def test_the_metadata_says_why() -> None:
    sample = Sample(HALF, CALL, {"own": 1})
    rewards(sample)
    account = {"verdict": "wrong_answer", "error": "expected 4, got 3", "tests_passed": 1, "tests_total": 2}
    assert sample.metadata == {"own": 1, "rollscope": account}
    assert rewards(Sample(RIGHT, CALL, None)) == 1.0
    assert rewards(Sample(FOREVER, CALL), make_custom_rm(limits={"cpu_s": 0.3})) == 0.0


def test_a_group_has_its_rewards_in_order() -> None:
    group = [Sample(RIGHT, CALL), Sample(HALF, CALL), Sample("no code", CALL)]
    assert rewards(group) == [1.0, 0.0, 0.0]
    assert not any(sample.remove_sample for sample in group)
    assert rewards([]) == []


def test_a_sample_of_a_group_without_a_grade_moves_nothing() -> None:
    group = [Sample(RIGHT, CALL), Sample(RIGHT, UNREADABLE), Sample(HALF, CALL), Sample(RIGHT, CALL)]
    with pytest.warns(UserWarning, match="taken out of the loss: unknown: the tests have only fn_name"):
        found = rewards(group)
    assert found == [1.0, pytest.approx(2 / 3), 0.0, 1.0]
    assert [sample.remove_sample for sample in group] == [False, True, False, False]
    with pytest.warns(UserWarning, match="taken out of the loss"):
        assert rewards([Sample(RIGHT, UNREADABLE)]) == [0.0]


def test_a_single_sample_without_a_grade_has_no_reward() -> None:
    for label, message in (
        (UNREADABLE, r"no grade \(unknown\): the tests have only fn_name"),
        (None, "neither the label nor the metadata has tests: the tests are missing"),
        ({"inputs": [], "outputs": [], "fn_name": "add"}, r"no grade \(unknown\): "),
    ):
        with pytest.raises(UngradedError, match=message):
            rewards(Sample(RIGHT, label))


def test_a_response_that_is_no_text_has_no_reward_and_costs_no_other() -> None:
    with pytest.raises(UngradedError, match=r"the response is None: give text"):
        rewards(Sample(None, CALL))  # type: ignore[arg-type]
    with pytest.warns(UserWarning, match="the response is None: give text"):
        assert rewards([Sample(None, CALL), Sample(RIGHT, CALL)]) == [1.0, 1.0]  # type: ignore[arg-type]
