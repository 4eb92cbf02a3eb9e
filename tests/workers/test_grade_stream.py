"""Many rollouts on this machine's workers: what is yielded, what is given up, and what survives a dead sandbox."""

import itertools
import threading
from collections.abc import Iterator

import pytest

from evaluator.model import Kind, Limits, Mode, Rollout, Task, TestCase, Verdict
from evaluator.options import Options
from evaluator.workers.grade_stream import grade_all
from tests.workers.processes import (
    WAITING,
    busy_zygotes,
    descriptors,
    killing,
    runs_code,
    sandboxes,
    tell,
    wait_until_none,
    waiting,
    zygotes_below,
)
from tests.workers.test_worker import PATIENT, RIGHT, SLEEPS, WRONG, echo_task

LONG = Limits(wall_s=900, cpu_s=900, total_s=900)
PATIENTLY = Options(limits=PATIENT)


def rollout(code: str, number: int = 0, task_id: str = "echo") -> Rollout:
    return Rollout(task_id=task_id, completion=code, sample_id=f"{task_id}#{number}", kind=Kind.FULL)


def test_every_rollout_is_graded_once_with_its_row() -> None:
    tasks = [echo_task(), Task(task_id="ten", mode=Mode.STDIN, cases=(TestCase(0, "1\n", "10\n"),))]
    codes = [f"{RIGHT if number % 2 else WRONG}  # {number}" for number in range(20)]
    rollouts = [rollout(code, number) for number, code in enumerate(codes)]
    rollouts.append(rollout(codes[1], 1, "ten"))  # the same text for another task is no duplicate
    found = sorted(grade_all(tasks, rollouts, PATIENTLY, workers=2), key=lambda each: each.row)
    assert [each.row for each in found] == list(range(21))
    assert [each.rollout for each in found] == rollouts
    assert [each.grade.sample_id for each in found] == [each.sample_id for each in rollouts]
    assert [each.grade.reward for each in found] == [*(float(number % 2) for number in range(20)), 0.0]
    assert {each.grade.duplicate_of for each in found} == {None}


def test_equal_completions_are_graded_once_and_marked() -> None:
    rollouts = [rollout(f"{RIGHT if n % 5 else WRONG}  # {n % 5}", n) for n in range(100)]
    grades = {each.row: each.grade for each in grade_all([echo_task()], rollouts, PATIENTLY, workers=2)}
    assert [(grades[n].sample_id, grades[n].reward) for n in range(100)] == [
        (f"echo#{n}", float(n % 5 > 0)) for n in range(100)
    ]
    for kind in range(5):
        equal = [grades[n] for n in range(kind, 100, 5)]
        [original] = [grade for grade in equal if grade.duplicate_of is None]
        assert {grade.duplicate_of for grade in equal} == {None, original.sample_id}
        assert len({grade.cases[0].wall_s for grade in equal}) == 1, "one was run, the others have its grade"


def test_rollouts_without_an_id_get_one_that_their_duplicates_point_at() -> None:
    given = [Rollout(task_id="echo", completion=code, kind=Kind.FULL) for code in (RIGHT, WRONG, RIGHT)]
    given.insert(1, rollout(f"{RIGHT} ", 99))
    found = {each.row: each for each in grade_all([echo_task()], given, PATIENTLY, workers=1)}
    assert [found[row].grade.sample_id for row in range(4)] == ["echo#0", "echo#99", "echo#2", "echo#3"]
    assert [found[row].grade.duplicate_of for row in range(4)] == [None, None, None, "echo#0"]
    assert [found[row].rollout.sample_id for row in range(4)] == ["echo#0", "echo#99", "echo#2", "echo#3"]
    assert given[0].sample_id == "", "the caller's own is as it was"


# ---- stopping


def endless() -> Iterator[Rollout]:
    for number in itertools.count():
        yield rollout(f"{RIGHT}  # {number}", number)


def test_a_stop_ends_the_run_soon_and_no_more_was_read_than_the_workers_need() -> None:
    read = itertools.count()
    source = (each for each in endless() if next(read) >= 0)
    stop = threading.Event()
    found = []
    for each in grade_all([echo_task()], source, PATIENTLY, workers=2, stop=stop):
        found.append(each)
        if len(found) == 5:
            stop.set()
    assert 5 <= len(found) <= 6
    assert next(read) <= 6 + 2 * 64 + 2  # at most so many wait for each worker
    wait_until_none(sandboxes)


def test_a_stop_gives_up_what_is_under_way() -> None:
    stop = threading.Event()
    hanging = [rollout(f"{SLEEPS.format(600)}  # {number}", number) for number in range(4)]

    def stop_once_they_run() -> None:
        if any(map(runs_code, zygotes_below())):
            stop.set()

    options = Options(limits=Limits(wall_s=900, total_s=900))
    assert list(grade_all([echo_task()], hanging, options, workers=2, stop=stop, on_wait=stop_once_they_run)) == []
    wait_until_none(sandboxes)


@pytest.mark.slow
def test_a_generator_that_is_closed_leaves_nothing_behind() -> None:
    before = descriptors(), threading.active_count()
    found = grade_all([echo_task()], endless(), PATIENTLY, workers=2)
    next(found)
    assert len(sandboxes()) >= 1
    found.close()  # type: ignore[attr-defined]
    wait_until_none(sandboxes)
    assert (descriptors(), threading.active_count()) <= (before[0] + 2, before[1] + 1), "the starter's thread may stay"


def test_an_error_of_the_input_ends_the_run_and_leaves_nothing_behind() -> None:
    def broken() -> Iterator[Rollout]:
        yield rollout(RIGHT)
        raise OSError("the disk has gone")

    with pytest.raises(OSError, match="the disk has gone"):
        list(grade_all([echo_task()], broken(), PATIENTLY, workers=2))
    wait_until_none(sandboxes)


# ---- sandboxes that die


@pytest.mark.slow
def test_duplicates_of_one_that_could_not_be_graded_are_tried_themselves() -> None:
    given = [rollout(RIGHT), *(rollout(f"{WAITING}print(input())", number) for number in range(1, 4))]
    found = grade_all([echo_task(cases=1)], given, Options(limits=LONG), workers=1)
    next(found)  # all is proved
    with killing(lambda: busy_zygotes() if waiting() else [], 2, then=tell):
        grades = [each.grade for each in found]
    wait_until_none(sandboxes)
    assert sorted(grade.verdict for grade in grades) == [Verdict.PASSED, Verdict.PASSED, Verdict.SANDBOX_ERROR]
