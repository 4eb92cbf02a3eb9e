"""What the dispatcher takes and gives: rollouts to grade, and batches of grades."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from evaluator.engines.messages import Done, grades_in, packed
from evaluator.engines.shipping import Order
from evaluator.model import Grade, Rollout, Verdict
from evaluator.runs.columns import case_columns, rollout_columns
from evaluator.stages import Stage


class Graded(NamedTuple):
    """A rollout with its grade; `row` is the rollout's place in the stream, from 0."""

    rollout: Rollout
    grade: Grade
    row: int


class Item:
    """A rollout on its way."""

    __slots__ = ("deaths", "follows", "key", "number", "order", "place", "rollout")

    def __init__(self, number: int, place: int, rollout: Rollout, order: Order) -> None:
        self.number = number
        self.place = place
        self.rollout = rollout
        self.order = order
        self.key = hash((order.number, rollout.kind, rollout.completion))
        """Equal for equal completions of a task."""
        self.deaths = 0
        """How many hands were lost while they had it."""
        self.follows = False
        """Whether the hand has, or had, an equal one before it."""


class Batch:
    """Rollouts whose grades arrived together. The grades are decoded when they are asked for."""

    def __init__(self, items: Sequence[Item], grades: Done | list[Grade]) -> None:
        self.items = items
        self._done = grades if isinstance(grades, Done) else None
        self._grades = grades if isinstance(grades, list) else None

    def __len__(self) -> int:
        return len(self.items)

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
            self._grades = grades_in(self._done)
        return self._grades

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
    def columns(self) -> tuple[bytes, bytes]:
        """The rows of a run's `rollouts` and `cases`: see `evaluator.runs.columns`."""
        if self._done is not None and self._done.rollout_columns:
            return self._done.rollout_columns, self._done.case_columns
        return rollout_columns(self.rollouts, self.grades), case_columns(self.grades)

    def graded(self) -> list[Graded]:
        """One by one."""
        return [Graded(*each) for each in zip(self.rollouts, self.grades, self.places, strict=True)]
