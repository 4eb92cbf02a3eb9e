"""Lends resources by id, reuses free ones, and limits how many exist; `Context` is what a rollout holds.

Safe for several event loops and threads. A pool is named `category:image|backend`; each holds at most `max_global_num`
resources, and waiters are served in order.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from typing import Any, Literal, Protocol

from evaluator.interop.agentfly.environment import ContainerResourceSpec, PythonSandboxEnv

_NOT_HERE = ("ray", "aws", "k8s")


class Resource(Protocol):
    """The methods of a resource. The arguments and the result of `reset` are its own."""

    async def start(self) -> None: ...

    async def reset(self, *args: Any, **kwargs: Any) -> Any: ...

    async def end(self) -> None: ...


Factory = Callable[[str, ContainerResourceSpec], Resource]
"""Makes a resource, not yet started, from its id and spec."""


class AcquireTimeout(TimeoutError):  # noqa: N818 - AgentFly's callers know time-outs by this ending
    """No resource came free or started in time. Says nothing about the code."""


_Ticket = Future[Resource | None]
"""What a caller waits for: a free resource, or None as the permission to start one. Cancelled if it gave up."""


class _Pool:
    """The resources of one kind. Its methods need the engine's lock."""

    def __init__(self) -> None:
        self._free: list[Resource] = []
        self._count = 0
        self._waiting: deque[tuple[asyncio.AbstractEventLoop, _Ticket]] = deque()

    def ticket(self, most: int | None) -> _Ticket:
        """`most`: how many resources may exist."""
        ticket = _Ticket()
        if self._free:
            ticket.set_result(self._free.pop())
        elif most is None or self._count < most:
            self._count += 1
            ticket.set_result(None)
        else:
            self._waiting.append((asyncio.get_running_loop(), ticket))
        return ticket

    def give(self, resource: Resource | None) -> None:
        """Gives it, or None for the place of one that is gone, to the caller that has waited longest, else keeps it."""
        while self._waiting:
            loop, ticket = self._waiting.popleft()
            if not loop.is_closed() and ticket.set_running_or_notify_cancel():
                ticket.set_result(resource)
                return
        if resource is None:
            self._count -= 1
        else:
            self._free.append(resource)


class _Lease:
    """The resource of an id."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.resource: Resource | None = None
        """None while it is not there yet."""
        self.settled: Future[None] = Future()
        """Done when it is there, or was given up."""


class ResourceEngine:
    """Lends resources; the engine of a `Context`.

    engine = ResourceEngine({"browser": lambda id, spec: Browser(id)})  # with coroutines start, reset, end
    context = Context("rollout-1", engine=engine)
    """

    def __init__(self, factories: Mapping[str, Factory] | None = None) -> None:
        """`factories`: by a spec's category; None: only `python_env`, Rollscope's sandbox."""
        self._factories: Mapping[str, Factory] = factories or {"python_env": PythonSandboxEnv}
        self._lock = threading.Lock()
        self._leases: dict[str, _Lease] = {}
        self._pools: defaultdict[str, _Pool] = defaultdict(_Pool)

    async def acquire(
        self,
        id: str,  # noqa: A002 - AgentFly's name
        spec: ContainerResourceSpec,
        backend: str = "local",
        timeout: float | None = 600.0,
    ) -> Resource:
        """Returns the resource held by `id`, else a free one, else a new one, else the next one given back.

        `spec`: its category, image and `max_global_num` choose the pool and limit it. `backend`: only "local".
        `timeout`: seconds to wait and start together; None: no limit. Raises `AcquireTimeout`, `ValueError` for an
        unknown category or backend or an id that holds another kind of resource, `NotImplementedError` for "ray",
        "aws" and "k8s", and what starting the resource raises.
        """
        key = self._key(spec, backend)
        clock, ticket = asyncio.timeout(timeout), None
        try:
            async with clock:
                while True:
                    with self._lock:
                        lease, ticket = self._lease(id, key, spec)
                    if lease.resource is not None:
                        return lease.resource
                    if ticket is not None:
                        break
                    await asyncio.shield(asyncio.wrap_future(lease.settled))
                return await self._filled(id, lease, ticket, spec)
        except TimeoutError:
            if not clock.expired():
                raise
        if ticket is not None and ticket.done() and not ticket.cancelled():
            raise AcquireTimeout(f"{key} did not start in time: give a longer timeout")
        raise AcquireTimeout(f"no {key} came free in time: {spec.max_global_num} may exist at once (max_global_num)")

    async def reset(self, id: str, *args: Any, **kwargs: Any) -> Any:  # noqa: A002
        """Calls `reset` of the id's resource and returns its result. Raises `ValueError` if the id has none."""
        lease = self._leases.get(id)
        if lease is None or lease.resource is None:
            raise ValueError(f"{id!r} holds no resource: acquire one first")
        return await lease.resource.reset(*args, **kwargs)

    async def release(self, id: str) -> None:  # noqa: A002
        """Resets the resource of an id and lends it on; ends it if the reset fails. No-op if the id has none."""
        lease = self._taken(id)
        if lease is None or lease.resource is None:
            return
        try:
            await lease.resource.reset()
        except BaseException as error:
            with contextlib.suppress(Exception):
                await self._end(lease)
            if not isinstance(error, Exception):
                raise
        else:
            with self._lock:
                self._pools[lease.key].give(lease.resource)

    async def end(self, id: str) -> None:  # noqa: A002
        """Ends the resource of an id, which makes room for another. No-op if the id has none."""
        lease = self._taken(id)
        if lease is not None:
            await self._end(lease)

    def _key(self, spec: ContainerResourceSpec, backend: str) -> str:
        if backend in _NOT_HERE:
            raise NotImplementedError(f"Rollscope does not have AgentFly's backend {backend!r}: give 'local'")
        if backend != "local":
            raise ValueError(f"backend is {backend!r}: give 'local'")
        if spec.category not in self._factories:
            known = ", ".join(self._factories)
            raise ValueError(f"category {spec.category!r} can't be started here: give a spec of {known}")
        return f"{spec.category}:{spec.image or 'default'}|{backend}"

    def _lease(self, name: str, key: str, spec: ContainerResourceSpec) -> tuple[_Lease, _Ticket | None]:
        """The lease of an id; a new one has a ticket."""
        lease = self._leases.get(name)
        if lease is None:
            lease = self._leases[name] = _Lease(key)
            return lease, self._pools[key].ticket(spec.max_global_num)
        if lease.key != key:
            raise ValueError(f"{name!r} is already the id of {lease.key}: give {key} an id of its own (id=...)")
        return lease, None

    async def _filled(self, name: str, lease: _Lease, ticket: _Ticket, spec: ContainerResourceSpec) -> Resource:
        """The resource of a new lease. If there is none in the end, what the ticket was given goes to the next."""
        try:
            resource = ticket.result() if ticket.done() else await asyncio.wrap_future(ticket)
            if resource is None:
                resource = self._factories[spec.category](name, spec)
                await resource.start()
            lease.resource = resource
            return resource
        except BaseException:
            with self._lock:
                if not ticket.cancel():
                    self._pools[lease.key].give(ticket.result())
                del self._leases[name]
            raise
        finally:
            lease.settled.set_result(None)

    def _taken(self, name: str) -> _Lease | None:
        """The lease of an id, which no longer has it; None if it holds no resource."""
        with self._lock:
            lease = self._leases.get(name)
            return None if lease is None or lease.resource is None else self._leases.pop(name)

    async def _end(self, lease: _Lease) -> None:
        assert lease.resource is not None
        try:
            await lease.resource.end()
        finally:
            with self._lock:
                self._pools[lease.key].give(None)


_engine = ResourceEngine()
"""The engine of contexts without their own."""


def _renew_in_child() -> None:
    global _engine  # noqa: PLW0603 - the parent's resources are not the child's
    _engine = ResourceEngine()


os.register_at_fork(after_in_child=_renew_in_child)


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
        spec: ContainerResourceSpec | None = None,
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
        return self._engine or _engine

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
