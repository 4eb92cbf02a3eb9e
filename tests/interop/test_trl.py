"""`code_reward` as TRL's trainers call it: completions, and each column of the dataset as a list."""

from __future__ import annotations

import json

import pytest

from evaluator import Limits
from evaluator.interop.trl import code_reward, make_code_reward

CALL = {"inputs": ["1\n2", "2\n2"], "outputs": ["3", "4"], "fn_name": "add"}
TIMES = {"inputs": ["3\n2", "2\n2"], "outputs": ["6", "4"], "fn_name": "add"}
RIGHT = "```python\ndef add(a, b):\n    return a + b\n```"
HALF = "```python\ndef add(a, b):\n    return 3\n```"
PRODUCT = "```python\ndef add(a, b):\n    return a * b\n```"


def said(text: str | None) -> list[dict[str, object]]:
    return [{"role": "assistant", "content": text}]


def test_rewards_come_in_the_order_of_the_completions() -> None:
    rewards = code_reward(
        prompts=["p"] * 6,
        completions=[RIGHT, HALF, PRODUCT, RIGHT, "no code", RIGHT],
        completion_ids=[[1]] * 6,
        in_outs=[CALL, CALL, TIMES, TIMES, CALL, json.dumps(CALL)],
        trainer_state=object(),
        log_extra=print,
    )
    assert rewards == [1.0, 0.0, 1.0, 0.0, 0.0, 1.0]


def test_completions_may_be_messages() -> None:
    calls_a_tool = [{"role": "assistant", "content": None, "tool_calls": []}]
    parts = [{"role": "assistant", "content": [{"type": "text", "text": RIGHT}]}]
    later = [*said("hm"), {"role": "tool", "content": "3"}, *said(RIGHT)]
    rewards = code_reward(completions=[said(RIGHT), said(HALF), calls_a_tool, parts, later], in_outs=[CALL] * 5)
    assert rewards == [1.0, 0.0, 0.0, 1.0, 1.0]


def test_the_columns_of_open_r1_and_of_others() -> None:
    info = {
        "language": "python",
        "test_cases": [{"input": "1", "output": "1", "fn_name": None, "type": "stdin_stdout"}],
    }
    assert code_reward(completions=["print(input())"], verification_info=[info]) == [1.0]
    assert code_reward(completions=[RIGHT], tests=[["assert add(1, 2) == 3"]]) == [1.0]
    with_name = make_code_reward(column="unit_tests")
    assert with_name(completions=[RIGHT], unit_tests=[CALL], in_outs=[TIMES]) == [1.0]


def test_what_can_not_be_graded_has_no_reward_and_costs_no_other() -> None:
    with pytest.warns(UserWarning, match="completion 1 has no reward: the tests are text that is not JSON"):
        rewards = code_reward(completions=[RIGHT] * 4, in_outs=[CALL, "{", {"inputs": [], "outputs": []}, CALL])
    assert rewards == [1.0, None, None, 1.0]


def test_a_dataset_without_tests_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no column of tests \(in_outs, .*it has prompts, question.*make_code_reward"):
        code_reward(prompts=["p"], completions=[RIGHT], question=["q"])
    with pytest.raises(ValueError, match=r"no column 'unit'; it has in_outs: name it with"):
        make_code_reward(column="unit")(completions=[RIGHT], in_outs=[CALL])
    with pytest.raises(ValueError, match="column 'in_outs' has 1 values for 2 completions"):
        code_reward(completions=[RIGHT, RIGHT], in_outs=[CALL])


def test_options_and_the_name_that_is_logged() -> None:
    share = make_code_reward(continuous=True, limits=Limits(cpu_s=0.3), workers=1, name="share_of_tests")
    assert (share.__name__, code_reward.__name__) == ("share_of_tests", "code_reward")
    forever = "```python\ndef add(a, b):\n    while b == 2 == a: pass\n    return 3\n```"
    assert share(completions=[RIGHT, HALF, forever], in_outs=[CALL] * 3) == [1.0, 0.5, 0.5]


def test_no_completions() -> None:
    assert code_reward(completions=[], in_outs=[]) == []
