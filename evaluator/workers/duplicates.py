"""Equal completions of a task are graded once: the others wait for that grade, or find it."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import Final

from msgspec.structs import replace

from evaluator.model import Grade, Rollout, Verdict
from evaluator.workers.batches import Batch, Item, KeptGrade

_MOST_KEPT: Final = 4096
_MOST_BYTES: Final = 64 << 20
_MOST_WAITING: Final = 1024


class Duplicates:
    """The last grades by completion, and the rollouts that wait for one. For one thread."""

    def __init__(self) -> None:
        self._grades: OrderedDict[bytes, KeptGrade] = OrderedDict()
        self._bytes = 0
        self._waiting: dict[bytes, list[Item]] = {}
        """By completion that is being graded, its equals."""
        self._characters = 0
        self.pending = 0
        """How many wait."""

    @property
    def has_room(self) -> bool:
        """Whether more may wait."""
        return self.pending < _MOST_WAITING and self._characters < _MOST_BYTES

    def grade_of(self, item: Item) -> Grade | None:
        """The grade of an equal completion as this one's; None if there is none."""
        item.key = _key(item)
        found = self._grades.get(item.key)
        if found is None:
            return None
        self._grades.move_to_end(item.key)
        return _as_of(found.grade(), item.rollout)

    def must_wait(self, item: Item) -> bool:
        """Whether an equal one is being graded, whose grade this one gets. If not, this one is to be graded now."""
        assert item.key is not None
        equals = self._waiting.get(item.key)
        if equals is None:
            self._waiting[item.key] = []
            return False
        equals.append(item)
        self.pending += 1
        self._characters += len(item.rollout.completion)
        return True

    def settled(self, batch: Batch) -> tuple[Batch | None, list[Item]]:
        """What follows from these grades: those of the equals that waited, and rollouts to be graded after all."""
        items: list[Item] = []
        grades: list[Grade] = []
        again: list[Item] = []
        for place, item in enumerate(batch.items):
            if item.key is None:
                continue
            equals = self._waiting.pop(item.key)
            if _says_nothing(batch, place):
                if equals:
                    self._waiting[item.key] = equals[1:]
                    again += self._left(equals[:1])
                continue
            self._keep(item.key, batch.kept(place))
            items += self._left(equals)
            grades += [_as_of(batch.grades[place], each.rollout) for each in equals]
        return (Batch(items, grades) if items else None), again

    def _left(self, items: list[Item]) -> list[Item]:
        self.pending -= len(items)
        self._characters -= sum(len(item.rollout.completion) for item in items)
        return items

    def _keep(self, key: bytes, grade: KeptGrade) -> None:
        self._grades[key] = grade
        self._bytes += grade.size
        while len(self._grades) > _MOST_KEPT or self._bytes > _MOST_BYTES:
            self._bytes -= self._grades.popitem(last=False)[1].size


def _says_nothing(batch: Batch, place: int) -> bool:
    """Whether the sandbox failed, which says nothing about the program."""
    return bool(batch.verdicts.get(Verdict.SANDBOX_ERROR)) and batch.grades[place].verdict is Verdict.SANDBOX_ERROR


def _as_of(grade: Grade, rollout: Rollout) -> Grade:
    return replace(grade, sample_id=rollout.sample_id, duplicate_of=grade.sample_id)


def _key(item: Item) -> bytes:
    text = f"{item.order.number} {item.rollout.kind} {item.rollout.completion}"
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
