"""Single calls: one rollout, a few, or a function that needs a sandbox. Warm workers (`pool`) do what runs code.

And which engine a call has.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from evaluator.graders import Bench, GraderError, grader_or_refusal
from evaluator.graders.spec import anchored
from evaluator.model import Grade, Rollout, Task, brief
from evaluator.options import Options, Settings
from evaluator.stages import Stage, measured, measuring
from evaluator.workers.engine import HERE, Engine, EngineError, EngineName, Place
from evaluator.workers.interrupts import shielded, stoppable
from evaluator.workers.pool import Pending, local_pool, pool_at
from evaluator.workers.process_client import local_engine
from evaluator.workers.server.wire import SERVER, is_for_servers
from evaluator.workers.worker import Worker

Result = TypeVar("Result")


def place_of(place: Place, options: Options) -> Place:
    """What was asked for; in place of this machine the servers that `ROLLSCOPE_SERVER` names, if any.

    A grader that is a file, or that asks a model, stays here.
    """
    servers = os.environ.get(SERVER)
    if place == HERE and servers and is_for_servers(options.grader):
        return Place("server", servers)
    return place


def engine_for(name: EngineName, address: str | None, options: Options, workers: int | None) -> Engine:
    """This machine's workers, the machines of the Ray cluster at an address (see `ray_cluster.engine`), or servers.

    Raises `EngineError` if there is no such engine, cluster or address, `MissingExtraError` without Ray.
    """
    name, address = place_of(Place(name, address), options)
    if name == "ray":
        from evaluator.workers.server import ray_cluster  # which imports what few need

        return ray_cluster.engine(address, options, workers)
    if name == "server":
        from evaluator.workers.server import client

        return client.engine(address or "")
    if name != "local":
        raise EngineError(f"engine {name!r} is unknown: give local, ray or server")
    if address is not None:
        raise EngineError("an address is that of a Ray cluster or a server: give --engine ray or server too")
    return local_engine(workers)


def grade_one(task: Task, rollout: Rollout, options: Options, place: Place = HERE) -> Grade:
    """The grade of one rollout; waits while all workers are in use. Safe to call from several threads.

    Raises `SandboxUnavailable` if no sandbox can be started, and whatever the caller's signal handlers raise.
    """
    spent, began = measuring(), time.perf_counter()
    if spent is None or place_of(place, options) != HERE or not grader_or_refusal(task, options.grader).runs_code:
        return grade_together([(task, rollout)], options, place)[0]
    grade, there = in_worker(_measured, task, rollout, options=_anchored(options))
    for stage, seconds in there.items():
        spent.add(stage, seconds)
    spent.add("queue", time.perf_counter() - began - sum(there.values()))
    return grade


def _measured(bench: Bench, task: Task, rollout: Rollout) -> tuple[Grade, dict[Stage, float]]:
    """With the seconds by stage."""
    with measured() as spent:
        return Worker(bench.options, sandbox=bench.sandbox, alone=bench.alone).grade(task, rollout), spent.seconds


async def agrade_one(task: Task, rollout: Rollout, options: Options, place: Place = HERE) -> Grade:
    """As `grade_one`, without a thread for it if its grader runs code. One that is cancelled is given up."""
    import asyncio  # a third of what importing this package would cost

    if not grader_or_refusal(task, options.grader).runs_code:
        return await asyncio.to_thread(Worker(options).grade, task, rollout)
    return await _call(task, rollout, options, place).awaited()


def grade_together(pairs: Sequence[tuple[Task, Rollout]], options: Options, place: Place = HERE) -> list[Grade]:
    """The grades of many rollouts, in their order, as many at once as there are workers. Raises as `grade_one`."""
    return shielded(lambda: _grade_together(pairs, options, place))


def _grade_together(pairs: Sequence[tuple[Task, Rollout]], options: Options, place: Place) -> list[Grade]:
    calls: list[Pending[Grade] | None] = []
    with _given_up_on_error(calls):
        for task, rollout in pairs:
            runs_code = grader_or_refusal(task, options.grader).runs_code
            calls.append(_call(task, rollout, options, place) if runs_code else None)
        return [
            Worker(options).grade(*pair) if call is None else call.result()
            for pair, call in zip(pairs, calls, strict=True)
        ]


async def agrade_together(pairs: Sequence[tuple[Task, Rollout]], options: Options) -> list[Grade]:
    """As `grade_together`, without a thread. If it is cancelled, or one of them raises, the others are given up."""
    import asyncio

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(agrade_one(*pair, options)) for pair in pairs]
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]


def in_worker(function: Callable[..., Result], *arguments: object, options: Options | None = None) -> Result:
    """What `function(bench, *arguments)` returns or raises in a warm worker process.

    The function is a module's own, and calls nothing that its caller changed; arguments and result can be pickled.
    After a fault of the sandbox it is called once more. Raises `FaultError` after a second one, `SandboxUnavailable` if
    there is no sandbox, and whatever the caller's signal handlers raise.
    """

    def called() -> Result:
        options_ = options or Options()
        call = local_pool(options_).call(function, arguments, options_)
        with _given_up_on_error([call]):
            return call.result()

    return shielded(called)


def warm_up(settings: Settings | None = None) -> None:
    """Starts a worker, so that callers fail early. Raises `SandboxUnavailable` if there can't be a sandbox."""
    local_pool(Options(sandbox=settings or Settings())).warm_up().result()


async def awarm_up() -> None:
    """As `warm_up`, without a thread; waits while all workers are in use."""
    await local_pool(Options()).warm_up().awaited()


@contextmanager
def _given_up_on_error(calls: Sequence[Pending[Any] | None]) -> Iterator[None]:
    """Inside, stopping this thread's work ends these calls, and so does an error."""

    def abort() -> None:
        for call in calls:
            if call is not None:
                call.abort()

    try:
        with stoppable(abort):
            yield
    except BaseException:
        abort()
        raise


def _call(task: Task, rollout: Rollout, options: Options, place: Place) -> Pending[Grade]:
    if not isinstance(rollout.completion, str):
        raise TypeError(f"the completion of task {task.task_id!r} is {brief(rollout.completion)}: give text")
    options = _anchored(options)
    place = place_of(place, options)
    return pool_at(place, options, lambda: engine_for(*place, options, None)).grade(task, rollout, options)


def _anchored(options: Options) -> Options:
    """With full paths: a worker process stays in the folder in which it was started."""
    if options.grader is None or ".py:" not in options.grader:
        return options
    try:
        return msgspec.structs.replace(options, grader=anchored(options.grader, Path.cwd()))
    except GraderError:  # which the grade says
        return options
