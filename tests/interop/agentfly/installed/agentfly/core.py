"""What a rollout carries along, and its end: its last answer is rewarded."""

from __future__ import annotations

from typing import Any

from agentfly.resources import ResourceEngine
from agentfly.rewards.reward_base import calculate_reward


class Context:
    def __init__(self, rollout_id: str, group_id: str | None = None) -> None:
        self.rollout_id, self.group_id = rollout_id, group_id
        self.trajectory: list[Any] = []
        self.final_response: str | None = None
        self.global_resource_ids: set[str] = set()

    async def acquire_resource(
        self,
        id: str | None = None,  # noqa: A002
        spec: Any = None,
        scope: str = "rollout",
        backend: str | None = None,
        timeout: float | None = 600.0,
    ) -> Any:
        self.global_resource_ids.add(id or self.rollout_id)
        return await ResourceEngine.acquire(id or self.rollout_id, spec, backend or "local", timeout)

    async def release_resource(self, scope: str = "rollout") -> None:
        for name in self.global_resource_ids:
            await ResourceEngine.release(name)
        self.global_resource_ids.clear()


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
