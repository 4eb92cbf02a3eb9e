"""One run of a program in its process: measured and limited from outside, whatever the process says."""

from __future__ import annotations

from collections.abc import Callable

from evaluator.sandbox.host.answers import AnswerReader
from evaluator.sandbox.host.child import Child
from evaluator.sandbox.host.limits.exceeded import mark_exceeded, mark_killed
from evaluator.sandbox.host.limits.watch import LimitExceeded, LimitWatch, counted_s
from evaluator.sandbox.host.outcomes import Outcome, Status
from evaluator.sandbox.host.processes import Processes
from evaluator.sandbox.host.reports import stack_of
from evaluator.sandbox.host.wire import BrokenFrameError

_LEAST_S = 0.01

Exchange = Callable[[Child, LimitWatch, Outcome], None]
"""Sends the input and reads the answer into the outcome."""


def run_once(
    child: Child, exchange: Exchange, stdin: bytes, wall_s: float, processes: Processes, reader: AnswerReader
) -> Outcome:
    """What it did within so many seconds. The process may have ended then. Raises what a connection raises."""
    setup, outcome = processes.setup, Outcome(status=Status.ANSWERED)
    owed_s, child.compiled_s = counted_s(child.compiled_s), 0.0
    watch = LimitWatch(child, setup.limits, max(wall_s - owed_s, _LEAST_S), wall_s)
    try:
        try:
            if child.used:
                child.renew(stdin)
            child.used = True
            exchange(child, watch, outcome)
            if child.ended is None:
                watch.last_look()
        except EOFError:
            reader.read_end(child.wait(watch), watch, outcome)
    except LimitExceeded as passed:
        outcome.status, outcome.message, outcome.doubt = passed.status, passed.message, passed.doubt
        outcome.wall_s = owed_s + watch.wall_s()
        outcome.failure = stack_of(child.stack(), setup.program.source)
    except BrokenFrameError as error:
        outcome.status, outcome.failure = Status.REJECTED, None
        outcome.message = f"it wrote to the protocol channel: {error}"
    outcome.wall_s = outcome.wall_s or owed_s + watch.wall_s()
    outcome.cpu_s = max(watch.cpu_s(), outcome.cpu_s)
    outcome.memory_mb = max(outcome.memory_mb, watch.peak.total)
    outcome.stdout, outcome.stderr = child.printed(setup.output_bytes)
    outcome.notes += child.refused_calls()
    if setup.limits.processes and processes.zygote.out_of_memory():  # also a process that it started
        mark_killed(outcome, setup.limits)
    mark_exceeded(outcome, setup.limits)
    if outcome.status in (Status.TIME, Status.MEMORY, Status.REJECTED, Status.DIED):
        child.kill()
    return outcome
