"""Worker processes: what is in them, what happens when one dies, and that nothing of them is left."""

from collections import Counter
from pathlib import Path

import pytest

from evaluator.model import Kind, Limits, Mode, Rollout, Task, TestCase, Verdict
from evaluator.options import Options
from evaluator.workers import dispatcher
from evaluator.workers.grade_stream import grade_all
from evaluator.workers.messages import Frames, Job, ToWorker, Work, framed
from tests.workers.processes import kill, wait_until_none, workers

ROOT = Path(__file__).resolve().parents[2]
PATIENTLY = Options(limits=Limits(wall_s=900, cpu_s=60, total_s=900))
LARGE = ("pyarrow", "duckdb", "pandas", "numpy", "streamlit")


def echo(name: str = "echo", text: str = "1") -> Task:
    return Task(task_id=name, mode=Mode.STDIN, cases=(TestCase(0, text, text),))


def rollouts(count: int, code: str = "print(input())", task: str = "echo") -> list[Rollout]:
    return [Rollout(task_id=task, completion=f"{code}  # {n}", sample_id=str(n), kind=Kind.FULL) for n in range(count)]


def test_a_worker_is_small_and_one_that_is_killed_loses_and_doubles_no_grade() -> None:
    found: Counter[tuple[str, float | None]] = Counter()
    for number, each in enumerate(grade_all([echo()], rollouts(60), PATIENTLY, workers=2)):
        found[each.grade.sample_id, each.grade.reward] += 1
        if number == 10:
            running = workers()
            for worker in running:
                maps = Path(f"/proc/{worker}/maps").read_text()
                assert [name for name in LARGE if f"/{name}" in maps] == []
            kill(running[:1])
    assert found == Counter((str(n), 1.0) for n in range(60))
    wait_until_none(workers)


DEADLY = """
import os, signal
from evaluator.graders.tests import grade


def judge(task, rollout, bench):
    if "deadly" in rollout.completion:
        os.kill(os.getpid(), signal.SIGKILL)
    return grade(task, rollout, bench)
"""


@pytest.mark.slow
def test_what_ends_its_worker_twice_is_our_fault_and_costs_no_other_its_grade(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(DEADLY)
    given = rollouts(12)
    given[5].completion += " deadly"
    options = Options(limits=PATIENTLY.limits, grader=f"{tmp_path}/own.py:judge")
    found = {each.row: each.grade for each in grade_all([echo()], given, options, workers=2)}
    assert len(found) == 12
    assert (found[5].verdict, found[5].reward) == (Verdict.SANDBOX_ERROR, None)
    assert "killed by signal 9" in str(found[5].error_message)
    assert {grade.reward for row, grade in found.items() if row != 5} == {1.0}


@pytest.mark.slow
def test_what_waits_behind_a_slow_completion_is_graded_by_another_worker() -> None:
    """By then a worker has many at once."""
    given = rollouts(150)
    given[100].completion = "import time\ntime.sleep(600)\nprint(input())"
    graded = grade_all([echo()], given, PATIENTLY, workers=2)
    assert sorted(next(graded).row for _ in range(149)) == [row for row in range(150) if row != 100]
    graded.close()  # type: ignore[attr-defined]


@pytest.mark.slow
def test_tasks_that_do_not_fit_into_a_workers_memory_are_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatcher, "_MOST_BYTES", 30_000)
    tasks = [echo(f"t{n}", f"{n}" * 5_000) for n in range(8)]
    given = [
        Rollout(task_id=f"t{n % 8}", completion=f"print(input())  # {n}", sample_id=str(n), kind=Kind.FULL)
        for n in range(48)
    ]
    graded = grade_all(tasks, given, PATIENTLY, workers=2)
    assert Counter((each.grade.sample_id, each.grade.reward) for each in graded) == Counter(
        (str(n), 1.0) for n in range(48)
    )


@pytest.mark.parametrize("value", ["\ud800", 2**70, [[[{"a": None}]]], {"\udfff": 1e300}])
def test_a_message_keeps_every_value(value: object) -> None:
    rollout = Rollout(task_id="\ud800", completion="x\udc00", metadata={"given": value})
    work = Work([Job(1, 2, rollout)])
    assert list(Frames[ToWorker](ToWorker).feed(framed(work))) == [work]
