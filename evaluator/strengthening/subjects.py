"""What a task's own tests call its function with, how answers are compared, and how test cases are added to it."""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from evaluator.checkers import get_checker
from evaluator.graders.plans import CasePlan, plan_for
from evaluator.model import Mode, Task, TestCase
from evaluator.sandbox import Program, encoded_call
from evaluator.strengthening.forms import Form, end_of_check, is_data, literal_arguments, plain, wrapped_calls
from evaluator.strengthening.profile import Arguments
from evaluator.strengthening.stdin_layout import Layout, layout_of
from evaluator.suites.reading import UngradableError
from evaluator.suites.reading.literal_calls import Relation, extract_calls, with_imports_of_test
from evaluator.syntax import tree_of
from evaluator.tasks import long_numbers

_LONGEST_ANSWER: Final = 2_000
_LONGEST_PROMPT: Final = 20_000
_LONGEST_CALL: Final = 2_000


@dataclass(frozen=True)
class Subject:
    """A task as it is strengthened. Answers are decoded values, or what a program printed."""

    task: Task
    own: tuple[Arguments, ...]
    """The arguments of its own tests; of a program the parts of its input."""
    expected: tuple[Any, ...]
    """What its own tests expect, as far as that is known; as long as `own`, or empty."""
    preamble: str
    equal: Callable[[Any, Any], bool]
    keywords: tuple[str, ...] = ()
    """Names of the last arguments, which are passed by name."""
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
        if self.form is not None and self.form.is_close:
            return type(answer) in (int, float) and math.isfinite(answer)
        by_truth = self.form is not None and self.form.truth
        return by_truth or (is_data(answer, exact=self.form is not None) and len(repr(answer)) <= _LONGEST_ANSWER)

    def shown(self, arguments: Arguments) -> str:
        """The input for people: a call, or what a program reads."""
        return self.layout.text(arguments) if self.layout else self._call(self.task.entry_point or "", arguments)

    def _call(self, name: str, arguments: Arguments) -> str:
        split = len(arguments) - len(self.keywords)
        named = [f"{key}={value!r}" for key, value in zip(self.keywords, arguments[split:], strict=True)]
        return f"{name}({', '.join([*map(repr, arguments[:split]), *named])})"

    def with_cases(self, added: Sequence[tuple[Arguments, Any]]) -> Task:
        """The task with a test case for each pair of arguments and answer, after its own ones."""
        if self.form is not None:
            name, place, indent = end_of_check(self.task)
            lines = (self.task.test or "").split("\n")
            made = "\n".join(self.form.statement(self._call(name, given), plain(answer)) for given, answer in added)
            lines[place:place] = [indent + line for line in made.split("\n")]
            return msgspec.structs.replace(self.task, test="\n".join(lines))
        cases = [*self.task.cases]
        for given, answer in added:
            text = self.layout.text(given) if self.layout else "\n".join(map(long_numbers.dumps, given))
            cases.append(TestCase(len(cases), text, answer if self.layout else long_numbers.dumps(answer)))
        return msgspec.structs.replace(self.task, cases=tuple(cases))


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
    rule = get_checker(plan.checker).rules["value" if plan.by_value else "text"]
    layout = None if plan.by_value else layout_of([case.input for case in task.cases])
    if layout is not None:
        own = tuple(layout.arguments(case.input) for case in task.cases)
        expected: tuple[Any, ...] = tuple(case.expected for case in task.cases)
    elif plan.by_value:
        own = tuple(tuple(map(long_numbers.loads, filter(str.strip, case.input.split("\n")))) for case in task.cases)
        expected = tuple(long_numbers.loads(case.expected) for case in task.cases)
    else:
        raise UngradableError("the layout of its inputs is not understood")
    return Subject(task, own, expected, plan.preamble, lambda one, other: rule(one, other) is None, layout=layout)


def _of_asserts(task: Task) -> Subject:
    end_of_check(task)
    calls = extract_calls(task)
    if calls:
        form = Form(truth=any(call.expectation.relation in (Relation.TRUE, Relation.FALSE) for call in calls))
        found = [
            (
                form,
                (*call.args, *call.kwargs.values()),
                tuple(call.kwargs),
                _expected(call.expectation.relation, call.expectation.value),
            )
            for call in calls
        ]
    else:
        found = [(*each, None) for each in wrapped_calls(task)]
    if not found:
        raise UngradableError("its asserts have no call with literal arguments")
    (form, count, names), _ = Counter((form, len(given), names) for form, given, names, _ in found).most_common(1)[0]
    same = [each for each in found if (each[0], len(each[1]), each[2]) == (form, count, names)]
    expected = tuple(value for *_, value in same) if calls else ()
    own = tuple(given for _, given, _, _ in same)
    return Subject(task, own, expected, with_imports_of_test(task), form.equal, names, form)


def _expected(relation: Relation, value: object) -> object:
    return relation is Relation.TRUE if relation in (Relation.TRUE, Relation.FALSE) else value


def shown_answer(answer: Any) -> str:
    """For people: as it is printed if it has several lines, else as Python."""
    return answer if isinstance(answer, str) and "\n" in answer else repr(answer)


def shown_in_prompt(subject: Subject) -> list[Arguments]:
    """The arguments of the calls in a task's prompt, which are literal and as many as those of its own tests."""
    name, prompt = subject.task.entry_point, subject.task.prompt[:_LONGEST_PROMPT]
    if subject.layout is not None or not name or subject.keywords or not subject.own:
        return []
    found: list[Arguments] = []
    for match in re.finditer(rf"(?<!def )\b{re.escape(name)}\(", prompt):
        tree = tree_of(prompt[match.start() : _closing(prompt, match.end() - 1)])
        node = tree.body[0] if tree is not None and tree.body else None
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not node.value.keywords:
            arguments = literal_arguments(node.value)
            found += [arguments] if arguments is not None and len(arguments) == len(subject.own[0]) else []
    return found


def _closing(text: str, start: int) -> int:
    """The place after the bracket that closes the one at `start`; `start` if there is none near."""
    depth = 0
    for place in range(start, min(len(text), start + _LONGEST_CALL)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if depth == 0:
            return place + 1
    return start
