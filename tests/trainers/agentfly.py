"""Our reward in AgentFly's own registry, called by its `calculate_reward` as its agents call it.

It is on no package index: AGENTFLY=/path/to/checkout says where it is; without that nothing is tried. The rest of its
rollout chain is not tried: it imports vLLM, and its environment is a container. So the rewards are compared to what
the rows expect.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from comparing import compared, functions, timed

from evaluator.interop.agentfly import Context, code_reward_test

PACKAGES = ()

CHECKOUT = os.environ.get("AGENTFLY")


def main() -> None:
    if CHECKOUT is None:
        print("AgentFly was not tried: set AGENTFLY=/path/to/checkout")
        return
    base = reward_base(Path(CHECKOUT) / "src")
    base.register_reward("code_reward_test", code_reward_test)
    rows = functions()
    asyncio.run(rewards(base, rows[:5]))  # it starts its sandboxes
    ours, ours_s = timed(lambda: asyncio.run(rewards(base, rows)))
    expected = [float(row["expected"]) for row in rows]
    compared("agentfly", "code_reward_test, by the rows", rows, ours, expected, ours_s, 0)


async def rewards(base: ModuleType, rows: list[dict[str, Any]]) -> list[float]:
    """As `_finalize_chain` of its agents makes them, for all rollouts at once."""

    async def reward(row: dict[str, Any]) -> float:
        function = base.get_reward_from_name("code_reward_test")
        answer = f"```python\n{program(row)}\n```"
        context = Context(row["id"])
        found = await base.calculate_reward(
            function, final_response=answer, trajectory=[], id=row["id"], context=context, task_id=row["task_id"]
        )
        await context.release_resource(scope="global")
        await context.end_resource(scope="rollout")
        return float(found.reward)

    return list(await asyncio.gather(*map(reward, rows)))


def program(row: dict[str, Any]) -> str:
    before = row["prompt"] if row["kind"] == "continuation" else ""
    return f"{row['preamble']}\n{before}{row['completion']}\n{row['test']}\ncheck({row['entry_point']})"


def reward_base(folder: Path) -> ModuleType:
    """Its module of that name, without what the package imports for its other rewards."""
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp()  # it makes folders there
    sys.path.insert(0, str(folder))
    package = sys.modules["agentfly.rewards"] = ModuleType("agentfly.rewards")
    package.__path__ = [str(folder / "agentfly" / "rewards")]
    return importlib.import_module("agentfly.rewards.reward_base")


if __name__ == "__main__":
    main()
