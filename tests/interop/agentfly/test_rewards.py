"""`@reward`, the registry, `BaseReward` and `calculate_reward`, as AgentFly's rollouts use them."""

import asyncio
import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from evaluator.interop.agentfly import (
    REWARD_REGISTRY,
    BaseReward,
    RewardResult,
    calculate_reward,
    code_reward_test,
    get_reward_from_name,
    get_rewards_from_names,
    list_available_rewards,
    register_reward,
    reward,
)


@pytest.fixture(autouse=True)
def _registry_as_it_was() -> Iterator[None]:
    before = dict(REWARD_REGISTRY)
    yield
    REWARD_REGISTRY.clear()
    REWARD_REGISTRY.update(before)


def returning(value: Any) -> Any:
    return reward(name="given")(lambda: value)


def test_a_sync_reward_gives_its_dict_at_once() -> None:
    @reward(name="Exact_Match")
    def exact(prediction: str, answer: str) -> float:
        """Whether they are the same."""
        return float(prediction == answer)

    assert exact(prediction="a", answer="a", trajectory=[], id="r1") == {"reward": 1.0}
    assert exact(prediction="a", answer="b") == {"reward": 0.0}
    assert (exact.name, exact.__doc__) == ("Exact_Match", "Whether they are the same.")
    assert list(inspect.signature(exact).parameters) == ["prediction", "answer"]
    assert get_reward_from_name("EXACT_match") is exact
    assert "exact_match" in list_available_rewards()


def test_an_async_reward_is_awaited() -> None:
    @reward
    async def lengths(prediction: str) -> dict[str, Any]:
        return {"reward": 0.5, "length": len(prediction)}

    assert asyncio.run(lengths(prediction="abc", unknown=1)) == {"reward": 0.5, "length": 3}
    assert get_rewards_from_names(["lengths", "code_reward_test"]) == [lengths, code_reward_test]


def test_named_parameters_alone_are_given() -> None:
    @reward(name="open")
    def open_ended(prediction: str, **others: object) -> dict[str, Any]:
        return {"reward": 1.0, "given": [prediction, others]}

    assert open_ended(prediction="p", answer="a")["given"] == ["p", {}]
    with pytest.raises(TypeError, match=r"'code_reward_test' takes keyword arguments only: .*prediction=\.\.\."):
        code_reward_test("print(1)", None)
    with pytest.raises(TypeError, match="context"):
        asyncio.run(code_reward_test(prediction="print(1)"))


NAN, INFINITY = float("nan"), float("inf")


def test_what_is_no_finite_float_is_refused() -> None:
    dicts = [{"reward": value} for value in (NAN, None, "1")]
    for value in (1, True, None, "1.0", [1.0], NAN, INFINITY, *dicts):
        with pytest.raises(ValueError, match=r"^reward 'given' (returned|is) .*: return a ") as refused:
            returning(value)()
        assert "\n" not in str(refused.value)
    with pytest.raises(ValueError, match=r"without 'reward' .it has 'score', 'f1'.: add it"):
        returning({"score": 1.0, "f1": 1.0})()
    told = {"reward": 1, "output": "x"}
    assert returning(told)() is told


def test_a_reward_may_stay_unregistered_and_be_registered_by_hand() -> None:
    @reward(name="Quiet", auto_register=False)
    def quiet() -> float:
        return 1.0

    with pytest.raises(KeyError, match="'quiet' is unknown: there are code_reward_test"):
        get_reward_from_name("quiet")
    register_reward("LOUD", quiet)
    assert get_reward_from_name("loud") is quiet


def test_a_class_registers_its_instance() -> None:
    class Close(BaseReward):
        name = "close_enough"

        def __init__(self, threshold: float) -> None:
            super().__init__()
            self.threshold = threshold

        async def call(self, prediction: str, answer: str) -> float:
            return float(abs(float(prediction) - float(answer)) < self.threshold)

    made = Close(0.5)
    assert get_reward_from_name("close_enough") is made
    assert asyncio.run(made(prediction="1.2", answer="1", id="x")) == {"reward": 1.0}
    assert asyncio.run(made(prediction="2", answer="1")) == {"reward": 0.0}

    class Empty(BaseReward):
        auto_register = False

    with pytest.raises(NotImplementedError, match="'Empty' has no function"):
        Empty()()


async def awaited(prediction: str) -> dict[str, Any]:
    return {"reward": 1, "output": prediction}


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda prediction: 0.5, RewardResult(0.5)),
        (lambda: 2, RewardResult(2.0)),
        (lambda: True, RewardResult(1.0)),
        (lambda: None, RewardResult(0.0)),
        (lambda **fields: float(len(fields)), RewardResult(2.0)),
        (lambda: {"reward": 0.25, "f1": 3}, RewardResult(0.25, {"f1": 3})),
        (lambda: RewardResult(1.0, {"a": 1}), RewardResult(1.0, {"a": 1})),
        (awaited, RewardResult(1.0, {"output": "p"})),
        (reward(name="wrapped", auto_register=False)(awaited), RewardResult(1.0, {"output": "p"})),
        (reward(name="sync", auto_register=False)(lambda prediction: 0.5), RewardResult(0.5)),
    ],
)
def test_any_reward_function_gives_one_shape(function: Any, expected: RewardResult) -> None:
    assert asyncio.run(calculate_reward(function, prediction="p", trajectory=[])) == expected


@pytest.mark.parametrize("value", [{"score": 1.0}, {"reward": None}, INFINITY, "1", RewardResult(NAN)])
def test_what_is_no_reward_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="reward '<lambda>'"):
        asyncio.run(calculate_reward(lambda: value))
