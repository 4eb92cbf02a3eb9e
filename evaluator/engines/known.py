"""The last grades by completion, so that equal completions of a task are graded once."""

from __future__ import annotations

import hashlib
from collections import OrderedDict

import msgspec

from evaluator.model import Grade, Rollout

_REMEMBERED = 1024
_REMEMBERED_CHARACTERS = 64 * 2**20


class Known:
    """The grades of one worker's last 1,024 completions, or fewer with long texts. For one thread."""

    def __init__(self) -> None:
        self._grades: OrderedDict[bytes, Grade] = OrderedDict()
        self._characters = 0

    def get(self, key: bytes, rollout: Rollout) -> Grade | None:
        """The grade of an equal completion as this rollout's; None if there was none."""
        grade = self._grades.get(key)
        if grade is None:
            return None
        self._grades.move_to_end(key)
        return msgspec.structs.replace(grade, sample_id=rollout.sample_id, duplicate_of=grade.sample_id)

    def add(self, key: bytes, grade: Grade) -> None:
        self._grades[key] = grade
        self._characters += _characters(grade)
        while len(self._grades) > _REMEMBERED or self._characters > _REMEMBERED_CHARACTERS:
            self._characters -= _characters(self._grades.popitem(last=False)[1])


def completion_key(task: int, rollout: Rollout) -> bytes:
    """16 bytes that are equal for equal completions of a task, which has this number."""
    text = f"{task} {rollout.kind} {rollout.completion}"
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _characters(grade: Grade) -> int:
    """The size of the texts that make a grade large."""
    shown = sum(
        len(case.expected or "") + len(case.actual or "") + len(case.stdout) + len(case.stderr) for case in grade.cases
    )
    return shown + len(grade.code or "")
