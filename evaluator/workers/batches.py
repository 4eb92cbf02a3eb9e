"""What the dispatcher takes and gives: rollouts to grade, and batches of grades. Equal completions are graded once."""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from evaluator.model import Grade, Rollout, Task, Verdict
from evaluator.options import Options
from evaluator.runs.schema import columns_of
from evaluator.workers.messages import Done, grades_in, packed

_MOST_KEPT: Final = 4096
_MOST_BYTES: Final = 64 << 20
_MOST_WAITING: Final = 1024


class Graded(NamedTuple):
    """A rollout with its grade; `row` is the rollout's place in the stream, from 0."""

    rollout: Rollout
    grade: Grade
    row: int


class Order:
    """A task with the options for its rollouts."""

    __slots__ = ("number", "options", "task")

    def __init__(self, number: int, task: Task, options: Options) -> None:
        self.number = number
        self.task = task
        self.options = options


class _OnItsWay:
    __slots__ = ("deaths", "number", "settled", "twice")

    def __init__(self) -> None:
        self.number = 0
        """Names it in messages; the dispatcher gives it."""
        self.deaths = 0
        """How many workers were lost while they had it."""
        self.twice = False
        """Whether a second worker was given it, because the first has been slow with what is before it."""
        self.settled = False
        """Whether it has its result."""


class Item(_OnItsWay):
    """A rollout on its way."""

    __slots__ = ("key", "order", "place", "rollout")

    def __init__(self, place: int, rollout: Rollout, order: Order) -> None:
        super().__init__()
        self.place = place
        """In the stream, from 0."""
        self.rollout = rollout
        self.order = order
        self.key: bytes | None = None
        """Equal for equal completions of a task; None where the completion alone does not decide the grade."""


class CallItem(_OnItsWay):
    """A function call on its way."""

    __slots__ = ("on_result", "pickled")

    def __init__(self, pickled: bytes, on_result: Callable[[object, bool], object]) -> None:
        """`pickled`: as in `messages.Call`. `on_result`: gets the result, or an exception and True."""
        super().__init__()
        self.pickled = pickled
        self.on_result = on_result


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
    def places(self) -> list[int]:
        """Each rollout's place in the stream, from 0."""
        return [item.place for item in self.items]

    @property
    def grades(self) -> list[Grade]:
        """In the order of the rollouts."""
        if self._grades is None:
            self._grades = grades_in(self.encoded)
        return self._grades

    @property
    def encoded(self) -> bytes:
        """The grades, for `grades_in`."""
        return self._done.grades if self._done is not None else packed(self._grades)

    @property
    def verdicts(self) -> dict[str, int]:
        """How many of each."""
        return self._done.verdicts if self._done is not None else Counter(each.verdict.value for each in self.grades)

    @property
    def cached(self) -> int:
        """How many are from the cache of grades."""
        return self._done.cached if self._done is not None else sum(each.cached for each in self.grades)

    @property
    def columns(self) -> bytes:
        """The rows of a run's `rollouts` and `cases`: see `evaluator.runs.schema`."""
        made = self._done.columns if self._done is not None else b""
        return made or columns_of([item.rollout for item in self.items], self.grades)

    def graded(self) -> list[Graded]:
        """One by one."""
        return [Graded(item.rollout, grade, item.place) for item, grade in zip(self.items, self.grades, strict=True)]


class _KeptGrade(NamedTuple):
    """A grade that may be asked for again; few are, so it stays encoded, with those that arrived with it."""

    encoded: bytes
    place: int
    size: int
    """Its share of the bytes."""


class Duplicates:
    """The last grades by completion, and the rollouts that wait for one. For one thread."""

    def __init__(self) -> None:
        self._grades: OrderedDict[bytes, _KeptGrade] = OrderedDict()
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
        return _as_of(grades_in(found.encoded)[found.place], item.rollout)

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
            self._keep(item.key, batch, place)
            items += self._left(equals)
            grades += [_as_of(batch.grades[place], each.rollout) for each in equals]
        return (Batch(items, grades) if items else None), again

    def _left(self, items: list[Item]) -> list[Item]:
        self.pending -= len(items)
        self._characters -= sum(len(item.rollout.completion) for item in items)
        return items

    def _keep(self, key: bytes, batch: Batch, place: int) -> None:
        encoded = batch.encoded
        self._grades[key] = _KeptGrade(encoded, place, len(encoded) // len(batch))
        self._bytes += self._grades[key].size
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
