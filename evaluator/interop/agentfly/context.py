"""A rollout's context for its tools and rewards: identity, trajectory and resources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from evaluator.interop.agentfly.environment import ResourceSpec
from evaluator.interop.agentfly.resources import ResourceEngine, shared_engine

Scope = Literal["rollout", "global"]


class Context:
    """The context of one rollout, with AgentFly's fields and methods. `async with` ends what is still held.

    A `scope`, "rollout" or "global", names the list that a resource is in, which the methods below act on.

        async with Context("rollout-1") as context:
            env = await context.acquire_resource(spec=PythonSandboxSpec)
            await env.step("print(1)")  # "1\\n"
    """

    def __init__(
        self,
        rollout_id: str,
        group_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        context_config: object = None,
        engine: ResourceEngine | None = None,
    ) -> None:
        """`rollout_id`: also the default id of its resources. `group_id`, `metadata` and `context_config` are kept for
        AgentFly's callers, not used. `engine`: lends resources; None: one shared by the whole process."""
        self.rollout_id = rollout_id
        self.group_id = group_id
        self.metadata: dict[str, Any] = dict(metadata or {})
        self.context_config = context_config
        self.trajectory: list[dict[str, Any]] = []
        self.final_response: str | None = None
        self.rollout_resource_ids: list[str] = []
        self.global_resource_ids: set[str] = set()
        self.last_acquire_was_first = False
        """Whether the last `acquire_resource` returned a resource that this context did not hold already."""
        self._engine = engine

    async def acquire_resource(
        self,
        id: str | None = None,  # noqa: A002 - AgentFly's name
        spec: ResourceSpec | None = None,
        scope: Scope = "rollout",
        backend: str | None = None,
        timeout: float | None = 600.0,
    ) -> Any:
        """Returns the id's resource, the same until it is given back; for `PythonSandboxSpec` a `PythonSandboxEnv`.

        `id`: None: the rollout's. `spec`: required. `backend`: "local", also for None. `timeout`: seconds to wait and
        start together; None: no limit. Raises what `ResourceEngine.acquire` raises, and `ValueError` for an unknown
        scope or a missing `spec`.
        """
        _ids_of(self, scope)
        if spec is None:
            raise ValueError("spec is missing: give for instance spec=PythonSandboxSpec")
        name = id or self.rollout_id
        resource = await self.resource_engine.acquire(name, spec, backend or "local", timeout)
        self.last_acquire_was_first = name not in self.global_resource_ids and name not in self.rollout_resource_ids
        if scope == "global":
            self.global_resource_ids.add(name)
        elif name not in self.rollout_resource_ids:
            self.rollout_resource_ids.append(name)
        return resource

    async def reset_resource(self, scope: Scope = "rollout", *args: Any, **kwargs: Any) -> None:
        """Resets the scope's resources. Raises `ValueError` for an unknown scope."""
        for name in _ids_of(self, scope):
            await self.resource_engine.reset(name, *args, **kwargs)

    async def release_resource(self, scope: Scope = "rollout") -> None:
        """Gives the scope's resources back, for others to use. Raises `ValueError` for an unknown scope."""
        for name in _ids_of(self, scope):
            self._forget(name)
            await self.resource_engine.release(name)

    async def end_resource(self, scope: Scope = "rollout") -> None:
        """Ends the scope's resources. Raises `ValueError` for an unknown scope."""
        for name in _ids_of(self, scope):
            self._forget(name)
            await self.resource_engine.end(name)

    @property
    def resource_engine(self) -> ResourceEngine:
        return self._engine or shared_engine()

    async def __aenter__(self) -> Context:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end_resource("rollout")
        await self.end_resource("global")

    def __repr__(self) -> str:
        return f"Context(rollout_id={self.rollout_id!r}, group_id={self.group_id!r}, metadata={self.metadata!r})"

    def _forget(self, name: str) -> None:
        self.global_resource_ids.discard(name)
        if name in self.rollout_resource_ids:
            self.rollout_resource_ids.remove(name)


def _ids_of(context: Context, scope: str) -> Iterable[str]:
    """A copy of the ids in a scope. Raises `ValueError`."""
    if scope == "rollout":
        return [*context.rollout_resource_ids]
    if scope == "global":
        return sorted(context.global_resource_ids)
    raise ValueError(f"scope is {scope!r}: give 'rollout' or 'global'")
