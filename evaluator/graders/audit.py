"""The same answers under several checkers: a component for each, with the first test case that it rejects.

A completion runs once; each of the `checkers` then judges every answer, so only the rules differ. The grade is the
`tests` grader's. For `rollscope audit`, which lists where the components differ. It does so without a run for programs
whose answers an earlier one kept whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import msgspec

from evaluator.cases import Bench, is_whole
from evaluator.checkers import Check, Checker, CheckerError, Kind, get_checker
from evaluator.graders import tests
from evaluator.graders.answers import unknown_grade
from evaluator.graders.grader import Grader, GraderError, nothing_more
from evaluator.graders.plans import CasePlan, PlannedCase, test_cases
from evaluator.model import CaseResult, Component, Difference, Grade, Mode, Rollout, Task, TestCase, Verdict
from evaluator.tasks import long_numbers

_KINDS: dict[Mode, Kind] = {Mode.CALL: "value", Mode.STDIN: "text"}


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`checkers`: their names."""

    checkers: tuple[str, ...] = ()


def make(config: Config) -> Grader:
    try:
        checkers = tuple(map(get_checker, config.checkers))
    except CheckerError as error:
        raise GraderError(str(error)) from None
    if not checkers:
        raise GraderError('grader audit: checkers is empty: give for example "checkers": ["floats", "livecodebench"]')
    return Grader("audit", partial(_grade, checkers), test_cases, refusal=_refusal, kept_by=nothing_more)


def _refusal(task: Task) -> str | None:
    if task.mode in _KINDS:
        return None
    return f"no checker decides a task of mode {task.mode}"


def _grade(checkers: tuple[Checker, ...], task: Task, rollout: Rollout, bench: Bench) -> Grade:
    kind = _KINDS.get(task.mode)
    if kind is None:
        return unknown_grade(rollout, "audit", _refusal(task))
    answers: dict[int, object] = {}
    grade = tests.grade(task, rollout, bench, prepare=partial(_recording, answers))
    if grade.verdict.graded:
        grade.components = _components(checkers, kind, task, grade.cases, answers)
    return grade


def components_of_kept(names: Sequence[str], task: Task, cases: Sequence[CaseResult]) -> tuple[Component, ...] | None:
    """What this grader would give a program with these results of the `tests` grader, by what they keep of its output.

    None if the output decides and is not kept whole. Raises `CheckerError`.
    """
    if (
        task.mode is not Mode.STDIN
        or not cases
        or [case.index for case in cases] != [case.index for case in task.cases]
    ):
        return None
    answers: dict[int, object] = {}
    for case in cases:
        if case.verdict in (Verdict.PASSED, Verdict.WRONG_ANSWER) and is_whole(case):
            answers[case.index] = case.actual
        elif case.verdict in (Verdict.PASSED, Verdict.WRONG_ANSWER, Verdict.NOT_RUN) or not case.verdict.graded:
            return None
        else:
            break  # no rule passes it
    return _components(tuple(map(get_checker, names)), "text", task, cases, answers)


def _recording(answers: dict[int, object], plan: CasePlan) -> CasePlan:
    """The plan, with judges that store the answers that they judge."""

    def recording(planned: PlannedCase) -> Callable[[object], Difference | None]:
        def judge(answer: object) -> Difference | None:
            answers[planned.case.index] = answer
            return planned.judge(answer)

        return judge

    return replace(plan, cases=tuple(replace(planned, judge=recording(planned), quick=False) for planned in plan.cases))


def _components(
    checkers: Sequence[Checker], kind: Kind, task: Task, cases: Sequence[CaseResult], answers: dict[int, object]
) -> tuple[Component, ...]:
    given = {case.index: case for case in task.cases}

    def component(checker: Checker) -> Component:
        rule = checker.rules.get(kind)
        if rule is None:
            return Component(name=checker.name, reward=None, verdict=Verdict.UNKNOWN, message=f"compares no {kind}s")
        for case in cases:
            if failure := _failure(rule, kind, given[case.index], case, answers):
                message = f"test {case.index}: {failure[1]}"
                return Component(name=checker.name, reward=0.0, verdict=failure[0], message=message)
        return Component(name=checker.name, reward=float(bool(cases)))

    return tuple(map(component, checkers))


def _failure(
    rule: Check, kind: Kind, given: TestCase, case: CaseResult, answers: dict[int, object]
) -> tuple[Verdict, str] | None:
    """None if the case passes by that rule. A failure without an answer counts for every rule."""
    if case.verdict not in (Verdict.PASSED, Verdict.WRONG_ANSWER) or case.index not in answers:
        return case.verdict, case.error_message or case.verdict.value
    right = [text for text in (given.expected, given.also) if text is not None]
    values = map(long_numbers.loads, right) if kind == "value" else right
    differences = [rule(value, answers[case.index]) for value in values]
    return None if None in differences else (Verdict.WRONG_ANSWER, str(differences[0]))
