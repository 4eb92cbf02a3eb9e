"""Time, memory and output: which limit a run has passed, and what the next one finds."""

from __future__ import annotations

import time

import pytest

from evaluator.model import Limits
from evaluator.sandbox import Outcome, Program, Sandbox, Status, encoded_call
from evaluator.sandbox.limits.watch import LimitWatch
from tests.sandbox.conftest import PATIENT, Run

HASTY = Limits(wall_s=0.3, cpu_s=30)
BRIEF_CPU = Limits(wall_s=60, cpu_s=0.3)
SMALL = Limits(wall_s=30, cpu_s=30, memory_mb=200, virtual_mb=1024, output_mb=1)
CPU_WATCH_S = 10
"""A CPU limit of 0.3 s is noticed long before this, even where the process gets a tenth of a CPU."""


def lines_of(outcome: Outcome) -> list[int]:
    assert outcome.failure is not None, outcome
    return [frame.line for frame in outcome.failure.frames]


# ---- time


def test_a_time_is_never_negative(sandbox: Sandbox) -> None:
    """Where another process had, and waited for, more than all of it: the two overlap on a busy machine."""
    with sandbox.execute(Program("def f(): return 1", "f"), PATIENT, reuse=False) as execution:
        child = execution.start(wall_s=30)
        assert child is not None
        watch = LimitWatch(child, PATIENT, 30)
        watch.exclude(1000)
        assert watch.wall_s() == 0
        assert watch.patience_ms() > 0


ENDLESS = {
    "a loop": "while True: pass",
    "a loop in C": "sum(range(10**12))",
    "a regular expression": "import re\n    re.match('(a+)+$', 'a' * 40 + 'b')",
    "sleep": "import time\n    time.sleep(1000)",
    "bare except": "while True:\n        try:\n            while True: pass\n        except BaseException: pass",
    "stopped": "import os\n    os.kill(os.getpid(), 19)",
    "a lock": "import threading\n    lock = threading.Lock()\n    lock.acquire()\n    lock.acquire()",
    "signals ignored": "import signal\n    for s in range(1, 32):\n        try: signal.signal(s, signal.SIG_IGN)\n"
    "        except OSError: pass\n    while True: pass",
    "the protocol closed": "import os, time\n    os.closerange(3, 256)\n    time.sleep(1000)",
}


@pytest.mark.parametrize("what", ENDLESS)
def test_wall_time(sandbox: Sandbox, what: str) -> None:
    program = Program(f"def f(x):\n    if x: return x\n    {ENDLESS[what]}", "f")
    with sandbox.execute(program, PATIENT) as execution:
        started = time.monotonic()
        late = execution.run(encoded_call([0], {}), wall_s=0.3)
        assert late.status is Status.TIME
        assert 0.3 <= late.wall_s < 10
        assert time.monotonic() - started < 20, "the process was not ended at once"
        resumed = execution.run(encoded_call([1], {}), wall_s=30)
        assert (resumed.status, resumed.value) == (Status.ANSWERED, 1)


@pytest.mark.parametrize("what", ["a loop", "a loop in C", "sleep", "bare except", "the protocol closed"])
def test_wall_time_of_a_program(sandbox: Sandbox, what: str) -> None:
    source = f"def f():\n    {ENDLESS[what]}\nprint('before', flush=True)\nif input(): f()\nprint('after')"
    with sandbox.execute(Program(source), PATIENT) as execution:
        late = execution.run(b"x\n", wall_s=0.5)
        assert (late.status, late.stdout.text()) == (Status.TIME, "before\n")
        resumed = execution.run(b"\n", wall_s=30)
        assert (resumed.status, resumed.stdout.text()) == (Status.ANSWERED, "before\nafter\n")


def test_cpu_time_of_all_threads_counts(call: Run) -> None:
    source = (
        "import threading, hashlib\n"
        "def burn():\n    block = bytes(1 << 20)\n    while True: hashlib.sha256(block).digest()\n"
        "def f():\n    for _ in range(4): threading.Thread(target=burn, daemon=True).start()\n    burn()"
    )
    (outcome,) = call(source, limits=BRIEF_CPU)
    assert outcome.status is Status.TIME
    assert "CPU" in outcome.message
    assert outcome.cpu_s > 0.3
    assert outcome.wall_s < CPU_WATCH_S


def test_cpu_time_is_counted_for_each_test_case(call: Run) -> None:
    source = "import time\ndef f():\n    end = time.process_time() + 0.2\n    while time.process_time() < end: pass"
    outcomes = call(source, *([] for _ in range(4)), limits=Limits(wall_s=60, cpu_s=0.5))
    assert [outcome.status for outcome in outcomes] == [Status.ANSWERED] * 4
    assert all(0.15 < outcome.cpu_s < 0.5 for outcome in outcomes)


def test_an_endless_loop_while_loading(call: Run) -> None:
    (outcome,) = call("while True: pass\ndef f(): pass", limits=HASTY)
    assert outcome.status is Status.TIME


def test_an_atexit_that_sleeps_and_threads_that_never_end(program: Run) -> None:
    sleeping = "import atexit, time\natexit.register(time.sleep, 1000)\nprint(1)"
    working = "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()\nprint(1)"
    finalized = "import time\nclass A:\n    def __del__(self): time.sleep(1000)\na = A()\nprint(1)"
    for source in (sleeping, working, finalized):
        (outcome,) = program(source, limits=HASTY)
        assert outcome.status is Status.TIME


def test_the_first_tenth_of_a_second_of_compiling_is_free(program: Run) -> None:
    source = "import time\nprint(time.process_time())\nx = [\n" + "    [1, 'a', (2, 3)],\n" * 30_000 + "]"
    (outcome,) = program(source)
    assert outcome.status is Status.ANSWERED
    compiled_s = float(outcome.stdout.data)
    assert outcome.wall_s < compiled_s - 0.02


# ---- memory


def test_more_than_the_address_space(call: Run) -> None:
    first, second = call("def f(x): return len(bytearray(x << 20))", [2000], [10], limits=SMALL)
    assert (first.status, second.status) == (Status.MEMORY, Status.ANSWERED)
    assert "1024 MiB of address space" in first.message


def test_growing_resident_memory(call: Run) -> None:
    source = (
        "import time\ndef f(x):\n    kept = bytes(b'x' * (x << 20))\n    time.sleep(20 if x > 100 else 0)\n    return 1"
    )
    first, second = call(source, [400], [1], limits=SMALL)
    assert (first.status, second.status) == (Status.MEMORY, Status.ANSWERED)
    assert first.wall_s < 10, "noticed while it sleeps, not after"


def test_a_memory_peak_between_two_looks(program: Run) -> None:
    (outcome,) = program("kept = b'x' * (300 << 20)\ndel kept\nprint(1)", limits=SMALL)
    assert outcome.status is Status.MEMORY
    assert outcome.memory_mb > 200


def test_a_memory_error_that_the_program_catches(program: Run) -> None:
    (outcome,) = program("try: x = bytearray(8 << 30)\nexcept MemoryError: print('handled')", limits=SMALL)
    assert (outcome.status, outcome.stdout.text()) == (Status.ANSWERED, "handled\n")


def test_memory_while_bytes_trickle_over_the_protocol(call: Run) -> None:
    source = (
        "import os, time\ndef f():\n    os.write(3, (500_000).to_bytes(4, 'big') + b'V')\n    kept = []\n"
        "    while True:\n        os.write(3, b'1')\n        kept.append(b'x' * (5 << 20))\n        time.sleep(0.005)"
    )
    (outcome,) = call(source, limits=SMALL)
    assert outcome.status is Status.MEMORY


# ---- output


def test_a_flood_of_output(program: Run, call: Run) -> None:
    source = "import sys\nwhile True: print('x' * 1000, file={})"
    for stream in ("sys.stdout", "sys.stderr"):
        (ran,) = program(source.format(stream), limits=SMALL)
        (called,) = call(f"import sys\ndef f():\n    while True: print('x' * 1000, file={stream})", limits=SMALL)
        for outcome in (ran, called):
            assert outcome.status is Status.OUTPUT
            assert "1 MiB" in outcome.message
            assert max(len(outcome.stdout.data), len(outcome.stderr.data)) == 1 << 20


def test_after_a_flood_the_next_test_case_has_empty_streams(program: Run) -> None:
    source = "if input(): print('x' * (2 << 20))\nprint('end')"
    first, second = program(source, b"x\n", b"\n", limits=SMALL)
    assert (first.status, second.status, second.stdout.text()) == (Status.OUTPUT, Status.ANSWERED, "end\n")


@pytest.mark.parametrize(
    "value",
    [
        "'x' * (2 << 20)",
        "list(range(1_000_000))",
        "[(1, 2)] * 300_000",
        "[[]] * 1_000_000",
        "[{}] * 500_000",
        "1 << (8 << 20)",
    ],
)
def test_a_huge_value_is_over_the_output_limit(call: Run, value: str) -> None:
    first, second = call(f"def f(x): return {value} if x else x", [1], [0], limits=SMALL)
    assert (first.status, second.value) == (Status.OUTPUT, 0)


def test_a_value_that_repeats_itself_many_times_is_too_large(call: Run) -> None:
    (outcome,) = call("def f():\n    a = []\n    for _ in range(60): a = [a, a]\n    return a", limits=SMALL)
    assert outcome.status is Status.OUTPUT
