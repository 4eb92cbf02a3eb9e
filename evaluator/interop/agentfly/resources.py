"""Lends resources by id, reuses free ones, and limits how many exist; `Context` is what a rollout holds.

Safe for several event loops and threads. A pool is named `category:image|backend`; each holds at most `max_global_num`
resources, and waiters are served in order.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from evaluator.interop.agentfly.environment import PythonSandboxEnv, ResourceSpec

_NOT_HERE = ("ray", "aws", "k8s")


class Resource(Protocol):
    """The methods of a resource. The arguments and the result of `reset` are its own."""

    async def start(self) -> None: ...

    async def reset(self, *args: Any, **kwargs: Any) -> Any: ...

    async def end(self) -> None: ...


Factory = Callable[[str, ResourceSpec], Resource]
"""Makes a resource, not yet started, from its id and spec."""


class AcquireTimeout(TimeoutError):  # noqa: N818 - AgentFly's callers know time-outs by this ending
    """No resource came free or started in time. Says nothing about the code."""


@dataclass(eq=False)
class _Held:
    key: str
    resource: Resource
    users: int = 1
    """How many have acquired it under its id."""


@dataclass(eq=False)
class _Waiter:
    id: str
    loop: asyncio.AbstractEventLoop
    grant: Future[Resource | None] = field(default_factory=Future)
    """A resource, or None as the permission to start one. Cancelled if the waiter gave up."""

    def take(self, what: Resource | None) -> bool:
        """Hands it over; False if the waiter gave up."""
        if self.loop.is_closed() or not self.grant.set_running_or_notify_cancel():
            return False
        self.grant.set_result(what)
        return True


class ResourceEngine:
    """Lends resources; the engine of a `Context`.

    engine = ResourceEngine({"browser": lambda id, spec: Browser(id)})  # with coroutines start, reset, end
    context = Context("rollout-1", engine=engine)
    """

    def __init__(self, factories: Mapping[str, Factory] | None = None) -> None:
        """`factories`: by a spec's category; None: only `python_env`, Rollscope's sandbox."""
        self._factories: Mapping[str, Factory] = factories or {"python_env": PythonSandboxEnv}
        self._lock = threading.Lock()
        self._held: dict[str, _Held] = {}
        self._starting: dict[str, str] = {}
        """Pool by id, while a resource is starting for the id."""
        self._free: defaultdict[str, list[Resource]] = defaultdict(list)
        self._count: Counter[str] = Counter()
        self._waiting: defaultdict[str, deque[_Waiter]] = defaultdict(deque)

    async def acquire(
        self,
        id: str,  # noqa: A002 - AgentFly's name
        spec: ResourceSpec,
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
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._lock:
            self._refuse_other_kind(id, key)
            held = self._held.get(id)
            if held is not None:
                held.users += 1
                return held.resource
            begun = id in self._starting
            if self._free[key] and not begun:
                return self._hold(id, key, self._free[key].pop())
            waiter = None
            if begun or (spec.max_global_num is not None and self._count[key] >= spec.max_global_num):
                waiter = self._queue(id, key)
            else:
                self._count[key] += 1
                self._starting[id] = key
        if waiter is not None:
            granted = await self._wait(waiter, key, spec, deadline)
            if granted is not None:
                return granted
        return await self._start(id, key, spec, deadline)

    async def reset(self, id: str, *args: Any, **kwargs: Any) -> Any:  # noqa: A002
        """Calls `reset` of the id's resource and returns its result. Raises `ValueError` if the id has none."""
        with self._lock:
            held = self._held.get(id)
        if held is None:
            raise ValueError(f"{id!r} holds no resource: acquire one first")
        return await held.resource.reset(*args, **kwargs)

    async def release(self, id: str) -> None:  # noqa: A002
        """Resets the resource of an id and lends it on; ends it if the reset fails. No-op if the id has none."""
        with self._lock:
            held = self._held.pop(id, None)
        if held is None:
            return
        try:
            await held.resource.reset()
        except BaseException as error:
            await self._ended(held, quietly=True)
            if not isinstance(error, Exception):
                raise
        else:
            with self._lock:
                self._hand_on(held.key, held.resource)

    async def end(self, id: str) -> None:  # noqa: A002
        """Ends the resource of an id, which makes room for another. No-op if the id has none."""
        with self._lock:
            held = self._held.pop(id, None)
        if held is None:
            return
        await self._ended(held)

    async def _ended(self, held: _Held, *, quietly: bool = False) -> None:
        try:
            with contextlib.suppress(Exception) if quietly else contextlib.nullcontext():
                await held.resource.end()
        finally:
            with self._lock:
                self._give_up_place(held.key)

    def _key(self, spec: ResourceSpec, backend: str) -> str:
        if backend in _NOT_HERE:
            raise NotImplementedError(f"Rollscope does not have AgentFly's backend {backend!r}: give 'local'")
        if backend != "local":
            raise ValueError(f"backend is {backend!r}: give 'local'")
        if spec.category not in self._factories:
            known = ", ".join(self._factories)
            raise ValueError(f"category {spec.category!r} can't be started here: give a spec of {known}")
        return f"{spec.category}:{spec.image or 'default'}|{backend}"

    def _refuse_other_kind(self, name: str, key: str) -> None:
        held = self._held.get(name)
        has = held.key if held else self._starting.get(name) or self._waits_for(name, key)
        if has != key:
            raise ValueError(f"{name!r} is already the id of {has}: give {key} an id of its own (id=...)")

    def _waits_for(self, name: str, key: str) -> str:
        """Another pool with a waiter of this id, else `key`."""
        others = (other for other in self._waiting if other != key)
        return next((other for other in others if any(each.id == name for each in self._waiting[other])), key)

    def _hold(self, name: str, key: str, resource: Resource) -> Resource:
        """Gives it to an id, and to all waiters of the same id."""
        held = self._held[name] = _Held(key, resource)
        for waiter in [each for each in self._waiting[key] if each.id == name]:
            self._waiting[key].remove(waiter)
            held.users += waiter.take(resource)
        return resource

    def _queue(self, name: str, key: str) -> _Waiter:
        waiter = _Waiter(name, asyncio.get_running_loop())
        self._waiting[key].append(waiter)
        return waiter

    async def _wait(self, waiter: _Waiter, key: str, spec: ResourceSpec, deadline: float | None) -> Resource | None:
        try:
            await asyncio.wait({asyncio.wrap_future(waiter.grant)}, timeout=_left(deadline))
        except asyncio.CancelledError:
            self._withdraw(waiter, key)
            raise
        if not waiter.grant.cancel():
            return waiter.grant.result()
        self._forget(waiter, key)
        raise AcquireTimeout(f"no {key} came free in time: {spec.max_global_num} may exist at once (max_global_num)")

    def _withdraw(self, waiter: _Waiter, key: str) -> None:
        """Cancels a waiter; what was handed to it just then goes to the next."""
        if waiter.grant.cancel():
            self._forget(waiter, key)
            return
        resource = waiter.grant.result()
        if resource is None:
            self._give_up_start(waiter.id, key)
            return
        with self._lock:
            held = self._held.get(waiter.id)
            if held is None or held.resource is not resource:
                return
            held.users -= 1
            if not held.users:
                del self._held[waiter.id]
                self._hand_on(key, resource)

    def _forget(self, waiter: _Waiter, key: str) -> None:
        with self._lock, contextlib.suppress(ValueError):  # it was skipped already
            self._waiting[key].remove(waiter)

    async def _start(self, name: str, key: str, spec: ResourceSpec, deadline: float | None) -> Resource:
        clock = asyncio.timeout(_left(deadline))
        try:
            async with clock:
                resource = self._factories[spec.category](name, spec)
                await resource.start()
        except BaseException as error:
            self._give_up_start(name, key)
            if clock.expired() and isinstance(error, TimeoutError):
                raise AcquireTimeout(f"{key} did not start in time: give a longer timeout") from None
            raise
        with self._lock:
            del self._starting[name]
            return self._hold(name, key, resource)

    def _give_up_start(self, name: str, key: str) -> None:
        with self._lock:
            del self._starting[name]
            self._give_up_place(key)

    def _give_up_place(self, key: str) -> None:
        """Lets the next waiter start a resource, since one fewer exists. Needs the lock, as do the methods below."""
        while (waiter := self._next(key)) is not None:
            if waiter.take(None):
                self._starting[waiter.id] = key
                return
        self._count[key] -= 1

    def _hand_on(self, key: str, resource: Resource) -> None:
        """Gives it to the next waiter, else to the free ones."""
        while (waiter := self._next(key)) is not None:
            if waiter.take(resource):
                self._hold(waiter.id, key, resource)
                return
        self._free[key].append(resource)

    def _next(self, key: str) -> _Waiter | None:
        """The waiter that has waited longest, except those whose resource is starting."""
        waiting = self._waiting[key]
        found = next((each for each in waiting if each.id not in self._starting), None)
        if found is not None:
            waiting.remove(found)
        return found


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(deadline - time.monotonic(), 0.0)


_engine = ResourceEngine()


def shared_engine() -> ResourceEngine:
    """The engine of contexts without their own."""
    return _engine


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
