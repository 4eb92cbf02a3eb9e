"""`install()` in an AgentFly, and what a rollout there then earns."""

import asyncio
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evaluator.interop.agentfly import (
    REWARD_REGISTRY,
    PythonSandboxSpec,
    RewardResult,
    calculate_reward,
    code_reward_test,
    install,
    reward,
)
from evaluator.interop.agentfly.environment import ContainerResourceSpec
from tests.waiting import HANG_S

ANSWER = "It is:\n```python\ndef f(n):\n    return n * f(n - 1) if n else 1\nprint(f(5))\n```\nAs asked for."
ROW = {"question": "Print 5!", "answer": "120", "index": 3}


class Runner:
    """AgentFly's own, which would start a container: it notes of which image."""

    def __init__(self) -> None:
        self.images: list[str] = []

    async def start_resource(self, spec: Any, resource_id: str | None = None, timeout: float | None = None) -> str:
        self.images.append(spec.image)
        return f"a container of {spec.image}"

    async def end_resource(self, resource: Any) -> None:
        await resource.end()


class AgentFly:
    """Its modules as they are documented, as far as `install` needs them; they share no code with it."""

    def __init__(self) -> None:
        self.by_name: dict[str, Any] = {}
        self.engine = SimpleNamespace(_runners={"local": Runner()})
        self.rewards = SimpleNamespace()
        self.modules = {
            "agentfly.rewards": self.rewards,
            "agentfly.rewards.reward_base": SimpleNamespace(register_reward=self.by_name.__setitem__),
            "agentfly.rewards.code_reward": SimpleNamespace(),
            "agentfly.resources": SimpleNamespace(ResourceEngine=self.engine),
        }


@pytest.fixture
def agentfly(monkeypatch: pytest.MonkeyPatch) -> AgentFly:
    made = AgentFly()
    for name, module in made.modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return made


def earned(function: Any, answer: str | None, **extra: object) -> RewardResult:
    """What a rollout of AgentFly's earns at its end, with a context that is not ours."""
    given = {"final_response": answer, "trajectory": [], "id": "chain-7", "context": object(), **ROW, **extra}
    return asyncio.run(calculate_reward(function, **given))


CHAINS: dict[str, tuple[str | None, dict[str, Any], float, str]] = {
    "code in a fence": (ANSWER, {}, 1.0, "120"),
    "code that fails": ("```\nprint(undefined)\n```", {}, 0.0, "NameError: name 'undefined' is not defined"),
    "bare code": ("print(1)", {}, 1.0, "1"),
    "code after thinking": ("<think>\nprint(0)\n</think>\n```python\nprint(2)\n```", {}, 1.0, "2"),
    "a program with a fence in it": ('print("""\n```\nx\n```\n""")', {}, 1.0, "\n```\nx\n```\n"),
    "prose": ("I do not know.", {}, 0.0, "No code: no fenced block"),
    "nothing": ("", {}, 0.0, "No code: the completion is empty"),
    "no text, as of a server whose model only thought": (None, {}, 0.0, "No code: the completion is empty"),
    "a row with a program of its own": ("prose", {"prediction": "print(3)"}, 1.0, "3"),
    "a row with an empty program": (ANSWER, {"prediction": None}, 1.0, "120"),
}


@pytest.mark.parametrize("what", CHAINS)
def test_what_a_rollout_earns(what: str) -> None:
    answer, extra, reward, output = CHAINS[what]
    assert earned(code_reward_test, answer, **extra) == RewardResult(reward, {"output": output})


def test_installed_our_rewards_are_known_by_name_and_by_import(
    agentfly: AgentFly, monkeypatch: pytest.MonkeyPatch
) -> None:
    @reward(name="Brevity", auto_register=False)
    def brevity(final_response: str) -> float:
        return 1.0 / len(final_response)

    monkeypatch.setitem(REWARD_REGISTRY, "brevity", brevity)
    assert {"brevity", "code_reward_test"} <= set(install())
    assert agentfly.by_name.items() >= {"brevity": brevity, "code_reward_test": code_reward_test}.items()
    assert agentfly.rewards.code_reward_test is code_reward_test
    assert agentfly.modules["agentfly.rewards.code_reward"].code_reward_test is code_reward_test
    assert earned(brevity, "four") == RewardResult(0.25)


@pytest.mark.asyncio
async def test_installed_its_tools_run_code_in_our_sandbox_and_nothing_else_changes(agentfly: AgentFly) -> None:
    install()
    install()
    runner = agentfly.engine._runners["local"]
    python = await runner.start_resource(PythonSandboxSpec, resource_id="rollout-1", timeout=HANG_S)
    assert [await python.step(code) for code in ("print(6 * 7)", "print(undefined)", "x = (")] == [
        "42\n",
        "NameError: name 'undefined' is not defined\n",
        "SyntaxError: '(' was never closed\n",
    ]
    assert (await python.get_status(), await python.control(mem_limit="1g")) == ("running", None)
    await runner.end_resource(python)
    assert await python.get_status() == "stopped"
    shop = ContainerResourceSpec(category="webshop", image="shop")
    assert await runner.start_resource(shop, resource_id="other", timeout=HANG_S) == "a container of shop"
    assert runner.images == ["shop"]


NOT_THERE = {
    "nothing": ({}, "AgentFly is not installed in this environment: get it from github.com/Agent-One-Lab/AgentFly"),
    "the project of that name on PyPI": (
        {"__init__.py": ""},
        "agentfly.rewards can't be imported (ModuleNotFoundError: No module named 'agentfly.rewards'): see github.com",
    ),
    "one of which a requirement fails": (
        {"__init__.py": "", "rewards.py": "raise OSError('libcudart.so: no such file\\nsecond line')"},
        "agentfly.rewards can't be imported (OSError: libcudart.so: no such file): see github.com",
    ),
}


@pytest.mark.parametrize("what", NOT_THERE)
def test_where_it_is_not_one_line_says_so(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, told = NOT_THERE[what]
    for name, text in files.items():
        (tmp_path / "agentfly").mkdir(exist_ok=True)
        (tmp_path / "agentfly" / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        with pytest.raises(ImportError) as caught:
            install()
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "agentfly"]:
            del sys.modules[name]
    assert str(caught.value).startswith(told)
    assert "\n" not in str(caught.value)


def test_another_version_is_named_as_such(agentfly: AgentFly) -> None:
    del agentfly.engine._runners
    with pytest.raises(ImportError, match=r"does not support this version of agentfly.*_runners"):
        install()
