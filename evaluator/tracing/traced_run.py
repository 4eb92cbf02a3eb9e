"""Runs one test case of a completion again, with line tracing, in the grading sandbox."""

from __future__ import annotations

import ast
import json
import re
import secrets
from functools import cache
from importlib import resources
from typing import NamedTuple, Unpack

import msgspec

from evaluator.graders.bench import Bench
from evaluator.graders.cases.plans import PlannedCase, plan_for
from evaluator.model import Mode, Task
from evaluator.options import Given, Options, options_of
from evaluator.sandbox import FaultError, Outcome, Program, Status
from evaluator.suites.reading import UngradableError
from evaluator.suites.reading.plan import SuitePlan
from evaluator.syntax import lines_of, tree_of
from evaluator.tracing.steps import Trace, read
from evaluator.workers.single import in_worker

_NOT_INSIDE = re.compile(r"^from (?:__future__|evaluator\.tracing\.\w+) import .*$", re.MULTILINE)
_CAP = 2**20
_MOST_S = 10.0
_SPARE_S = 2.0
_SPARE_MB = 64
_LEAST_OUTPUT_MB = 4


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
    limits = options.limits.replaced(task.limits)
    budget_s = min(window.most_s, 2 * limits.wall_s + 1)
    order = msgspec.structs.replace(
        order, word=f"@{secrets.token_hex(8)} ", first=window.first, last=window.last, budget_s=budget_s
    )
    payload = planned.payload if planned is not None else b""
    outcome = in_worker(_run, order, payload, options=msgspec.structs.replace(options, limits=limits))
    trace = read(outcome.stderr.data, order.word, len(lines_of(code)), window.first, window.last)
    judged = planned is not None and order.mode == "stdin" and trace.end is not None and trace.end.how != "stopped"
    right = planned.judge(outcome.stdout.text()) is None if planned is not None and judged else None
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
