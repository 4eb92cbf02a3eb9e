"""What the dispatcher takes and gives: rollouts to grade, and batches of grades."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from evaluator.model import Grade, Rollout, Verdict
from evaluator.runs.schema import columns_of
from evaluator.stages import Stage
from evaluator.workers.messages import Done, grades_in, packed
from evaluator.workers.task_cache import Order


class Graded(NamedTuple):
    """A rollout with its grade; `row` is the rollout's place in the stream, from 0."""

    rollout: Rollout
    grade: Grade
    row: int


class Item:
    """A rollout on its way."""

    __slots__ = ("deaths", "key", "number", "order", "place", "rollout", "settled", "twice")

    def __init__(self, place: int, rollout: Rollout, order: Order) -> None:
        self.number = 0
        """Names it in messages; the dispatcher gives it."""
        self.place = place
        """In the stream, from 0."""
        self.rollout = rollout
        self.order = order
        self.key: bytes | None = None
        """Equal for equal completions of a task; None where the completion alone does not decide the grade."""
        self.deaths = 0
        """How many workers were lost while they had it."""
        self.twice = False
        """Whether a second worker was given it, because the first has been slow with what is before it."""
        self.settled = False
        """Whether it has its result."""


class CallItem:
    """A function call on its way."""

    __slots__ = ("deaths", "number", "on_result", "pickled", "settled", "twice")

    def __init__(self, pickled: bytes, on_result: Callable[[object, bool], object]) -> None:
        """`pickled`: as in `messages.Call`. `on_result`: gets the result, or an exception and True."""
        self.number = 0
        self.pickled = pickled
        self.on_result = on_result
        self.deaths = 0
        self.twice = self.settled = False


class KeptGrade(NamedTuple):
    """A grade that may be asked for again; few are, so it stays encoded, with those that arrived with it."""

    encoded: bytes
    place: int
    size: int
    """Its share of the bytes."""

    def grade(self) -> Grade:
        return grades_in(self.encoded)[self.place]


class Batch:
    """Rollouts whose grades arrived together. The grades are decoded when they are asked for."""

    def __init__(self, items: Sequence[Item], grades: Done | list[Grade]) -> None:
        self.items = items
        self._done = grades if isinstance(grades, Done) else None
        self._grades = grades if isinstance(grades, list) else None

    def __len__(self) -> int:
        return len(self.items)

    def without_settled(self) -> Batch:
        """Without the rollouts that have a grade already."""
        if not any(item.settled for item in self.items):
            return self
        pairs = [pair for pair in zip(self.items, self.grades, strict=True) if not pair[0].settled]
        return Batch([item for item, _ in pairs], [grade for _, grade in pairs])

    @property
    def rollouts(self) -> list[Rollout]:
        return [item.rollout for item in self.items]

    @property
    def places(self) -> list[int]:
        """Each rollout's place in the stream, from 0."""
        return [item.place for item in self.items]

    @property
    def spent(self) -> dict[Stage, float]:
        """The seconds by stage, if they were asked for."""
        return self._done.spent if self._done is not None else {}

    @property
    def done(self) -> Done:
        """As a message, whose numbers are the rollouts' places."""
        if self._done is not None:
            return msgspec.structs.replace(self._done, numbers=list(self.places))
        return Done(list(self.places), packed(self.grades), self.verdicts, 0, 0.0, 0.0)

    @property
    def grades(self) -> list[Grade]:
        """In the order of the rollouts."""
        if self._grades is None:
            assert self._done is not None
            self._grades = grades_in(self._done.grades)
        return self._grades

    def kept(self, place: int) -> KeptGrade:
        """One of the grades, without the others' rollouts."""
        if self._done is not None:
            return KeptGrade(self._done.grades, place, len(self._done.grades) // len(self.items))
        encoded = packed([self.grades[place]])
        return KeptGrade(encoded, 0, len(encoded))

    @property
    def verdicts(self) -> dict[str, int]:
        """How many of each."""
        return self._done.verdicts if self._done is not None else Counter(each.verdict.value for each in self.grades)

    @property
    def cached(self) -> int:
        """How many are from the cache of grades."""
        return self._done.cached if self._done is not None else sum(each.cached for each in self.grades)

    @property
    def passed(self) -> int:
        return self.verdicts.get(Verdict.PASSED.value, 0)

    @property
    def columns(self) -> bytes:
        """The rows of a run's `rollouts` and `cases`: see `evaluator.runs.schema`."""
        made = self._done.columns if self._done is not None else b""
        return made or columns_of(self.rollouts, self.grades)

    def graded(self) -> list[Graded]:
        """One by one."""
        return [Graded(*each) for each in zip(self.rollouts, self.grades, self.places, strict=True)]
