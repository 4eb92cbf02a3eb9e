"""The files that `rollscope convert` writes, and what it says about them on stderr."""

from __future__ import annotations

import contextlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from evaluator.commands.tables import counted
from evaluator.formats.reading.parquet import Table
from evaluator.formats.writers import JsonRow
from evaluator.model import Rollout, Task
from evaluator.user_files import replacing

Write = Callable[[JsonRow], object]

_SHOWN_FIELDS: Final = 12


@contextlib.contextmanager
def json_lines(path: Path) -> Iterator[Write]:
    """Writes rows to a file that appears under its name only when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as partial, partial.open("w", encoding="ascii") as file:
        yield lambda row: file.write(json.dumps(row) + "\n")


@contextlib.contextmanager
def table(path: Path, columns: Mapping[str, str]) -> Iterator[Write]:
    """The same for a Parquet file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as partial:
        with Table(partial, columns) as rows:
            yield rows.write
        if rows.escaped:
            print(f"rows whose half surrogate pairs are written as \\udXXX: {rows.escaped:,}", file=sys.stderr)


class Converted:
    """The rows of a file that is written, and what the target has no place for, counted."""

    def __init__(self, target: str, write: Write) -> None:
        self._target = target
        self._write = write
        self.rows = 0
        self._fields: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self._first: dict[str, str] = {}
        self._of_task: Counter[str] = Counter()

    def add(self, row: JsonRow, lost: Iterable[str] = ()) -> None:
        """Write a row. `lost`: fields of its record that are not in it."""
        self._write(row)
        self.rows += 1
        self._fields.update(set(lost))

    def made_anew(self, rollout: Rollout) -> frozenset[str]:
        """Which of its numbers a reader makes again, from the file's order. To be called once for each, in order."""
        number = self._of_task[rollout.task_id]
        self._of_task[rollout.task_id] += 1
        same = {"sample_id": f"{rollout.task_id}#{number}", "sample_index": number}
        return frozenset(name for name, value in same.items() if getattr(rollout, name) == value)

    def left_out(self, name: str, why: str) -> None:
        """A record that is not in the file."""
        self._left_out[why] += 1
        self._first.setdefault(why, name)

    def tell(self, what: str) -> None:
        """Print one line about fields and one for each reason to leave records out."""
        for why, count in self._left_out.items():
            print(f"{counted(count, what)} left out: {why}; the first is {self._first[why]}", file=sys.stderr)
        if self._fields:
            shown = [f"{name} {count:,}" for name, count in self._fields.most_common(_SHOWN_FIELDS)]
            rest = len(self._fields) - len(shown)
            more = f" and {counted(rest, 'more field')}" if rest else ""
            print(f"not in {self._target}'s rows: {', '.join(shown)}{more}", file=sys.stderr)


@contextlib.contextmanager
def converted(path: Path, target: str, what: str, columns: Mapping[str, str] | None = None) -> Iterator[Converted]:
    """A file of JSON lines, or of Parquet with `columns`; when it is complete, tells what is in it and what is not."""
    with json_lines(path) if columns is None else table(path, columns) as write:
        rows = Converted(target, write)
        yield rows
    rows.tell(what)
    report(path, rows.rows, what)


def report(path: Path, count: int, what: str) -> None:
    """Print how many rows a file has."""
    print(f"{path}: {counted(count, what)}", file=sys.stderr)


def report_prompts(tasks: Iterable[Task]) -> None:
    """NeMo Gym rollouts identify their task by the prompt alone."""
    prompts = Counter(task.prompt for task in tasks)
    empty = prompts.pop("", 0)
    if empty:
        print(f"tasks without a prompt: {empty:,}: a model would get an empty question", file=sys.stderr)
    repeated = sum(count for count in prompts.values() if count > 1)
    if repeated:
        print(f"tasks that share a prompt with another: {repeated:,}: give each its own", file=sys.stderr)
