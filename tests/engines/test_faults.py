"""What is not the completion's fault costs a retry, then the grade; never another's grade, never the run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evaluator.engines.local import grade_all
from evaluator.graders.bench import Isolation, Options
from evaluator.model import Grade, Kind, Limits, Mode, Rollout, Task, TestCase, Verdict
from evaluator.sandbox import FaultError, Program, Sandbox, Settings, Status, Way, encoded_call
from evaluator.sandbox.launch.bubblewrap import bubblewrap
from tests.engines.processes import (
    children,
    descendants,
    descriptors,
    kill,
    name_of,
    set_apart,
    wait_until_none,
    zygotes_below,
)

ROOT = Path(__file__).resolve().parents[2]
PATIENT = Limits(wall_s=30, cpu_s=30, total_s=90)
SOON_S = 15.0
"""For what takes no time, on a busy machine; what waits for a limit takes longer."""

_MOST_OF_A_WORKER = 64
"""How many rollouts one may have at a time."""

SLOW = "import time\nx = input()\ntime.sleep(0.3)\nprint(x)"
SLOW_CALL = "import time\ndef f(x):\n    time.sleep(0.3)\n    return x"


@pytest.fixture(scope="module", autouse=True)
def _no_sandboxes_of_other_tests() -> None:
    """Those that single calls keep warm would be found among ours."""
    set_apart()


@pytest.fixture(params=[Way.NAMESPACES, pytest.param(Way.LANDLOCK, marks=pytest.mark.attacks)])
def way(request: pytest.FixtureRequest) -> Way:
    way: Way = request.param
    return way


def busy_zygotes() -> list[int]:
    return [zygote for zygote in zygotes_below() if children(zygote)]


def templates() -> list[int]:
    """Those that have forked a process for a test case."""
    return [child for zygote in zygotes_below() for child in children(zygote) if children(child)]


def bubblewraps() -> list[int]:
    """Both processes of each, one in the namespaces and one outside."""
    below = [child for child in descendants(os.getpid()) if name_of(child) == "bwrap"]
    return below if busy_zygotes() else []


VICTIMS: dict[str, tuple[Callable[[], list[int]], Mode, Isolation]] = {
    "zygote of a call": (busy_zygotes, Mode.CALL, "completion"),
    "zygote of a program": (busy_zygotes, Mode.STDIN, "completion"),
    "zygote of a template": (lambda: zygotes_below() if templates() else [], Mode.STDIN, "test"),
    "template": (templates, Mode.STDIN, "test"),
    "bubblewrap": (bubblewraps, Mode.STDIN, "completion"),
}


@contextmanager
def killing(find: Callable[[], list[int]], times: int) -> Iterator[None]:
    """Kills what is found, so often, by the kernel's own SIGKILL, as when memory is short."""
    end = threading.Event()

    def work() -> None:
        left = times
        while left and not end.wait(0.02):
            victims = find()
            kill(victims)
            left -= bool(victims)

    killer = threading.Thread(target=work, daemon=True)
    killer.start()
    try:
        yield
    finally:
        end.set()
        killer.join(20)


def echo(mode: Mode) -> Task:
    cases = tuple(TestCase(index, "1", "1") for index in range(2))
    return Task(task_id=mode.value, mode=mode, entry_point="f" if mode is Mode.CALL else None, cases=cases)


def rollouts(mode: Mode, count: int) -> list[Rollout]:
    code = SLOW_CALL if mode is Mode.CALL else SLOW
    return [
        Rollout(task_id=mode.value, completion=f"{code}\n# {number}", sample_id=str(number), kind=Kind.FULL)
        for number in range(count)
    ]


def run(way: Way, what: str, times: int, count: int, seconds: float = 0.3) -> list[Grade]:
    """Grades with one worker; from the first grade on, the victims are killed.

    `seconds`: how long each of the others would run, which gives a busy machine the time to find its victim.
    """
    find, mode, isolation = VICTIMS[what]
    if way is Way.LANDLOCK and find is bubblewraps:
        pytest.skip("there is no bubblewrap in this way")
    options = Options(limits=PATIENT, isolation=isolation, sandbox=Settings(way=way))
    first, *others = rollouts(mode, count + 1)
    for rollout in others:
        rollout.completion = rollout.completion.replace("sleep(0.3)", f"sleep({seconds})")
    graded = grade_all([echo(mode)], [first, *others], options, workers=1)
    next(graded)
    with killing(find, times):
        grades = [each.grade for each in graded]
    assert wait_until_none(lambda: list(descendants(os.getpid()))) == []
    return grades


@pytest.mark.parametrize("what", VICTIMS)
def test_what_is_killed_once_costs_a_retry(way: Way, what: str) -> None:
    assert [(grade.verdict, grade.reward) for grade in run(way, what, 1, 2)] == [(Verdict.PASSED, 1.0)] * 2


@pytest.mark.parametrize("what", VICTIMS)
def test_what_is_killed_each_time_is_our_fault(way: Way, what: str) -> None:
    grades = run(way, what, 1000, 1, seconds=10)
    assert [(grade.verdict, grade.reward) for grade in grades] == [(Verdict.SANDBOX_ERROR, None)]
    assert grades[0].error_message


def gone(number: int) -> None:
    kill([number])
    assert wait_until_none(lambda: [number] if name_of(number) and number in descendants(os.getpid()) else []) == []


@pytest.mark.parametrize("program", [Program("def f(x): return x", "f"), Program("print(input())")])
def test_before_the_first_input_and_after_the_last_answer(way: Way, program: Program) -> None:
    payload = encoded_call([1], {}) if program.entry_point else b"1\n"
    with Sandbox(Settings(way=way)) as sandbox:
        sandbox.warm_up()
        with sandbox.execute(program, PATIENT) as execution:
            gone(zygotes_below()[0])
            with pytest.raises(FaultError):
                execution.run(payload, wall_s=30)
        with sandbox.execute(program, PATIENT) as execution:
            assert execution.run(payload, wall_s=30).status is Status.ANSWERED
            below = descendants(zygotes_below()[0])
            gone(zygotes_below()[0])
            assert wait_until_none(lambda: [each for each in below if name_of(each)]) == []
            with pytest.raises(FaultError):
                execution.finish()
        with sandbox.execute(program, PATIENT) as execution:
            assert execution.run(payload, wall_s=30).status is Status.ANSWERED
            assert execution.finish() == ""
    assert wait_until_none(lambda: list(descendants(os.getpid()))) == []


def test_a_zygote_that_stands_still_is_given_up(way: Way) -> None:
    started = time.monotonic()
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
            assert execution.run(b"", wall_s=30).stdout.text() == "1\n"
    assert time.monotonic() - started < 10 + SOON_S
    assert wait_until_none(lambda: list(descendants(os.getpid()))) == []


def test_faults_leave_no_descriptor_open(way: Way) -> None:
    open_files = []
    for _ in range(3):
        with Sandbox(Settings(way=way)) as sandbox:
            sandbox.warm_up()
            with sandbox.execute(Program("print(1)"), PATIENT) as execution:
                gone(zygotes_below()[0])
                with pytest.raises(FaultError):
                    execution.run(b"", wall_s=30)
        open_files.append(descriptors())
    assert open_files[2] <= open_files[1]


# ---- a machine that has no more to give: each in a process of its own, whose limits are lowered

SHORT = """
import json, os, resource, signal, sys
from evaluator.engines.local import grade_all
from evaluator.graders.bench import Options
from evaluator.model import Kind, Limits, Mode, Rollout, Task, TestCase
from evaluator.sandbox import Settings, Way
from tests.engines.processes import kill, workers, zygotes_below

task = Task(task_id="t", mode=Mode.STDIN, cases=(TestCase(0, "1", "1"),))
code = "print(input())"
rollouts = [Rollout(task_id="t", completion=f"{code}  # {n}", sample_id=str(n), kind=Kind.FULL) for n in range(40)]
options = Options(limits=Limits(wall_s=30, cpu_s=30, total_s=60), sandbox=Settings(way=Way(sys.argv[1])))
limit = {"files": resource.RLIMIT_NOFILE, "size": resource.RLIMIT_FSIZE}[sys.argv[2]]
before = resource.getrlimit(limit)
grades, short = [], False


def lower(worker):
    lowest = max(map(int, os.listdir(f"/proc/{worker}/fd"))) if sys.argv[2] == "files" else 0
    resource.prlimit(worker, limit, (lowest, before[1]))


for each in grade_all([task], rollouts, options, workers=int(sys.argv[3])):
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


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("what", ["files", "size"])
def test_a_machine_that_is_short_of_a_resource_for_a_while(way: Way, what: str, workers: int) -> None:
    """No descriptor, or no room for any file: no 0, and all is well when it is over."""
    done = subprocess.run(
        [sys.executable, "-c", SHORT, way.value, what, str(workers)],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    grades = json.loads(done.stdout)
    assert len(grades) == 40
    failed = [grade for grade in grades if grade[1] != 1.0]
    assert {grade[0] for grade in failed} <= {"sandbox_error"}  # none, if it writes no file
    assert all(grade[1] is None and grade[2] for grade in failed)
    assert len(failed) <= _MOST_OF_A_WORKER * workers  # those under way before the first of them was heard of
    assert grades[-1][1] == 1.0


STRANDED = """
import json, os, sys, time
from pathlib import Path
from evaluator.engines.local import grade_all
from evaluator.graders.bench import Options
from evaluator.model import Kind, Limits, Mode, Rollout, Task, TestCase
from evaluator.sandbox import Settings, Way
from tests.engines.processes import kill, zygotes_below

task = Task(task_id="t", mode=Mode.STDIN, cases=(TestCase(0, "1", "1"),))
code = "import time; time.sleep(0.05); print(input())"
rollouts = [Rollout(task_id="t", completion=f"{code}  # {n}", sample_id=str(n), kind=Kind.FULL) for n in range(30)]
options = Options(limits=Limits(wall_s=30, cpu_s=30, total_s=60), sandbox=Settings(way=Way.NAMESPACES))
grades = []
for each in grade_all([task], rollouts, options, workers=2):
    grades.append((each.grade.verdict, each.grade.reward, each.grade.error_message))
    if len(grades) == 1:
        while len(zygotes_below()) < 2:
            time.sleep(0.01)
        Path(sys.argv[1]).unlink()
        kill(zygotes_below()[: int(sys.argv[2])])
print(json.dumps(grades))
"""


@pytest.mark.parametrize("killed", [1, 2])
def test_a_worker_that_cannot_start_its_sandbox_leaves_the_work_to_the_other(killed: int) -> None:
    """bubblewrap is there no more when it is wanted again. Where no worker has a sandbox, that is said at once."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # whoever runs it
        link = Path(folder, "bwrap")  # a copy would not find the libraries that the wheel puts beside it
        link.symlink_to(bubblewrap())
        done = subprocess.run(
            [sys.executable, "-c", STRANDED, str(link), str(killed)],
            cwd=ROOT, capture_output=True, text=True, timeout=240, check=False, env=os.environ | {"PATH": folder},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    grades = json.loads(done.stdout)
    assert len(grades) == 30
    failed = [grade for grade in grades if grade[1] != 1.0]
    # Those under way when the first one was heard of may all have been graded before the sandboxes were ended.
    assert len(failed) == 0 if killed == 1 else len(failed) >= 30 - 2 * _MOST_OF_A_WORKER
    assert all(verdict == "sandbox_error" and reward is None and "bwrap" in text for verdict, reward, text in failed)


# ---- a parent that is ended

HANGING = """
import sys
from evaluator.engines.local import grade_all
from evaluator.graders.bench import Options
from evaluator.model import Kind, Limits, Mode, Rollout, Task, TestCase
from evaluator.sandbox import Settings, Way

way, mode, isolation, code = sys.argv[1:]
cases = tuple(TestCase(n, "1", "1") for n in range(2))
task = Task(task_id="t", mode=Mode(mode), entry_point="f" if mode == "call" else None, cases=cases)
rollouts = [Rollout(task_id="t", completion=f"{code}\\n# {n}", sample_id=str(n), kind=Kind.FULL) for n in range(9)]
limits = Limits(wall_s=600, cpu_s=600, total_s=600)
options = Options(limits=limits, isolation=isolation, sandbox=Settings(way=Way(way)))
print([each.grade.verdict for each in grade_all([task], rollouts, options, workers=2)])
"""

DEAF = "import signal, threading, time\nfor n in (1, 2, 3, 15): signal.signal(n, signal.SIG_IGN)\n"
NEVER_ENDING = {
    "a program that sleeps": ("stdin", "completion", "import time\ntime.sleep(600)"),
    "a program that spins": ("stdin", "completion", "while True: pass"),
    "a program that sleeps, from a template": ("stdin", "test", f"{DEAF}time.sleep(600)"),
    "a program that spins, from a template": ("stdin", "test", "while True: pass"),
    "a call that sleeps": ("call", "completion", "import time\ndef f(x): time.sleep(600)"),
    "threads that spin": (
        "call",
        "completion",
        f"{DEAF}def spin():\n    while True: pass\ndef f(x):\n"
        "    for _ in range(4): threading.Thread(target=spin).start()\n    spin()",
    ),
}


def working(number: int, workers: int) -> bool:
    """Whether each of its workers has a completion's process."""
    busy = [zygote for zygote in zygotes_below(number) if children(zygote)]
    return len(busy) >= workers


ENDED: list[tuple[signal.Signals, str, set[Way]]] = [
    (signal.SIGKILL, "a program that sleeps", set()),
    (signal.SIGKILL, "a program that spins", set()),
    (signal.SIGKILL, "a program that sleeps, from a template", {Way.LANDLOCK}),
    (signal.SIGKILL, "a program that spins, from a template", {Way.NAMESPACES}),
    (signal.SIGKILL, "a call that sleeps", {Way.NAMESPACES}),
    (signal.SIGKILL, "threads that spin", set(Way)),
    (signal.SIGINT, "a program that sleeps, from a template", {Way.NAMESPACES}),
    (signal.SIGTERM, "threads that spin", {Way.LANDLOCK}),
]
"""How the parent is ended, during what, and the ways that `make test` tries; `make attacks` tries the others."""


@pytest.mark.parametrize(
    ("number", "what", "way"),
    [
        pytest.param(number, what, way, marks=[] if way in here else pytest.mark.attacks)
        for number, what, here in ENDED
        for way in Way
    ],
)
def test_a_parent_that_is_ended_takes_all_with_it(number: signal.Signals, what: str, way: Way) -> None:
    command = [sys.executable, "-c", HANGING, way.value, *NEVER_ENDING[what]]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, start_new_session=True) as parent:
        try:
            end = time.monotonic() + 2 * SOON_S
            while not working(parent.pid, 2) and time.monotonic() < end:
                time.sleep(0.05)
            below = descendants(parent.pid)
            assert len(below) >= 4
            parent.send_signal(number)
            parent.wait(SOON_S)
        finally:
            parent.kill()
    assert wait_until_none(lambda: [each for each in below if name_of(each)]) == []
