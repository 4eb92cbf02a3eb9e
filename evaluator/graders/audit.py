"""The same answers under several checkers: a component each, with what it says of the first test case that it refuses.

A completion is run once; each of the `checkers` then judges every answer, so what differs is the rule alone. The grade
is the `tests` grader's. For `rollscope audit`, which lists where the components differ.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import msgspec

from evaluator.checkers import Check, Checker, CheckerError, Kind, get_checker
from evaluator.graders import tests
from evaluator.graders.answers.grades import begun
from evaluator.graders.bench import Bench
from evaluator.graders.cases.plans import Plan, PlannedCase
from evaluator.graders.grader import Grader, GraderError
from evaluator.model import CaseResult, Component, Difference, Grade, Mode, Rollout, Task, Verdict

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
        raise GraderError('grader audit: no checkers: give {"name": "audit", "checkers": ["floats", "livecodebench"]}')
    return Grader("audit", partial(_grade, checkers), tests.test_cases, refusal=_refusal)


def _refusal(task: Task) -> str | None:
    if task.mode in _KINDS:
        return None
    return f"a task of mode {task.mode} is not decided by a checker"


def _grade(checkers: tuple[Checker, ...], task: Task, rollout: Rollout, bench: Bench) -> Grade:
    kind = _KINDS.get(task.mode)
    if kind is None:
        undecided = begun(rollout, "audit")
        undecided.error_message = _refusal(task)
        return undecided
    heard: dict[int, object] = {}
    grade = tests.grade(task, rollout, bench, prepare=partial(_listening, heard))
    if grade.verdict.graded:
        grade.components = tuple(_component(checker, kind, task, grade, heard) for checker in checkers)
    return grade


def _listening(heard: dict[int, object], plan: Plan) -> Plan:
    """The plan, whose judges note what they are asked about."""

    def noting(planned: PlannedCase) -> Callable[[object], Difference | None]:
        def judge(answer: object) -> Difference | None:
            heard[planned.case.index] = answer
            return planned.judge(answer)

        return judge

    return replace(plan, cases=tuple(replace(planned, judge=noting(planned)) for planned in plan.cases))


def _component(checker: Checker, kind: Kind, task: Task, grade: Grade, heard: dict[int, object]) -> Component:
    rule = checker.rules.get(kind)
    if rule is None:
        return Component(name=checker.name, reward=None, verdict=Verdict.UNKNOWN, message=f"compares no {kind}s")
    expected = {case.index: case.expected for case in task.cases}
    for case in grade.cases:
        refused = _refused(rule, kind, expected[case.index], case, heard)
        if refused is not None:
            verdict, why = refused
            return Component(name=checker.name, reward=0.0, verdict=verdict, message=f"test {case.index}: {why}")
    passed = bool(grade.cases)
    return Component(name=checker.name, reward=float(passed), verdict=Verdict.PASSED if passed else grade.verdict)


def _refused(
    rule: Check, kind: Kind, expected: str, case: CaseResult, heard: dict[int, object]
) -> tuple[Verdict, str] | None:
    """None where the case passes by that rule; what it failed by without one counts for all."""
    if case.verdict not in (Verdict.PASSED, Verdict.WRONG_ANSWER) or case.index not in heard:
        return case.verdict, case.error_message or case.verdict.value
    wanted: object = json.loads(expected) if kind == "value" else expected
    found = rule(wanted, heard[case.index])
    return None if found is None else (Verdict.WRONG_ANSWER, found.message)
