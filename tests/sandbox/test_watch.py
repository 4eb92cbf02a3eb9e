"""What of a run's time counts, and when it is up: the accounting, from given numbers and with a driven clock."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evaluator.model import Limits
from evaluator.sandbox import Status
from evaluator.sandbox.host.limits import starvation, watch
from evaluator.sandbox.host.limits.starvation import Priority, Starvation
from evaluator.sandbox.host.limits.watch import LimitExceeded, LimitWatch, counted_s
from tests.waiting import wait_until

ORDINARY = Priority(0, 0)


def test_the_first_tenth_of_a_second_of_compiling_is_free() -> None:
    assert [counted_s(compiled_s) for compiled_s in (0.0, 0.07, 0.1)] == [0, 0, 0]
    assert counted_s(0.6) == pytest.approx(0.5)


class Threads:
    """The kernel's records of a process's threads and of our own, as files."""

    def __init__(self, folder: Path) -> None:
        self.ours, self.process = folder / "ours", folder / "77"
        self.wait(self.ours, 0)
        self.set(77, waited_s=0)

    def set(self, number: int, *, waited_s: float, state: str = "R", niceness: int = 0) -> None:
        folder = self.process if number == 77 else self.process / "task" / str(number)
        (self.process / "task" / str(number)).mkdir(parents=True, exist_ok=True)
        fields = [state, *"0" * 15, str(niceness), *"0" * 25]
        (folder / "stat").write_text(f"{number} (python (3)) {' '.join(fields)}")
        self.wait(folder, waited_s)

    def wait(self, folder: Path, waited_s: float) -> None:
        folder.mkdir(exist_ok=True)
        (folder / "schedstat").write_text(f"1 {round(waited_s * 1e9)} 1")


@pytest.fixture
def threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Threads:
    made = Threads(tmp_path)
    monkeypatch.setattr(starvation, "_OURS", str(made.ours))
    return made


@pytest.fixture
def starved(threads: Threads) -> Starvation:
    return Starvation([str(threads.process)], ORDINARY)


def look(starved: Starvation, threads: Threads, elapsed_s: float, cpu_s: float) -> tuple[float, float]:
    starved.look([str(threads.process)], elapsed_s, cpu_s)
    return round(starved.seconds, 6), round(starved.unfinished_s, 6)


def test_waits_for_a_cpu_add_up(threads: Threads, starved: Starvation) -> None:
    threads.set(77, waited_s=0.7)
    assert look(starved, threads, 1.0, 0.3) == (0.7, 0)
    threads.set(77, waited_s=1.2)
    assert look(starved, threads, 2.0, 0.8) == (1.2, 0)


def test_at_most_the_time_in_which_no_thread_ran_is_a_wait(threads: Threads, starved: Starvation) -> None:
    for number in (77, 78, 79):
        threads.set(number, waited_s=0.8)
    assert look(starved, threads, 1.0, 0.6) == (0.4, 0)


def test_threads_that_wait_for_each_other_leave_out_half_of_the_time_at_most(
    threads: Threads, starved: Starvation
) -> None:
    for second in range(1, 5):
        for number in range(78, 98):
            threads.set(number, waited_s=second * 0.2, state="R" if second % 2 else "S")
        assert look(starved, threads, second, second * 0.1)[0] <= second / 2


def test_our_own_wait_is_one_of_the_process_that_waits_for_us(threads: Threads, starved: Starvation) -> None:
    threads.set(77, waited_s=0, state="S")
    threads.wait(threads.ours, 0.25)
    assert look(starved, threads, 1.0, 0.1) == (0.25, 0)


def test_a_process_that_sleeps_does_not_wait(threads: Threads, starved: Starvation) -> None:
    threads.set(77, waited_s=0, state="S")
    assert look(starved, threads, 5.0, 0.0) == (0, 0)
    threads.set(77, waited_s=3.0)
    assert look(starved, threads, 5.5, 0.1) == (0.4, 0), "no more than since it slept"


def test_one_that_lowers_its_priority_waits_by_its_own_choice(threads: Threads, starved: Starvation) -> None:
    threads.set(77, waited_s=0.5)
    assert look(starved, threads, 1.0, 0.5) == (0.5, 0)
    threads.set(77, waited_s=1.5, niceness=19)
    assert look(starved, threads, 2.0, 0.5) == (0.5, 0)
    threads.set(77, waited_s=2.5)
    assert look(starved, threads, 3.0, 0.5) == (0.5, 0), "also afterwards"


def test_a_wait_that_has_not_ended_is_known_to_be_possible(threads: Threads, starved: Starvation) -> None:
    assert look(starved, threads, 1.0, 0.0) == (0, 1.0)
    assert look(starved, threads, 2.0, 0.0) == (0, 2.0)
    threads.set(77, waited_s=2.4)
    assert look(starved, threads, 2.5, 0.1) == (2.4, 0)
    assert look(starved, threads, 3.5, 0.2) == (2.4, 0.9), "it has run since, so this wait has just begun"


# ---- the limits of a run


class Clock:
    """In place of the module `time`: the time and the CPU time of the process."""

    def __init__(self) -> None:
        self.now = self.cpu = 0.0

    def monotonic(self) -> float:
        return self.now

    def clock_gettime(self, _: int) -> float:
        return self.cpu


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(watch, "time", made)
    return made


@pytest.fixture(scope="module")
def asleep() -> Iterator[int]:
    """A process that sleeps."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as made:
        stat = Path(f"/proc/{made.pid}/stat")
        wait_until(lambda: stat.read_text().startswith(f"{made.pid} (cat) S"), "it does not read")
        yield made.pid
        made.communicate()


@pytest.fixture(scope="module")
def busy() -> Iterator[int]:
    """A process that could always run."""
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as made:
        yield made.pid
        made.kill()


Watching = Callable[..., LimitWatch]


@pytest.fixture
def watching() -> Iterator[Watching]:
    """`watching(process, limits, wall_s)`"""
    ours = os.memfd_create("ours")

    def made(process: int, limits: Limits, wall_s: float, priority: Priority | None = ORDINARY) -> LimitWatch:
        has = {"descriptors": (ours,), "folder": None, "memory": None, "refusals": None}
        child: Any = SimpleNamespace(number=process, priority=priority, **has)
        return LimitWatch(child, limits, wall_s)

    yield made
    os.close(ours)


def exceeded(watched: LimitWatch) -> tuple[str, str]:
    with pytest.raises(LimitExceeded) as passed:
        watched.patience_ms()
    assert passed.value.status is Status.TIME
    return passed.value.message, passed.value.doubt


def test_a_sleeping_process_is_late_after_its_wall_time(clock: Clock, watching: Watching, asleep: int) -> None:
    watched = watching(asleep, Limits(wall_s=2), 2)
    clock.now = 1.9
    assert watched.patience_ms() == pytest.approx(100)
    clock.now = 15.0
    assert exceeded(watched) == ("2 s of wall time (limits.wall_s)", "")


def test_cpu_time_is_a_limit(clock: Clock, watching: Watching, busy: int) -> None:
    clock.cpu = 5.0
    watched = watching(busy, Limits(wall_s=2, cpu_s=1), 2)
    clock.now, clock.cpu = 0.5, 5.9
    assert watched.patience_ms() > 0
    clock.now, clock.cpu = 1.5, 6.5
    assert exceeded(watched) == ("1.50 s of CPU time (limits.cpu_s is 1)", "")


def test_one_that_may_still_wait_for_a_cpu_has_ten_times_its_time(clock: Clock, watching: Watching, busy: int) -> None:
    watched = watching(busy, Limits(wall_s=100, cpu_s=100), 100)
    clock.now = 999.0
    assert watched.patience_ms() > 0
    clock.now = 1001.0
    message, doubt = exceeded(watched)
    assert message.endswith("of them waiting for a CPU: the machine is too busy; use fewer workers")
    assert doubt == "starved"


def test_a_time_out_is_in_doubt_where_the_kernel_counts_no_waits(clock: Clock, watching: Watching, asleep: int) -> None:
    watched = watching(asleep, Limits(wall_s=2), 2, priority=None)
    clock.now = 2.1
    message, doubt = exceeded(watched)
    assert "this machine does not show if a program sleeps or waits for a CPU" in message
    assert doubt == "unknown"


def test_the_time_of_another_on_the_same_core_is_left_out_once(clock: Clock, watching: Watching, asleep: int) -> None:
    """They wait for each other there: the two overlap. At least its own CPU time is its own, and never less than 0."""
    watched = watching(asleep, Limits(), 30, None)
    clock.now, clock.cpu = 10.0, 3.0
    watched.look()
    watched.exclude(6)
    assert watched.wall_s() == 4
    watched.exclude(9.5)
    assert watched.wall_s() == 3
    watched.exclude(1000)
    assert watched.wall_s() == 3
    assert watched.patience_ms() > 0
