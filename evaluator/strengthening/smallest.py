"""The smallest input on which a program that fails a test case is wrong: what a person can follow in the head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from evaluator.cases import Bench
from evaluator.model import RecordError, Task
from evaluator.strengthening.inputs import size_of
from evaluator.strengthening.runs import Answer, How, Input, Runs
from evaluator.strengthening.shrinking import shrink
from evaluator.strengthening.subjects import shown_answer, subject_of
from evaluator.strengthening.validity import Validity
from evaluator.suites.reading import UngradableError

_WALL_S: Final = 0.25
"""Seconds for an input, so that a program that loops costs no more of the budget."""


class Smallest(msgspec.Struct, frozen=True):
    """An input, what is expected and what the program answers; `refusal` says why there is none."""

    input: str = ""
    expected: str = ""
    actual: str = ""
    task: Task | None = None
    """With this input as its last test case."""
    refusal: str = ""


def smallest_failing(
    bench: Bench, task: Task, code: str, oracle: str, test: int | None = None, budget_s: float = 5.0
) -> Smallest:
    """`oracle`: a right program. `test`: the number of the test case to begin with, else the first that fails.

    For `in_worker`. Raises what sandboxes raise.
    """
    try:
        subject = subject_of(task)
        runs = Runs(bench, subject, budget_s)
        payloads = list(map(subject.payload, subject.own))
        right = runs.answers(oracle, payloads, wall_s=_WALL_S, stops=False)
        given = zip(subject.own, payloads, right, strict=True)
        own = [Input(arguments, payload, frozenset(), answer.value) for arguments, payload, answer in given]
        failing = runs.wrong(code, own, wall_s=_WALL_S, limits=True, stops=False)
    except (UngradableError, RecordError) as refusal:
        return Smallest(refusal=str(refusal))
    places = [place for place in failing if right[place].how is How.VALUE]
    if not places:
        return Smallest(refusal="no test case with a plain input fails within a quarter of a second")
    first = test if test in places else min(places, key=lambda place: size_of(subject.own[place]))
    is_limit = failing[first].how is How.LIMIT

    answers = {own[first].payload: failing[first]}

    def wrong(inputs: Sequence[Input]) -> dict[int, Answer]:
        """It stops at the first limit: the inputs are sorted by size."""
        found = runs.wrong(code, inputs, wall_s=_WALL_S, limits=is_limit, stops=is_limit)
        answers.update((inputs[place].payload, answer) for place, answer in found.items())
        return found

    found = shrink(own[first], Validity(subject, runs, oracle, _WALL_S), wrong)
    shown, expected = subject.shown(found.arguments), shown_answer(found.expected)
    with_it = subject.with_cases([(found.arguments, found.expected)])
    return Smallest(shown, expected, _said(answers[found.payload]), with_it)


def _said(answer: Answer) -> str:
    if answer.how is How.VALUE:
        return shown_answer(answer.value)
    return f"{answer} limit" if answer.how is How.LIMIT else str(answer)
