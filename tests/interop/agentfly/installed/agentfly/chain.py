"""The end of a rollout: its last answer is rewarded."""

from __future__ import annotations

from typing import Any

from agentfly.core import Context
from agentfly.rewards.reward_base import calculate_reward


async def finalize(
    reward_fn: Any, answer: str | None, row: dict[str, Any], chain_id: str
) -> tuple[float, dict[str, Any]]:
    context = Context(chain_id, "group-0")
    context.trajectory = [
        {"role": "user", "content": [{"type": "text", "text": row["question"]}]},
        {"role": "assistant", "content": [{"type": "text", "text": answer}]},
    ]
    context.final_response = answer
    try:
        return await calculate_reward(
            reward_fn, final_response=answer, **row, trajectory=context.trajectory, id=chain_id, context=context
        )
    finally:
        await context.release_resource(scope="global")
