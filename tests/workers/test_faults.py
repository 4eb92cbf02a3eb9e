"""What is not the completion's fault costs a retry, then the grade; never another's grade, never the run."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from textwrap import indent

import pytest

from evaluator.model import Grade, Kind, Limits, Mode, Rollout, Task, TestCase, Verdict
from evaluator.options import Isolation, Options
from evaluator.sandbox import FaultError, Program, Sandbox, Settings, Status, Way, encoded_call
from evaluator.sandbox.host.launch.bubblewrap import bubblewrap
from evaluator.workers.worker import Worker
from tests.workers.processes import (
    WAITING,
    descendants,
    descriptors,
    kill,
    killing,
    name_of,
    tell,
    wait_until_none,
    waiting,
    zygotes_below,
)

ROOT = Path(__file__).resolve().parents[2]
PATIENT = Limits(wall_s=900, cpu_s=60, total_s=900)


@pytest.fixture(params=[Way.NAMESPACES, pytest.param(Way.LANDLOCK, marks=pytest.mark.attacks)])
def way(request: pytest.FixtureRequest) -> Way:
    way: Way = request.param
    return way


def bubblewraps() -> list[int]:
    """Both processes of each, one in the namespaces and one outside."""
    return [child for child in descendants(os.getpid()) if name_of(child) == "bwrap"]


VICTIMS: dict[str, tuple[Callable[[], list[int]], Mode, Isolation]] = {
    "zygote of a call": (zygotes_below, Mode.CALL, "completion"),
    "zygote of a program": (zygotes_below, Mode.STDIN, "completion"),
    "zygote of fresh processes": (zygotes_below, Mode.STDIN, "test"),
    "bubblewrap": (bubblewraps, Mode.STDIN, "completion"),
}


def killed(way: Way, what: str, times: int) -> Grade:
    """The grade of a completion that does not end before the victims were killed so often, each time while it ran."""
    find, mode, isolation = VICTIMS[what]
    if way is Way.LANDLOCK and find is bubblewraps:
        pytest.skip("there is no bubblewrap in this way")
    is_call = mode is Mode.CALL
    task = Task(task_id="t", mode=mode, entry_point="f" if is_call else None, cases=(TestCase(0, "1", "1"),) * 2)
    code = f"def f(x):{indent(WAITING, '    ')}    return x" if is_call else f"x = input()\n{WAITING}print(x)"
    with Sandbox(Settings(way=way)) as sandbox:
        sandbox.warm_up()
        worker = Worker(Options(limits=PATIENT, isolation=isolation), sandbox=sandbox)
        with killing(lambda: find() if waiting() else [], times, then=tell):
            grade = worker.grade(task, Rollout(task_id="t", completion=code, sample_id="s", kind=Kind.FULL))
    wait_until_none(lambda: descendants(os.getpid()))
    return grade


EACH = [pytest.param(what, marks=[] if what == "zygote of a program" else pytest.mark.slow) for what in VICTIMS]


@pytest.mark.parametrize("what", EACH)
def test_what_is_killed_once_costs_a_retry(way: Way, what: str) -> None:
    grade = killed(way, what, 1)
    assert (grade.verdict, grade.reward) == (Verdict.PASSED, 1.0)


@pytest.mark.parametrize("what", EACH)
def test_what_is_killed_each_time_is_our_fault(way: Way, what: str) -> None:
    grade = killed(way, what, 1000)
    assert (grade.verdict, grade.reward) == (Verdict.SANDBOX_ERROR, None)
    assert grade.error_message


def gone(number: int) -> None:
    kill([number])
    wait_until_none(lambda: name_of(number) and number in descendants(os.getpid()))


@pytest.mark.parametrize("program", [Program("def f(x): return x", "f"), Program("print(input())")])
def test_before_the_first_input_and_after_the_last_answer(way: Way, program: Program) -> None:
    payload = encoded_call([1], {}) if program.entry_point else b"1\n"
    with Sandbox(Settings(way=way)) as sandbox:
        sandbox.warm_up()
        with sandbox.execute(program, PATIENT) as execution:
            gone(zygotes_below()[0])
            with pytest.raises(FaultError):
                execution.run(payload, wall_s=300)
        with sandbox.execute(program, PATIENT) as execution:
            assert execution.run(payload, wall_s=300).status is Status.ANSWERED
            below = descendants(zygotes_below()[0])
            gone(zygotes_below()[0])
            wait_until_none(lambda: [each for each in below if name_of(each)])
            with pytest.raises(FaultError):
                execution.finish()
        with sandbox.execute(program, PATIENT) as execution:
            assert execution.run(payload, wall_s=300).status is Status.ANSWERED
            assert execution.finish() == ""
    wait_until_none(lambda: descendants(os.getpid()))


@pytest.mark.slow
def test_a_zygote_that_stands_still_is_given_up(way: Way) -> None:
    with Sandbox(Settings(way=way)) as sandbox:
        sandbox.warm_up()
        os.kill(zygotes_below()[0], signal.SIGSTOP)

        def run_twice() -> None:  # the process of the first was ready
            for _ in range(2):
                with sandbox.execute(Program("print(1)"), PATIENT) as execution:
                    execution.run(b"", wall_s=1)

        with pytest.raises(FaultError):
            run_twice()
        with sandbox.execute(Program("print(1)"), PATIENT) as execution:
            assert execution.run(b"", wall_s=300).stdout.text() == "1\n"
    wait_until_none(lambda: descendants(os.getpid()))


@pytest.mark.slow
def test_faults_leave_no_descriptor_open(way: Way) -> None:
    open_files = []
    for _ in range(3):
        with Sandbox(Settings(way=way)) as sandbox:
            sandbox.warm_up()
            with sandbox.execute(Program("print(1)"), PATIENT) as execution:
                gone(zygotes_below()[0])
                with pytest.raises(FaultError):
                    execution.run(b"", wall_s=300)
        open_files.append(descriptors())
    assert open_files[2] <= open_files[1]


# ---- a machine that has no more to give: each in a process of its own, whose limits are lowered

COMMON = """
import json, os, resource, sys
from pathlib import Path
from evaluator.workers.grade_stream import grade_all
from evaluator.options import Options
from evaluator.model import Kind, Limits, Mode, Rollout, Task, TestCase
from evaluator.sandbox import Settings, Way
from tests.workers.processes import kill, workers, zygotes_below
from tests.waiting import wait_until

task = Task(task_id="t", mode=Mode.STDIN, cases=(TestCase(0, "1", "1"),))
limits = Limits(wall_s=300, cpu_s=60, total_s=300)
grades = []


def rollouts(while_well=False):
    number = 0
    while number < 40 or while_well and all(reward for _, reward, _ in grades):
        yield Rollout(task_id="t", completion=f"print(input())  # {number}", sample_id=str(number), kind=Kind.FULL)
        number += 1
"""

SHORT = """
options = Options(limits=limits, sandbox=Settings(way=Way(sys.argv[1])))
limit = {"files": resource.RLIMIT_NOFILE, "size": resource.RLIMIT_FSIZE}[sys.argv[2]]
before = resource.getrlimit(limit)
short = False


def lower(worker):
    lowest = max(map(int, os.listdir(f"/proc/{worker}/fd"))) if sys.argv[2] == "files" else 0
    resource.prlimit(worker, limit, (lowest, before[1]))


for each in grade_all([task], rollouts(), options, workers=int(sys.argv[3])):
    grades.append((each.grade.verdict, each.grade.reward, each.grade.error_message))
    if len(grades) == 1:
        short = True
        running = zygotes_below()
        for worker in workers():
            lower(worker)
        kill(running)
    elif short and grades[-1][1] is None:
        short = False
        for worker in workers():
            resource.prlimit(worker, limit, before)
print(json.dumps(grades))
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("what", ["files", "size"])
def test_a_machine_that_is_short_of_a_resource_for_a_while(way: Way, what: str, workers: int) -> None:
    """No descriptor, or no room for any file: no 0, and all is well when it is over."""
    done = subprocess.run(
        [sys.executable, "-c", COMMON + SHORT, way.value, what, str(workers)],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    grades = json.loads(done.stdout)
    assert len(grades) == 40
    failed = [grade for grade in grades if grade[1] != 1.0]
    assert {grade[0] for grade in failed} <= {"sandbox_error"}  # none, if it writes no file
    assert all(grade[1] is None and grade[2] for grade in failed)
    assert len(failed) <= 64 * workers  # those that they may have before the first of them is heard of
    assert grades[-1][1] == 1.0


STRANDED = """
killed = int(sys.argv[2])
options = Options(limits=limits, sandbox=Settings(way=Way.NAMESPACES))
for each in grade_all([task], rollouts(while_well=killed == 2), options, workers=2):
    grades.append((each.grade.verdict, each.grade.reward, each.grade.error_message))
    if len(grades) == 1:
        first, second = wait_until(lambda: all(map(zygotes_below, workers())) and workers(), "a sandbox of each worker")
        Path(sys.argv[1]).unlink()
        kill(zygotes_below(first))
    if killed == 2:
        kill(zygotes_below())  # whatever began before there was no bubblewrap
print(json.dumps(grades))
"""


@pytest.mark.slow
@pytest.mark.parametrize("killed", [1, 2])
def test_a_worker_that_cannot_start_its_sandbox_leaves_the_work_to_the_other(killed: int) -> None:
    """bubblewrap is there no more when it is wanted again. Where no worker has a sandbox, that is said at once."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # whoever runs it
        link = Path(folder, "bwrap")  # a copy would not find the libraries that the wheel puts beside it
        link.symlink_to(bubblewrap())
        done = subprocess.run(
            [sys.executable, "-c", COMMON + STRANDED, str(link), str(killed)],
            cwd=ROOT, capture_output=True, text=True, timeout=600, check=False, env=os.environ | {"PATH": folder},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    grades = json.loads(done.stdout)
    failed = [grade for grade in grades if grade[1] != 1.0]
    assert len(grades) >= 40
    assert bool(failed) == (killed == 2)
    assert all(verdict == "sandbox_error" and reward is None and "sandbox" in text for verdict, reward, text in failed)
