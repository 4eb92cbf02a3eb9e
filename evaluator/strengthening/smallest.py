"""The smallest input on which a program that fails a test case is wrong: what a person can follow in the head."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import msgspec

from evaluator.cases import Bench
from evaluator.model import RecordError, Task
from evaluator.strengthening.inputs import size_of
from evaluator.strengthening.profile import Arguments
from evaluator.strengthening.runs import Answer, How, Input, Runs
from evaluator.strengthening.subjects import shown_answer, subject_of
from evaluator.strengthening.validity import Validity
from evaluator.suites.reading import UngradableError

_WALL_S: Final = 0.25
"""Seconds for an input, so that a program that loops costs no more of the budget."""
_AT_ONCE: Final = 60
_ROUNDS: Final = 40


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


def shrink(start: Input, validity: Validity, wrong_on: Callable[[Sequence[Input]], Collection[int]]) -> Input:
    """The smallest input that was found by making this one smaller in one place after the other. Deterministic.

    `wrong_on`: the places of the inputs on which the program is wrong; of none when there is no time left.
    """
    found = start
    for _ in range(_ROUNDS):
        tried = sorted(islice(_smaller(found.arguments), _AT_ONCE * 4), key=size_of)
        batches = (validity.valid(tried[place : place + _AT_ONCE]) for place in range(0, len(tried), _AT_ONCE))
        better = next((valid[min(places)] for valid in batches if (places := wrong_on(valid))), None)
        if better is None:
            break
        found = better
    return found


def _smaller(arguments: Arguments) -> Iterator[Arguments]:
    size = size_of(arguments)
    for place, value in enumerate(arguments):
        for each in _values(value):
            made = (*arguments[:place], each, *arguments[place + 1 :])
            if size_of(made) < size or (size_of(made) == size and _rank(each) < _rank(value)):
                yield made


def _rank(value: Any) -> tuple[float, str]:
    """Among values of one size: small numbers and early letters are simpler."""
    return (abs(value), "-" if value < 0 else "") if isinstance(value, (int, float)) else (0, repr(value))


def _values(value: Any) -> Iterator[Any]:
    match value:
        case bool() | None:
            return
        case int():
            yield from dict.fromkeys((0, 1, 2, value // 10, value // 2, value - 1 if value > 0 else value + 1, -value))
        case float():
            yield from (0.0, 1.0, float(int(value)), round(value, 1), value / 2)
        case str() | list() | tuple():
            yield from _parts(value)
            if not isinstance(value, str):
                for place, item in enumerate(value):
                    for each in _values(item):
                        yield type(value)([*value[:place], each, *value[place + 1 :]])
            elif value:
                yield value[:1] * len(value)
                yield "a" * len(value)
        case set() | frozenset():
            for item in sorted(value, key=repr):
                yield value - {item}
        case dict():
            for key in value:
                yield {other: item for other, item in value.items() if other != key}
                for each in _values(value[key]):
                    yield value | {key: each}


def _parts(value: Any) -> Iterator[Any]:
    """Without a half, a quarter, and so on down to one item."""
    yield value[:0]
    length = len(value) // 2
    while length:
        for start in range(0, len(value), length):
            yield value[:start] + value[start + length :]
        length //= 2
