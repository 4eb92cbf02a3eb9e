"""Inputs that are sent together: the same outcomes as one by one, and nothing gained by looking ahead."""

import pytest

from evaluator.model import Limits
from evaluator.sandbox import Outcome, Program, Sandbox, Status, encoded_call
from tests.sandbox.conftest import PATIENT, called, ran


def ahead(
    sandbox: Sandbox, source: str, entry_point: str | None, *given: int, limits: Limits = PATIENT
) -> list[Outcome]:
    """The outcomes of those inputs that could be sent together."""
    payloads = [encoded_call([each], {}) if entry_point else str(each).encode() for each in given]
    with sandbox.execute(Program(source, entry_point), limits) as execution:
        return execution.run_ahead(payloads, wall_s=limits.wall_s)


def shown(outcome: Outcome) -> tuple[object, ...]:
    failure = outcome.failure and (outcome.failure.type, outcome.failure.message, outcome.failure.frames)
    texts = outcome.stdout.text(), outcome.stderr.text(), outcome.stdout.size, outcome.stderr.size
    return outcome.status, outcome.value, outcome.exit_status, failure, outcome.message, outcome.notes, texts


CALLS = {
    "values": "def f(x): return [x, {x: (x, None)}]",
    "an exception": "def f(x):\n    return 1 // (x - 2)",
    "its own end of a stream": "import sys\ndef f(x):\n    sys.stdout.close()\n    return x",
    "patched builtins": "import builtins\ndef f(x):\n    n = len([x])\n    builtins.len = lambda _: 7\n    return n",
    "random numbers": "import random\ndef f(x): return random.random()",
}
PROGRAMS = {
    "an exception": "print('first')\nprint(1 // (int(input()) - 2))",
    "an exit": "import sys\nx = int(input())\nprint(x)\nsys.exit(x)",
    "the end of stdin": "import sys\nprint(len(sys.stdin.read()))\nprint(repr(sys.stdin.read()))",
    "its place in stdout": "import sys\nprint(sys.stdout.tell(), input())",
    "descriptors": "import os\nx = os.read(0, os.fstat(0).st_size)\nos.write(1, x)\nprint(os.fstat(1).st_size)",
    "stdout opened again": "x = input()\nwith open('/dev/stdout', 'w') as out: out.write(x)",
    "a file left": "import os\nprint(os.path.exists('left'), input())\nopen('left', 'w').close()",
    "a global kept": "import sys\nprint(len(sys.argv), input())\nsys.argv.append('more')",
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_have_the_same_outcomes(sandbox: Sandbox, name: str) -> None:
    together = ahead(sandbox, CALLS[name], "f", 1, 2, 3)
    assert together  # perhaps not all: on a busy machine the first may take long
    one_by_one = called(sandbox, CALLS[name], [1], [2], [3])
    assert list(map(shown, together)) == list(map(shown, one_by_one[: len(together)]))


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_have_the_same_outcomes(sandbox: Sandbox, name: str) -> None:
    together = ahead(sandbox, PROGRAMS[name], None, 1, 2, 3)
    assert together
    one_by_one = ran(sandbox, PROGRAMS[name], b"1", b"2", b"3")
    assert list(map(shown, together)) == list(map(shown, one_by_one[: len(together)]))


DOUBTFUL = {
    "does not compile": "def f(:",
    "fails to load": "raise ValueError",
    "ends": "import os\ndef f(x):\n    if x == 2: os._exit(0)\n    return x",
    "crashes": "import ctypes\ndef f(x):\n    return ctypes.string_at(0) if x == 2 else x",
    "writes to our connection": "import os\ndef f(x):\n    os.write(3, b'garbage')\n    return x",
    "writes to the answers": "import os\ndef f(x):\n    os.write(5, b'garbage')\n    return x",
    "forges an answer": "import os, struct\ndef f(x):\n"
    "    os.write(5, struct.pack('!cIIIQdd', b'V', 1, 0, 0, 1, 0.0, 0.0) + b'4')\n    return x",
    "fills the answers": "def f(x): return 'x' * 3_000_000",
    "much memory": "def f(x): return len(bytearray(400 << 20))",
}


@pytest.mark.parametrize("name", DOUBTFUL)
def test_what_is_doubtful_is_run_one_by_one(sandbox: Sandbox, name: str) -> None:
    limits = Limits(wall_s=5, cpu_s=5, memory_mb=200)
    assert len(ahead(sandbox, DOUBTFUL[name], "f", 1, 2, 3, limits=limits)) <= 1  # the first may have taken long


@pytest.mark.parametrize(
    "loop", ["import time\n        time.sleep(600)", pytest.param("while True: pass", marks=pytest.mark.slow)]
)
def test_the_input_that_takes_too_long_is_found(sandbox: Sandbox, loop: str) -> None:
    source = f"def f(x):\n    print('at', x)\n    if x == 2:\n        {loop}\n    return x"
    for _ in range(20):  # the first input may take so long that the others come later
        found = ahead(sandbox, source, "f", 1, 2, 3, limits=Limits(wall_s=1, cpu_s=30))
        if len(found) > 1:
            break
    assert [outcome.status for outcome in found] == [Status.ANSWERED, Status.TIME]
    failure = found[1].failure
    assert failure.frames[-1].function == "f"


def test_time_hidden_in_another_inputs_time_does_not_count(sandbox: Sandbox) -> None:
    """It works for all inputs while it answers the first: more than one input's CPU time."""
    source = (
        "import time\ntime.monotonic = lambda: 0.0\n"
        "def f(x):\n    end = time.thread_time() + (0.4 if x < 3 else 0)\n"
        "    while time.thread_time() < end: pass\n    return x"
    )
    limits = Limits(wall_s=30, cpu_s=0.6)
    assert [outcome.status for outcome in called(sandbox, source, [1], [2], [3], limits=limits)] == [
        Status.ANSWERED
    ] * 3
    assert [outcome.value for outcome in ahead(sandbox, source, "f", 1, 2, 3, limits=limits)] in ([], [1])


def test_the_rest_runs_in_a_process_that_has_not_seen_it(sandbox: Sandbox) -> None:
    source = "import time\nseen = []\ndef f(x):\n    seen.append(x)\n    time.sleep(0.06)\n    return list(seen)"
    payloads = [encoded_call([x], {}) for x in (1, 2)]
    with sandbox.execute(Program(source, "f"), PATIENT) as execution:
        (first,) = execution.run_ahead(payloads, wall_s=30)
        second = execution.run(payloads[1], wall_s=30)
        assert execution.finish() == ""
    assert (first.value, second.value) == ([1], [2])
