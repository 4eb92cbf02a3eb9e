"""Whatever a completion writes to descriptors that are not its own, the parent handles it."""

from __future__ import annotations

import pytest

from evaluator.graders.bench import Bench, Options
from evaluator.graders.tests import grade
from evaluator.model import Kind, Limits, Mode, Rollout, Task, TestCase, Verdict
from evaluator.sandbox import Outcome, Program, Sandbox, Status, encoded_call
from tests.sandbox.conftest import PATIENT, Run

FRAME = "import json, os\ndef frame(kind, payload=b''): return (len(payload) + 1).to_bytes(4, 'big') + kind + payload\n"
HASTY = Limits(wall_s=0.4, cpu_s=30, total_s=60)
BAD = {
    "garbage": "b'garbage that is not a frame'",
    "zeros": "bytes(1000)",
    "a length and nothing else": "(100).to_bytes(4, 'big')",
    "half a frame": "(100).to_bytes(4, 'big') + b'V123'",
    "too large": "(1 << 31).to_bytes(4, 'big') + b'V'",
    "an unknown kind": "frame(b'Z')",
    "a hello": "frame(b'H')",
    "loaded": "frame(b'L')",
    "an end of the zygote's": 'frame(b\'E\', b\'{"exit_status": 0, "cpu_s": 0, "memory_kib": 0}\')',
    "a fault": "frame(b'!', b'sandbox failed')",
    "an empty value": "frame(b'V')",
    "a value that is not JSON": "frame(b'V', bytes(8) + b'{')",
    "a value too deep": "frame(b'V', bytes(8) + b'[' * 100000)",
    "a value of an unknown tag": "frame(b'V', bytes(8) + b'{\"q\": 1}')",
    "an exception that is not a report": "frame(b'X', bytes(8) + b'[]')",
    "an exception of a wrong form": "frame(b'X', bytes(8) + b'{\"failure\": [1, 2, 3, 4]}')",
    "an end that is not a report": "frame(b'D', b'nonsense')",
    "an end with a strange status": "frame(b'D', b'{\"exit_status\": 99999999999999}')",
    "not compiled": "frame(b'C', b'{}')",
    "many": "b''.join(frame(b'V', bytes(8) + b'1') for _ in range(1000))",
}


def honest_still_runs(sandbox: Sandbox) -> None:
    with sandbox.execute(Program("print(int(input()) + 1)"), PATIENT) as execution:
        assert execution.run(b"41\n", wall_s=30).stdout.text() == "42\n"


def task(mode: Mode) -> Task:
    cases = tuple(TestCase(index, "1", "1") for index in range(2))
    return Task(task_id="t", mode=mode, entry_point="f" if mode is Mode.CALL else None, cases=cases)


def verdict_of(sandbox: Sandbox, mode: Mode, code: str, limits: Limits = PATIENT) -> tuple[Verdict, float | None]:
    rollout = Rollout(task_id="t", completion=code, kind=Kind.FULL)
    graded = grade(task(mode), rollout, Bench(sandbox, Options(limits=limits)))
    return graded.verdict, graded.reward


@pytest.mark.parametrize("what", BAD)
def test_bad_frames_from_a_call(sandbox: Sandbox, what: str) -> None:
    source = FRAME + f"def f(x):\n    os.write(3, {BAD[what]})\n    return x"
    with sandbox.execute(Program(source, "f"), HASTY) as execution:
        outcome = execution.run(encoded_call([1], {}), wall_s=0.4)
    assert outcome.status in (Status.REJECTED, Status.TIME) or (outcome.status is Status.ANSWERED and what == "many")
    assert verdict_of(sandbox, Mode.CALL, source, HASTY)[1] == 0.0
    honest_still_runs(sandbox)


@pytest.mark.parametrize("what", BAD)
def test_bad_frames_from_a_program(sandbox: Sandbox, what: str) -> None:
    source = FRAME + f"print(input())\nos.write(3, {BAD[what]})"
    with sandbox.execute(Program(source), HASTY) as execution:
        assert execution.run(b"1\n", wall_s=0.4).status in (Status.REJECTED, Status.TIME)
    assert verdict_of(sandbox, Mode.STDIN, source, HASTY)[1] == 0.0
    honest_still_runs(sandbox)


@pytest.mark.parametrize("what", ["garbage", "half a frame", "many", "loaded", "not compiled"])
def test_bad_frames_while_the_code_is_loaded(sandbox: Sandbox, what: str) -> None:
    source = FRAME + f"os.write(3, {BAD[what]})\ndef f(x): return x"
    assert verdict_of(sandbox, Mode.CALL, source, HASTY)[1] == 0.0
    honest_still_runs(sandbox)


OWN = range(4, 9)
"""Its own copies of stdin, stdout and stderr, and the files for its stack when its time is up and for answers."""
DESCRIPTORS = range(63, 2, -1)
WRITE_GARBAGE = "import os\ndef f(number): os.write(number, b'garbage' * 100)\n"


def refused(outcomes: list[Outcome]) -> dict[int, Status]:
    """The statuses of writes to descriptors that are not the program's own."""
    status = {number: outcome.status for number, outcome in zip(DESCRIPTORS, outcomes, strict=True)}
    assert {status.pop(number) for number in OWN} <= {Status.ANSWERED, Status.RAISED}
    return status


def test_garbage_on_any_descriptor(call: Run, program: Run) -> None:
    expected = {
        number: Status.REJECTED if number == 3 else Status.RAISED for number in DESCRIPTORS if number not in OWN
    }
    assert refused(call(WRITE_GARBAGE, *([number] for number in DESCRIPTORS))) == expected
    inputs = (b"%d\n" % number for number in DESCRIPTORS)
    assert refused(program(WRITE_GARBAGE + "f(int(input()))", *inputs)) == expected


def test_a_forged_answer_is_caught_by_the_true_one(sandbox: Sandbox) -> None:
    forged = FRAME + "def f(x):\n    os.write(3, frame(b'V', bytes(8) + b'1'))\n    return 0"
    assert verdict_of(sandbox, Mode.CALL, forged)[1] == 0.0
    ended = FRAME + "os.write(3, frame(b'D', b'{\"clean\": true}'))\nprint(1)"
    assert verdict_of(sandbox, Mode.STDIN, ended)[1] == 0.0


def test_a_program_that_reports_its_end_and_runs_on_is_late(sandbox: Sandbox) -> None:
    source = FRAME + "os.write(3, frame(b'D', b'{\"clean\": false}'))\nimport time\ntime.sleep(600)"
    assert verdict_of(sandbox, Mode.STDIN, source, HASTY) == (Verdict.TIME_LIMIT, 0.0)
    honest_still_runs(sandbox)


@pytest.mark.parametrize("statement", ["os.close(3)", "os.closerange(3, 256)", "socket.socket(fileno=3).shutdown(2)"])
def test_a_program_may_close_descriptors_that_are_not_its_own(program: Run, statement: str) -> None:
    source = f"import os, socket, time\n{statement}\ntime.sleep(0.2)\nprint(input())"
    outcomes = program(source, b"1\n", b"2\n")
    assert [(outcome.status, outcome.stdout.text()) for outcome in outcomes] == [
        (Status.ANSWERED, "1\n"),
        (Status.ANSWERED, "2\n"),
    ]


def test_a_program_that_closed_the_connection_is_refused_and_keeps_running(program: Run) -> None:
    """The kernel asks us about the call, even if the process can report nothing else."""
    source = "import os\nos.closerange(3, 256)\ntry: os.kill(1, 9)\nexcept PermissionError: print('refused')\n"
    (outcome,) = program(source, limits=Limits(wall_s=10, cpu_s=10))
    assert (outcome.status, outcome.stdout.text()) == (Status.ANSWERED, "refused\n")
    assert [note.word for note in outcome.notes] == ["refused_call"]


def test_a_call_that_closes_the_connection_counts_as_died(call: Run) -> None:
    first, second = call("import os\ndef f(x):\n    if x: os.close(3)\n    return x", [1], [0])
    assert (first.status, second.status, second.value) == (Status.DIED, Status.ANSWERED, 0)


def test_a_forged_report_is_kept_small(call: Run) -> None:
    report = "{'failure': ['E' * 10**6, 'm' * 10**6, [[2**40, 'f'], [0, 'g'], [2, 'h' * 10**6]], 10**12]}"
    payload = f"bytes(8) + json.dumps({report}).encode()"
    (outcome,) = call(FRAME + f"def f():\n    os.write(3, frame(b'X', {payload}))\n    os._exit(0)")
    assert outcome.status is Status.RAISED
    assert outcome.failure is not None
    assert [frame.line for frame in outcome.failure.frames] == [2], "only lines that the code has"
    assert len(repr(outcome.failure)) < 5000


ATTACKS_ON_THE_HARNESS = {
    "interrupt the first process": "os.kill(1, 2)",
    "kill the first process": "os.kill(1, 9)",
    "interrupt the group": "signal.signal(2, signal.SIG_IGN); os.kill(0, 2)",
    "kill the group": "os.kill(0, 9)",
    "kill all": "os.kill(-1, 9)",
    "kill the group by its number": "os.killpg(os.getpgid(0), 9)",
    "starve the first process": "resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))",
    "end the first process's time": "resource.prlimit(1, resource.RLIMIT_CPU, (0, 0))",
    "slow the group down": "os.setpriority(os.PRIO_PGRP, 0, 19)",
    "slow the user down": "os.setpriority(os.PRIO_USER, 0, 19)",
    "signals by way of a pipe": "fcntl.fcntl(os.pipe()[0], fcntl.F_SETOWN, 1)",
    "write its memory": "open('/proc/1/mem', 'r+b').close()",
    "read its descriptors": "os.listdir('/proc/1/fd')",
    "send it descriptors": "socket.send_fds(socket.socket(fileno=os.dup(3)), [b'x'], [0, 1, 2])",
}


@pytest.mark.parametrize("what", ATTACKS_ON_THE_HARNESS)
def test_no_attack_on_the_harness_is_our_fault(sandbox: Sandbox, what: str) -> None:
    """A fault has no reward, so a completion that could cause one would escape its 0."""
    imports = "import fcntl, os, resource, signal, socket, time"
    wrong = f"{imports}\n{ATTACKS_ON_THE_HARNESS[what]}\ntime.sleep(0.1)\nprint('wrong')"
    verdict, reward = verdict_of(sandbox, Mode.STDIN, wrong)
    assert reward == 0.0, verdict
    honest_still_runs(sandbox)


def test_attacks_on_the_harness_are_refused(program: Run) -> None:
    (outcome,) = program(
        "import fcntl, os, resource, signal\n"
        "def refused(action):\n    try: action()\n    except PermissionError: return True\n    return False\n"
        "print([refused(action) for action in (lambda: os.kill(1, 0), lambda: os.kill(0, 0), lambda: os.kill(-1, 0),\n"
        "    lambda: resource.prlimit(1, resource.RLIMIT_CPU), lambda: os.setpriority(os.PRIO_PGRP, 0, 1),\n"
        "    lambda: fcntl.fcntl(0, fcntl.F_SETOWN, 1), lambda: fcntl.fcntl(0, 10, 2))])\n"
        "os.kill(os.getpid(), 0)\nresource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))\n"
        "signal.raise_signal(signal.SIGCHLD)\n"
        "fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL))\nos.nice(1)\nprint('its own')"
    )
    assert outcome.stdout.text() == f"{[True] * 7}\nits own\n", outcome
