"""The stopwatch of a grading. The clock is one that the test turns."""

import contextlib
import threading

import pytest

from evaluator import Task, grade, stages
from evaluator.stages import measured, stage

CALL = {"inputs": ["1\n2", "2\n2"], "outputs": ["3.0", "4"], "fn_name": "add"}
CHECK = "def check(candidate):\n    assert candidate(1, 2) == 3\n"
RIGHT = "def add(a, b):\n    return a + b\n"


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def passes(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(stages.time, "perf_counter", lambda: clock.now)
    return clock


def test_a_stage_within_another_is_not_counted_twice(clock: Clock) -> None:
    with measured() as spent:
        clock.passes(64)
        with stage("run"):
            clock.passes(1)
            with stage("queue"):
                clock.passes(2)
                with stage("compare"):
                    clock.passes(4)
            clock.passes(8)
            with stage("compare"):
                clock.passes(16)
        with stage("run"):
            clock.passes(32)
    assert spent.seconds == {"compare": 20, "queue": 2, "run": 41}


def test_a_stage_that_fails_is_counted_and_ends(clock: Clock) -> None:
    with measured() as spent:
        with contextlib.suppress(KeyError), stage("run"), stage("judge"):
            clock.passes(1)
            raise KeyError
        with stage("extraction"):
            clock.passes(2)
    assert spent.seconds == {"run": 0, "judge": 1, "extraction": 2}


def test_seconds_from_elsewhere_are_added(clock: Clock) -> None:
    with measured() as spent, stage("queue"):
        clock.passes(1)
    spent.add("queue", 2.5)
    assert spent.seconds == {"queue": 3.5}


def test_who_measures_sees_nothing_of_other_threads(clock: Clock) -> None:
    def work() -> None:
        with measured() as spent, stage("run"):
            clock.passes(4)
        found.append(spent.seconds)
        with stage("run"):
            clock.passes(8)

    found: list[object] = []
    with measured() as outer:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        with stage("compare"):
            clock.passes(1)
    with stage("compare"):
        clock.passes(1)
    assert found == [{"run": 4}]
    assert outer.seconds == {"compare": 1}


@pytest.mark.parametrize(
    ("row", "completion", "entered"),
    [
        ({"mode": "call", "in_outs": CALL}, RIGHT, {"extraction", "queue", "sandbox start", "run", "compare"}),
        (
            {"mode": "assert", "entry_point": "add", "test": CHECK},
            RIGHT,
            {"extraction", "queue", "sandbox start", "run"},  # an answer as expected, to the letter, is not compared
        ),
        ({"grader": "exact_match", "answer": "4"}, "4", {"extraction", "compare"}),
        ({"grader": "structured", "answer": {"required": ["a"]}}, '{"a": 1}', {"extraction", "compare"}),
    ],
    ids=["answers", "check", "exact_match", "structured"],
)
def test_a_grading_tells_its_stages(row: dict[str, object], completion: str, entered: set[str]) -> None:
    with measured() as spent:
        result = grade(Task.from_row({"task_id": "t", **row}), completion)
    assert result.passed, result.error_message
    assert set(spent.seconds) == entered
    assert all(seconds >= 0 for seconds in spent.seconds.values())
