"""Under real load, a program that waits for a CPU is not slow. The accounting itself is in `test_watch.py`."""

import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest

from evaluator import Limits
from evaluator.model import Grade, Kind, Mode, Rollout, Task, TestCase, Verdict
from evaluator.options import Options
from evaluator.sandbox import Way
from evaluator.sandbox.host.limits import starvation
from evaluator.workers.locks import Gate
from evaluator.workers.worker import Worker

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("way", [Way.NAMESPACES, pytest.param(Way.LANDLOCK, marks=pytest.mark.attacks)])
def test_a_program_that_waits_for_a_cpu_is_rewarded(way: Way) -> None:
    command = [sys.executable, "-m", "tests.sandbox.starving", way.value]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    found = msgspec.json.decode(done.stdout, type=Grade)
    assert (found.verdict, found.reward) == (Verdict.PASSED, 1.0), found


TASK = Task(task_id="a", mode=Mode.STDIN, cases=(TestCase(0, "", "done"),))


def worked(worker: Worker, code: str) -> Grade:
    with worker.sandbox:
        return worker.grade(TASK, Rollout(task_id="a", completion=code, sample_id="0", kind=Kind.FULL))


def test_a_sleeping_program_stops_no_other_worker() -> None:
    """It needs not be alone, as one that may have waited for a CPU must: another worker is busy the whole time."""
    gate, grades = Gate(), []

    def work() -> None:
        grades.append(worked(Worker(Options(limits=Limits(wall_s=0.5)), gate), "import time\ntime.sleep(600)"))

    with gate.shared():
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(240)
        assert grades, "it waits to be alone"
    assert grades[0].verdict is Verdict.TIME_LIMIT


def test_if_the_machine_does_not_count_waits_only_cpu_time_decides(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(starvation, "PROC", str(tmp_path))  # a /proc without schedstat
    slept = worked(Worker(Options(limits=Limits(wall_s=0.5, cpu_s=0.5))), "import time\ntime.sleep(600)")
    assert (slept.verdict, slept.reward) == (Verdict.SANDBOX_ERROR, None)
    assert "does not show if a program sleeps or waits for a CPU" in str(slept.error_message)
    busy = worked(Worker(Options(limits=Limits(wall_s=60, cpu_s=0.3))), "while True: pass")
    assert (busy.verdict, busy.reward) == (Verdict.TIME_LIMIT, 0.0)
