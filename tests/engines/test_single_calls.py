"""`grade` and `agrade` on worker processes that stay warm: what they cost the caller, and what a lost one costs."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from evaluator import Limits, Task, Verdict, agrade, grade
from evaluator.engines.single import grade_one
from evaluator.engines.stop import Stop
from evaluator.graders.bench import Options
from evaluator.model import Kind, Rollout
from evaluator.sandbox import FaultError
from evaluator.stages import measured
from tests.engines.processes import kill, runs_code, set_apart, workers, zygotes_below

LONG = Limits(wall_s=300, cpu_s=300, total_s=300)
ADD = Task.from_row(
    {
        "task_id": "add",
        "in_outs": {"fn_name": "add", "inputs": [[n, 2] for n in range(10)], "outputs": [n + 2 for n in range(10)]},
    }
)
RIGHT = "def add(a, b): return a + b"
ENDLESS = "import time\ndef add(a, b): time.sleep(300)"
SOON_S = 60.0
"""Long before the completion's own limit, also on a busy machine."""
MOST_MS = 0.3


@pytest.fixture(scope="module", autouse=True)
def others_apart() -> None:
    set_apart()


def busy() -> bool:
    return any(map(runs_code, zygotes_below()))


def wait_until_busy() -> None:
    end = time.monotonic() + SOON_S
    while not busy():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_coroutine_takes_no_thread_and_little_time_of_its_loop() -> None:
    async def cost(count: int) -> tuple[float, int]:
        began = time.thread_time()
        tasks = [asyncio.ensure_future(agrade(ADD, f"{RIGHT}  # {n}", limits=LONG)) for n in range(count)]
        await asyncio.sleep(0)
        threads = threading.active_count()
        assert [(await each).reward for each in tasks] == [1.0] * count
        return (time.thread_time() - began) * 1000 / count, threads

    before = threading.active_count()
    rounds = [asyncio.run(cost(100)) for _ in range(3)]
    assert min(ms for ms, _ in rounds) <= MOST_MS
    assert max(threads for _, threads in rounds) <= before + 1


def test_a_coroutine_that_is_cancelled_ends_at_once_and_its_completion_too() -> None:
    async def run() -> float:
        waiting = asyncio.ensure_future(agrade(ADD, ENDLESS, limits=LONG))
        await asyncio.to_thread(wait_until_busy)
        began = time.monotonic()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        return time.monotonic() - began

    assert asyncio.run(run()) < SOON_S
    end = time.monotonic() + SOON_S
    while busy() and time.monotonic() < end:
        time.sleep(0.01)
    assert not busy()
    assert grade(ADD, RIGHT, limits=LONG).reward == 1.0


def test_a_call_that_is_stopped_ends_at_once() -> None:
    stop = Stop()
    rollout = Rollout(task_id="add", sample_id="s", completion=ENDLESS, kind=Kind.FULL)
    with ThreadPoolExecutor(1) as threads:
        job = threads.submit(stop.during, lambda: grade_one(ADD, rollout, Options(limits=LONG)))
        wait_until_busy()
        stop.request()
        with pytest.raises(FaultError):
            job.result(SOON_S)


def test_a_worker_that_is_killed_costs_a_retry() -> None:
    slow = "import time\ndef add(a, b):\n    time.sleep(2)\n    return a + b"
    with ThreadPoolExecutor(1) as threads:
        job = threads.submit(grade, ADD, slow, limits=LONG)
        wait_until_busy()
        kill(workers())
        assert job.result(SOON_S).reward == 1.0


def test_one_that_is_killed_each_time_is_our_fault() -> None:
    with ThreadPoolExecutor(1) as threads:
        job = threads.submit(grade, ADD, ENDLESS, limits=LONG)
        end = time.monotonic() + SOON_S
        while not job.done() and time.monotonic() < end:
            if busy():
                kill(workers())
            time.sleep(0.01)
        found = job.result(SOON_S)
    assert (found.verdict, found.reward) == (Verdict.SANDBOX_ERROR, None)
    assert grade(ADD, RIGHT, limits=LONG).reward == 1.0, "the next call has a worker again"


def test_a_task_that_was_changed_is_another_task() -> None:
    task = Task.from_row({"task_id": "t", "in_outs": {"inputs": ["1"], "outputs": ["1"]}})
    assert grade(task, "print(1)", limits=LONG).reward == 1.0
    task.cases = (task.cases[0].__class__(0, "1", "2"),)
    assert grade(task, "print(1)", limits=LONG).reward == 0.0
    task.limits = {"wall_s": 0.2}
    assert grade(task, "import time\ntime.sleep(5)", limits=LONG).verdict is Verdict.TIME_LIMIT
    task.limits["wall_s"] = 20
    assert grade(task, "import time\ntime.sleep(0.5)\nprint(2)", limits=LONG).reward == 1.0


def test_its_time_is_measured_by_stage() -> None:
    with measured() as spent:
        grade(ADD, RIGHT, limits=LONG)
    assert {"extraction", "run", "compare", "queue"} <= set(spent.seconds)
    assert all(seconds >= 0 for seconds in spent.seconds.values())


def test_a_completion_that_is_no_text_is_said_at_once_and_costs_no_other() -> None:
    task = Task.from_row({"task_id": "echo", "in_outs": {"inputs": ["7"], "outputs": ["7"]}})

    async def together() -> list[object]:
        calls = [agrade(task, "print(7)"), agrade(task, None), agrade(task, "print(input())")]  # type: ignore[arg-type]
        return await asyncio.gather(*calls, return_exceptions=True)

    first, error, last = asyncio.run(together())
    assert isinstance(error, TypeError)
    assert str(error) == "the completion of task 'echo' is None: give text"
    assert [getattr(each, "reward", each) for each in (first, last)] == [1.0, 1.0]
