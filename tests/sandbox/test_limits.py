"""Time, memory, output and the like: which limit a run has passed, in whose words, and what the next one finds."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evaluator import Task
from evaluator.model import Limits
from evaluator.sandbox import Program, Sandbox, Status, encoded_call
from evaluator.sandbox.host.launch.memory_cgroup import MemoryCgroup, available
from tests.sandbox.conftest import HASTY, PATIENT, Run, called, graded, ran

SMALL = Limits(wall_s=30, cpu_s=30, memory_mb=128, virtual_mb=1024, output_mb=4)
QUIET = Limits(wall_s=30, cpu_s=30, output_mb=1)

# ---- time

ENDLESS = {
    "a loop": "while True: pass",
    "sleep": "import time\n    time.sleep(600)",
    "bare except": "while True:\n        try:\n            while True: pass\n        except BaseException: pass",
    "stopped": "import os\n    os.kill(os.getpid(), 19)",
    "the protocol closed": "import os, time\n    os.closerange(3, 256)\n    time.sleep(600)",
}


@pytest.mark.parametrize("endless", ENDLESS.values())
def test_wall_time(sandbox: Sandbox, endless: str) -> None:
    with sandbox.execute(Program(f"def f(x):\n    if x: return x\n    {endless}", "f"), PATIENT) as execution:
        assert execution.run(encoded_call([0], {}), wall_s=0.3).status is Status.TIME
        resumed = execution.run(encoded_call([1], {}), wall_s=30)
        assert (resumed.status, resumed.value) == (Status.ANSWERED, 1)


def test_wall_time_of_a_program(sandbox: Sandbox) -> None:
    source = f"def f():\n    {ENDLESS['bare except']}\nprint('before')\nif input(): f()\nprint('after')"
    with sandbox.execute(Program(source), PATIENT) as execution:
        late = execution.run(b"x\n", wall_s=1.5)
        assert (late.status, late.stdout.text()) == (Status.TIME, "before\n")
        resumed = execution.run(b"\n", wall_s=30)
        assert (resumed.status, resumed.stdout.text()) == (Status.ANSWERED, "before\nafter\n")


def test_cpu_time_is_counted_for_each_test_case(call: Run) -> None:
    source = "import time\ndef f():\n    end = time.process_time() + 0.2\n    while time.process_time() < end: pass"
    outcomes = call(source, [], [], [], limits=Limits(wall_s=60, cpu_s=0.5))
    assert [outcome.status for outcome in outcomes] == [Status.ANSWERED] * 3
    assert all(0.15 < outcome.cpu_s < 0.5 for outcome in outcomes)


LONG = "x = [\n" + "    [1, 'a', (2, 3)],\n" * 60_000 + "]"


@pytest.mark.slow
def test_compiling_counts_towards_the_cpu_time(program: Run) -> None:
    (outcome,) = program(LONG, limits=Limits(wall_s=0.1, cpu_s=0.1))
    assert (outcome.status, outcome.message[:16]) == (Status.TIME, "while compiling:"), outcome


def test_an_endless_loop_while_loading(call: Run) -> None:
    (outcome,) = call("while True: pass\ndef f(): pass", limits=HASTY)
    assert outcome.status is Status.TIME


def test_what_a_program_does_at_its_end_counts(program: Run) -> None:
    (outcome,) = program("import atexit, time\natexit.register(time.sleep, 600)", limits=HASTY)
    assert outcome.status is Status.TIME


def test_the_rest_of_the_completions_whole_time_is_the_limit(namespaces: Sandbox) -> None:
    cases = {"inputs": ["1\n", "2\n"], "outputs": ["1\n", "2\n"]}
    task = Task.from_row({"task_id": "slow", "mode": "stdin", "in_outs": cases})
    found = graded(namespaces, task, "import time\ntime.sleep(0.4)\nprint(input())", Limits(wall_s=30, total_s=0.6))
    assert found.verdict.value == "time_limit"
    assert "left of limits.total_s, 0.6 s" in (found.error_message or "")


# ---- memory

FILL = """
import ctypes, mmap, os, tempfile
kept = []
SIZE = 4 << 20

def memfd():
    file = os.memfd_create("x")
    os.write(file, b"x" * SIZE)
    return file

def memfds(count):
    kept.extend(memfd() for _ in range(count))

def mapped_and_closed(count):
    libc = ctypes.CDLL(None)
    for _ in range(count):
        file = memfd()
        libc.mmap(None, ctypes.c_size_t(SIZE), 1, mmap.MAP_SHARED, file, ctypes.c_long(0))
        os.close(file)

def mapped_and_open(count):
    for _ in range(count):
        file = memfd()
        kept.extend([file, mmap.mmap(file, SIZE)])
        sum(kept[-1][::4096])

def shared(count):
    kept.append(mmap.mmap(-1, max(count, 1) * SIZE))
    for place in range(0, count * SIZE, 4096):
        kept[-1][place] = 1

def private(count):
    kept.append(b"x" * (count * SIZE))
"""


@pytest.mark.parametrize("kind", ["memfds", "mapped_and_closed", "mapped_and_open", "private"])
def test_all_kinds_of_memory_count(call: Run, kind: str) -> None:
    """Noticed while it sleeps: else its time would be up."""
    first, second = call(
        f"{FILL}\nimport time\ndef f(n):\n    {kind}(n)\n    time.sleep(n * 9)", [45], [0], limits=SMALL
    )
    assert first.status is Status.MEMORY
    assert "limits.memory_mb is 128" in first.message
    assert first.memory_mb > 128
    assert second.status is Status.ANSWERED


def test_shared_memory_counts_or_is_refused(call: Run) -> None:
    (outcome,) = call(f"{FILL}\nimport time\ndef f():\n    shared(45)\n    time.sleep(30)", limits=SMALL)
    if available():
        assert outcome.status is Status.MEMORY
        assert outcome.memory_mb > 128
    else:
        assert outcome.failure.type == "PermissionError"


def test_files_in_its_own_folders_count(namespaces: Sandbox) -> None:
    source = "import time\nfor n in range(60):\n    open(f'{n}', 'wb').write(b'x' * (1 << 20))\ntime.sleep(600)"
    (outcome,) = ran(namespaces, source, limits=Limits(wall_s=30, memory_mb=64))
    assert outcome.status is Status.MEMORY


def test_memory_that_is_filled_just_before_the_answer(call: Run) -> None:
    tight = Limits(wall_s=30, memory_mb=40)
    (outcome,) = call(f"{FILL}\ndef f():\n    memfds(8)\n    return 1", limits=tight)
    assert outcome.status is Status.MEMORY


def test_memory_that_is_freed_between_two_looks(call: Run) -> None:
    source = f"""{FILL}
import resource, types
def f():
    private(25)
    kept.clear()
    resource.getrusage = lambda who: types.SimpleNamespace(ru_maxrss=9000)
    return 1
"""
    (outcome,) = call(source, limits=Limits(wall_s=30, cpu_s=30, memory_mb=64))
    assert outcome.status is Status.MEMORY
    assert outcome.memory_mb > 64


def test_memory_that_is_mapped_and_open_counts_once(call: Run) -> None:
    (outcome,) = call(f"{FILL}\nimport time\ndef f():\n    mapped_and_open(20)\n    time.sleep(0.3)", limits=SMALL)
    assert outcome.status is Status.ANSWERED
    assert 80 < outcome.memory_mb < 128


def test_reserved_memory_that_is_not_used_does_not_count(call: Run) -> None:
    source = (
        "import mmap, time\ndef f():\n    kept = mmap.mmap(-1, 512 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
        "    time.sleep(0.3)\n    return len(kept)"
    )
    (outcome,) = call(source, limits=SMALL)
    assert outcome.value == 512 << 20


def test_a_memory_error_that_the_program_catches(program: Run) -> None:
    (outcome,) = program("try: x = bytearray(8 << 30)\nexcept MemoryError: print('handled')", limits=SMALL)
    assert (outcome.status, outcome.stdout.text()) == (Status.ANSWERED, "handled\n")


def test_running_out_of_memory_while_loading_is_a_memory_limit(call: Run) -> None:
    for outcome in call("x = bytearray(2 << 30)\ndef f(): return 1", [], [], limits=SMALL):
        assert outcome.status is Status.MEMORY


# ---- output


def test_a_flood_of_output(program: Run, call: Run) -> None:
    (ran_on,) = program("while True: print('x' * 1000)", limits=QUIET)
    (called_on,) = call("import sys\ndef f():\n    while True: print('x' * 1000, file=sys.stderr)", limits=QUIET)
    for outcome in (ran_on, called_on):
        assert outcome.status is Status.OUTPUT
        assert "1 MiB" in outcome.message
        assert max(len(outcome.stdout.data), len(outcome.stderr.data)) == 1 << 20


@pytest.mark.parametrize("value", ["'x' * (2 << 20)", "list(range(400_000))"])
def test_a_huge_value_is_over_the_output_limit(call: Run, value: str) -> None:
    first, second = call(f"def f(x): return {value} if x else x", [1], [0], limits=QUIET)
    assert (first.status, second.value) == (Status.OUTPUT, 0)
    assert "1 MiB (limits.output_mb)" in first.message


# ---- what is said

MESSAGES = {
    "cpu": ("while True: pass", Limits(wall_s=30, cpu_s=0.2), Status.TIME, "CPU time (limits.cpu_s is 0.2)"),
    "wall": ("import time; time.sleep(600)", HASTY, Status.TIME, "0.3 s of wall time (limits.wall_s)"),
    "memory": ("b'x' * (400 << 20)", SMALL, Status.MEMORY, "(limits.memory_mb is 128)"),
    "virtual memory": ("bytearray(2 << 30)", SMALL, Status.MEMORY, "1024 MiB of address space (limits.virtual_mb)"),
    "output": ("print('x' * (9 << 20))", SMALL, Status.OUTPUT, "4 MiB or more (limits.output_mb)"),
    "open files": (
        "kept = []\nwhile True: kept.append(open('/dev/null'))",
        PATIENT,
        Status.RAISED,
        "Too many open files: '/dev/null' (128 files may be open)",
    ),
    "size of a file": (
        "open('big', 'wb').write(b'x' * (9 << 20))",
        PATIENT,
        Status.RAISED,
        "File too large (limits.output_mb is 4, also for each file)",
    ),
}


@pytest.mark.parametrize("which", MESSAGES)
def test_the_message_names_the_limit(program: Run, which: str) -> None:
    source, limits, status, message = MESSAGES[which]
    (outcome,) = program(source, limits=limits)
    assert (outcome.status, message in outcome.message) == (status, True), outcome


def test_too_many_threads(program: Run) -> None:
    source = "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(600,), daemon=True).start()"
    (outcome,) = program(source, limits=Limits(wall_s=30, threads=8))
    assert outcome.status in (Status.RAISED, Status.DIED), "both are a runtime_error"
    assert "limits.threads is 8" in outcome.message


def test_all_files_together(namespaces: Sandbox) -> None:
    (outcome,) = ran(namespaces, "for n in range(40): open(f'{n}', 'wb').write(b'x' * (2 << 20))")
    assert outcome.status is Status.RAISED
    assert "No space left on device (64 MiB in /tmp, 16 in /dev/shm)" in outcome.message


def test_the_programs_own_exception_is_shown_unchanged(program: Run) -> None:
    (outcome,) = program("raise OSError(2, 'Too many open files')")
    assert (outcome.status, outcome.message) == (Status.RAISED, "")


def test_the_allowed_number_of_threads_can_be_started(program: Run) -> None:
    source = (
        "import threading\nstop = threading.Event()\n"
        "threads = [threading.Thread(target=stop.wait) for _ in range(60)]\n"
        "for each in threads: each.start()\nprint(threading.active_count())\nstop.set()"
    )
    (outcome,) = program(source)
    assert outcome.stdout.text() == "61\n"


# ---- the control group


HOG = "import sys\nsys.stdin.read(1)\nb'x' * (700 << 20)"


def may_make_groups() -> bool:
    return any(os.access(f"/sys/fs/cgroup/{kind}", os.W_OK) for kind in ("memory", "."))


def test_the_kernel_kills_a_process_over_its_groups_limit() -> None:
    others = groups_of(os.getpid())
    with subprocess.Popen([sys.executable, "-c", HOG], stdin=subprocess.PIPE) as hog:
        group = MemoryCgroup.around(hog.pid)
        if group is None:
            hog.kill()
            assert os.geteuid() != 0 or not may_make_groups()
            return
        group.limit(64)
        assert not group.has_killed()
        hog.communicate(b"x")
    assert hog.returncode == -signal.SIGKILL
    assert [group.has_killed(), group.has_killed()] == [True, False]
    group.remove()
    assert groups_of(os.getpid()) == others


def groups_of(process: int) -> list[Path]:
    every = os.walk("/sys/fs/cgroup")  # which passes over those that others remove meanwhile
    return [Path(at, each) for at, names, _ in every for each in names if each.startswith(f"rollscope-{process}-")]


def test_no_group_is_left() -> None:
    others = groups_of(os.getpid())
    with Sandbox() as sandbox:
        assert called(sandbox, "def f(): return 1")[0].value == 1
        made = set(groups_of(os.getpid())) - set(others)
        assert bool(made) == (os.geteuid() == 0 and may_make_groups())
    assert groups_of(os.getpid()) == others


@pytest.mark.slow
def test_the_groups_of_killed_processes_are_removed() -> None:
    start = "from evaluator.sandbox import Sandbox\nsandbox = Sandbox()\nsandbox.warm_up()\nprint(1, flush=True)\n"
    waits = [sys.executable, "-c", f"{start}input()"]
    with subprocess.Popen(waits, stdout=subprocess.PIPE, stdin=subprocess.PIPE) as one:
        assert one.stdout
        assert one.stdout.readline() == b"1\n"
        one.kill()
    subprocess.run([sys.executable, "-c", f"{start}sandbox.close()"], check=True, capture_output=True)
    assert groups_of(one.pid) == []
