"""A program that waits for a CPU is not slow: only its CPU time and the time in which it slept count."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from evaluator import Limits, grade
from evaluator.engines.gate import Gate
from evaluator.engines.worker import Worker
from evaluator.graders.bench import Options
from evaluator.model import Grade, Kind, Mode, Rollout, Task, TestCase, Verdict
from evaluator.sandbox import Sandbox, Settings, Way
from evaluator.sandbox.limits import starvation

ROOT = Path(__file__).resolve().parents[2]
FEW, CROWD = 7, 30
TASK = Task(task_id="a", mode=Mode.STDIN, cases=(TestCase(0, "", "done"),))
SLEEP = "import time\ntime.sleep(600)\nprint('done')"
WORK = """
import time
def work(seconds):
    while time.thread_time() < seconds:
        pass
"""


@pytest.fixture(params=[Way.NAMESPACES, pytest.param(Way.LANDLOCK, marks=pytest.mark.attacks)])
def way(request: pytest.FixtureRequest) -> Way:
    way: Way = request.param
    return way


def graded(way: Way, code: str, others: int, limits: dict[str, float], tests: int = 1) -> dict[str, object]:
    """The grade of a program that shares one CPU with others, and how long it took."""
    order = json.dumps({"way": way, "code": WORK + code, "limits": limits, "tests": tests})
    command = [sys.executable, "-m", "tests.sandbox.starving", str(others), order]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_a_program_that_waits_for_a_cpu_is_rewarded(way: Way) -> None:
    found = graded(way, "work(0.5)\nprint('done')", FEW, {"wall_s": 1.5, "cpu_s": 1.5})
    assert found["verdict"] == "passed", found
    assert found["reward"] == 1.0


def test_a_program_whose_threads_alternate_is_rewarded() -> None:
    code = "import threading\nthreads = [threading.Thread(target=work, args=(0.15,)) for _ in range(4)]\n"
    code += "for thread in threads: thread.start()\nfor thread in threads: thread.join()\nprint('done')"
    found = graded(Way.NAMESPACES, code, FEW, {"wall_s": 1.8, "cpu_s": 2})
    assert found["verdict"] == "passed", found


def test_the_time_of_a_whole_completion_excludes_waits_too() -> None:
    found = graded(Way.NAMESPACES, "work(time.thread_time() + 0.1)\nprint('done')", FEW, {"total_s": 3}, tests=5)
    assert found["verdict"] == "passed", found
    assert float(str(found["took_s"])) > 3, "it did not wait, so this proves nothing"


def test_a_sleeping_program_gets_no_extra_time_on_a_busy_machine() -> None:
    found = graded(Way.NAMESPACES, SLEEP, FEW, {"wall_s": 1})
    assert found["verdict"] == "time_limit", found
    assert found["reward"] == 0.0
    assert "1 s of wall time (limits.wall_s)" in str(found["message"])


def test_a_program_that_lowers_its_own_priority_gains_no_time(way: Way) -> None:
    found = graded(way, "import os\nos.nice(19)\nwork(30)\nprint('done')", FEW, {"wall_s": 1.5})
    assert found["verdict"] == "time_limit", found
    assert "1.5 s of wall time (limits.wall_s)" in str(found["message"])


def test_a_program_that_gets_hardly_any_cpu_has_no_grade() -> None:
    found = graded(Way.LANDLOCK, "work(20)\nprint('done')", CROWD, {"wall_s": 0.3, "cpu_s": 20})
    assert found["verdict"] == "sandbox_error", found
    assert found["reward"] is None
    assert "waiting for a CPU: the machine is too busy; use fewer workers" in str(found["message"])


def graded_beside_another(code: str, limits: Limits) -> Grade:
    """The grade while another worker of this process is busy the whole time."""
    gate, grades = Gate(), []

    def work() -> None:
        worker = Worker(Options(limits=limits), gate)
        with worker.sandbox:
            grades.append(worker.grade(TASK, Rollout(task_id="a", completion=code, sample_id="0", kind=Kind.FULL)))

    with gate.shared():
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(120)
        assert grades, "it waits to be alone"
    return grades[0]


def test_a_sleeping_program_stops_no_other_worker() -> None:
    assert graded_beside_another(SLEEP, Limits(wall_s=0.5)).verdict is Verdict.TIME_LIMIT


def test_a_time_out_is_not_a_verdict_if_the_machine_does_not_count_waits(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, way: Way
) -> None:
    monkeypatch.setattr(starvation, "PROC", str(tmp_path))  # a /proc without schedstat
    worker = Worker(Options(limits=Limits(wall_s=0.5, cpu_s=0.5)), sandbox=Sandbox(Settings(way=way)))
    with worker.sandbox:
        slept = worker.grade(TASK, Rollout(task_id="a", completion=SLEEP, sample_id="0", kind=Kind.FULL))
        assert slept.verdict is Verdict.SANDBOX_ERROR
        assert slept.reward is None
        assert "does not show if a program sleeps or waits for a CPU" in str(slept.error_message)


def test_cpu_time_still_decides_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(starvation, "PROC", str(tmp_path))
    worker = Worker(Options(limits=Limits(wall_s=60, cpu_s=0.3)))
    with worker.sandbox:
        busy = Rollout(task_id="a", completion="while True: pass", sample_id="0", kind=Kind.FULL)
        found = worker.grade(TASK, busy)
    assert found.verdict is Verdict.TIME_LIMIT
    assert found.reward == 0.0


def test_the_wait_for_a_test_on_the_same_core_is_left_out_once() -> None:
    """A completion and its test suite take turns, and on one core each waits a little for the other to step down."""
    test = (
        "def check(candidate):\n    for number in range(400):\n        assert candidate([number] * 40) == 40 * number"
    )
    task = Task(task_id="a", mode=Mode.ASSERT, test=test, entry_point="f")
    for _ in range(5):
        (case,) = grade(task, "def f(numbers): return sum(numbers) + 0 * sum(range(3000))", kind=Kind.FULL).cases
        assert case.cpu_s > 0
        assert case.wall_s > 0.9 * case.cpu_s
