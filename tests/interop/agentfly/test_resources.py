"""Contexts and the engine behind them: who holds what, who waits, and that nothing is lost on the way."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from evaluator.interop.agentfly import AcquireTimeout, Context, PythonSandboxSpec, ResourceEngine
from evaluator.interop.agentfly.environment import ContainerResourceSpec
from tests.waiting import HANG_S

pytestmark = pytest.mark.asyncio


class Room:
    """A resource that notes what is done with it."""

    def __init__(self, resource_id: str, spec: ContainerResourceSpec) -> None:
        self.made_for = resource_id
        self.resets = 0
        self.ended = False

    async def start(self) -> None:
        return

    async def reset(self) -> None:
        self.resets += 1

    async def end(self) -> None:
        self.ended = True


def spec(most: int | None = 1, image: str = "one") -> ContainerResourceSpec:
    return replace(PythonSandboxSpec, category="room", image=image, max_global_num=most)


def contexts(*names: str, of: type[Room] = Room) -> list[Context]:
    """With one engine."""
    engine = ResourceEngine({"room": of})
    return [Context(name, engine=engine) for name in names]


async def acquired(context: Context, most: int = 1) -> Any:
    return await context.acquire_resource(spec=spec(most), timeout=HANG_S)


async def settled() -> None:
    """All tasks have gone as far as they can."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_rollout_has_the_same_resource_whatever_the_scope() -> None:
    async with contexts("r")[0] as context:
        first = await context.acquire_resource(spec=spec())
        assert (context.last_acquire_was_first, context.rollout_resource_ids) == (True, ["r"])
        assert await context.acquire_resource(spec=spec(), scope="global", backend="local") is first
        assert (context.last_acquire_was_first, context.global_resource_ids) == (False, {"r"})
        other = await context.acquire_resource(id="another", spec=spec(2), timeout=HANG_S)
        assert other is not first
        assert context.rollout_resource_ids == ["r", "another"]
    assert first.ended
    assert other.ended


async def test_what_is_released_is_reset_and_lent_again_and_what_is_ended_is_not() -> None:
    one, two = contexts("one", "two")
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


async def test_no_more_than_the_greatest_number_and_first_come_first_served() -> None:
    order: list[str] = []
    most, now = 0, 0

    async def use(context: Context) -> None:
        nonlocal most, now
        await acquired(context, 3)
        order.append(context.rollout_id)
        now += 1
        most = max(most, now)
        await settled()
        now -= 1
        await (context.release_resource() if len(order) % 2 else context.end_resource())

    names = [str(number) for number in range(50)]
    await asyncio.gather(*map(use, contexts(*names)))
    assert (order, most) == (names, 3)


async def test_who_waits_too_long_is_told_and_loses_nothing() -> None:
    holder, late, patient = contexts("holder", "late", "patient")
    room = await acquired(holder)
    with pytest.raises(AcquireTimeout, match=r"no room:one.local came free in time: 1 may exist at once"):
        await late.acquire_resource(spec=spec(), timeout=0.01)
    assert late.rollout_resource_ids == []
    waiting = asyncio.create_task(acquired(patient))
    await settled()
    await holder.release_resource()
    assert await waiting is room


@pytest.mark.parametrize("how", ["released", "ended"])
async def test_who_is_cancelled_just_when_it_is_served_passes_it_on(how: str) -> None:
    holder, gone, patient = contexts("holder", "gone", "patient")
    await acquired(holder)
    leaving, waiting = asyncio.create_task(acquired(gone)), asyncio.create_task(acquired(patient))
    await settled()
    await (holder.release_resource() if how == "released" else holder.end_resource())
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    assert await waiting is not None
    assert (gone.rollout_resource_ids, patient.rollout_resource_ids) == ([], ["patient"])


async def test_a_resource_that_can_not_be_started_leaves_its_place_to_the_next() -> None:
    first_fails = asyncio.Event()

    class Broken(Room):
        async def start(self) -> None:
            if self.made_for == "unlucky":
                await first_fails.wait()
                raise OSError("no room")

    unlucky, lucky = contexts("unlucky", "lucky", of=Broken)
    failing, waiting = asyncio.create_task(acquired(unlucky)), asyncio.create_task(acquired(lucky))
    await settled()
    first_fails.set()
    with pytest.raises(OSError, match="no room"):
        await failing
    assert (await waiting).made_for == "lucky"


async def test_the_same_id_waits_for_the_one_that_is_being_started_which_takes_too_long_for_others() -> None:
    ready = asyncio.Event()

    class Slow(Room):
        async def start(self) -> None:
            if self.made_for.startswith("same"):
                await ready.wait()

    other, later, *same = contexts("other", "later", *["same"] * 5, of=Slow)
    free = await acquired(other, 2)
    calls = [asyncio.create_task(acquired(each, 2)) for each in same]
    await settled()
    await other.release_resource()
    await settled()
    ready.set()
    assert {room.made_for for room in await asyncio.gather(*calls)} == {"same"}
    assert await acquired(later, 2) is free
    ready.clear()
    (impatient,) = contexts("same, but impatient", of=Slow)
    with pytest.raises(AcquireTimeout, match="did not start in time"):
        await impatient.acquire_resource(spec=spec(), timeout=0.01)


async def test_what_can_not_be_reset_is_ended_and_another_is_started() -> None:
    class Stuck(Room):
        async def reset(self) -> None:
            raise OSError("stuck")

    (context,) = contexts("r", of=Stuck)
    room = await acquired(context)
    await context.release_resource()
    assert room.ended
    assert await acquired(context) is not room


async def test_from_event_loops_in_several_threads() -> None:
    served: list[str] = []

    async def use(context: Context) -> None:
        await acquired(context, 2)
        await settled()
        served.append(context.rollout_id)
        await context.release_resource()

    async def many(some: list[Context]) -> None:
        await asyncio.gather(*map(use, some))

    all_of_them = contexts(*map(str, range(100)))
    await asyncio.gather(*(asyncio.to_thread(asyncio.run, many(all_of_them[n::4])) for n in range(4)))
    assert len(set(served)) == 100


async def test_pools_are_apart_by_image_and_an_id_can_not_hold_two_kinds() -> None:
    (context,) = contexts("r")
    rooms = [await context.acquire_resource(id=image, spec=spec(image=image), timeout=HANG_S) for image in ("one", "b")]
    assert rooms[0] is not rooms[1]
    with pytest.raises(ValueError, match=r"'one' is already the id of room:one.local: give room:two.local an"):
        await context.acquire_resource(id="one", spec=spec(image="two"))


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
async def test_what_can_not_be_had_is_said(given: dict[str, object], error: type[Exception], message: str) -> None:
    context = Context("r")
    with pytest.raises(error, match=message):
        await context.acquire_resource(**{"spec": PythonSandboxSpec, **given})  # type: ignore[arg-type]
    assert not context.rollout_resource_ids


async def test_a_context_keeps_what_it_was_given() -> None:
    metadata = {"task": 1}
    context = Context("r", "g", metadata, context_config={"resource_backend": "local"})
    context.metadata["more"] = 2
    assert (context.rollout_id, context.group_id, metadata) == ("r", "g", {"task": 1})
    assert (context.trajectory, context.final_response) == ([], None)
