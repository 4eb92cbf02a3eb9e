"""The documented example runs with only its imports changed, and gives what is documented."""

import ast
import asyncio
import inspect
import re

import pytest

from evaluator.interop.agentfly import Context
from tests.documents.agentfly_code_reward import EXAMPLE


def test_the_example_gives_the_documented_results(capsys: pytest.CaptureFixture[str]) -> None:
    documented = [ast.literal_eval(line[2:]) for line in EXAMPLE.splitlines() if line.startswith("# {")]
    source = re.sub(r"^from agentfly\.[\w.]+ import", "from evaluator.interop.agentfly import", EXAMPLE, flags=re.M)
    code = compile(source, "example.py", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    assert code.co_flags & inspect.CO_COROUTINE

    async def rollout() -> None:
        async with Context("documents") as context:
            await eval(code, {"context": context})

    asyncio.run(rollout())
    printed = [ast.literal_eval(line) for line in capsys.readouterr().out.splitlines()]
    assert printed == documented
    assert len(documented) == 2
