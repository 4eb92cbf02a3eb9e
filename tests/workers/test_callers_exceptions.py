"""What a caller's signal handler raises is the caller's: it comes out at once, and the sandbox can be used again."""

import itertools
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

import pytest

from evaluator import Limits, grade, grade_all
from evaluator.model import Kind, Mode, Rollout, Task, TestCase
from evaluator.workers import pool as worker_processes

LONG = Limits(wall_s=900, cpu_s=900, total_s=900)
ENDLESS = "while True: pass"
TASK = Task(task_id="a", mode=Mode.STDIN, cases=(TestCase(0, "1", "1"),))


@contextmanager
def alarm(error: BaseException, seconds: float) -> Iterator[None]:
    """Raises `error` in the main thread after so many seconds."""

    def raised(*_: object) -> None:
        raise error

    before = signal.signal(signal.SIGALRM, raised)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def graded() -> object:
    return grade(TASK, ENDLESS, limits=LONG, kind=Kind.FULL)


def graded_well() -> None:
    assert grade(TASK, "print(input())", kind=Kind.FULL).reward == 1.0


def graded_in_a_stream() -> object:
    return list(grade_all([TASK], [Rollout(task_id="a", completion=ENDLESS, kind=Kind.FULL)], limits=LONG, workers=1))


@pytest.mark.parametrize(
    ("work", "error"),
    [
        (graded, OSError(5, "said by the caller")),
        pytest.param(graded, EOFError(), marks=pytest.mark.slow),
        pytest.param(graded_in_a_stream, TimeoutError("out of patience"), marks=pytest.mark.slow),
    ],
)
def test_it_comes_out_of_whatever_runs_code(work: Callable[[], object], error: Exception) -> None:
    graded_well()  # the sandbox is warm
    with pytest.raises(type(error)) as raised, alarm(error, 0.3):
        work()
    assert raised.value is error
    graded_well()


@pytest.mark.parametrize(
    "between", [graded_well, pytest.param(worker_processes.close, marks=pytest.mark.slow)], ids=["warm", "cold"]
)
def test_at_whatever_step_it_comes_nothing_else_comes_out(between: Callable[[], None]) -> None:
    """At each step where a handler can run: after a call of a function of C, and where one of Python begins."""
    for step in itertools.count():
        between()
        if not raised_at(step, TimeoutError("now"), graded_well):
            break
    assert step > 10


def raised_at(step: int, error: BaseException, work: Callable[[], None]) -> bool:
    """Raises `error` in this thread at such a step of the work. Returns whether there was such a step."""
    left = step

    def profile(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal left
        left -= event in ("call", "c_return")
        if left < 0:
            sys.setprofile(None)
            raise error

    with suppress(type(error)):
        sys.setprofile(profile)
        work()
        sys.setprofile(None)  # here, before the next step of this thread
    return left < 0  # also if nothing came out: Python drops what is raised in a finalizer
