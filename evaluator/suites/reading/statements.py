"""The test cases of a suite that is a list of statements, one for each that judges; and what a statement expects.

What it expects is source text: the right side of its comparison, the exception, a word.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evaluator.model import TestCase
from evaluator.suites.reading import Refusal
from evaluator.suites.reading.reading import Check, Reading
from evaluator.suites.reading.source import DEFINITIONS, IMPORTS, OWN_SCOPES, Lines, binds, is_start, targets_of, walk

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

    def refuse_outside(self, nodes: Iterable[ast.stmt], refusal: Refusal) -> None:
        """Refuses statements outside the tests that may decide the grade."""
        for node in nodes:
            if not is_start(node) and self.judges(node) and self.uses_completion(node):
                raise refusal.error(line=node.lineno)


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
        form, removed, body = "statements", _calls_of_check(reading), check.body
        callers = reading.flow.reaching({"check"})
        others = [one for one in reading.module.body if one is not check and callers.isdisjoint(reading.reads(one))]
        judging.refuse_outside(others, Refusal.OUTSIDE_CHECK)
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


# What a statement expects

_LONGEST_NAMED = 1000
_COMPARED: dict[type[ast.cmpop], str] = {
    ast.Eq: "", ast.Is: "", ast.NotEq: "anything but ", ast.IsNot: "anything but ", ast.In: "one of ",
    ast.NotIn: "none of ", ast.Lt: "< ", ast.LtE: "<= ", ast.Gt: "> ", ast.GtE: ">= ",
}  # fmt: skip
_SWAPPED: dict[type[ast.cmpop], str] = {
    **_COMPARED, ast.In: "a value that contains ", ast.NotIn: "a value without ", ast.Lt: "> ", ast.LtE: ">= ",
    ast.Gt: "< ", ast.GtE: "<= ",
}  # fmt: skip
_OF_TWO = (
    ("notequal", "anything but "), ("isnot", "anything but "), ("notin", "none of "), ("isinstance", "an instance of "),
    ("close", "close to "), ("almost", "close to "), ("countequal", "in any order: "), ("equal", ""), ("is", ""),
    ("greaterequal", ">= "), ("greater", "> "), ("lessequal", "<= "), ("less", "< "), ("in", "one of "),
    ("regex", "text that matches "),
)  # fmt: skip
"""By the start or end of the function's name, in lower case, without `assert`: the first that fits."""
_OF_ONE = {"true": "a true value", "false": "a false value", "isnone": "None", "isnotnone": "anything but None"}
_RAISING = frozenset(("raises", "assertRaises", "assertRaisesRegex"))


class Expectations:
    """Words for what statements expect."""

    def __init__(
        self, lines: Lines, is_completions: Callable[[ast.expr], bool], named: Mapping[str, ast.expr] | None = None
    ) -> None:
        """`is_completions`: whether an expression comes from the completion. `named`: the values of names."""
        self._lines = lines
        self._is_completions = is_completions
        self._named = named or {}

    def of(self, node: ast.stmt) -> str:
        """What this statement expects; empty if that takes more than a few words."""
        match node:
            case ast.Assert(test=ast.Compare(left=left, ops=[op], comparators=[right])):
                if self._is_completions(right) and not self._is_completions(left):
                    return _SWAPPED[type(op)] + self._source(left)
                return _COMPARED[type(op)] + self._source(right)
            case ast.Assert(test=ast.Call() as call):
                return self._of_call(call, called_name(call).lower()) or "a true value"
            case ast.Assert(test=ast.UnaryOp(op=ast.Not())):
                return "a false value"
            case ast.Assert(test=ast.Name() | ast.Attribute() | ast.Subscript()):
                return "a true value"
            case ast.With(items=[ast.withitem(context_expr=ast.Call() as call)]):
                return self._of_exception(call)
            case ast.Try(handlers=[ast.ExceptHandler(type=ast.expr() as kind)]):
                return f"an exception: {self._lines.of(kind)}"
            case ast.Expr(value=ast.Call() as call) if called_name(call).startswith("assert"):
                name = called_name(call).lower().removeprefix("assert").removeprefix("_")
                return self._of_exception(call) or self._of_call(call, name) or _OF_ONE.get(name, "")
        return ""

    def _of_call(self, call: ast.Call, name: str) -> str:
        words = next((words for part, words in _OF_TWO if name.startswith(part) or name.endswith(part)), None)
        if words is None or len(call.args) < 2:
            return ""
        first, second = call.args[:2]
        swapped = self._is_completions(second) and not self._is_completions(first)
        if swapped and name in ("in", "notin"):
            words = _SWAPPED[ast.In if name == "in" else ast.NotIn]
        return words + self._source(first if swapped else second)

    def _of_exception(self, call: ast.Call) -> str:
        if called_name(call) not in _RAISING or not call.args:
            return ""
        return f"an exception: {self._lines.of(call.args[0])}"

    def _source(self, node: ast.expr) -> str:
        """The source, or that of the name's value."""
        if isinstance(node, ast.Name) and node.id in self._named:
            text = self._lines.of(self._named[node.id])
            if len(text) <= _LONGEST_NAMED:
                return text
        return self._lines.of(node)


def named_once(body: Iterable[ast.stmt], nodes: Iterable[ast.AST]) -> dict[str, ast.expr]:
    """Names that are assigned in the body and nowhere else among the nodes, with their values."""
    counts = Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return {
        target.id: node.value
        for node in body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and counts[target.id] == 1
    }


def judging_in(nodes: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that expect something, at any depth."""
    for node in nodes:
        match node:
            case ast.Assert():
                yield node
            case ast.Expr(value=ast.Call() as call) if called_name(call).lower().startswith("assert"):
                yield node
            case ast.With(items=[ast.withitem(context_expr=ast.Call() as call)]) if called_name(call) in _RAISING:
                yield node
            case _:
                for block in ("body", "orelse", "finalbody"):
                    yield from judging_in(getattr(node, block, []))


def called_name(call: ast.Call) -> str:
    """The last part of the called function's name."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""
