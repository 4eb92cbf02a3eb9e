"""The rollouts of a file that a run has no grade of yet, or is to grade again."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evaluator.model import Rollout, Verdict
from evaluator.runs.schema import sample_key

if TYPE_CHECKING:
    from evaluator.runs.writing import RunWriter

_JUDGE_FAILED: Final = "verdict = 'unknown' AND list_contains(flags, 'judge_failed')"
"""These have no reward because a judge did not answer, which it may by now."""


class Remaining:
    """The rollouts to grade, as a stream, with the ordinal that each one has in its file."""

    def __init__(self, rollouts: Iterator[Rollout], writer: RunWriter, again: set[int] | None, *, resume: bool) -> None:
        """`again`: the keys of the samples to grade again, and no other one. None: all, or with `resume` the others
        than the run has."""
        self._rollouts = rollouts
        self._again = again
        self._run = writer.path
        resume = resume and again is None
        unanswered = _samples_where(writer.path, _JUDGE_FAILED) if resume else set()
        self._done = writer.graded_samples() - unanswered if resume else set()
        self._rows: dict[int, int] = {}
        if again is not None or unanswered:
            writer.regrade()

    def __iter__(self) -> Iterator[Rollout]:
        places = itertools.count()
        chosen = bool(self._done) or self._again is not None
        for row, rollout in enumerate(self._rollouts):
            if chosen:
                key = sample_key(rollout.task_id, rollout.sample_id)
                if key in self._done or (self._again is not None and key not in self._again):
                    continue
            self._rows[next(places)] = row
            yield rollout

    def row(self, place: int) -> int:
        """The ordinal in the file of the rollout at a place of this stream; to be called once for each."""
        return self._rows.pop(place)

    def total(self, limit: int | None, files: Iterable[Path]) -> int | None:
        """About how many they are; None where that would take reading the files."""
        again, done = self._again, self._done
        if limit is not None and (again or done):
            within = _samples_where(self._run, f'"row" < {limit}')  # a grade of a later rollout is not one fewer to do
            again, done = (None if again is None else again & within), done & within
        if again is not None:
            return len(again)
        counts = [count_lines(path) for path in files]
        total = None if None in counts else sum(count for count in counts if count is not None)
        known = [count for count in (total, limit) if count is not None]
        return max(min(known) - len(done), 0) if known else None


def chosen_again(run: Path, only: str) -> set[int]:
    """The keys of the samples in the run that have these verdicts or meet this condition. Raises `QueryError`."""
    words = [word.strip() for word in only.split(",")]
    if set(words) <= {verdict.value for verdict in Verdict}:
        only = f"verdict IN ({', '.join(map(repr, words))})"
    return _samples_where(run, only)


def count_lines(path: Path) -> int | None:
    """How many lines a plain file of JSON lines has; None for other files, which would have to be read for it."""
    if path.suffix != ".jsonl":
        return None
    count, last = 0, b"\n"
    with path.open("rb") as file:
        for chunk in iter(lambda: file.read(1 << 20), b""):
            count, last = count + chunk.count(b"\n"), chunk[-1:]
    return count + (last != b"\n")


def _samples_where(run: Path, condition: str) -> set[int]:
    from evaluator.runs.reading import Run, rows_where

    with Run.open(run).connect() as connection:
        chosen = rows_where(connection, "rollouts", condition).project("task_id, sample_id").fetchall()
    return {sample_key(task_id, sample_id) for task_id, sample_id in chosen}
