"""The plan of a test suite: its test cases, and everything known before it runs. Parses tests, never runs them."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from evaluator.assertions.data_classes import data_classes
from evaluator.assertions.methods import (
    Methods,
    functions_of,
    methods_of,
    methods_of_functions,
    starts_of_suites,
    suites_of,
)
from evaluator.assertions.needs import Need, forks, needs_of
from evaluator.assertions.one_process import Reason, why_one_process
from evaluator.assertions.own_rules import why_it_proves_nothing
from evaluator.assertions.prompt import mentioned
from evaluator.assertions.reading import Reading, read_test
from evaluator.assertions.self_comparison import lines_that_compare_with_itself
from evaluator.assertions.source import IMPORTS
from evaluator.assertions.statements import Span, calls_of_check, statements_of
from evaluator.assertions.ungradable import Refusal, UngradableError
from evaluator.assertions.uses import uses_of
from evaluator.model import Mode, Task, TestCase
from evaluator.sandbox.assertions.suite_code import SuiteCode


class Form(StrEnum):
    """What the test cases of a suite are."""

    STATEMENTS = "statements"
    """Statements of `check(candidate)`."""
    MODULE = "module"
    """The module's own statements."""
    METHODS = "methods"


@dataclass(frozen=True)
class SuitePlan:
    """A suite, ready to run."""

    form: Form
    cases: tuple[TestCase, ...]
    spans: tuple[Span, ...]
    """STATEMENTS, MODULE: each case's first and last statement in the body, and whether the last one judges."""
    methods: tuple[tuple[str, str], ...]
    """METHODS: class and method of each case, in unittest's order."""
    continues: bool
    """Whether the cases after a failed one run, too."""
    restarts: bool
    """Whether a case can run in new processes, without those before it."""
    needs: frozenset[Need]
    proves_nothing: str | None
    """Why a pass of it is not verified, in one line: the completion decides every assert."""
    one_process: str | None
    """Why the suite can only be decided in the completion's own process, in one line."""
    suite: SuiteCode
    runs: bool = False
    """Whether the task's own reference passes it: what fails is the completion, then."""


def plan_suite(task: Task) -> SuitePlan:
    """The plan for a task of mode assert or unittest. Raises `UngradableError`."""
    try:
        return _plan(task)
    except RecursionError:
        raise Refusal.NESTED.error() from None


def notes_on(task: Task) -> tuple[str, ...]:
    """What is odd about a task's test, one line each. Raises nothing."""
    try:
        reading = read_test(task)
        lines = lines_that_compare_with_itself(reading)
    except (UngradableError, RecursionError):
        return ()
    return (f"compares the candidate with itself: {_listed(lines)} of the test",) if lines else ()


def _plan(task: Task) -> SuitePlan:
    reading = read_test(task)
    suites, functions = suites_of(reading), functions_of(reading)
    if suites and (reading.check is None or task.mode is Mode.UNITTEST):
        return _methods_plan(reading, task, methods_of(reading, suites))
    if reading.check is None and functions and not _calls_all(reading, functions):
        return _methods_plan(reading, task, methods_of_functions(reading, functions))
    body = statements_of(reading)
    form = Form.STATEMENTS if reading.check else Form.MODULE
    suite = _suite_code(reading, task, form, spans=body.spans, removed=calls_of_check(reading) if reading.check else ())
    return SuitePlan(
        form=form,
        cases=body.cases,
        spans=body.spans,
        methods=(),
        continues=body.continues,
        restarts=body.restarts,
        needs=needs_of(task, reading),
        proves_nothing=why_it_proves_nothing(reading),
        one_process=_why_one_process(task, reading, suite),
        suite=suite,
    )


def _methods_plan(reading: Reading, task: Task, methods: Methods) -> SuitePlan:
    suite = _suite_code(reading, task, Form.METHODS, methods=methods.methods, removed=starts_of_suites(reading))
    if not reading.completion & _names_read(reading):
        raise Refusal.NEVER_CALLS.error()
    return SuitePlan(
        form=Form.METHODS,
        cases=methods.cases,
        spans=(),
        methods=methods.methods,
        continues=True,
        restarts=True,
        needs=needs_of(task, reading),
        proves_nothing=why_it_proves_nothing(reading),
        one_process=_why_one_process(task, reading, suite),
        suite=suite,
    )


def _why_one_process(task: Task, reading: Reading, suite: SuiteCode) -> str | None:
    if "mocks" in suite.uses and forks(task, reading):  # a forked process can't reach the mocks in the test's process
        return f"the test {Reason.FORKS}"
    return why_one_process(reading)


def _suite_code(
    reading: Reading,
    task: Task,
    form: Form,
    *,
    spans: tuple[Span, ...] = (),
    methods: tuple[tuple[str, str], ...] = (),
    removed: Iterable[ast.stmt],
) -> SuiteCode:
    classes = data_classes(reading)
    names = mentioned(task.prompt, task.entry_point) | reading.names | set(classes)
    if task.entry_point:
        names.add(task.entry_point)
    replaced = dict.fromkeys(removed, "pass")
    return SuiteCode(
        test=reading.lines.replaced(replaced) if replaced else reading.source,
        form=str(form),
        spans=spans,
        methods=methods,
        preamble=reading.preamble,
        definitions=reading.definitions + "".join(f"{line}\n" for _, line in sorted(reading.missing_imports.items())),
        entry_point=task.entry_point,
        names=tuple(sorted(reading.names)),
        classes=classes,
        mentioned=tuple(sorted(names)),
        uses=uses_of(reading),
        touched=tuple(sorted(reading.in_touch)),
        imports=tuple(reading.lines.of(node) for node in reading.module.body if isinstance(node, IMPORTS)),
    )


def _calls_all(reading: Reading, functions: Iterable[ast.FunctionDef | ast.AsyncFunctionDef]) -> bool:
    """Whether the module's own statements call every one of its test functions."""
    called = {
        node.value.func.id
        for node in reading.module.body
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name)
    }
    return all(node.name in called for node in functions)


def _names_read(reading: Reading) -> set[str]:
    return {node.id for node in reading.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _listed(lines: list[int]) -> str:
    shown = [str(line) for line in lines[:10]]
    more = len(lines) - len(shown)
    rest = f" and {more} more" if more else ""
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(shown)}{rest}"
