"""`grade` and `agrade` on worker processes that stay warm: what they cost the caller, and what a lost one costs."""

import asyncio
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from types import FrameType

import pytest

from evaluator import Limits, Task, Verdict, agrade, grade
from evaluator.model import Kind, Rollout
from evaluator.options import Options
from evaluator.sandbox import FaultError
from evaluator.workers import pool
from evaluator.workers.interrupts import Stop
from evaluator.workers.single import grade_one
from tests.waiting import HANG_S, wait_until
from tests.workers.processes import kill, runs_code, workers, zygotes_below

LONG = Limits(wall_s=900, cpu_s=900, total_s=900)
ADD = Task.from_row(
    {
        "task_id": "add",
        "in_outs": {"fn_name": "add", "inputs": [[n, 2] for n in range(10)], "outputs": [n + 2 for n in range(10)]},
    }
)
RIGHT = "def add(a, b): return a + b"
ENDLESS = "import time\ndef add(a, b): time.sleep(600)"


CALLS = 50
MOST_STEPS = 400


def busy() -> bool:
    return any(map(runs_code, zygotes_below()))


def busy_worker() -> int | None:
    return next((worker for worker in workers() if any(map(runs_code, zygotes_below(worker)))), None)


def wait_until_busy() -> None:
    wait_until(busy, "no completion runs")


def test_a_coroutine_takes_no_thread_and_few_steps_of_its_loop() -> None:
    """Each function that is called in the loop's thread is a step: their number is the same on a busy machine."""
    steps = 0

    def count_calls(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal steps
        steps += event in ("call", "c_call")

    async def threads_during(count: int) -> int:
        tasks = [asyncio.ensure_future(agrade(ADD, f"{RIGHT}  # {n}", limits=LONG)) for n in range(count)]
        await asyncio.sleep(0)
        threads = threading.active_count()
        assert [(await each).reward for each in tasks] == [1.0] * count
        return threads

    before = threading.active_count()
    asyncio.run(threads_during(1))  # all modules are loaded
    sys.setprofile(count_calls)
    try:
        assert asyncio.run(threads_during(CALLS)) <= before + 1
    finally:
        sys.setprofile(None)
    assert steps / CALLS <= MOST_STEPS, steps


def test_a_coroutine_that_is_cancelled_ends_at_once_and_its_completion_too() -> None:
    async def run() -> None:
        waiting = asyncio.ensure_future(agrade(ADD, ENDLESS, limits=LONG))
        await asyncio.to_thread(wait_until_busy)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(run())
    wait_until(lambda: not busy(), "the completion runs on")
    assert grade(ADD, RIGHT, limits=LONG).reward == 1.0


@pytest.mark.slow
def test_a_call_that_is_stopped_ends_at_once() -> None:
    stop = Stop()
    rollout = Rollout(task_id="add", sample_id="s", completion=ENDLESS, kind=Kind.FULL)
    with ThreadPoolExecutor(1) as threads:
        job = threads.submit(stop.during, lambda: grade_one(ADD, rollout, Options(limits=LONG)))
        wait_until_busy()
        stop.request()
        with pytest.raises(FaultError):
            job.result(HANG_S)


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_a_retry() -> None:
    slow = "import time\ndef add(a, b):\n    time.sleep(2)\n    return a + b"
    with ThreadPoolExecutor(1) as threads:
        job = threads.submit(grade, ADD, slow, limits=LONG)
        kill([wait_until(busy_worker, "no completion runs")])  # the other one has it next
        assert job.result(HANG_S).reward == 1.0


def test_one_that_is_killed_each_time_is_our_fault() -> None:
    with ThreadPoolExecutor(1) as threads:
        job = threads.submit(grade, ADD, ENDLESS, limits=LONG)
        while not job.done():
            wait_until(lambda: job.done() or busy(), "no completion runs")
            kill(workers())
    assert (job.result().verdict, job.result().reward) == (Verdict.SANDBOX_ERROR, None)
    assert grade(ADD, RIGHT, limits=LONG).reward == 1.0, "the next call has a worker again"


def test_calls_one_after_another_have_one_worker() -> None:
    """Another one would take as much CPU time as the first, and be for nothing: reward processes are short-lived."""
    pool.close()
    assert [grade(ADD, f"{RIGHT}  # {n}", limits=LONG).reward for n in range(3)] == [1.0] * 3
    assert len(workers()) == 1


def test_a_task_that_was_changed_is_another_task() -> None:
    task = Task.from_row({"task_id": "t", "in_outs": {"inputs": ["1"], "outputs": ["1"]}})
    assert grade(task, "print(1)", limits=LONG).reward == 1.0
    task.cases = (task.cases[0].__class__(0, "1", "2"),)
    assert grade(task, "print(1)", limits=LONG).reward == 0.0
    task.limits = {"wall_s": 0.2}
    assert grade(task, "import time\ntime.sleep(600)", limits=LONG).verdict is Verdict.TIME_LIMIT
    task.limits["wall_s"] = 300
    assert grade(task, "import time\ntime.sleep(0.3)\nprint(2)", limits=LONG).reward == 1.0


def test_a_completion_that_is_no_text_is_said_at_once_and_costs_no_other() -> None:
    task = Task.from_row({"task_id": "echo", "in_outs": {"inputs": ["7"], "outputs": ["7"]}})

    async def together() -> list[object]:
        calls = [agrade(task, "print(7)"), agrade(task, None), agrade(task, "print(input())")]  # type: ignore[arg-type]
        return await asyncio.gather(*calls, return_exceptions=True)

    first, error, last = asyncio.run(together())
    assert isinstance(error, TypeError)
    assert str(error) == "the completion of task 'echo' is None: give text"
    assert [getattr(each, "reward", each) for each in (first, last)] == [1.0, 1.0]
