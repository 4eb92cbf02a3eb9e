"""Many rollouts on this machine's workers: what is yielded, what is given up, and what survives a dead sandbox."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import pytest

from evaluator.engines.local import Graded, grade_all
from evaluator.graders.bench import Options
from evaluator.model import Kind, Limits, Mode, Rollout, Task, TestCase, Verdict
from tests.engines.processes import children, descriptors, kill, sandboxes, set_apart, wait_until_none, zygotes

PATIENT = Limits(wall_s=30, cpu_s=30, total_s=90)
PATIENTLY = Options(limits=PATIENT)


@pytest.fixture(scope="module", autouse=True)
def others_apart() -> None:
    set_apart()


def echo_task(task_id: str = "echo", cases: int = 3, **fields: object) -> Task:
    tests = tuple(TestCase(index, f"{index}\n", f"{index}\n") for index in range(cases))
    return Task(task_id=task_id, mode=Mode.STDIN, cases=tests, **fields)  # type: ignore[arg-type]


def rollout(code: str, number: int = 0, task_id: str = "echo") -> Rollout:
    return Rollout(task_id=task_id, completion=code, sample_id=f"{task_id}#{number}", kind=Kind.FULL)


RIGHT = "print(input())"
WRONG = "print(int(input()) + 1)"
SLOW = "import time\nx = input()\ntime.sleep(0.8)\nprint(x)"


def test_every_rollout_is_graded_once_with_its_row() -> None:
    codes = [f"{RIGHT if number % 2 else WRONG}  # {number}" for number in range(20)]
    rollouts = [rollout(code, number) for number, code in enumerate(codes)]
    graded = sorted(grade_all([echo_task()], rollouts, PATIENTLY, workers=2), key=lambda each: each.row)
    assert [each.row for each in graded] == list(range(20))
    assert [each.rollout for each in graded] == rollouts
    assert [each.grade.sample_id for each in graded] == [each.sample_id for each in rollouts]
    assert [each.grade.reward for each in graded] == [float(number % 2) for number in range(20)]
    assert {each.grade.duplicate_of for each in graded} == {None}


def test_a_slow_completion_delays_no_other() -> None:
    rollouts = [rollout(SLOW, 0), *(rollout(f"{RIGHT}  # {number}", number) for number in range(1, 10))]
    order = [each.row for each in grade_all([echo_task()], rollouts, PATIENTLY, workers=2)]
    assert order.index(0) > 0


def test_the_same_completion_is_graded_once_and_marked() -> None:
    rollouts = [rollout(SLOW, number) for number in range(6)] + [rollout(WRONG, 6), rollout(WRONG, 7)]
    grades = {each.row: each.grade for each in grade_all([echo_task()], rollouts, PATIENTLY, workers=2)}
    assert [grades[row].reward for row in range(8)] == [1.0] * 6 + [0.0] * 2
    assert [grades[row].sample_id for row in range(8)] == [f"echo#{row}" for row in range(8)]
    originals = {grades[row].duplicate_of for row in range(6)} - {None}
    assert len(originals) == 1
    assert sum(grades[row].duplicate_of is None for row in range(6)) == 1
    measured = {grades[row].cases[0].wall_s for row in range(6)}
    assert len(measured) == 1, "one was run, the others have its grade"


def test_rollouts_without_an_id_get_one_that_their_duplicates_point_at() -> None:
    given = [Rollout(task_id="echo", completion=code, kind=Kind.FULL) for code in (SLOW, WRONG, SLOW)]
    given.insert(1, rollout(RIGHT, 99))
    found = {each.row: each for each in grade_all([echo_task()], given, PATIENTLY, workers=1)}
    assert [found[row].grade.sample_id for row in range(4)] == ["echo#0", "echo#99", "echo#2", "echo#3"]
    assert [found[row].grade.duplicate_of for row in range(4)] == [None, None, None, "echo#0"]
    assert [found[row].rollout.sample_id for row in range(4)] == ["echo#0", "echo#99", "echo#2", "echo#3"]
    assert given[0].sample_id == "", "the caller's own is as it was"


def test_the_same_text_for_another_task_is_no_duplicate() -> None:
    tasks = [echo_task("echo"), Task(task_id="ten", mode=Mode.STDIN, cases=(TestCase(0, "1\n", "10\n"),))]
    rollouts = [rollout(RIGHT, 0, "echo"), rollout(RIGHT, 0, "ten")]
    grades = {each.grade.task_id: each.grade for each in grade_all(tasks, rollouts, PATIENTLY, workers=2)}
    assert (grades["echo"].reward, grades["ten"].reward) == (1.0, 0.0)
    assert grades["ten"].duplicate_of is None


def test_a_rollout_of_no_known_task() -> None:
    (unknown, known) = sorted(
        grade_all([echo_task()], [rollout(RIGHT, 0, "nobody's"), rollout(RIGHT)], PATIENTLY),
        key=lambda each: each.row,
    )
    assert (unknown.grade.verdict, unknown.grade.reward) == (Verdict.UNKNOWN, None)
    assert "nobody's" in str(unknown.grade.error_message)
    assert known.grade.passed


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        (Task(task_id="echo", mode=Mode.STDIN), "no test cases"),
        (Task(task_id="echo", mode=Mode.CALL, entry_point="f", cases=(TestCase(0, "{", "1"),)), "not JSON"),
        (echo_task(checker="no-such"), "no-such"),
        (echo_task(checker="value"), "value"),
        (echo_task(grader="no-such"), "no-such"),
        (echo_task(limits={"wall_s": -1.0}), "wall_s"),
        (echo_task(limits={"walls": 1.0}), "walls"),
    ],
)
def test_a_task_that_cannot_be_graded_says_why(task: Task, reason: str) -> None:
    (graded,) = grade_all([task], [rollout(RIGHT)], workers=1)
    assert (graded.grade.verdict, graded.grade.reward) == (Verdict.UNKNOWN, None)
    assert reason in str(graded.grade.error_message)


def test_an_empty_input() -> None:
    assert list(grade_all([echo_task()], [], workers=2)) == []
    assert sandboxes() == []


def test_completions_without_code() -> None:
    (graded,) = grade_all([echo_task()], [Rollout(task_id="echo", completion="", sample_id="a")], workers=1)
    assert (graded.grade.verdict, graded.grade.reward) == (Verdict.NO_CODE, 0.0)
    assert [case.verdict for case in graded.grade.cases] == [Verdict.NOT_RUN] * 3


# ---- limits and skipping


def verdicts(graded: Graded) -> list[Verdict]:
    return [case.verdict for case in graded.grade.cases]


def test_fail_fast_leaves_the_rest() -> None:
    third_is_wrong = "x = int(input())\nprint(x if x != 1 else 'no')"
    (graded,) = grade_all([echo_task(cases=4)], [rollout(third_is_wrong)], Options(limits=PATIENT, fail_fast=True))
    assert verdicts(graded) == [Verdict.PASSED, Verdict.WRONG_ANSWER, Verdict.NOT_RUN, Verdict.NOT_RUN]
    assert (graded.grade.verdict, graded.grade.pass_rate) == (Verdict.WRONG_ANSWER, 0.25)
    (graded,) = grade_all([echo_task(cases=4)], [rollout(third_is_wrong)], PATIENTLY)
    assert graded.grade.pass_rate == 0.75


@pytest.mark.parametrize(("grader", "allowed"), [("tests", 1), ("tests:reward=fraction", 2)])
def test_after_a_time_out_that_decides_or_the_second_the_rest_is_not_run(grader: str, allowed: int) -> None:
    code = "import time\nx = int(input())\nif x in (1, 2): time.sleep(600)\nprint(x)"
    task = echo_task(cases=5, limits={"wall_s": 0.3})
    (graded,) = grade_all([task], [rollout(code)], msgspec.structs.replace(PATIENTLY, grader=grader))
    rest = [Verdict.TIME_LIMIT] * allowed + [Verdict.NOT_RUN] * (4 - allowed)
    assert verdicts(graded) == [Verdict.PASSED, *rest]
    assert (graded.grade.verdict, graded.grade.pass_rate) == (Verdict.TIME_LIMIT, 0.2)


def test_a_tasks_own_limits_win() -> None:
    tasks = [echo_task("short", 1, limits={"wall_s": 0.2}), echo_task("long", 1)]
    rollouts = [rollout(SLOW, 0, "short"), rollout(SLOW, 0, "long")]
    grades = {each.grade.task_id: each.grade for each in grade_all(tasks, rollouts, PATIENTLY)}
    assert (grades["short"].verdict, grades["long"].verdict) == (Verdict.TIME_LIMIT, Verdict.PASSED)
    assert (grades["short"].limits.wall_s, grades["short"].limits.cpu_s) == (0.2, 30)
    assert grades["long"].limits == PATIENT


def test_the_time_of_a_whole_completion() -> None:
    task = echo_task(cases=30, limits={"total_s": 1.0})
    (graded,) = grade_all([task], [rollout(SLOW)], PATIENTLY)
    found = verdicts(graded)
    assert found[0] is Verdict.PASSED
    assert graded.grade.verdict is Verdict.TIME_LIMIT
    assert found[-1] is Verdict.NOT_RUN
    assert found.count(Verdict.PASSED) <= 2


def test_a_process_per_test_case_gives_the_same_grades() -> None:
    codes = [RIGHT, WRONG, "import sys\nprint(sys.stdin.read().strip())", "1 / 0", "def f(:"]
    rollouts = [rollout(code, number) for number, code in enumerate(codes)]
    for isolation in ("completion", "test"):
        graded = grade_all([echo_task()], rollouts, Options(limits=PATIENT, isolation=isolation))  # type: ignore[arg-type]
        found = {each.row: each.grade.verdict for each in graded}
        assert [found[row] for row in range(5)] == [
            Verdict.PASSED, Verdict.WRONG_ANSWER, Verdict.PASSED, Verdict.RUNTIME_ERROR, Verdict.COMPILE_ERROR,
        ]  # fmt: skip


# ---- stopping


def endless(codes: Iterator[str] | None = None) -> Iterator[Rollout]:
    for number in itertools.count():
        yield rollout(f"{RIGHT}  # {number}", number)


def test_no_more_is_read_than_the_workers_need() -> None:
    read = itertools.count()
    source = (each for each in endless() if next(read) >= 0)
    grades = grade_all([echo_task()], source, PATIENTLY, workers=2)
    for _ in range(5):
        next(grades)
    grades.close()  # type: ignore[attr-defined]
    assert next(read) <= 5 + 2 * 64 + 2  # at most so many wait for each worker


def test_a_stop_ends_the_run_soon() -> None:
    stop = threading.Event()
    found = []
    for each in grade_all([echo_task()], endless(), PATIENTLY, workers=2, stop=stop):
        found.append(each)
        if len(found) == 3:
            stop.set()
    assert 3 <= len(found) <= 4
    assert wait_until_none(sandboxes) == []


def test_a_stop_gives_up_what_is_under_way() -> None:
    stop = threading.Event()
    hanging = [rollout(f"import time\ntime.sleep(1000)  # {number}", number) for number in range(4)]
    timer = threading.Timer(0.5, stop.set)
    timer.start()
    assert (
        list(grade_all([echo_task()], hanging, Options(limits=Limits(wall_s=600, total_s=600)), workers=2, stop=stop))
        == []
    )
    assert wait_until_none(sandboxes) == []


def test_a_generator_that_is_closed_leaves_nothing_behind() -> None:
    before = descriptors(), threading.active_count()
    for _ in range(2):
        grades = grade_all([echo_task()], endless(), PATIENTLY, workers=2)
        next(grades)
        assert len(sandboxes()) >= 1
        grades.close()  # type: ignore[attr-defined]
        assert wait_until_none(sandboxes) == []
    assert (descriptors(), threading.active_count()) <= (before[0] + 2, before[1] + 1), "the starter's thread may stay"


def test_an_error_of_the_input_ends_the_run_and_leaves_nothing_behind() -> None:
    def broken() -> Iterator[Rollout]:
        yield rollout(RIGHT)
        raise OSError("the disk has gone")

    with pytest.raises(OSError, match="the disk has gone"):
        list(grade_all([echo_task()], broken(), PATIENTLY, workers=2))
    assert wait_until_none(sandboxes) == []


# ---- sandboxes that die


@contextmanager
def killing(times: int, first: Iterator[Graded]) -> Iterator[Iterator[Graded]]:
    """Takes the first grade, by when all is proved; then kills warm interpreters at work, so often, meanwhile."""
    next(first)
    end = threading.Event()

    def kill_the_busy() -> None:
        killed: set[int] = set()  # each once, though it is still seen while it dies
        while len(killed) < times and not end.is_set():
            busy = [zygote for zygote in zygotes() if zygote not in killed and children(zygote)]
            kill(busy[: times - len(killed)])
            killed.update(busy[: times - len(killed)])

    killer = threading.Thread(target=kill_the_busy, daemon=True)
    killer.start()
    try:
        yield first
    finally:
        end.set()
        killer.join(20)


def test_a_sandbox_that_is_killed_costs_a_retry() -> None:
    rollouts = [rollout(RIGHT), *(rollout(f"{SLOW}  # {number}", number) for number in range(1, 5))]
    with killing(times=1, first=grade_all([echo_task()], rollouts, PATIENTLY, workers=2)) as graded:
        grades = [each.grade for each in graded]
    assert [grade.verdict for grade in grades] == [Verdict.PASSED] * 4
    assert wait_until_none(sandboxes) == []


def test_sandboxes_that_are_killed_again_and_again_are_our_fault() -> None:
    rollouts = [rollout(RIGHT), *(rollout(f"{SLOW}  # {number}", number) for number in range(1, 4))]
    with killing(times=1000, first=grade_all([echo_task()], rollouts, PATIENTLY, workers=1)) as graded:
        grades = [each.grade for each in graded]
    assert [(grade.verdict, grade.reward) for grade in grades] == [(Verdict.SANDBOX_ERROR, None)] * 3
    (after,) = grade_all([echo_task()], [rollout(RIGHT)], PATIENTLY, workers=1)
    assert after.grade.passed


def test_duplicates_of_one_that_could_not_be_graded_are_tried_themselves() -> None:
    rollouts = [rollout(RIGHT), *(rollout(SLOW, number) for number in range(1, 4))]
    with killing(times=2, first=grade_all([echo_task()], rollouts, PATIENTLY, workers=1)) as graded:
        grades = [each.grade for each in graded]
    assert sorted(grade.verdict for grade in grades) == [Verdict.PASSED, Verdict.PASSED, Verdict.SANDBOX_ERROR]
