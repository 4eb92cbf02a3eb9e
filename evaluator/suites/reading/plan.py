"""The plan of a test suite: its test cases, and everything known before it runs. Parses tests, never runs them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass

from evaluator.model import Mode, Task, TestCase
from evaluator.suites.host.cases import SuiteCode
from evaluator.suites.reading import Refusal, UngradableError
from evaluator.suites.reading.methods import functions_of, methods_of, methods_of_functions, suites_of
from evaluator.suites.reading.one_process import Reason, why_one_process
from evaluator.suites.reading.own_rules import lines_that_compare_with_itself, why_it_proves_nothing
from evaluator.suites.reading.prompt import mentioned
from evaluator.suites.reading.reading import Reading, read_test
from evaluator.suites.reading.source import IMPORTS
from evaluator.suites.reading.statements import SuiteCases, statements_of
from evaluator.suites.reading.uses import Need, data_classes, forks, needs_of, uses_of

_CLASS_WITH_BASES = re.compile(r"\bclass\s+(\w+)\s*\(([^)\n]*)\)")
_NAMES = re.compile(r"\w+")
_OF_DATA = frozenset(
    """list dict set frozenset tuple str bytes bytearray int float complex OrderedDict defaultdict Counter deque
    NamedTuple Enum IntEnum StrEnum Flag IntFlag""".split()
)
"""Objects of classes derived from these are both data and objects, which does not work across two processes."""


@dataclass(frozen=True)
class SuitePlan:
    """A suite, ready to run."""

    cases: tuple[TestCase, ...]
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


def cases_of(task: Task) -> tuple[TestCase, ...]:
    """The plan's test cases alone, which is less work. Raises `UngradableError`."""
    try:
        return _suite_cases(read_test(task), task).cases
    except RecursionError:
        raise Refusal.NESTED.error() from None


def notes_on(task: Task) -> tuple[str, ...]:
    """What is odd about a task's test, one line each. Raises nothing."""
    try:
        reading = read_test(task)
        lines = lines_that_compare_with_itself(reading)
    except (UngradableError, RecursionError):
        return ()
    listed = f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}"
    return (f"compares the candidate with itself: {listed} of the test",) if lines else ()


def _plan(task: Task) -> SuitePlan:
    reading = read_test(task)
    cut = _suite_cases(reading, task)
    suite = _suite_code(reading, task, cut)
    return SuitePlan(
        cases=cut.cases,
        continues=cut.continues,
        restarts=cut.restarts,
        needs=needs_of(task, reading),
        proves_nothing=why_it_proves_nothing(reading),
        one_process=_why_one_process(task, reading, suite),
        suite=suite,
    )


def _suite_cases(reading: Reading, task: Task) -> SuiteCases:
    suites, functions = suites_of(reading), functions_of(reading)
    if suites and (reading.check is None or task.mode is Mode.UNITTEST):
        return methods_of(reading, suites)
    if reading.check is None and functions and not _calls_all(reading, functions):
        return methods_of_functions(reading, functions)
    return statements_of(reading)


def _why_one_process(task: Task, reading: Reading, suite: SuiteCode) -> str | None:
    if "mocks" in suite.uses and forks(task, reading):  # a forked process can't reach the mocks in the test's process
        return f"the test {Reason.FORKS}"
    for name, bases in _CLASS_WITH_BASES.findall(task.prompt):
        base = next((each for each in _NAMES.findall(bases) if each in _OF_DATA), None)
        if base is not None and name in {*reading.names, task.entry_point} and name not in suite.classes:
            return f"the task asks for `{name}`, a class derived from {base}"
    return why_one_process(reading)


def _suite_code(reading: Reading, task: Task, cut: SuiteCases) -> SuiteCode:
    classes = data_classes(reading)
    names = mentioned(task.prompt, task.entry_point) | reading.names | set(classes)
    if task.entry_point:
        names.add(task.entry_point)
    return SuiteCode(
        test=reading.lines.replaced(dict.fromkeys(cut.removed, "pass")) if cut.removed else reading.source,
        form=cut.form,
        spans=cut.spans,
        methods=cut.methods,
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
