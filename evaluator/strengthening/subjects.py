"""What a task's own tests call its function with, how they compare answers, and how a test of the same form is written.

The tests of a `call` task, literal asserts, and asserts around one call with literal arguments, such as
`assert set(candidate([1])) == {1}` and `assert abs(candidate(2) - 0.5) < 1e-6`, have such a form; so has a program's
stdin, by its layout. Tests are parsed, never run.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec

from evaluator.checkers import get_checker
from evaluator.graders.plans import CasePlan, plan_for
from evaluator.model import Mode, Task, TestCase
from evaluator.sandbox import Program, encoded_call
from evaluator.strengthening.profile import Arguments
from evaluator.strengthening.stdin_layout import Layout, layout_of
from evaluator.suites.reading import UngradableError
from evaluator.suites.reading.literal_calls import Relation, extract_calls, fold, with_imports_of_test
from evaluator.syntax import tree_of
from evaluator.tasks import long_numbers

_WRAPPERS: Final[dict[str, Callable[[Any], Any]]] = {
    "set": set, "sorted": sorted, "tuple": tuple, "list": list, "frozenset": frozenset, "len": len,
}  # fmt: skip
_DATA: Final = (bool, int, str, bytes, type(None))
_DICTS: Final = (dict, Counter, OrderedDict, defaultdict)
_LONGEST_ANSWER: Final = 2_000
_MOST_COMPARED: Final = 10_000
_MOST_BITS: Final = 20
_MOST_INT_BITS: Final = 4_000


class Form(NamedTuple):
    """How the asserts of a task compare: `wrapper(call) == expected`, within a tolerance, or by truth alone."""

    wrapper: str = ""
    relative: float = 0.0
    absolute: float = 0.0
    truth: bool = False
    function: str = ""
    """Of a tolerance, what compares: `abs` or `math.isclose`."""

    def equal(self, expected: Any, actual: Any) -> bool:
        """Whether an assert with this expected answer holds for another one."""
        if self.truth:
            return bool(expected) is bool(actual)
        if self.function:
            return _is_close(expected, actual, self)
        if self.wrapper:
            try:
                if max(len(expected), len(actual)) > _MOST_COMPARED:
                    return False
                expected, actual = _WRAPPERS[self.wrapper](expected), _WRAPPERS[self.wrapper](actual)
            except TypeError:
                return False
        return get_checker("python").rules["value"](expected, actual) is None

    def statement(self, call: str, expected: Any) -> str:
        """The source of such an assert."""
        if self.truth:
            return f"assert {call}" if expected else f"assert not {call}"
        if self.function == "abs":
            return f"assert abs({call} - {expected!r}) < {self.absolute!r}"
        if self.function:
            given = [
                f"{name}_tol={value!r}" for name, value in (("rel", self.relative), ("abs", self.absolute)) if value
            ]
            return f"assert {', '.join([f'{self.function}({call}', repr(expected), *given])})"
        return (
            f"assert {self.wrapper}({call}) == {self.wrapper}({expected!r})"
            if self.wrapper
            else f"assert {call} == {expected!r}"
        )


@dataclass(frozen=True)
class Subject:
    """A task as it is strengthened. Answers are decoded values, or what a program printed."""

    task: Task
    own: tuple[Arguments, ...]
    """The arguments of its own tests; of a program the parts of its input."""
    expected: tuple[Any, ...]
    """What its own tests expect, as far as that is known; as long as `own`, or empty."""
    keywords: tuple[str, ...]
    """Names of the last arguments, which are passed by name."""
    preamble: str
    equal: Callable[[Any, Any], bool]
    form: Form | None = None
    layout: Layout | None = None

    def program(self, source: str) -> Program:
        return Program(source, None if self.layout else self.task.entry_point, self.preamble)

    def payload(self, arguments: Arguments) -> bytes:
        """The arguments, for the sandbox. Raises `ValueError` if they can't be sent."""
        if self.layout is not None:
            return self.layout.text(arguments).encode()
        split = len(arguments) - len(self.keywords)
        return encoded_call(arguments[:split], dict(zip(self.keywords, arguments[split:], strict=True)))

    def is_written(self, answer: Any) -> bool:
        """Whether an answer can be expected in a test, and every right program gives just that one."""
        if self.layout is not None:
            return 0 < len(answer) <= _LONGEST_ANSWER
        if self.form is not None and (self.form.truth or self.form.function):
            return not self.form.function or (type(answer) in (int, float) and math.isfinite(answer))
        exact = self.form is not None
        return _is_data(answer, exact=exact, json=not exact) and len(repr(answer)) <= _LONGEST_ANSWER

    def shown(self, arguments: Arguments) -> str:
        """The input for people: a call, or what a program reads."""
        if self.layout is not None:
            return self.layout.text(arguments)
        return self._call(self.task.entry_point or "", arguments)

    def _call(self, name: str, arguments: Arguments) -> str:
        split = len(arguments) - len(self.keywords)
        given = [*map(repr, arguments[:split])]
        given += [f"{key}={value!r}" for key, value in zip(self.keywords, arguments[split:], strict=True)]
        return f"{name}({', '.join(given)})"

    def with_cases(self, added: Sequence[tuple[Arguments, Any]]) -> Task:
        """The task with a test case for each pair of arguments and answer, after its own ones."""
        if self.form is None:
            cases = [*self.task.cases]
            for arguments, answer in added:
                if self.layout is not None:
                    case = TestCase(len(cases), self.layout.text(arguments), answer)
                else:
                    given = "\n".join(map(long_numbers.dumps, arguments))
                    case = TestCase(len(cases), given, long_numbers.dumps(answer))
                cases.append(case)
            return msgspec.structs.replace(self.task, cases=tuple(cases))
        name, place, indent = _end_of_check(self.task)
        lines = (self.task.test or "").split("\n")
        lines[place:place] = [
            indent + self.form.statement(self._call(name, arguments), plain(answer)) for arguments, answer in added
        ]
        return msgspec.structs.replace(self.task, test="\n".join(lines))


def subject_of(task: Task) -> Subject:
    """The task, ready to be strengthened. Raises `UngradableError`, which says why it can't be."""
    if task.mode is Mode.ASSERT:
        return _of_asserts(task)
    if task.mode not in (Mode.CALL, Mode.STDIN):
        raise UngradableError(f"tests of mode {task.mode} are not strengthened")
    plan = plan_for(task, None)
    assert isinstance(plan, CasePlan)
    if plan.checker_code is not None or plan.of_two_readings:
        raise UngradableError("its own checker decides: several answers may be right")
    if task.mode is Mode.CALL:
        rule = get_checker(plan.checker).rules["value"]
        own = tuple(tuple(map(long_numbers.loads, filter(str.strip, case.input.split("\n")))) for case in task.cases)
        expected = tuple(long_numbers.loads(case.expected) for case in task.cases)
        return Subject(task, own, expected, (), plan.preamble, lambda one, other: rule(one, other) is None)
    layout = layout_of([case.input for case in task.cases])
    if layout is None:
        raise UngradableError("the layout of its inputs is not understood")
    rule = get_checker(plan.checker).rules["text"]
    own = tuple(layout.arguments(case.input) for case in task.cases)
    expected = tuple(case.expected for case in task.cases)
    return Subject(task, own, expected, (), plan.preamble, lambda one, other: rule(one, other) is None, layout=layout)


def _of_asserts(task: Task) -> Subject:
    calls = extract_calls(task)
    if calls:
        names = tuple(calls[0].kwargs)
        same = [call for call in calls if tuple(call.kwargs) == names]
        own = tuple((*call.args, *call.kwargs.values()) for call in same)
        by_truth = any(call.expectation.relation in (Relation.TRUE, Relation.FALSE) for call in calls)
        form = Form(truth=by_truth)
        expected = tuple(
            call.expectation.relation is Relation.TRUE
            if call.expectation.value is None and by_truth
            else call.expectation.value
            for call in same
        )
    else:
        found = list(_wrapped_calls(task))
        if not found:
            raise UngradableError("its asserts have no call with literal arguments")
        form = Counter(form for form, _, _ in found).most_common(1)[0][0]
        names = next(keywords for each, _, keywords in found if each == form)
        own = tuple(arguments for each, arguments, keywords in found if each == form and keywords == names)
        expected = ()
    count = Counter(map(len, own)).most_common(1)[0][0]
    kept = [place for place, arguments in enumerate(own) if len(arguments) == count]
    own, expected = tuple(own[place] for place in kept), tuple(expected[place] for place in kept if expected)
    _end_of_check(task)
    return Subject(task, own, expected, names, with_imports_of_test(task), form.equal, form)


def _end_of_check(task: Task) -> tuple[str, int, str]:
    """The name of the function in a test's `check`, the line after it, and the indentation there."""
    tree = tree_of(task.test or "")
    checks = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check"] if tree else []
    if not checks or not checks[-1].args.args or checks[-1].body[0].lineno == checks[-1].lineno:
        raise UngradableError("its test has no check(candidate)")
    last = checks[-1].body[-1]
    if isinstance(last, ast.Return):
        raise UngradableError("its check(candidate) returns")
    return checks[-1].args.args[0].arg, last.end_lineno or 0, " " * checks[-1].body[0].col_offset


def _wrapped_calls(task: Task) -> Iterator[tuple[Form, Arguments, tuple[str, ...]]]:
    """The form, the arguments and the names of the last ones, of each assert around one literal call."""
    name, _, _ = _end_of_check(task)
    tree = tree_of(task.test or "")
    for node in ast.walk(tree) if tree is not None else ():
        if not isinstance(node, ast.Assert):
            continue
        calls = [
            part
            for part in ast.walk(node.test)
            if isinstance(part, ast.Call)
            and isinstance(part.func, ast.Name)
            and part.func.id in (name, task.entry_point)
        ]
        form = _form_of(node.test, calls[0]) if len(calls) == 1 else None
        if form is None or any(keyword.arg is None for keyword in calls[0].keywords):
            continue
        try:
            values = [*calls[0].args, *(keyword.value for keyword in calls[0].keywords)]
            arguments = tuple(argument for value in values for argument in _arguments(value))
        except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError):
            continue
        yield form, arguments, tuple(str(keyword.arg) for keyword in calls[0].keywords)


def _arguments(value: ast.expr) -> list[Any]:
    """The literal argument, or those of an unpacked list."""
    return list(fold(value.value, frozenset())) if isinstance(value, ast.Starred) else [fold(value, frozenset())]


def _form_of(test: ast.expr, call: ast.Call) -> Form | None:
    match test:
        case ast.Compare(left=left, ops=[ast.Eq()]) if left is call:
            return Form()
        case ast.Compare(left=ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]), ops=[ast.Eq()]) if (
            inner is call
        ):
            return Form(name) if name in _WRAPPERS else None
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="abs"), args=[ast.BinOp(left=inner, op=ast.Sub())]),
            ops=[ast.Lt() | ast.LtE()],
            comparators=[ast.Constant(value=float(most))],
        ) if inner is call:
            return Form(absolute=most, function="abs")
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="math"), attr="isclose"), args=[inner, _], keywords=given
        ) if inner is call:
            known = {
                each.arg: each.value.value
                for each in given
                if isinstance(each.value, ast.Constant) and isinstance(each.value.value, float | int)
            }
            return Form(
                relative=float(known.get("rel_tol", 1e-9)),
                absolute=float(known.get("abs_tol", 0)),
                function="math.isclose",
            )
    return None


def _is_close(expected: Any, actual: Any, form: Form) -> bool:
    try:
        if form.function == "abs":
            return bool(abs(actual - expected) < form.absolute)
        return math.isclose(actual, expected, rel_tol=form.relative, abs_tol=form.absolute)
    except (TypeError, ValueError, OverflowError):
        return False


def _is_data(value: Any, *, exact: bool, json: bool) -> bool:
    """Whether it can be written, as Python or as JSON. `exact`: whether its floats must be equal to the last bit."""
    inside = partial(_is_data, exact=exact, json=json)
    if type(value) is float:
        return math.isfinite(value) and (not exact or _is_short(value))
    if type(value) is int and value.bit_length() > _MOST_INT_BITS:
        return False
    if type(value) in _DATA:
        return not (json and type(value) is bytes)
    if type(value) in (list, tuple):
        return all(map(inside, value))
    if type(value) in (set, frozenset):
        return not json and all(map(inside, value))
    if type(value) in _DICTS:
        return all(inside(key) and (not json or type(key) is str) for key in value) and all(map(inside, value.values()))
    return False


def _is_short(value: float) -> bool:
    """Whether its fraction has a few bits, so that every way to compute it gives the same."""
    return (value * 2**_MOST_BITS).is_integer() and abs(value) < 2**30


def plain(value: Any) -> Any:
    """An answer of which `is_written` holds, whose `repr` is its source."""
    if type(value) in _DICTS:
        return {plain(key): plain(item) for key, item in value.items()}
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(map(plain, value))
    return value


_CALL: Final = re.compile(r"\b(\w+)\(")


def shown_in_prompt(subject: Subject) -> list[Arguments]:
    """The arguments of the calls in a task's prompt, which are literal and as many as those of its own tests."""
    name, prompt = subject.task.entry_point, subject.task.prompt[:20_000]
    if subject.layout is not None or not name or subject.keywords or not subject.own:
        return []
    found: list[Arguments] = []
    for match in _CALL.finditer(prompt):
        if match[1] != name or prompt[: match.start()].rstrip().endswith("def"):
            continue
        end = _closing(prompt, match.end() - 1)
        tree = tree_of(prompt[match.start() : end]) if end else None
        node = tree.body[0] if tree is not None and tree.body else None
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not node.value.keywords:
            try:
                arguments = tuple(fold(each, frozenset()) for each in node.value.args)
            except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError):
                continue
            if len(arguments) == len(subject.own[0]):
                found.append(arguments)
    return found


def _closing(text: str, start: int) -> int:
    """The place after the bracket that closes the one at `start`; 0 if there is none near."""
    depth = 0
    for place in range(start, min(len(text), start + 2_000)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if depth == 0:
            return place + 1
    return 0
