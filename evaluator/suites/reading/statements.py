"""The test cases of a suite that is a list of statements: one for each that judges, with its preparation."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from evaluator.model import TestCase
from evaluator.suites.reading import Refusal
from evaluator.suites.reading.expectations import Expectations, named_once
from evaluator.suites.reading.flow import targets_of
from evaluator.suites.reading.reading import Check, Reading
from evaluator.suites.reading.source import DEFINITIONS, IMPORTS, OWN_SCOPES, binds, is_start, walk

Span = tuple[int, int, bool]
_WHOLE: Span = (0, -1, True)

_MOST_REPEATED = 2000
"""Characters of earlier statements that are shown with each test case that needs them."""
_MOST_OF_A_NAME = 20
_PREPARING = (
    *DEFINITIONS, *IMPORTS, ast.Pass, ast.Delete, ast.Global, ast.Nonlocal, ast.Assign,
    ast.AnnAssign, ast.AugAssign,
)  # fmt: skip
_COMPOUND = (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.If, ast.Match)
_ONLY_IN_FUNCTIONS = (
    ast.Return, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal, ast.Await, ast.AsyncFor, ast.AsyncWith,
)  # fmt: skip


@dataclass(frozen=True)
class SuiteCases:
    """A test cut into test cases."""

    form: str
    """As in `SuiteCode`, like `spans` and `methods`."""
    cases: tuple[TestCase, ...]
    spans: tuple[Span, ...] = ()
    methods: tuple[tuple[str, str], ...] = ()
    """In unittest's order."""
    continues: bool = True
    """Whether the cases after a failed one run, too."""
    restarts: bool = True
    """Whether a case can run in new processes, without those before it."""
    removed: Sequence[ast.stmt] = ()
    """The module's own statements that start the test: the test cases run in their place."""


class Judging:
    """Distinguishes the statements that judge from those that only prepare; one instance for each test."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        own = (node for node in reading.nodes if isinstance(node, DEFINITIONS))
        self._asserting = reading.flow.reaching(node.name for node in own if any(map(_asserts, walk(node))))

    def judges(self, node: ast.stmt) -> bool:
        """Whether the statement may fail the completion, other than by passing on its exception."""
        match node:
            case ast.Assert(test=ast.Constant(value=value)):
                return not value
            case ast.Expr(value=value):
                return any(map(_asserts, walk(value))) or not self._asserting.isdisjoint(self._reading.reads(value))
        return not isinstance(node, _PREPARING)

    def uses_completion(self, node: ast.AST) -> bool:
        """Whether it may call the completion, or use what that has made."""
        return not self._reading.in_touch.isdisjoint(self._reading.reads(node))

    def runs_completion(self, node: ast.stmt) -> bool:
        """Whether that happens when the statement runs, not only in what it defines."""
        return any(isinstance(part, ast.Name) and part.id in self._reading.in_touch for part in walk(node, DEFINITIONS))


def _asserts(node: ast.AST) -> bool:
    match node:
        case ast.Assert() | ast.Raise():
            return True
        case ast.Attribute(attr=name) | ast.Name(id=name, ctx=ast.Load()):
            return name.startswith(("assert", "fail", "raises"))
    return False


def statements_of(reading: Reading) -> SuiteCases:
    """The test cases of `check`, or of a module without one. Raises `UngradableError`."""
    judging = Judging(reading)
    check = reading.check
    form, removed = "module", list[ast.stmt]()
    if check is None:
        body = [node for node in reading.module.body if not is_start(node)]
    else:
        _refuse_arguments(check)
        _refuse_judging_outside(reading, check, judging)
        form, removed, body = "statements", _calls_of_check(reading), check.body
    if not any(map(judging.runs_completion, body)):
        raise Refusal.NEVER_CALLS.error()
    is_odd = check is not None and (isinstance(check, ast.AsyncFunctionDef) or check.decorator_list)
    if (
        is_odd
        or not any(map(judging.judges, body))
        or any(isinstance(node, _ONLY_IN_FUNCTIONS) for node in walk(body, OWN_SCOPES))
    ):
        source = "\n".join(map(reading.lines.at_margin, [check] if check is not None else body))
        whole = (TestCase(0, input=source, expected=""),)
        return SuiteCases(form, whole, (_WHOLE,), continues=False, removed=removed)
    spans = _spans(body, judging)
    independent = _leave_nothing(body, spans, reading)
    restarts = independent and not _prepares_with_completion(body, spans, judging)
    cases = _Cases(reading, body, judging).of(spans)
    return SuiteCases(form, cases, spans, continues=independent, restarts=restarts, removed=removed)


def _refuse_arguments(check: Check) -> None:
    """Refuses a `check` with a required argument besides the completion's function."""
    arguments = check.args
    required = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    if required > 1 or None in arguments.kw_defaults:
        raise Refusal.ARGUMENTS.error(line=check.lineno)


def _refuse_judging_outside(reading: Reading, check: Check, judging: Judging) -> None:
    """Refuses statements outside `check` that may decide the grade."""
    callers = reading.flow.reaching({"check"})
    for node in reading.module.body:
        if node is check or is_start(node) or not callers.isdisjoint(reading.reads(node)):
            continue
        if judging.judges(node) and judging.uses_completion(node):
            raise Refusal.OUTSIDE_CHECK.error(line=node.lineno)


def _calls_of_check(reading: Reading) -> list[ast.stmt]:
    """The module's own calls of `check`, also through other functions."""
    callers = reading.flow.reaching({"check"})
    return [
        node
        for node in reading.module.body
        if not isinstance(node, DEFINITIONS) and not is_start(node) and not callers.isdisjoint(reading.reads(node))
    ]


def _spans(body: list[ast.stmt], judging: Judging) -> tuple[Span, ...]:
    spans: list[Span] = []
    first = 0
    for place, node in enumerate(body):
        if judging.judges(node):
            spans.append((first, place, True))
            first = place + 1
    if any(map(judging.uses_completion, body[first:])):
        spans.append((first, len(body) - 1, False))
    return tuple(spans)


def _leave_nothing(body: list[ast.stmt], spans: tuple[Span, ...], reading: Reading) -> bool:
    """Whether no judging statement assigns a name that a later statement reads."""
    left: set[str] = set()
    judging = {last for _, last, judges in spans if judges}
    for place, node in enumerate(body):
        read = reading.reads(node)
        if isinstance(node, _COMPOUND):
            read -= binds(node)
        if not left.isdisjoint(read):
            return False
        if place in judging:
            left |= binds(node)
        else:
            left -= binds(node)
    return True


def _prepares_with_completion(body: list[ast.stmt], spans: tuple[Span, ...], judging: Judging) -> bool:
    """Whether a test case may use something that the completion made in the statements of an earlier one."""
    preparing = (node for first, last, _ in spans[:-1] for node in body[first:last])
    return any(judging.uses_completion(node) for node in preparing if not isinstance(node, DEFINITIONS))


class _Cases:
    """Makes the displayed test cases of spans."""

    def __init__(self, reading: Reading, body: list[ast.stmt], judging: Judging) -> None:
        self._lines, self._reads = reading.lines, reading.reads
        self._body = body
        self._expected = Expectations(reading.lines, judging.uses_completion, named_once(body, reading.nodes))
        self._makers: dict[str, list[int]] = defaultdict(list)
        """The places of the statements that made a name's value, as far as the body has been read."""

    def of(self, spans: tuple[Span, ...]) -> tuple[TestCase, ...]:
        return tuple(self._case(index, *span) for index, span in enumerate(spans))

    def _case(self, index: int, first: int, last: int, judges: bool) -> TestCase:
        end = self._body[last] if judges else None
        own = [place for place in range(first, last + 1) if self._body[place] is end or _is_shown(self._body[place])]
        needed = self._needed(set(self._reads.of_all(self._body[place] for place in own)))
        for place in range(first, last if judges else last + 1):
            for name in _changes(self._body[place]):
                self._makers[name].append(place)
        sources = [self._source(self._body[place]) for place in (*sorted(needed), *own)]
        return TestCase(index, input="\n".join(sources), expected=self._expected.of(end) if end is not None else "")

    def _source(self, node: ast.stmt) -> str:
        return self._lines.at_margin(node) if isinstance(node, _COMPOUND) else self._lines.of(node)

    def _needed(self, names: set[str]) -> set[int]:
        """The places of the last statements that made the values of these names, as far as there is room."""
        places: set[int] = set()
        pending, room = list(names), _MOST_REPEATED
        while pending:
            for place in reversed(self._makers.get(pending.pop(), [])[-_MOST_OF_A_NAME:]):
                if place in places:
                    continue
                room -= len(self._lines.of(self._body[place]))
                if room < 0:
                    return places
                places.add(place)
                pending.extend(self._reads(self._body[place]) - names)
                names |= self._reads(self._body[place])
        return places


def _is_shown(node: ast.stmt) -> bool:
    """Whether it is shown even if nothing reads its result."""
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant | ast.Name)
    return not isinstance(node, (*DEFINITIONS, *IMPORTS, ast.Assert, ast.Pass))


def _changes(node: ast.stmt) -> set[str]:
    """Names that a preparing statement assigns or changes; imports and definitions are not shown."""
    match node:
        case ast.Assign(targets=targets):
            return {name for target in targets for name in targets_of(target)}
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            return set(targets_of(target))
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner))):
            return set(targets_of(owner))
        case ast.Expr(value=ast.Call(args=arguments)):
            return {argument.id for argument in arguments if isinstance(argument, ast.Name)}
    return set()
