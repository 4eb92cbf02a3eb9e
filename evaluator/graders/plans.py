"""The plan for a task: what goes into the sandbox for each test case, and how its answer is judged."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from evaluator import flags, syntax
from evaluator.cases import SHOWN_WHEN_RIGHT, excerpt
from evaluator.checkers import Check, Checker, CheckerError, Kind, get_checker, render
from evaluator.lru_cache import LruCache
from evaluator.model import Difference, Mode, Task, TestCase
from evaluator.sandbox import encoded_answer, encoded_call
from evaluator.sandbox.host.outcomes import Right
from evaluator.suites.reading import Refusal, UngradableError
from evaluator.suites.reading.literal_calls import (
    LiteralCall,
    Relation,
    expectation_holds,
    extract_calls,
    with_imports_of_test,
)
from evaluator.suites.reading.plan import SuitePlan, cases_of, plan_suite
from evaluator.tasks import long_numbers
from evaluator.tasks.given_tests import unread_tests

_DEFAULT_CHECKERS = {Mode.CALL: "value", Mode.STDIN: "floats", Mode.ASSERT: "python"}
_OF_LEETCODE = "value:tolerance=1e-5"
"""Its own rule; it prints five decimals."""
_FIVE_DECIMALS = re.compile(r"\.\d{5}(?![\d.eE])")
_MORE_DECIMALS = re.compile(r"\.\d{6}|\d[eE]")
IS_C: Final = re.compile(r"^\s*#\s*include\b", re.MULTILINE)
_EQUAL_OUTPUT: Final = "lines"
"""Where the task has a checker of its own: the jury's output, in any white space around a line, is right for sure."""
_NOT_KNOWN: Final = object()


@dataclass(frozen=True)
class PlannedCase:
    """One test case, ready to run."""

    case: TestCase
    payload: bytes
    """What is sent into the sandbox: stdin's bytes, or a call's arguments."""
    judge: Callable[[object], Difference | None]
    """Takes the decoded value (call) or stdout's text (stdin); returns None if it is right."""
    example: flags.Example | None
    """Input and expected output, if a completion could have them hard-coded."""
    expected: object = _NOT_KNOWN
    """The value that a call must return, if it must equal one."""
    quick: bool = True
    """Whether `judge` may be spared answers that are surely right."""

    @property
    def is_known(self) -> bool:
        """Whether a call must return one value."""
        return self.expected is not _NOT_KNOWN

    @cached_property
    def right(self) -> Right:
        """Answers that need no comparing, and how each is shown."""
        if not self.quick:
            return {}
        if self.expected is _NOT_KNOWN:
            text = self.case.expected
            with suppress(UnicodeEncodeError):
                texts = [each for each in (text, f"{text}\n") if self.judge(each) is None]
                return {each.encode(): excerpt(each, SHOWN_WHEN_RIGHT) for each in texts}
            return {}
        answer = encoded_answer(self.expected)
        known = answer is not None and b'"nan"' not in answer and self.judge(self.expected) is None
        return {answer: render(self.expected, SHOWN_WHEN_RIGHT)} if answer is not None and known else {}

    @cached_property
    def shown(self) -> str:
        """The expected output, as it is shown beside a right one."""
        return excerpt(self.case.expected, SHOWN_WHEN_RIGHT)


@dataclass(frozen=True)
class CasePlan:
    """A task's test cases, ready to run, and the name of the checker that judges them."""

    cases: tuple[PlannedCase, ...]
    checker: str
    by_value: bool
    """Whether answers are values (call, assert) or text (stdin)."""
    checker_code: str | None = None
    """The task's own checker, which is asked about each answer that `judge` finds to be different."""
    preamble: str = ""
    """The task's, and the imports of its test: where test and completion are one module, a completion has these too."""

    @cached_property
    def test_cases(self) -> tuple[TestCase, ...]:
        return tuple(planned.case for planned in self.cases)

    @cached_property
    def payloads(self) -> tuple[bytes, ...]:
        return tuple(planned.payload for planned in self.cases)

    @cached_property
    def right(self) -> tuple[Right, ...]:
        """For each test case."""
        return tuple(planned.right for planned in self.cases)

    @cached_property
    def of_two_readings(self) -> tuple[TestCase, ...]:
        """Those with a wrapped output (see `evaluator.tasks.given_tests`)."""
        return tuple(case for case in self.test_cases if case.also is not None)

    @cached_property
    def answers(self) -> flags.Answers:
        """What a completion could have hard-coded."""
        return flags.Answers(planned.example for planned in self.cases if planned.example is not None)


_Plan = CasePlan | SuitePlan | str
"""Or why there is none."""
_plans: LruCache[tuple[object, ...], _Plan] = LruCache(256)
_of_objects: LruCache[tuple[object, ...], tuple[object, _Plan]] = LruCache(256)
"""The plans of the same test cases by their tuple's `id`, which is its own as long as that is here, too.

Hundreds of test cases take a tenth of a millisecond to compare with themselves.
"""


def plan_for(task: Task, checker: str | None) -> CasePlan | SuitePlan:
    """The plan for a task, with the run's `checker` if that fits the task. Raises `UngradableError`."""
    cases, others = tuple(task.cases), _others(task, checker)

    def known() -> tuple[object, _Plan]:
        return cases, _plans.get((cases, *others), lambda: _plan_or_reason(task, checker))

    _, plan = _of_objects.get((id(cases), *others), known)
    if isinstance(plan, str):
        field = unread_tests(task.metadata) if task.is_undecided else None
        fix = f", but a field {field}: `--dataset-map tests={field}` reads tests from it" if field else ""
        raise UngradableError(plan + fix)  # a new one: an exception holds the frames through which it was raised
    return plan


def _others(task: Task, checker: str | None) -> tuple[object, ...]:
    """Everything else that a plan depends on. Not the task itself, because its fields can be set."""
    texts = (task.prompt, task.preamble, task.test)
    libraries, of_leetcode = str(task.metadata.get("libs")), is_of_leetcode(task)
    return (task.mode, task.entry_point, *texts, task.checker, task.checker_code, libraries, checker, of_leetcode)


def is_of_leetcode(task: Task) -> bool:
    """Whether its row says that it comes from LeetCode, whose floats have a tolerance of their own."""
    sources = task.source, str(task.metadata.get("platform"))
    return sources[0].lower().startswith("leetcode") or sources[1].lower().startswith("leetcode")


def test_cases(task: Task) -> tuple[TestCase, ...]:
    """The test cases that the `tests` grader runs for a task; none if it can't be graded."""
    if task.mode in (Mode.CALL, Mode.STDIN):
        return task.cases
    try:
        if task.mode is Mode.UNITTEST:
            return cases_of(task)
        plan = plan_for(task, None)
    except UngradableError:
        return ()
    return plan.cases if isinstance(plan, SuitePlan) else plan.test_cases


def _plan_or_reason(task: Task, checker: str | None) -> _Plan:
    try:
        return _plan(task, checker)
    except UngradableError as error:
        return str(error)


def _plan(task: Task, run_checker: str | None) -> CasePlan | SuitePlan:
    match task.mode:
        case Mode.ASSERT:
            return _assert_plan(task)
        case Mode.UNITTEST:
            return plan_suite(task)
        case Mode.ANSWER:
            raise UngradableError("the task has an answer but no tests: name a grader for it, such as exact_match")
        case Mode.CALL | Mode.STDIN:
            if not task.cases:
                raise UngradableError("the task has no test cases")
            by_value = task.mode is Mode.CALL
            kind: Kind = "value" if by_value else "text"
            own = _own_checker(task)
            checker = get_checker(_EQUAL_OUTPUT) if own else _checker(task, run_checker, kind)
            make = _call_case if by_value else _stdin_case
            cases = tuple(make(case, checker.rules[kind]) for case in task.cases)
            return CasePlan(cases, "checker_code" if own else checker.name, by_value, own, task.preamble)


def _own_checker(task: Task) -> str | None:
    """The source of the task's checker. Raises `UngradableError` for one that can't be run."""
    code = task.checker_code
    if code is None:
        return None
    if task.mode is not Mode.STDIN:
        raise UngradableError(f"checker_code judges what a program prints: a {task.mode} task has no such output")
    if IS_C.search(code):  # what equals the expected output is right all the same
        return code
    try:
        syntax.parse(code)
    except syntax.NOT_PYTHON as error:
        raise UngradableError(f"checker_code is not Python: {error}") from None
    return code


def _checker(task: Task, run_checker: str | None, kind: Kind) -> Checker:
    try:
        if task.checker is not None:
            own = get_checker(task.checker)
            if kind not in own.rules:
                raise UngradableError(f"checker {own.name} compares {own.compares}s: a {task.mode} task has none")
            return own
        if run_checker is not None and kind in get_checker(run_checker).rules:
            return get_checker(run_checker)
    except CheckerError as error:
        raise UngradableError(str(error)) from None
    return get_checker(_OF_LEETCODE if _is_judged_as_there(task) else _DEFAULT_CHECKERS[task.mode])


def _is_judged_as_there(task: Task) -> bool:
    """Whether it calls a function, and is of LeetCode or its floats have the five decimals that LeetCode prints."""
    if task.mode is not Mode.CALL:
        return False
    if is_of_leetcode(task):
        return True
    outputs = [case.expected for case in task.cases]
    return any(map(_FIVE_DECIMALS.search, outputs)) and not any(map(_MORE_DECIMALS.search, outputs))


def _assert_plan(task: Task) -> CasePlan | SuitePlan:
    """Literal calls if possible, which need no process for the test; else a suite."""
    if not task.test:
        raise Refusal.NO_CODE.error()
    calls = extract_calls(task)
    if not calls:
        return plan_suite(task)
    try:
        cases = tuple(
            PlannedCase(
                call.case,
                encoded_call(call.args, call.kwargs),
                lambda value, expectation=call.expectation: expectation_holds(expectation, value),  # type: ignore[misc]
                _example_of(call),
                call.expectation.value if call.expectation.relation is Relation.EQUAL else _NOT_KNOWN,
            )
            for call in calls
        )
    except ValueError as error:
        raise UngradableError(f"an argument can't be sent to the sandbox: {error}") from None
    preamble = with_imports_of_test(task)
    return CasePlan(cases, _DEFAULT_CHECKERS[Mode.ASSERT], by_value=True, preamble=preamble)


def _stdin_case(case: TestCase, check: Check) -> PlannedCase:
    payload = case.input.encode("utf-8", "surrogateescape" if _is_escaped(case.input) else "surrogatepass")
    example = _example(case, case.input, case.expected)
    return PlannedCase(case, payload, lambda text: check(case.expected, text), example)


def _is_escaped(text: str) -> bool:
    return any("\udc80" <= character <= "\udcff" for character in text) if not text.isascii() else False


def _call_case(case: TestCase, check: Check) -> PlannedCase:
    lines = [line for line in case.input.split("\n") if line.strip()]
    arguments = [_json(line, f"test case {case.index}: input line {n}") for n, line in enumerate(lines, 1)]
    expected = _json(case.expected, f"test case {case.index}: output")
    example = _example(case, tuple(arguments), expected)
    other = None if case.also is None else _json(case.also, f"test case {case.index}: output")

    def judge(value: object) -> Difference | None:
        difference = check(expected, value)
        return None if difference and case.also is not None and check(other, value) is None else difference

    return PlannedCase(case, encoded_call(arguments, {}), judge, example, expected)


def _example_of(call: LiteralCall) -> flags.Example | None:
    if call.expectation.relation not in (Relation.EQUAL, Relation.IDENTICAL):
        return None
    return _example(call.case, (*call.args, *call.kwargs.values()), call.expectation.value)


def _example(case: TestCase, arguments: flags.Given, expected: object) -> flags.Example | None:
    if not arguments or len(case.input) + len(case.expected) > flags.LONGEST:
        return None
    return flags.Example(case.index, arguments, expected)


def _json(text: str, where: str) -> object:
    try:
        return long_numbers.loads(text)
    except ValueError as error:
        raise UngradableError(f"{where} is not JSON: {error}") from None
