"""What a rollout carries along."""

from __future__ import annotations

from typing import Any

from agentfly.resources import ResourceEngine


class Context:
    def __init__(self, rollout_id: str, group_id: str | None = None, metadata: dict[str, Any] | None = None) -> None:
        self.rollout_id, self.group_id, self.metadata = rollout_id, group_id, dict(metadata or {})
        self.trajectory: list[Any] = []
        self.final_response: str | None = None
        self.rollout_resource_ids: list[str] = []
        self.global_resource_ids: set[str] = set()
        self.last_acquire_was_first = False

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
