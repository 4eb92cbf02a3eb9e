"""New processes: refused with a clear error, or, if a task allows some, counted and ended with it."""

import uuid
from pathlib import Path

import pytest

from evaluator.model import Limits
from evaluator.sandbox import Program, Sandbox, Status, encoded_call
from tests.sandbox.conftest import Run, called, ran
from tests.waiting import wait_until

SOME = Limits(wall_s=30, cpu_s=30, total_s=60, processes=6)

STARTING = {
    "fork": "import os\nos.fork()",
    "system": "import os\nos.system('true')",
    "exec": "import os\nos.execvp('true', ['true'])",
    "posix_spawn": "import os\nos.posix_spawn('/bin/true', ['true'], {})",
    "subprocess.run": "import subprocess, sys\nsubprocess.run([sys.executable, '-c', ''])",
    "Pool": "import multiprocessing\nwith multiprocessing.Pool(2) as pool: print(pool.map(abs, [1]))",
}


def test_refused_with_a_clear_error(call: Run) -> None:
    outcomes = call("def f(source): exec(source, {'__name__': '__main__'})", *([each] for each in STARTING.values()))
    for what, outcome in zip(STARTING, outcomes, strict=True):
        assert outcome.status is Status.RAISED, what
        assert outcome.failure.type == "PermissionError", what
        assert "new processes are refused here (" in outcome.failure.message


def test_thread_pools_and_locks_are_not_processes(program: Run) -> None:
    source = (
        "import multiprocessing, threading\nfrom multiprocessing.pool import ThreadPool\n"
        "with ThreadPool(3) as pool: print(pool.map(abs, [-1, 2]))\n"
        "lock, twice, some = multiprocessing.Lock(), multiprocessing.RLock(), multiprocessing.Semaphore(2)\n"
        "with lock, twice, twice, some:\n"
        "    print(lock.acquire(block=False), some.acquire(timeout=0.01), some.acquire(False))\n"
        "queue = multiprocessing.SimpleQueue()\nqueue.put(7)\nprint(queue.get())\n"
        "lock.acquire()\nthreading.Timer(0.05, lock.release).start()\nprint(lock.acquire(timeout=25))\n"
        "lock.release()\ntry: lock.release()\nexcept ValueError as error: print(error)\n"
        "try: twice.release()\nexcept AssertionError as error: print(error)\n"
    )
    (outcome,) = program(source)
    assert outcome.stdout.text() == (
        "[1, 2]\nFalse True False\n7\nTrue\nsemaphore or lock released too many times\n"
        "attempt to release recursive lock not owned by thread\n"
    )


# ---- allowed

IN_MAIN = "if __name__ == '__main__':\n    "

ALLOWED = {
    "fork": "import os\npid = os.fork()\nif pid == 0: os._exit(7)\n"
    "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))",
    "subprocess": "import subprocess, sys\n"
    "print(subprocess.check_output([sys.executable, '-c', 'print(7)']).decode().strip())",
    "exec": "import os, sys\nos.execv(sys.executable, [sys.executable, '-c', 'print(7)'])",
    "Pool": f"import multiprocessing\n{IN_MAIN}"
    "with multiprocessing.Pool(4) as pool: print(sum(pool.map(abs, [-3, 4])))",
    "Pool, spawn": f"import multiprocessing\ndef half(x): return x // 2\n{IN_MAIN}"
    "with multiprocessing.get_context('spawn').Pool(2) as pool: print(sum(pool.map(half, [6, 8])))",
    "Queue": "import multiprocessing\nqueue = multiprocessing.Queue()\n"
    "one = multiprocessing.Process(target=queue.put, args=(7,))\none.start()\nprint(queue.get())\none.join()",
}


STARTS_PYTHON = {"subprocess", "Pool, spawn"}


@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=[pytest.mark.slow] * (what in STARTS_PYTHON)) for what in ALLOWED]
)
def test_allowed(namespaces: Sandbox, what: str) -> None:
    for reuse in (True, False):
        for outcome in ran(namespaces, ALLOWED[what], b"", b"", limits=SOME, reuse=reuse):
            assert (outcome.status, outcome.stdout.text()) == (Status.ANSWERED, "7\n"), outcome


def test_a_fork_that_reaches_the_programs_end_does_not_answer_for_it(namespaces: Sandbox) -> None:
    source = "import os\npid = os.fork()\nif pid: os.waitpid(pid, 0)\nprint('parent' if pid else 'child')"
    (outcome,) = ran(namespaces, source, limits=SOME)
    assert (outcome.status, outcome.stdout.text()) == (Status.ANSWERED, "child\nparent\n")
    source = "import os\ndef f():\n    pid = os.fork()\n    if pid: os.waitpid(pid, 0)\n    return pid > 0"
    (outcome,) = called(namespaces, source, limits=SOME)
    assert outcome.value is True


BUSY = "import os, time\nfor _ in range(3):\n    if os.fork() == 0:\n        {}\ntime.sleep(60)"


def test_the_cpu_time_of_all_counts(namespaces: Sandbox) -> None:
    (outcome,) = ran(namespaces, BUSY.format("while True: pass"), limits=Limits(wall_s=30, cpu_s=0.5, processes=4))
    assert outcome.status is Status.TIME
    assert "CPU time (limits.cpu_s is 0.5)" in outcome.message


def test_the_cpu_time_of_ended_processes_counts(namespaces: Sandbox) -> None:
    burn = "end = time.process_time() + 0.2\n        while time.process_time() < end: pass\n        os._exit(0)"
    for wait in ("", "os.wait(); os.wait(); os.wait()\n"):
        source = BUSY.format(burn).replace("time.sleep", f"{wait}time.sleep")
        (outcome,) = ran(namespaces, source, limits=Limits(wall_s=30, cpu_s=0.5, processes=4))
        assert outcome.status is Status.TIME
        assert "CPU time" in outcome.message


def test_the_memory_of_all_counts(namespaces: Sandbox) -> None:
    source = BUSY.format("kept = b'x' * (60 << 20); time.sleep(60)")
    (outcome,) = ran(namespaces, source, limits=Limits(wall_s=30, memory_mb=150, processes=4))
    assert outcome.status is Status.MEMORY
    assert outcome.memory_mb > 150


def test_shared_memory_counts_once(namespaces: Sandbox) -> None:
    kept = "import os, time\nkept = b'x' * (60 << 20)\n"
    forks = "for _ in range(3):\n    if os.fork() == 0: time.sleep(60)\ntime.sleep(0.4)"
    (outcome,) = ran(namespaces, kept + forks, limits=Limits(wall_s=30, memory_mb=150, processes=4))
    assert outcome.status is Status.ANSWERED
    assert 60 < outcome.memory_mb < 150


def test_more_processes_than_allowed(namespaces: Sandbox) -> None:
    (outcome,) = ran(namespaces, BUSY.format("time.sleep(60)"), limits=Limits(wall_s=30, processes=2))
    assert outcome.status is Status.DIED
    assert outcome.message == "3 new processes at once (limits.processes is 2)"


def running(mark: str) -> int:
    found = 0
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += mark.encode() in file.read_bytes()
        except OSError:
            continue
    return found


def test_daemons_end_with_it(namespaces: Sandbox) -> None:
    mark = uuid.uuid4().hex
    source = (
        "import os, subprocess, sys\ndef f():\n    if (pid := os.fork()) == 0:\n        os.setsid()\n"
        f"        slow = 'import time; print(1, flush=True); time.sleep(600)', '{mark}'\n"
        "        subprocess.Popen([sys.executable, '-c', *slow], stdout=w)\n        os._exit(0)\n"
        "    os.waitpid(pid, 0)\n    return os.read(r, 2)\nr, w = os.pipe()"
    )
    with namespaces.execute(Program(source, "f"), SOME) as execution:
        assert execution.run(encoded_call([], {}), wall_s=30).value == b"1\n"
        assert running(mark) == 1
    wait_until(lambda: running(mark) == 0, "the daemon still runs")


def test_a_fork_can_not_reach_the_grader(namespaces: Sandbox) -> None:
    source = (
        "import os\ndef f():\n    if (pid := os.fork()) == 0:\n"
        "        os.write(3, b'\\0\\0\\0\\1V')\n        os._exit(0)\n    os.waitpid(pid, 0)\n    return 1"
    )
    outcomes = called(namespaces, source, [], [], limits=SOME)
    assert [(outcome.status, outcome.value) for outcome in outcomes] == [(Status.ANSWERED, 1)] * 2
