"""Contexts and the engine behind them: who holds what, who waits, and that nothing is lost on the way."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace

import pytest

from evaluator.interop.agentfly import AcquireTimeout, Context, PythonSandboxSpec, ResourceEngine
from evaluator.interop.agentfly.specs import ResourceSpec

LONG_S = 30.0


class Room:
    """A resource that notes what is done with it."""

    def __init__(self, resource_id: str, spec: ResourceSpec) -> None:
        self.made_for = resource_id
        self.resets = 0
        self.ended = False

    async def start(self) -> None:
        return

    async def reset(self) -> None:
        self.resets += 1

    async def end(self) -> None:
        self.ended = True


def spec(most: int | None = 1, image: str = "one") -> ResourceSpec:
    return replace(PythonSandboxSpec, category="room", image=image, max_global_num=most)


def an_engine() -> ResourceEngine:
    return ResourceEngine({"room": Room})


async def settled() -> None:
    """All tasks have gone as far as they can."""
    for _ in range(20):
        await asyncio.sleep(0)


def test_a_rollout_has_the_same_resource_whatever_the_scope() -> None:
    async def run() -> None:
        async with Context("r", engine=an_engine()) as context:
            first = await context.acquire_resource(spec=spec())
            assert (context.last_acquire_was_first, context.rollout_resource_ids) == (True, ["r"])
            assert await context.acquire_resource(spec=spec(), scope="global", backend="local") is first
            assert (context.last_acquire_was_first, context.global_resource_ids) == (False, {"r"})
            other = await context.acquire_resource(id="another", spec=spec(2), timeout=LONG_S)
            assert other is not first
            assert context.rollout_resource_ids == ["r", "another"]
        assert first.ended
        assert other.ended

    asyncio.run(run())


def test_what_is_released_is_reset_and_lent_again_and_what_is_ended_is_not() -> None:
    async def run() -> None:
        engine = an_engine()
        one, two = Context("one", engine=engine), Context("two", engine=engine)
        room = await one.acquire_resource(spec=spec(), scope="global")
        await one.reset_resource("global")
        await one.release_resource("rollout")
        assert (room.resets, one.global_resource_ids) == (1, {"one"})
        await one.release_resource("global")
        assert (room.resets, room.ended, one.global_resource_ids) == (2, False, set())
        assert await two.acquire_resource(spec=spec()) is room
        await two.end_resource()
        assert room.ended
        assert await one.acquire_resource(spec=spec()) is not room
        assert one.last_acquire_was_first

    asyncio.run(run())


def test_no_more_than_the_greatest_number_and_first_come_first_served() -> None:
    async def run() -> None:
        engine = an_engine()
        order: list[str] = []
        most, now = 0, 0

        async def use(name: str) -> None:
            nonlocal most, now
            context = Context(name, engine=engine)
            await context.acquire_resource(spec=spec(3), timeout=LONG_S)
            order.append(name)
            now += 1
            most = max(most, now)
            await settled()
            now -= 1
            await (context.release_resource() if len(order) % 2 else context.end_resource())

        names = [str(number) for number in range(50)]
        await asyncio.gather(*map(use, names))
        assert order == names
        assert most == 3

    asyncio.run(run())


def test_pools_are_apart_by_image() -> None:
    async def run() -> None:
        context = Context("r", engine=an_engine())
        rooms = [await context.acquire_resource(id=image, spec=spec(1, image), timeout=LONG_S) for image in "ab"]
        assert rooms[0] is not rooms[1]

    asyncio.run(run())


def test_who_waits_too_long_is_told_and_loses_nothing() -> None:
    async def run() -> None:
        engine = an_engine()
        holder, late, patient = (Context(name, engine=engine) for name in ("holder", "late", "patient"))
        room = await holder.acquire_resource(spec=spec())
        with pytest.raises(AcquireTimeout, match=r"no room:one.local came free in time: 1 may exist at once"):
            await late.acquire_resource(spec=spec(), timeout=0.01)
        assert late.rollout_resource_ids == []
        waiting = asyncio.create_task(patient.acquire_resource(spec=spec(), timeout=LONG_S))
        await settled()
        await holder.release_resource()
        assert await waiting is room

    asyncio.run(run())


@pytest.mark.parametrize("how", ["released", "ended"])
def test_who_is_cancelled_just_when_it_is_served_passes_it_on(how: str) -> None:
    async def run() -> None:
        engine = an_engine()
        holder, gone, patient = (Context(name, engine=engine) for name in ("holder", "gone", "patient"))
        await holder.acquire_resource(spec=spec())
        leaving = asyncio.create_task(gone.acquire_resource(spec=spec(), timeout=LONG_S))
        waiting = asyncio.create_task(patient.acquire_resource(spec=spec(), timeout=LONG_S))
        await settled()
        await (holder.release_resource() if how == "released" else holder.end_resource())
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
        assert await asyncio.wait_for(waiting, LONG_S) is not None
        assert (gone.rollout_resource_ids, patient.rollout_resource_ids) == ([], ["patient"])

    asyncio.run(run())


def test_a_resource_that_can_not_be_started_leaves_its_place_to_the_next() -> None:
    async def run() -> None:
        first_fails = asyncio.Event()

        class Broken(Room):
            async def start(self) -> None:
                if self.made_for == "unlucky":
                    await first_fails.wait()
                    raise OSError("no room")

        engine = ResourceEngine({"room": Broken})
        unlucky, lucky = Context("unlucky", engine=engine), Context("lucky", engine=engine)
        failing = asyncio.create_task(unlucky.acquire_resource(spec=spec()))
        waiting = asyncio.create_task(lucky.acquire_resource(spec=spec(), timeout=LONG_S))
        await settled()
        first_fails.set()
        with pytest.raises(OSError, match="no room"):
            await failing
        assert (await waiting).made_for == "lucky"

    asyncio.run(run())


def test_a_start_that_takes_too_long_is_a_time_out() -> None:
    class Slow(Room):
        async def start(self) -> None:
            await asyncio.Event().wait()

    async def run() -> None:
        context = Context("r", engine=ResourceEngine({"room": Slow}))
        with pytest.raises(AcquireTimeout, match="did not start in time"):
            await context.acquire_resource(spec=spec(), timeout=0.01)

    asyncio.run(run())


def test_the_same_id_waits_for_the_one_that_is_being_started() -> None:
    async def run() -> None:
        ready = asyncio.Event()

        class Slow(Room):
            async def start(self) -> None:
                if self.made_for == "same":
                    await ready.wait()

        engine = ResourceEngine({"room": Slow})
        other, later = Context("other", engine=engine), Context("later", engine=engine)
        free = await other.acquire_resource(spec=spec(2))
        contexts = [Context("same", engine=engine) for _ in range(5)]
        calls = [asyncio.create_task(each.acquire_resource(spec=spec(2), timeout=LONG_S)) for each in contexts]
        await settled()
        await other.release_resource()
        await settled()
        ready.set()
        rooms = await asyncio.wait_for(asyncio.gather(*calls), LONG_S)
        assert {room.made_for for room in rooms} == {"same"}
        assert await later.acquire_resource(spec=spec(2), timeout=LONG_S) is free

    asyncio.run(run())


def test_what_can_not_be_reset_is_ended_and_another_is_started() -> None:
    class Stuck(Room):
        async def reset(self) -> None:
            raise OSError("stuck")

    async def run() -> None:
        context = Context("r", engine=ResourceEngine({"room": Stuck}))
        room = await context.acquire_resource(spec=spec())
        await context.release_resource()
        assert room.ended
        assert await context.acquire_resource(spec=spec(), timeout=LONG_S) is not room

    asyncio.run(run())


def test_from_event_loops_in_several_threads() -> None:
    engine = an_engine()
    served: list[str] = []

    async def use(name: str) -> None:
        context = Context(name, engine=engine)
        await context.acquire_resource(spec=spec(2), timeout=LONG_S)
        await settled()
        served.append(name)
        await context.release_resource()

    async def many(thread: int) -> None:
        await asyncio.gather(*(use(f"{thread}-{number}") for number in range(25)))

    threads = [threading.Thread(target=lambda n=n: asyncio.run(many(n))) for n in range(4)]  # type: ignore[misc]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG_S)
    assert len(set(served)) == 100


def test_an_id_can_not_hold_two_kinds() -> None:
    async def run() -> None:
        context = Context("r", engine=an_engine())
        await context.acquire_resource(spec=spec(image="one"))
        with pytest.raises(ValueError, match=r"'r' is already the id of room:one.local: give room:two.local an"):
            await context.acquire_resource(spec=spec(image="two"))

    asyncio.run(run())


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"scope": "world"}, ValueError, "scope is 'world': give 'rollout' or 'global'"),
        ({"backend": "moon"}, ValueError, "backend is 'moon': give 'local'"),
        ({"backend": "ray"}, NotImplementedError, "Rollscope does not have AgentFly's backend 'ray': give 'local'"),
        ({"spec": None}, ValueError, "spec is missing: give for instance spec=PythonSandboxSpec"),
        ({"spec": replace(PythonSandboxSpec, category="webshop")}, ValueError, "'webshop' can't be started here"),
    ],
)
def test_what_can_not_be_had_is_said(given: dict[str, object], error: type[Exception], message: str) -> None:
    context = Context("r")
    with pytest.raises(error, match=message):
        asyncio.run(context.acquire_resource(**{"spec": PythonSandboxSpec, **given}))  # type: ignore[arg-type]
    assert not context.rollout_resource_ids


def test_a_context_keeps_what_it_was_given() -> None:
    metadata = {"task": 1}
    context = Context("r", "g", metadata, context_config={"resource_backend": "local"})
    context.metadata["more"] = 2
    assert (context.rollout_id, context.group_id, metadata) == ("r", "g", {"task": 1})
    assert (context.trajectory, context.final_response) == ([], None)
