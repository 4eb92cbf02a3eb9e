"""Runs one test case of a completion again, with line tracing, in the grading sandbox, and reads what it wrote: a trace
as data, bounded, typed, and trusted only for display.
"""

from __future__ import annotations

import ast
import json
import re
import secrets
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Annotated, Literal, NamedTuple, Unpack

import msgspec

from evaluator.cases import Bench
from evaluator.graders.plans import PlannedCase, plan_for
from evaluator.model import Mode, Task
from evaluator.options import Given, Options, options_of, task_limits
from evaluator.sandbox import FaultError, Outcome, Program, Status
from evaluator.suites.reading import UngradableError
from evaluator.suites.reading.plan import SuitePlan
from evaluator.syntax import lines_of, tree_of
from evaluator.workers.single import in_worker

_NOT_INSIDE = re.compile(r"^from (?:__future__|evaluator\.tracing\.\w+) import .*$", re.MULTILINE)
_CAP = 2**20
_MOST_S = 10.0
_SPARE_S = 2.0
_SPARE_MB = 64
_LEAST_OUTPUT_MB = 4


_MOST_BYTES = 2 * 2**20

_Count = Annotated[int, msgspec.Meta(ge=0, le=10**12)]
_Line = Annotated[int, msgspec.Meta(ge=0, le=10**7)]
_Name = Annotated[str, msgspec.Meta(max_length=200)]
_Text = Annotated[str, msgspec.Meta(max_length=500)]
_Names = Annotated[dict[_Name, _Text], msgspec.Meta(max_length=64)]


class _StepRecord(msgspec.Struct, array_like=True, tag="step", forbid_unknown_fields=True):
    number: _Count
    line: _Line
    function: _Name
    depth: _Count
    frame: _Count
    before: _Count
    changed: _Names
    items: _Names
    whole: _Names


class _SaidRecord(msgspec.Struct, array_like=True, tag="said", forbid_unknown_fields=True):
    at: _Count
    changed: _Names
    said: _Text


class End(msgspec.Struct, frozen=True, array_like=True, tag="end", forbid_unknown_fields=True):
    """How the traced run ended, as its process says."""

    how: Literal["ended", "raised", "exited", "stopped"]
    steps: _Count
    value: Annotated[str, msgspec.Meta(max_length=5_000)] = ""
    """What the call returned, or the exception's message."""
    error: _Name = ""
    """The exception's type."""
    line: _Line = 0
    hits: Annotated[list[tuple[_Line, _Count]], msgspec.Meta(max_length=200)] = []
    """Of a run that was stopped: how often each of the lines that ran most often did."""


_DECODER = msgspec.json.Decoder(_StepRecord | _SaidRecord | End)


class Change(NamedTuple):
    """A variable and its value, as text."""

    name: str
    value: str


class Step(msgspec.Struct):
    """One executed line: what it was about to read, and what changed until the frame's next line."""

    number: int
    """From 1. The numbers jump where steps were dropped."""
    line: int
    function: str
    depth: int
    frame: int
    """Which call it belongs to."""
    changed: list[Change] = msgspec.field(default_factory=list)
    items: list[Change] = msgspec.field(default_factory=list)
    """What the line reads by subscript, before it runs."""
    whole: list[Change] = msgspec.field(default_factory=list)
    """At some steps: the frame's variables before the line runs."""
    said: str = ""
    """What it returned, yielded or raised."""


class Trace(msgspec.Struct):
    """The first and the last steps of a run, and its end; without one, the process was killed."""

    steps: list[Step]
    end: End | None
    broken: bool = False
    """Whether it has lines that can't be read."""


def read(data: bytes, word: str, lines: int, first: int, last: int) -> Trace:
    """The trace among all that a process wrote, at most its `first` and its `last` steps. Never raises.

    `lines`: how many the code has.
    """
    trace = Trace([], None)
    by_number: dict[int, Step] = {}
    for raw in _records(data[:_MOST_BYTES], word.encode()):
        try:
            record = _DECODER.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            trace.broken = True
            continue
        if isinstance(record, End):
            trace.end = record
        elif isinstance(record, _StepRecord):
            before = trace.steps[-1].number if trace.steps else 0
            if record.number <= before or not 0 < record.line <= lines:
                trace.broken = True
                continue
            _change(by_number.get(record.before), record.changed)
            step = Step(record.number, record.line, record.function, min(record.depth, 10_000), record.frame)
            step.items, step.whole = _changes(record.items), _changes(record.whole)
            by_number[step.number] = step
            trace.steps.append(step)
        else:
            step_ended = by_number.get(record.at)
            _change(step_ended, record.changed)
            if step_ended is not None:
                step_ended.items = [each for each in step_ended.items if not _is_of(each.name, record.changed)]
                goes_on = record.said == "ended" and step_ended.said.startswith("yielded")
                step_ended.said = f"{step_ended.said}, ended" if goes_on else record.said
    if len(trace.steps) > first + last:
        trace.steps = trace.steps[:first] + trace.steps[len(trace.steps) - last :]
    return trace


def _records(data: bytes, word: bytes) -> Iterator[bytes]:
    """The lines that begin with the word. The last one counts only if it is complete."""
    for line in data.split(b"\n")[:-1]:
        if line.startswith(word):
            yield line[len(word) :]


def _is_of(read: str, changed: dict[str, str]) -> bool:
    """Whether a line changed a name in what it read: `items[n]` of a comprehension over `n` is of an earlier `n`."""
    return any(name in changed for name in re.findall(r"\w+", read))


def _change(step: Step | None, changed: dict[str, str]) -> None:
    if step is not None:
        step.changed += _changes(changed)


def _changes(found: dict[str, str]) -> list[Change]:
    return [Change(name, value) for name, value in found.items()]


class Window(NamedTuple):
    """How many steps are kept, from the start and from the end, and for how long the program may run."""

    first: int = 200
    last: int = 2_000
    most_s: float = _MOST_S


class Replay(msgspec.Struct, frozen=True):
    """A traced run: its steps, and how it ended as the sandbox saw it."""

    trace: Trace
    outcome: Outcome | None
    """None if nothing was run."""
    right: bool | None = None
    """Whether the checker accepts what a stdin program printed; None where that is unknown."""
    refusal: str = ""
    """Why nothing was run, as one line."""
    budget_s: float = 0.0
    checkable: bool = False


class _Order(msgspec.Struct):
    """What the traced process gets: no expected output, except those in a suite's own statements."""

    source: str
    preamble: str
    mode: str
    entry_point: str | None
    setup: tuple[str, ...] = ()
    statement: str = ""
    method: tuple[str, str] = ("", "")
    word: str = ""
    first: int = 0
    last: int = 0
    cap: int = _CAP
    budget_s: float = _MOST_S


def replay(
    task: Task,
    code: str,
    index: int,
    *,
    window: Window | None = None,
    options: Options | None = None,
    **given: Unpack[Given],
) -> Replay:
    """Runs test case `index` with tracing. `options`: the run's, also as keywords, as in `evaluator.grade`.

    Never grades: a trace is the completion's word. Raises `SandboxUnavailable` and `FaultError`.
    """
    window, options = window or Window(), options_of(options, given)
    try:
        order, planned = _order(task, code, index, options.checker)
    except UngradableError as refusal:
        return Replay(Trace([], None), None, refusal=str(refusal))
    limits = task_limits(task, options)
    budget_s = min(window.most_s, 2 * limits.wall_s + 1)
    order = msgspec.structs.replace(
        order, word=f"@{secrets.token_hex(8)} ", first=window.first, last=window.last, budget_s=budget_s
    )
    payload = planned.payload if planned is not None else b""
    outcome = in_worker(_run, order, payload, options=msgspec.structs.replace(options, limits=limits))
    trace = read(outcome.stderr.data, order.word, len(lines_of(code)), window.first, window.last)
    judged = planned is not None and order.mode == "stdin" and trace.end is not None and trace.end.how != "stopped"
    right = planned.judge(outcome.stdout.text()) is None if planned is not None and judged else None
    right = None if right is False and task.checker_code is not None else right
    return Replay(trace, outcome, right=right, budget_s=budget_s, checkable=order.mode in ("stdin", "call"))


def _run(bench: Bench, order: _Order, payload: bytes) -> Outcome:
    limits = bench.options.limits
    program = Program(_driver() + f"\nmain({json.dumps(msgspec.to_builtins(order))!r})\n")
    time_s = order.budget_s + _SPARE_S
    traced = msgspec.structs.replace(
        limits,
        wall_s=time_s,
        cpu_s=time_s,
        total_s=time_s,
        memory_mb=limits.memory_mb + _SPARE_MB,
        output_mb=max(limits.output_mb, _LEAST_OUTPUT_MB),
        processes=0,
    )
    with bench.sandbox.execute(program, traced, reuse=False, several=False) as execution:
        outcome = execution.run(payload, wall_s=time_s)
    if outcome.status is Status.FAULT:
        raise FaultError(outcome.message)
    return outcome


@cache
def _driver() -> str:
    """The modules that run inside as one program."""
    folder = resources.files("evaluator.tracing")
    texts = [(folder / name).read_text("utf-8") for name in ("shown.py", "inside.py")]
    return "from __future__ import annotations\n" + _NOT_INSIDE.sub("", "\n".join(texts))


def _order(task: Task, code: str, index: int, checker: str | None) -> tuple[_Order, PlannedCase | None]:
    """What to run, and the planned case with its input. Raises `UngradableError` if it can't be replayed."""
    if task.mode is Mode.ANSWER:
        raise UngradableError("Not supported for tasks that have an answer and no code.")
    plan = plan_for(task, checker)
    if isinstance(plan, SuitePlan):
        return _order_of_suite(task, plan, code, index), None
    planned = next((each for each in plan.cases if each.case.index == index), None)
    if planned is None:
        raise UngradableError(f"The task has no test case {index}.")
    mode = "call" if plan.by_value else "stdin"
    entry_point = task.entry_point if plan.by_value else None
    return _Order(code, task.preamble, mode, entry_point), planned


def _order_of_suite(task: Task, plan: SuitePlan, code: str, index: int) -> _Order:
    """A statement of the test, or one of its methods, after the code."""
    suite = plan.suite
    place = next((place for place, case in enumerate(plan.cases) if case.index == index), None)
    if place is None:
        raise UngradableError(f"The task has no test case {index}.")
    if plan.needs:
        raise UngradableError(f"Not supported for tests that need {', '.join(sorted(plan.needs))}.")
    if suite.form == "methods":
        parts = (suite.definitions, suite.test)
        return _Order(code, task.preamble, "method", task.entry_point, parts, method=suite.methods[place])
    before = (suite.test, _imports_of_check(suite.test)) if suite.form == "statements" else suite.imports
    setup = (suite.definitions, *before)
    return _Order(code, task.preamble, "statement", task.entry_point, setup, plan.cases[place].input)


def _imports_of_check(test: str) -> str:
    """The imports in the body of `check`, which its statements need."""
    module = tree_of(test)
    found = (
        [node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == "check"] if module else []
    )
    body = found[-1].body if found else []
    return "\n".join(ast.unparse(node) for node in body if isinstance(node, (ast.Import, ast.ImportFrom)))
