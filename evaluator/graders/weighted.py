"""The `weighted` grader: a weighted sum of other graders' rewards, each kept as a component.

`graders` is a list of `{"grader": ..., "weight": ..., "name": ..., "answer": ...}`: any grader, as text or object; a
number, by default 1, negative to punish; a name, by default the grader's; the field of the task's answer for this part,
if the answer is an object. The range follows from the parts' ranges and weights. The test cases are those of the parts,
in order.

Parts with weight 0 are graded and shown, and decide nothing. If one of the others has no reward, the whole is
`unknown`; else its verdict is that of the first that did not pass.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from evaluator.cases import Bench
from evaluator.graders import get_grader
from evaluator.graders.answers import unknown_grade
from evaluator.graders.grader import Grader, GraderError, within_range
from evaluator.graders.spec import text_of
from evaluator.model import CaseResult, Component, Grade, JsonValue, RecordError, Rollout, Task, TestCase, Verdict

_GREATEST_WEIGHT = 1e9


class PartOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a part."""

    grader: str | dict[str, JsonValue]
    weight: float = 1.0
    name: str | None = None
    answer: str | None = None


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The parts."""

    graders: tuple[PartOptions, ...] = ()


class Part(NamedTuple):
    """A grader with its weight in the sum."""

    name: str
    grader: Grader
    weight: float
    answer: str | None

    def own(self, task: Task) -> Task:
        """The task as this part sees it."""
        if self.answer is None:
            return task
        answers = task.answer if isinstance(task.answer, dict) else {}
        return msgspec.structs.replace(task, answer=answers.get(self.answer))

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the most that it adds."""
        if not self.weight:  # also if the part's rewards have no limits
            return 0.0, 0.0
        ends = sorted((self.weight * self.grader.lowest, self.weight * self.grader.highest))
        return ends[0], ends[1]


def make(config: Config) -> Grader:
    """Raises `GraderError`."""
    parts = tuple(_parts(config))
    if not any(part.weight for part in parts):
        raise GraderError('grader weighted: give "graders", at least one with a weight other than 0')
    return Grader(
        name="weighted",
        grade=partial(_grade, parts),
        test_cases=partial(_test_cases, parts),
        refusal=partial(_refusal, parts),
        lowest=math.fsum(part.ends[0] for part in parts),
        highest=math.fsum(part.ends[1] for part in parts),
        runs_code=any(part.grader.runs_code for part in parts),
        waits=max(part.grader.waits for part in parts),
        by_completion=all(part.grader.by_completion for part in parts),
        kept_by=partial(_kept_by, parts) if all(part.grader.kept_by for part in parts) else None,
    )


def _kept_by(parts: Sequence[Part], task: Task, rollout: Rollout) -> JsonValue:
    return [part.grader.kept_by(part.own(task), rollout) for part in parts if part.grader.kept_by]


def _parts(config: Config) -> Iterator[Part]:
    names: set[str] = set()
    for part in config.graders:
        grader = get_grader(text_of(part.grader))
        if not abs(part.weight) <= _GREATEST_WEIGHT:
            raise GraderError(f"grader weighted: weight is {part.weight}: give a number up to {_GREATEST_WEIGHT:g}")
        name = part.name or _free(grader.name, names)
        if name in names:
            raise GraderError(f"grader weighted: two parts are named {name!r}")
        names.add(name)
        yield Part(name, grader, part.weight, part.answer)


def _free(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} {number}"
    return free


def _grade(parts: Sequence[Part], task: Task, rollout: Rollout, bench: Bench) -> Grade:
    whole = unknown_grade(rollout, "weighted")
    grades = [_grade_of(part, task, rollout, bench) for part in parts]
    whole.components = tuple(map(_component, parts, grades))
    whole.cases = tuple(_joined_cases(parts, grades, task))
    whole.flags = tuple(flag for grade in grades for flag in grade.flags)
    whole.verified = all(grade.verified for grade in grades)
    whole.unverified_reason = _first(grade.unverified_reason for grade in grades)
    whole.checker = _first(grade.checker for grade in grades)
    _take_code(whole, grades)
    _conclude(whole, parts, grades)
    return whole


def _grade_of(part: Part, task: Task, rollout: Rollout, bench: Bench) -> Grade:
    """A part's grade. A bad task makes only that part unknown; a fault of the sandbox is not caught."""
    try:
        return within_range(part.grader.grade(part.own(task), rollout, bench), part.grader)
    except RecordError as error:
        return unknown_grade(rollout, part.grader.name, str(error))


def _component(part: Part, grade: Grade) -> Component:
    return Component(
        name=part.name, reward=grade.reward, weight=part.weight, verdict=grade.verdict, message=grade.error_message
    )


def _conclude(whole: Grade, parts: Sequence[Part], grades: Sequence[Grade]) -> None:
    counted = [(part, grade) for part, grade in zip(parts, grades, strict=True) if part.weight]
    undecided = next(((part, grade) for part, grade in counted if grade.reward is None), None)
    failed = next(((part, grade) for part, grade in counted if not grade.passed), None)
    if undecided is not None:
        part, grade = undecided
        whole.error_message = _of_part(part, grade.error_message or grade.verdict.value)
        return
    whole.reward = math.fsum(part.weight * grade.reward for part, grade in counted if grade.reward is not None)
    whole.pass_rate = whole.tests_passed / whole.tests_total if whole.cases else None
    whole.verdict = Verdict.PASSED
    if failed is not None:
        part, grade = failed
        whole.verdict, whole.error_type, whole.error_line = grade.verdict, grade.error_type, grade.error_line
        whole.error_message = _of_part(part, grade.error_message or f"{grade.verdict}, reward {grade.reward:g}")


def _of_part(part: Part, message: str) -> str:
    """Starts the message with the part's name, unless it already does."""
    return message if message.startswith(f"{part.name} ") else f"{part.name}: {message}"


def _take_code(whole: Grade, grades: Sequence[Grade]) -> None:
    """Copies code, limits and layers from the first part that ran anything."""
    ran = next((grade for grade in grades if grade.layers or grade.code is not None), None)
    if ran is not None:
        whole.code, whole.kind, whole.line_offset = ran.code, ran.kind, ran.line_offset
        whole.extracted_from = ran.extracted_from
        whole.limits, whole.layers = ran.limits, ran.layers


def _test_cases(parts: Sequence[Part], task: Task) -> tuple[TestCase, ...]:
    cases = [case for part in parts for case in part.grader.test_cases(part.own(task))]
    return tuple(msgspec.structs.replace(case, index=index) for index, case in enumerate(cases))


def _joined_cases(parts: Sequence[Part], grades: Sequence[Grade], task: Task) -> Iterator[CaseResult]:
    """The parts' results with the indexes of `_test_cases`; results without one come last."""
    shown = [part.grader.test_cases(part.own(task)) for part in parts]
    begin, spare = 0, sum(map(len, shown))
    late: list[CaseResult] = []
    for cases, grade in zip(shown, grades, strict=True):
        places = {case.index: begin + place for place, case in enumerate(cases)}
        for result in grade.cases:
            place = places.pop(result.index, None)
            if place is None:
                late.append(msgspec.structs.replace(result, index=spare + len(late)))
            else:
                yield msgspec.structs.replace(result, index=place)
        begin += len(cases)
    yield from late


def _refusal(parts: Sequence[Part], task: Task) -> str | None:
    return _first(
        reason and f"{part.name}: {reason}"
        for part in parts
        if part.weight
        for reason in [part.grader.refusal(part.own(task))]
    )


def _first(texts: Iterator[str | None]) -> str | None:
    return next((text for text in texts if text is not None), None)
