"""The smallest input on which a program that fails a test case is wrong: what a person can follow in the head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec

from evaluator.cases import Bench
from evaluator.model import RecordError, Task
from evaluator.strengthening.inputs import size_of
from evaluator.strengthening.profile import Arguments
from evaluator.strengthening.runs import Answer, How, Runs
from evaluator.strengthening.shrinking import shrink
from evaluator.strengthening.subjects import Subject, subject_of
from evaluator.strengthening.validity import Validity
from evaluator.suites.reading import UngradableError

_WALL_S: Final = 0.25
"""Seconds for an input, so that a program that loops costs no more of the budget."""


class Smallest(msgspec.Struct, frozen=True):
    """An input, what is expected and what the program answers; `refusal` says why there is none."""

    input: str = ""
    expected: str = ""
    actual: str = ""
    refusal: str = ""


def smallest_failing(
    bench: Bench, task: Task, code: str, oracle: str, test: int | None = None, budget_s: float = 5.0
) -> Smallest:
    """`oracle`: a right program. `test`: the number of the test case to begin with, else the first that fails.

    For `in_worker`. Raises what sandboxes raise.
    """
    try:
        subject = subject_of(task)
        return _Search(bench, subject, code, oracle, budget_s).found(test)
    except (UngradableError, RecordError) as refusal:
        return Smallest(refusal=str(refusal))


class _Failure(NamedTuple):
    arguments: Arguments
    expected: Any
    answer: Answer


class _Search:
    def __init__(self, bench: Bench, subject: Subject, code: str, oracle: str, budget_s: float) -> None:
        self._subject, self._code = subject, code
        self._runs = Runs(bench, subject, budget_s)
        self._validity = Validity(subject, self._runs, oracle, _WALL_S)
        self._oracle = oracle

    def found(self, test: int | None) -> Smallest:
        start = self._start(test)
        if start is None:
            return Smallest(refusal="no test case with a plain input fails within a quarter of a second")
        known = {repr(start.arguments): start}

        def holds(made: Sequence[Arguments]) -> list[bool]:
            known.update(self._failing(made, start))
            return [repr(each) in known for each in made]

        arguments, expected, answer = known[repr(shrink(start.arguments, holds))]
        return Smallest(self._subject.shown(arguments), _text(expected), _said(answer))

    def _start(self, test: int | None) -> _Failure | None:
        """The own input to begin with: the test case's, else the smallest one on which the program is wrong."""
        payloads = list(map(self._subject.payload, self._subject.own))
        right = self._runs.answers(self._oracle, payloads, wall_s=_WALL_S, stops=False)
        answers = self._runs.answers(self._code, payloads, wall_s=_WALL_S, stops=False)
        failing = {
            place: _Failure(arguments, one.value, other)
            for place, (arguments, one, other) in enumerate(zip(self._subject.own, right, answers, strict=True))
            if one.how is How.VALUE and self._is_wrong(one.value, other, limit=True)
        }
        smallest = min(failing.values(), key=lambda each: size_of(each.arguments), default=None)
        return smallest if test is None else failing.get(test, smallest)

    def _failing(self, made: Sequence[Arguments], start: _Failure) -> dict[str, _Failure]:
        """By their text the inputs that are valid and on which the program fails in the same way; of those that it
        takes too long for, the first, which is the smallest."""
        valid = self._validity.valid(made) if self._runs.left_s > 0 else []
        is_limit = start.answer.how is How.LIMIT
        answers = self._runs.answers(self._code, [each.payload for each in valid], wall_s=_WALL_S, stops=is_limit)
        return {
            repr(each.arguments): _Failure(each.arguments, each.expected, answer)
            for each, answer in zip(valid, answers, strict=True)
            if self._is_wrong(each.expected, answer, limit=is_limit)
        }

    def _is_wrong(self, expected: object, answer: Answer, *, limit: bool) -> bool:
        if answer.how is How.LIMIT:
            return limit
        return answer.how is How.ERROR or (answer.how is How.VALUE and not self._subject.equal(expected, answer.value))


def _said(answer: Answer) -> str:
    if answer.how is How.VALUE:
        return _text(answer.value)
    return f"{answer} limit" if answer.how is How.LIMIT else str(answer)


def _text(value: Any) -> str:
    return value if isinstance(value, str) and "\n" in value else repr(value)
