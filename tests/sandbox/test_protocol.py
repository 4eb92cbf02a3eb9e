"""Whatever a completion writes to descriptors that are not its own, the parent handles it."""

import pytest

from evaluator.model import Limits, Mode, Task, TestCase, Verdict
from evaluator.sandbox import Sandbox, Status
from tests.sandbox.conftest import PATIENT, Run, graded, ran

FRAME = "import json, os\ndef frame(kind, payload=b''): return (len(payload) + 1).to_bytes(4, 'big') + kind + payload\n"
HASTY = Limits(wall_s=0.4, cpu_s=30, total_s=60)
BAD = {
    "garbage": "b'garbage that is not a frame'",
    "a length and nothing else": "(100).to_bytes(4, 'big')",
    "a hello": "frame(b'H')",
    "loaded": "frame(b'L')",
    "an end of the zygote's": 'frame(b\'E\', b\'{"exit_status": 0, "cpu_s": 0, "memory_kib": 0}\')',
    "a fault": "frame(b'!', b'sandbox failed')",
    "an empty value": "frame(b'V')",
    "a value that is not JSON": "frame(b'V', bytes(8) + b'{')",
    "a value of an unknown tag": "frame(b'V', bytes(8) + b'{\"q\": 1}')",
    "an exception that is not a report": "frame(b'X', bytes(8) + b'[]')",
    "an exception of a wrong form": "frame(b'X', bytes(8) + b'{\"failure\": [1, 2, 3, 4]}')",
    "an end that is not a report": "frame(b'D', b'nonsense')",
    "not compiled": "frame(b'C', b'{}')",
}


def honest_still_runs(sandbox: Sandbox) -> None:
    assert ran(sandbox, "print(int(input()) + 1)", b"41\n")[0].stdout.text() == "42\n"


def verdict_of(sandbox: Sandbox, mode: Mode, code: str, limits: Limits = PATIENT) -> tuple[Verdict, float | None]:
    cases = tuple(TestCase(index, "1", "1") for index in range(2))
    task = Task(task_id="t", mode=mode, entry_point="f" if mode is Mode.CALL else None, cases=cases)
    found = graded(sandbox, task, code, limits)
    return found.verdict, found.reward


CODES = {
    "a call": (Mode.CALL, "def f(x):\n    os.write(3, {})\n    return x"),
    "a program": (Mode.STDIN, "print(input())\nos.write(3, {})"),
    "loading": (Mode.CALL, "os.write(3, {})\ndef f(x): return x"),
}
SILENT = {"a length and nothing else"}
"""After this more could come."""


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("what", [pytest.param(each, marks=[pytest.mark.slow] * (each in SILENT)) for each in BAD])
def test_bad_frames_are_no_answers(sandbox: Sandbox, what: str, code: str) -> None:
    mode, source = CODES[code]
    verdict, reward = verdict_of(sandbox, mode, FRAME + source.format(BAD[what]), HASTY)
    assert reward == 0.0, verdict
    honest_still_runs(sandbox)


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
    source = f"import os, socket, time\n{statement}\ntime.sleep(0.1)\nprint(input())"
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
    assert [frame.line for frame in outcome.failure.frames] == [2], "only lines that the code has"
    assert len(repr(outcome.failure)) < 5000


def test_descriptors_that_are_sent_to_us_are_not_our_fault(sandbox: Sandbox) -> None:
    """A fault has no reward, so a completion that could cause one would escape its 0."""
    sent = "try: socket.send_fds(socket.socket(fileno=os.dup(3)), [b'x'], [0, 1, 2])\nexcept OSError: pass\n"
    assert verdict_of(sandbox, Mode.STDIN, f"import os, socket\n{sent}print('wrong')")[1] == 0.0
    honest_still_runs(sandbox)
