"""Worker processes: what is in them, what happens when one dies, and that nothing of them is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluator.engines import shipping
from evaluator.engines.local import Graded, grade_all
from evaluator.engines.messages import Job, Work, packed, to_hand
from evaluator.graders.bench import Options
from evaluator.model import Kind, Limits, Mode, Rollout, Task, TestCase, Verdict
from tests.engines.processes import descendants, kill, name_of, set_apart, wait_until_none, workers

ROOT = Path(__file__).resolve().parents[2]
PATIENTLY = Options(limits=Limits(wall_s=30, cpu_s=30, total_s=90))
LARGE = ("pyarrow", "duckdb", "pandas", "numpy", "streamlit")
END_S = 60.0


@pytest.fixture(scope="module", autouse=True)
def others_apart() -> None:
    set_apart()


def echo(name: str = "echo", text: str = "1") -> Task:
    return Task(task_id=name, mode=Mode.STDIN, cases=(TestCase(0, text, text),))


def rollouts(count: int, code: str = "print(input())", task: str = "echo") -> list[Rollout]:
    return [Rollout(task_id=task, completion=f"{code}  # {n}", sample_id=str(n), kind=Kind.FULL) for n in range(count)]


def rewards(graded: Iterator[Graded]) -> Counter[tuple[str, float | None]]:
    return Counter((each.grade.sample_id, each.grade.reward) for each in graded)


def test_a_worker_is_small() -> None:
    graded = grade_all([echo()], rollouts(4), PATIENTLY, workers=2)
    next(graded)
    running = workers()
    assert running
    for worker in running:
        maps = Path(f"/proc/{worker}/maps").read_text()
        assert [name for name in LARGE if f"/{name}" in maps] == []
    assert len(list(graded)) == 3


def test_workers_that_are_killed_lose_and_double_no_grade() -> None:
    slow = "import time; time.sleep(0.05); print(input())"
    found: Counter[tuple[str, float | None]] = Counter()
    for number, each in enumerate(grade_all([echo()], rollouts(60, slow), PATIENTLY, workers=2)):
        found[each.grade.sample_id, each.grade.reward] += 1
        if number in (10, 30):
            kill(workers()[:1])
    assert found == Counter((str(n), 1.0) for n in range(60))
    assert wait_until_none(workers) == []


DEADLY = """
import os, signal
from evaluator.graders.tests import grade


def judge(task, rollout, bench):
    if "deadly" in rollout.completion:
        os.kill(os.getpid(), signal.SIGKILL)
    return grade(task, rollout, bench)
"""


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


def test_what_waits_behind_a_slow_completion_is_graded_by_another_worker() -> None:
    """By then a worker has many at once."""
    given = rollouts(150)
    given[100].completion = "import time\ntime.sleep(8)\nprint(input())"
    order = [each.row for each in grade_all([echo()], given, PATIENTLY, workers=2)]
    assert sorted(order) == list(range(150))
    assert order[-1] == 100


def test_equal_completions_are_graded_once_however_many_workers_there_are() -> None:
    given = [
        Rollout(task_id="echo", completion=f"print(input())  # {n % 5}", sample_id=str(n), kind=Kind.FULL)
        for n in range(200)
    ]
    found = [each.grade for each in grade_all([echo()], given, PATIENTLY, workers=2)]
    assert sum(grade.duplicate_of is None for grade in found) == 5
    assert {grade.reward for grade in found} == {1.0}


def test_tasks_that_do_not_fit_into_a_workers_memory_are_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipping, "_ROOM", 30_000)
    tasks = [echo(f"t{n}", f"{n}" * 5_000) for n in range(8)]
    given = [
        Rollout(task_id=f"t{n % 8}", completion=f"print(input())  # {n}", sample_id=str(n), kind=Kind.FULL)
        for n in range(48)
    ]
    assert rewards(grade_all(tasks, given, PATIENTLY, workers=2)) == Counter((str(n), 1.0) for n in range(48))


@pytest.mark.parametrize("value", ["\ud800", 2**70, [[[{"a": None}]]], {"\udfff": 1e300}])
def test_a_message_keeps_every_value(value: object) -> None:
    rollout = Rollout(task_id="\ud800", completion="x\udc00", metadata={"given": value})
    work = Work([Job(1, 2, rollout)])
    assert to_hand(packed(work)) == work


# ---- a caller that ends

CALLER = """
import os, sys, time
from evaluator.engines.local import grade_all
from evaluator.graders.bench import Options
from evaluator.model import Kind, Limits, Mode, Rollout, Task, TestCase

if sys.argv[1] == "forks" and os.fork() == 0:
    time.sleep(600)
task = Task(task_id="t", mode=Mode.STDIN, cases=(TestCase(0, "1", "1"),))
code = "import time; time.sleep(600)"
rollouts = [Rollout(task_id="t", completion=f"{code}  # {n}", sample_id=str(n), kind=Kind.FULL) for n in range(9)]
options = Options(limits=Limits(wall_s=600, cpu_s=600, total_s=600))
if sys.argv[1] == "forks later":
    rollouts.insert(0, Rollout(task_id="t", completion="print(1)", sample_id="first"))
    graded = grade_all([task], rollouts, options, workers=2)
    next(graded)
    if os.fork() == 0:
        time.sleep(600)
    next(graded)
list(grade_all([task], rollouts, options, workers=2))
"""


@pytest.mark.parametrize("how", ["", "forks", "forks later"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_caller_that_is_ended_leaves_no_process_and_no_folder(
    tmp_path: Path, number: signal.Signals, how: str
) -> None:
    """Also where a child that it forked holds its descriptors open."""
    marked = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-c", CALLER, how], env=marked, stderr=subprocess.DEVNULL) as caller:
        try:
            end = time.monotonic() + END_S
            while (len(sleeping(caller.pid)) < 2 or len(copies_of(caller.pid)) < bool(how)) and time.monotonic() < end:
                time.sleep(0.05)
            below = descendants(caller.pid)
            assert len(workers(caller.pid)) == 2
            forked = copies_of(caller.pid)
            assert len(forked) == bool(how)
            caller.send_signal(number)
            caller.wait(END_S)
            left = wait_until_none(lambda: [each for each in below - forked if name_of(each)])
            kill(list(forked))
        finally:
            caller.kill()
    assert left == []


def sleeping(number: int) -> list[int]:
    """The completions' processes: the innermost ones, below their workers."""
    return [each for worker in workers(number) for each in descendants(worker) if not descendants(each)]


def copies_of(caller: int) -> set[int]:
    """What it has forked."""
    return {child for child in descendants(caller) if _command(child) == _command(caller)}


def _command(number: int) -> bytes:
    try:
        return Path(f"/proc/{number}/cmdline").read_bytes()
    except OSError:
        return b""
