"""Whether code runs, in a container."""

from __future__ import annotations

from typing import Any

from agentfly.rewards.reward_base import register_reward


async def code_reward_test(*, prediction: str, context: Any, **_: Any) -> dict[str, Any]:
    raise NotImplementedError("it starts a container")


register_reward("code_reward_test", code_reward_test)
