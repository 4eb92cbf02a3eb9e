"""`code_reward_test` and the environment behind it, on the real sandbox."""

import asyncio
import multiprocessing
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from typing import Any

import pytest

from evaluator import Limits
from evaluator.interop.agentfly import (
    CodeError,
    Context,
    PythonSandboxEnv,
    PythonSandboxSpec,
    ResourceEngine,
    SandboxFault,
    as_observed,
    code_reward_test,
)
from evaluator.workers import pool
from tests.waiting import HANG_S
from tests.workers.processes import busy_zygotes, killing

LEAVES_BY_SIGNAL = "import os\nos.kill(os.getpid(), 9)"

EXECUTIONS: dict[str, tuple[str, float, str]] = {
    "no newline at the end": ("print('Hello, World!')", 1.0, "Hello, World!"),
    "one newline of several": ("print('a\\n')", 1.0, "a\n"),
    "nothing printed": ("x = 1", 1.0, ""),
    "stderr is left out": ("import sys\nprint('e', file=sys.stderr)\nprint('o')", 1.0, "o"),
    "exit status 0": ("import sys\nprint('done')\nsys.exit(0)", 1.0, "done"),
    "exit status 3": ("print('done')\nraise SystemExit(3)", 0.0, "SystemExit: 3"),
    "a name": ("print(undefined_variable)", 0.0, "NameError: name 'undefined_variable' is not defined"),
    "syntax": ("x = (", 0.0, "SyntaxError: '(' was never closed"),
    "output before an error is left out": ("print(1)\n1 / 0", 0.0, "ZeroDivisionError: division by zero"),
    "no stdin": ("input()", 0.0, "EOFError: EOF when reading a line"),
    "a signal": (LEAVES_BY_SIGNAL, 0.0, "Killed: ended by SIGKILL"),
    "memory": ("b'x' * (1 << 33)", 0.0, "Memory limit exceeded"),
    "output": ("while True: print('x' * 10**6)", 0.0, "Output limit exceeded"),
    "a long output is cut": ("print('x' * 20_000)", 1.0, "x" * 16_384),
}


def rewarded(code: str) -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        async with Context("r") as context:
            told: dict[str, Any] = await code_reward_test(prediction=code, context=context)
            return told

    return asyncio.run(run())


@pytest.mark.parametrize("what", EXECUTIONS)
def test_what_code_earns(what: str) -> None:
    code, reward, output = EXECUTIONS[what]
    assert rewarded(code) == {"reward": reward, "output": output}


def test_code_that_breaks_the_protocol_fails_and_what_is_no_code_is_the_callers_mistake() -> None:
    told = rewarded("import os\nos.write(3, b'forged')")
    assert (told["reward"], told["output"].partition("channel")[0]) == (0.0, "Rejected: it wrote to the protocol ")
    with pytest.raises(TypeError, match="prediction must be text, not NoneType"):
        rewarded(None)  # type: ignore[arg-type]


async def step(code: str, limits: Limits) -> str:
    env = PythonSandboxEnv(limits=limits)
    await env.start()
    try:
        return await env.step(code)
    finally:
        await env.end()


FOREVER, ASLEEP = "while True: pass", "import time\ntime.sleep(600)"
SHORT = {FOREVER: Limits(cpu_s=0.2, wall_s=30, total_s=30), ASLEEP: Limits(wall_s=0.2, total_s=0.4)}


@pytest.mark.parametrize(("code", "observed"), [(FOREVER, ""), (ASLEEP, "Execution timed out")])
def test_a_time_out_has_one_text_and_as_observed_one_of_cpu_time_is_silent(code: str, observed: str) -> None:
    with pytest.raises(CodeError, match=r"^Execution timed out$"):
        asyncio.run(step(code, SHORT[code]))
    with as_observed():
        assert asyncio.run(step(code, SHORT[code])) == observed


def test_as_observed_everything_earns_1() -> None:
    outputs = {
        "print('Hello, World!')": "Hello, World!\n",
        "print(undefined_variable)": "NameError: name 'undefined_variable' is not defined\n",
        "x = (": "SyntaxError: '(' was never closed\n",
        "b'x' * (1 << 33)": "Memory limit exceeded",
        "print(1)\nraise SystemExit(0)": "SystemExit: 0\n",
        "print(1)\nexit()": "SystemExit: None\n",
        "import os\nos._exit(0)": "",
        LEAVES_BY_SIGNAL: "",
        "": "",
    }
    with as_observed():
        found = {code: rewarded(code) for code in outputs}
    assert found == {code: {"reward": 1.0, "output": output} for code, output in outputs.items()}


@pytest.mark.asyncio
async def test_the_observed_mode_is_one_tasks_alone() -> None:
    graded = asyncio.Event()

    async def observed() -> float:
        with as_observed():
            await graded.wait()
            return (await code_reward_test(prediction="nope", context=Context("observed")))["reward"]

    async def plain() -> float:
        told = await code_reward_test(prediction="nope", context=Context("plain"))
        graded.set()
        return told["reward"]

    assert await asyncio.gather(observed(), plain()) == [1.0, 0.0]
    assert await plain() == 0.0


@pytest.mark.asyncio
async def test_many_at_once_and_none_starves() -> None:
    contexts = [Context(f"rollout-{number}") for number in range(60)]
    codes = [f"print({number})" if number % 2 else f"raise ValueError({number})" for number in range(60)]
    calls = [code_reward_test(prediction=code, context=each) for code, each in zip(codes, contexts, strict=True)]
    assert await asyncio.gather(*calls) == [
        {"reward": 1.0, "output": str(n)} if n % 2 else {"reward": 0.0, "output": f"ValueError: {n}"} for n in range(60)
    ]
    assert not any(each.global_resource_ids for each in contexts)


@pytest.mark.asyncio
async def test_what_a_tool_holds_is_left_to_it() -> None:
    async with Context("r") as context:
        env = await context.acquire_resource(spec=PythonSandboxSpec)
        await code_reward_test(prediction="print(1)", context=context)
        assert await context.acquire_resource(spec=PythonSandboxSpec) is env
        assert not context.last_acquire_was_first
        assert await env.step("print(2)") == "2\n"


@pytest.mark.asyncio
async def test_nothing_is_left_from_one_step_to_the_next() -> None:
    env = PythonSandboxEnv()
    with pytest.raises(RuntimeError, match="not started: await its start"):
        await env.step("print(1)")
    await env.start()
    await env.step("x = 1\nopen('/tmp/left', 'w').close()")
    assert await env.reset() == ""
    assert await env.step("import os\nprint('x' in globals(), os.path.exists('/tmp/left'))") == "False False\n"
    await env.close()
    with pytest.raises(RuntimeError, match="not started"):
        await env.step("print(1)")


# What is not the code's fault


@pytest.fixture
def warm() -> None:
    """A sandbox that has proved itself, so that it is the code's own run that fails."""
    pool.close()
    assert rewarded("print(0)") == {"reward": 1.0, "output": "0"}


@pytest.mark.slow  # since the program has to last
@pytest.mark.usefixtures("warm")
def test_a_sandbox_that_fails_once_costs_nothing() -> None:
    with killing(busy_zygotes, 1):
        assert rewarded("import time\ntime.sleep(1)\nprint(1)") == {"reward": 1.0, "output": "1"}


@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize("observed", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_sandbox_that_fails_each_time_raises(observed: bool) -> None:
    mode = as_observed() if observed else nullcontext()
    fault = pytest.raises(SandboxFault, match=r"^the sandbox failed: .*rollscope doctor")
    with killing(busy_zygotes, 1000), mode, fault:
        rewarded("import time\ntime.sleep(600)")


@pytest.mark.asyncio
async def test_an_environment_that_somebody_ended_is_no_fault_of_the_code() -> None:
    context = Context("r")
    env = await context.acquire_resource(spec=PythonSandboxSpec)
    await env.end()
    try:
        with pytest.raises(RuntimeError, match="not started"):
            await code_reward_test(prediction="print(1)", context=context)
    finally:
        await context.end_resource()


def held(code: str) -> float:
    """By an environment that is kept for the next."""
    return float(asyncio.run(code_reward_test(prediction=code, context=Context("held")))["reward"])


@pytest.mark.slow
def test_a_forked_trainer_has_rewards_too() -> None:
    assert held("print(1)") == 1.0
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        assert pool.submit(held, "print(2)").result(HANG_S) == 1.0
    assert held("print(3)") == 1.0


@pytest.mark.parametrize("context", [None, object()], ids=["nothing", "something that lends nothing"])
@pytest.mark.asyncio
async def test_without_a_context_of_ours_there_is_a_sandbox_too(context: object) -> None:
    calls = [code_reward_test(prediction=f"print({number})", context=context) for number in range(20)]
    assert await asyncio.gather(*calls) == [{"reward": 1.0, "output": str(number)} for number in range(20)]


# An environment of one's own, lent by a context of ours


class OtherEnv:
    """Errors come back as text, and only what has nothing to do with the code raises."""

    answers: Mapping[str, str | Exception] = {
        "good": "1\n",
        "bad": "NameError: x\n",
        "odd": RuntimeError("Unknown response"),
        "ours": SandboxFault("it failed"),
    }

    async def start(self) -> None: ...

    reset = end = start

    async def step(self, code: str) -> str:
        answer = self.answers[code]
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.mark.asyncio
async def test_an_environment_of_ones_own_earns_by_whether_it_raises() -> None:
    context = Context("r", engine=ResourceEngine({"python_env": lambda name, spec: OtherEnv()}))
    assert [await code_reward_test(prediction=code, context=context) for code in ("good", "bad", "odd")] == [
        {"reward": 1.0, "output": "1"},
        {"reward": 1.0, "output": "NameError: x"},
        {"reward": 0.0, "output": "Unknown response"},
    ]
    with pytest.raises(SandboxFault, match="it failed"):  # which is no reward
        await code_reward_test(prediction="ours", context=context)
