"""A process that grades and is ended takes with it all that it started, whatever it was doing."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evaluator.sandbox import Way
from tests.waiting import HANG_S, wait_until
from tests.workers.processes import descendants, kill, name_of, wait_until_none, workers

ROOT = Path(__file__).resolve().parents[2]
CALLER = """
import os, sys, time
from evaluator.workers.grade_stream import grade_all
from evaluator.options import Options
from evaluator.model import Kind, Limits, Mode, Rollout, Task, TestCase
from evaluator.sandbox import Settings, Way

forks, way, mode, isolation, code = sys.argv[1:]
if forks == "at first" and os.fork() == 0:
    time.sleep(600)
cases = tuple(TestCase(n, "1", "1") for n in range(2))
task = Task(task_id="t", mode=Mode(mode), entry_point="f" if mode == "call" else None, cases=cases)
rollouts = [Rollout(task_id="t", completion=f"{code}\\n# {n}", sample_id=str(n), kind=Kind.FULL) for n in range(9)]
limits = Limits(wall_s=600, cpu_s=600, total_s=600)
options = Options(limits=limits, isolation=isolation, sandbox=Settings(way=Way(way)))
if forks == "later":
    rollouts.insert(0, Rollout(task_id="t", completion="print(1)", sample_id="first", kind=Kind.FULL))
graded = grade_all([task], rollouts, options, workers=2)
if forks == "later":
    next(graded)
    if os.fork() == 0:
        time.sleep(600)
list(graded)
"""

DEAF = "import signal, threading, time\nfor n in (1, 2, 3, 15): signal.signal(n, signal.SIG_IGN)\n"
NEVER_ENDING = {
    "a program that sleeps": ("stdin", "completion", "import time\ntime.sleep(600)"),
    "a program that sleeps, in fresh processes": ("stdin", "test", f"{DEAF}time.sleep(600)"),
    "a program that spins, in fresh processes": ("stdin", "test", "while True: pass"),
    "threads that spin": (
        "call",
        "completion",
        f"{DEAF}def spin():\n    while True: pass\ndef f(x):\n"
        "    for _ in range(4): threading.Thread(target=spin).start()\n    spin()",
    ),
}
KILL, INT, TERM = signal.SIGKILL, signal.SIGINT, signal.SIGTERM
ENDED: list[tuple[signal.Signals, str, str, set[Way]]] = [
    (KILL, "a program that sleeps", "", {Way.NAMESPACES}),
    (KILL, "a program that sleeps, in fresh processes", "", {Way.LANDLOCK}),
    (KILL, "a program that spins, in fresh processes", "", {Way.NAMESPACES}),
    (KILL, "threads that spin", "", set(Way)),
    (TERM, "threads that spin", "", {Way.LANDLOCK}),
    (KILL, "a program that sleeps", "at first", {Way.NAMESPACES}),
    (INT, "a program that sleeps", "at first", {Way.NAMESPACES}),
    (KILL, "a program that sleeps", "later", {Way.NAMESPACES}),
    (TERM, "a program that sleeps", "later", {Way.NAMESPACES}),
]
"""How the caller is ended, during what, whether a child that it forked has its descriptors, and the ways tried in the
usual environment; the attacks try the others."""


@pytest.mark.parametrize(
    ("number", "what", "forks", "way"),
    [
        pytest.param(*each, way, marks=[pytest.mark.slow][: place > 0] if way in here else pytest.mark.attacks)
        for place, (*each, here) in enumerate(ENDED)
        for way in Way
    ],
)
def test_a_caller_that_is_ended_takes_all_with_it(number: signal.Signals, what: str, forks: str, way: Way) -> None:
    words = [sys.executable, "-c", CALLER, forks, way.value, *NEVER_ENDING[what]]
    with subprocess.Popen(words, cwd=ROOT, stderr=subprocess.DEVNULL, start_new_session=True) as caller:
        try:
            wait_until(lambda: len(running(caller.pid)) >= 2, "a completion of each worker")
            wait_until(lambda: len(copies_of(caller.pid)) >= bool(forks), "its copy")
            below, forked = descendants(caller.pid), copies_of(caller.pid)
            assert (len(workers(caller.pid)), len(forked)) == (2, bool(forks))
            caller.send_signal(number)
            caller.wait(HANG_S)
            wait_until_none(lambda: [each for each in below - forked if name_of(each)])
            kill(forked)
        finally:
            caller.kill()


def running(number: int) -> list[int]:
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
