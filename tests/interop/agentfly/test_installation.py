"""`install()` in an AgentFly, and what a rollout there then earns."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluator.interop.agentfly import REWARD_REGISTRY, PythonSandboxSpec, code_reward_test, install, reward
from evaluator.interop.agentfly.specs import ContainerResourceSpec

INSTALLED = Path(__file__).parent / "installed"
ANSWER = "It is:\n```python\ndef f(n):\n    return n * f(n - 1) if n else 1\nprint(f(5))\n```\nAs asked for."
ROW = {"question": "Print 5!", "answer": "120", "index": 3}


def forget() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "agentfly"]:
        del sys.modules[name]


@pytest.fixture
def agentfly(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Its modules by attribute, such as `agentfly.rewards.reward_base`."""
    monkeypatch.syspath_prepend(str(INSTALLED))
    importlib.import_module("agentfly.core")
    yield sys.modules["agentfly"]
    forget()


def earned(agentfly: Any, function: Any, answer: str | None, **extra: object) -> tuple[float, dict[str, Any]]:
    """What a rollout earns there, and what else is said."""
    found: tuple[float, dict[str, Any]] = asyncio.run(
        agentfly.core.finalize(function, answer, {**ROW, **extra}, "chain-7")
    )
    return found


def containers(agentfly: Any) -> list[str]:
    return agentfly.resources.ResourceEngine._runners["local"].containers


CHAINS: dict[str, tuple[str | None, dict[str, Any], float, str]] = {
    "code in a fence": (ANSWER, {}, 1.0, "120"),
    "code that fails": ("```\nprint(undefined)\n```", {}, 0.0, "NameError: name 'undefined' is not defined"),
    "bare code": ("print(1)", {}, 1.0, "1"),
    "code after thinking": ("<think>\nprint(0)\n</think>\n```python\nprint(2)\n```", {}, 1.0, "2"),
    "a program with a fence in it": ('print("""\n```\nx\n```\n""")', {}, 1.0, "\n```\nx\n```\n"),
    "prose": ("I do not know.", {}, 0.0, "No code: no fenced block"),
    "a number": ("42", {}, 0.0, "No code: no fenced block"),
    "nothing": ("", {}, 0.0, "No code: the completion is empty"),
    "no text, as of a server whose model only thought": (None, {}, 0.0, "No code: the completion is empty"),
    "a row with a program of its own": ("prose", {"prediction": "print(3)"}, 1.0, "3"),
    "a row with an empty program": (ANSWER, {"prediction": None}, 1.0, "120"),
}


@pytest.mark.parametrize("what", CHAINS)
def test_what_a_rollout_earns_with_the_import_changed(agentfly: Any, what: str) -> None:
    """`install()` is not called: their context would start their container."""
    answer, extra, reward, output = CHAINS[what]
    assert earned(agentfly, code_reward_test, answer, **extra) == (reward, {"output": output})
    assert containers(agentfly) == []


def test_installed_a_rollout_earns_the_same_by_name_and_by_import(agentfly: Any) -> None:
    assert "code_reward_test" in install()
    for found in (agentfly.rewards.get_reward_from_name("code_reward_test"), agentfly.rewards.code_reward_test):
        assert earned(agentfly, found, ANSWER) == (1.0, {"output": "120"})
    assert containers(agentfly) == []


@pytest.mark.asyncio
async def test_installed_its_tools_run_code_in_our_sandbox_and_nothing_else_changes(agentfly: Any) -> None:
    install()
    install()
    context = agentfly.core.Context("rollout-1")
    python = await context.acquire_resource(spec=PythonSandboxSpec, scope="global", backend="local")
    assert [await python.step(code) for code in ("print(6 * 7)", "print(undefined)", "x = (")] == [
        "42\n",
        "NameError: name 'undefined' is not defined\n",
        "SyntaxError: '(' was never closed\n",
    ]
    assert (await python.get_status(), await python.control(mem_limit="1g")) == ("running", None)
    await agentfly.resources.ResourceEngine._runners["local"].end_resource(python)
    assert await python.get_status() == "stopped"
    other = await context.acquire_resource(id="other", spec=ContainerResourceSpec(category="webshop", image="shop"))
    assert await other.step("look") == "from a container: look\n"
    assert containers(agentfly) == ["shop"]


def test_installed_rewards_of_ones_own_are_known_by_name(agentfly: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    @reward(name="Brevity", auto_register=False)
    def brevity(final_response: str) -> float:
        return 1.0 / len(final_response)

    monkeypatch.setitem(REWARD_REGISTRY, "brevity", brevity)
    assert "brevity" in install()
    assert earned(agentfly, agentfly.rewards.get_reward_from_name("brevity"), "four") == (0.25, {})


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
        forget()
    assert str(caught.value).startswith(told)
    assert "\n" not in str(caught.value)


def test_another_version_is_named_as_such(agentfly: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(agentfly.resources.ResourceEngine, "_runners")
    with pytest.raises(ImportError, match=r"does not support this version of agentfly.*_runners"):
        install()
