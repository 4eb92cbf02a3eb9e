"""`custom_rm` as slime calls it: a sample, or with `--group-rm` a group. slime itself is not needed."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from evaluator.interop.slime import UngradedError, custom_rm, make_custom_rm, share_rm

TESTS = {"inputs": ["1\n2", "2\n2"], "outputs": ["3", "4"], "fn_name": "add"}
RIGHT = "```python\ndef add(a, b):\n    return a + b\n```"
HALF = "```python\ndef add(a, b):\n    return 3\n```"
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


@pytest.mark.parametrize(
    "where",
    [
        {"label": json.dumps(TESTS)},
        {"label": TESTS},
        {"label": ["assert add(1, 2) == 3", "assert add(2, 2) == 4"]},
        {"label": "Tokyo", "metadata": {"in_outs": TESTS, "rm_type": "code"}},
        {"label": None, "metadata": {"tests": json.dumps(TESTS)}},
    ],
)
def test_the_label_or_the_metadata_has_the_tests(where: dict[str, Any]) -> None:
    assert rewards(Sample(RIGHT, **where)) == 1.0
    assert rewards(Sample(HALF, **where)) == 0.0
    assert rewards(Sample(HALF, **where), share_rm) == 0.5


def test_the_metadata_says_why() -> None:
    sample = Sample(HALF, TESTS, {"own": 1})
    rewards(sample)
    account = {"verdict": "wrong_answer", "error": "expected 4, got 3", "tests_passed": 1, "tests_total": 2}
    assert sample.metadata == {"own": 1, "rollscope": account}
    assert rewards(Sample(RIGHT, TESTS, None)) == 1.0


def test_a_group_has_its_rewards_in_order() -> None:
    group = [Sample(RIGHT, TESTS), Sample(HALF, TESTS), Sample("no code", TESTS)]
    assert rewards(group) == [1.0, 0.0, 0.0]
    assert not any(sample.remove_sample for sample in group)
    assert rewards([]) == []


def test_a_sample_of_a_group_without_a_grade_moves_nothing() -> None:
    group = [Sample(RIGHT, TESTS), Sample(RIGHT, UNREADABLE), Sample(HALF, TESTS), Sample(RIGHT, TESTS)]
    with pytest.warns(UserWarning, match="taken out of the loss: unknown: the tests have only fn_name"):
        found = rewards(group)
    assert found == [1.0, pytest.approx(2 / 3), 0.0, 1.0]
    assert [sample.remove_sample for sample in group] == [False, True, False, False]
    with pytest.warns(UserWarning, match="taken out of the loss"):
        assert rewards([Sample(RIGHT, UNREADABLE)]) == [0.0]


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (UNREADABLE, r"no grade \(unknown\): the tests have only fn_name"),
        (None, "neither the label nor the metadata has tests: the tests are of type NoneType"),
        ({"inputs": [], "outputs": [], "fn_name": "add"}, r"no grade \(unknown\): "),
    ],
)
def test_a_single_sample_without_a_grade_has_no_reward(label: Any, message: str) -> None:
    with pytest.raises(UngradedError, match=message):
        rewards(Sample(RIGHT, label))


def test_a_response_that_is_no_text_has_no_reward_and_costs_no_other() -> None:
    with pytest.raises(UngradedError, match=r"the response is None: give text"):
        rewards(Sample(None, TESTS))  # type: ignore[arg-type]
    with pytest.warns(UserWarning, match="the response is None: give text"):
        assert rewards([Sample(None, TESTS), Sample(RIGHT, TESTS)]) == [1.0, 1.0]  # type: ignore[arg-type]


def test_limits_of_ones_own() -> None:
    quick = make_custom_rm(limits={"cpu_s": 0.3})
    assert rewards(Sample("```\ndef add(a, b):\n    while True: pass\n```", TESTS), quick) == 0.0
