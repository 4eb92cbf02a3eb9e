"""Reads tasks and rollouts from a file: detects its format, makes the records, and reports the rows it skips."""

from __future__ import annotations

import hashlib
import itertools
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

from evaluator.formats.containers import Container, open_container
from evaluator.formats.id_table import IdTable
from evaluator.formats.mapped import renamed
from evaluator.formats.problems import FormatError, FormatWarning, Problem, TaskClash
from evaluator.formats.registry import Claim, Fields, Format, Role, format_named, known_formats
from evaluator.formats.rows import Row, read_rows
from evaluator.model import Mode, RecordError, Rollout, Task, brief

OnProblem = Callable[[Problem], object]
Record = TypeVar("Record", Task, Rollout)
_SHOWN_FIELDS = 12


class FormatMatch(NamedTuple):
    """A file's detected format. `why` names the fields that showed it; `container` says how the rows are stored."""

    format: str
    role: Role
    why: str
    container: str
    others: tuple[FormatMatch, ...] = ()
    """Other formats that fit, likeliest first."""


def sniff(path: str | Path) -> FormatMatch:
    """Detects what a file holds from its first object. Raises `FormatError` if no format fits."""
    container = open_container(path)
    try:
        first = next((row for row in read_rows(container) if isinstance(row, Row)), None)
    finally:
        container.close()
    if first is None:
        raise _no_rows(container.path)
    claims = [claim for role in Role for claim in _claims(role, first.fields)]
    if not claims:
        raise _unknown(container.path, first)
    claims.sort(key=_weakness)
    readings = [FormatMatch(f.name, role, claim.why, str(container)) for claim, f, role in claims]
    return readings[0]._replace(others=tuple(readings[1:]))


def load_tasks(
    path: str | Path,
    format: str | None = None,  # noqa: A002 - the library's published word
    *,
    field_map: Mapping[str, str] | None = None,
    on_problem: OnProblem | None = None,
) -> Iterator[Task]:
    """The tasks of a file, one at a time, in its order; memory does not grow with the file.

    `format`: a name of `known_formats()`; None to detect it from the first row. `field_map`: our field names to the
    file's; without `format` the rows are then read in the native format. `on_problem` is called for each skipped row
    (not JSON, a wrong field, a repeated task id); None emits `FormatWarning`s. A file without a usable row yields
    nothing: see `require_rows`. Raises `FormatError`, at once or at the first row, for a file that can't be read.
    """
    reading = _open(path, Role.TASKS, format, field_map, on_problem)
    return _unique_tasks(reading.records(_task_of), reading.container.path, reading.report)


def load_rollouts(
    path: str | Path,
    format: str | None = None,  # noqa: A002 - the library's published word
    *,
    field_map: Mapping[str, str] | None = None,
    on_problem: OnProblem | None = None,
) -> Iterator[Rollout]:
    """The rollouts of a file, one at a time, in its order. Arguments and errors as in `load_tasks`.

    Each has a `sample_id` that is unique in the file: its own, else `<task_id>#<n>` with n counting the task's samples
    from 0; of two rows with one id the first is kept. `sample_index` is its own, else the number at the end of
    `sample_id`, so that it does not depend on the file's order, else it counts the samples of the same task and model
    from 0.
    """
    reading = _open(path, Role.ROLLOUTS, format, field_map, on_problem)
    rollouts = _numbered(reading.records(_rollouts_of))
    return _unique_rollouts(rollouts, reading.container.path, reading.report)


def load_prompts(
    path: str | Path,
    format: str | None = None,  # noqa: A002 - as in `load_tasks`
    *,
    field_map: Mapping[str, str] | None = None,
) -> Iterator[Task]:
    """The tasks of a file of rollouts, with their prompts if the rows have them, and without test cases.

    Arguments and errors as in `load_rollouts`. Bad rows are not reported: `load_rollouts` does that.
    """
    reading = _open(path, Role.ROLLOUTS, format, field_map, lambda _: None)
    seen = IdTable()
    for task, _ in reading.records(_prompts_of):
        if seen.first_line(task.task_id, task.line) is None:
            yield task


def require_rows(records: Iterator[Record], path: str | Path) -> Iterator[Record]:
    """The same records. Raises `FormatError` at once if there are none: a file with no usable row."""
    first = next(records, None)
    if first is None:
        raise _no_rows(str(path))
    return itertools.chain([first], records)


def dataset_hash(path: str | Path) -> str:
    """`sha256:` and the hexadecimal digest of the file's bytes, not decompressed."""
    try:
        with Path(path).open("rb") as stream:
            return "sha256:" + hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise FormatError(f"{path}: can't be read: {error.strerror}") from None


def _warn(problem: Problem) -> None:
    warnings.warn(str(problem), FormatWarning, stacklevel=4)


def _claims(role: Role, fields: Fields) -> list[tuple[Claim, Format, Role]]:
    claims = [(claim, f, role) for f in known_formats().values() if (claim := f.claim(role, fields)) is not None]
    return sorted(claims, key=_weakness)


def _weakness(claim: tuple[Claim, Format, Role]) -> int:
    return -claim[0].strength


class _Reading(NamedTuple):
    """One pass over a file."""

    container: Container
    role: Role
    chosen: Format | None
    """None: detected from the first row."""
    field_map: Mapping[str, str] | None
    report: OnProblem

    def records(self, read: Callable[[Format, Fields], Iterable[Record]]) -> Iterator[tuple[Record, Format]]:
        """The records of every row, each with its line."""
        format_ = self.chosen
        path = self.container.path
        with self.container:
            for row in read_rows(self.container):
                if isinstance(row, Problem):
                    self.report(row)
                    continue
                fields = renamed(row.fields, self.field_map) if self.field_map else row.fields
                if format_ is None:
                    format_ = _detected(row, self.role, path)
                if format_.from_name is not None:
                    fields = {**format_.from_name(path), **fields}
                try:
                    for record in read(format_, fields):
                        record.line = row.line
                        yield record, format_
                except RecordError as error:
                    self.report(Problem(path, row.line, str(error)))


def _open(
    path: str | Path,
    role: Role,
    name: str | None,
    field_map: Mapping[str, str] | None,
    on_problem: OnProblem | None,
) -> _Reading:
    if name is None and field_map:
        name = "mapped"
    chosen = None if name is None else format_named(name, role)
    return _Reading(open_container(path), role, chosen, field_map, on_problem or _warn)


def _detected(row: Row, role: Role, path: str) -> Format:
    """The format that claims this row most strongly. Raises `FormatError` if none does."""
    claims = _claims(role, row.fields)
    other = Role.ROLLOUTS if role is Role.TASKS else Role.TASKS
    others = _claims(other, row.fields)
    if others and (not claims or (claims[0][0].strength == 1 and others[0][0].strength == 3)):
        raise FormatError(
            f"{path}:{row.line}: holds {other} ({others[0][1].name}), not {role}: "
            f"pass a file of {role} here, or name its format with --format"
        )
    if not claims:
        raise _unknown(path, row)
    return claims[0][1]


def _unknown(path: str, row: Row) -> FormatError:
    names = ", ".join(list(row.fields)[:_SHOWN_FIELDS])
    return FormatError(
        f"{path}:{row.line}: no known format has these fields ({names}): map them with "
        "--map task_id=...,completion=... or name a format with --format"
    )


def _no_rows(path: str) -> FormatError:
    return FormatError(f"{path}: has no usable row: write one JSON object per line (`rollscope formats FILE --check`)")


def _task_of(format_: Format, fields: Fields) -> Iterable[Task]:
    assert format_.read_task is not None
    return (format_.read_task(fields),)


def _rollouts_of(format_: Format, fields: Fields) -> Iterable[Rollout]:
    assert format_.read_rollouts is not None
    return format_.read_rollouts(fields)


def _prompts_of(format_: Format, fields: Fields) -> Iterator[Task]:
    """The tasks of a row of rollouts. An id made from the prompt comes with the row's own name in the metadata."""
    for rollout in _rollouts_of(format_, fields):
        task = Task(task_id=rollout.task_id, mode=Mode.ANSWER, prompt=format_.read_prompt(fields))
        if "task_id" in rollout.metadata:
            task.metadata = {"task_id": rollout.metadata["task_id"]}
        yield task


def _unique_tasks(records: Iterator[tuple[Task, Format]], path: str, report: OnProblem) -> Iterator[Task]:
    seen, seen_tests = IdTable(), IdTable()
    for task, format_ in records:
        first = seen.first_line(task.task_id, task.line)
        if format_.repeats_tasks:
            alike = seen_tests.first_line(f"{task.task_id} {_tests_digest(task)}", task.line)
            if first is not None and alike is None:
                report(_clash(path, task, first))
        elif first is not None:
            message = f"task_id {brief(task.task_id)} is already on line {first}: this row is skipped"
            report(Problem(path, task.line, f"{message}; give each task its own id"))
        if first is None:
            yield task


def _clash(path: str, task: Task, first: int) -> TaskClash:
    message = f"task {brief(task.task_id)} is also on line {first}, with different tests: this row is skipped"
    return TaskClash(path, task.line, f"{message}; give each task its own prompt or id", task_id=task.task_id)


def _tests_digest(task: Task) -> str:
    """Equal for two tasks that grade alike."""
    decides = (
        task.mode, task.entry_point, task.preamble, task.test, task.cases, task.answer, task.checker, task.grader,
        task.exit_code, task.weights, task.limits,
    )  # fmt: skip
    return hashlib.blake2b(repr(decides).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


_OWN_NUMBER = re.compile(r"[/#_:.-](\d{1,6})\Z")


def _numbered(records: Iterator[tuple[Rollout, Format]]) -> Iterator[Rollout]:
    of_task: Counter[str] = Counter()
    of_model: Counter[tuple[str, str | None]] = Counter()
    for rollout, _ in records:
        key = (rollout.task_id, rollout.model)
        if not rollout.sample_id:
            rollout.sample_index = of_model[key] if rollout.sample_index is None else rollout.sample_index
            rollout.sample_id = f"{rollout.task_id}#{of_task[rollout.task_id]}"
        if rollout.sample_index is None:
            own = _OWN_NUMBER.search(rollout.sample_id)
            rollout.sample_index = int(own[1]) if own else of_model[key]
        of_task[rollout.task_id] += 1
        of_model[key] += 1
        yield rollout


def _unique_rollouts(rollouts: Iterator[Rollout], path: str, report: OnProblem) -> Iterator[Rollout]:
    seen = IdTable()
    for rollout in rollouts:
        first = seen.first_line(rollout.sample_id, rollout.line)
        if first is None:
            yield rollout
        else:
            message = f"sample_id {brief(rollout.sample_id)} is already on line {first}: this row is skipped"
            report(Problem(path, rollout.line, f"{message}; give each sample its own id"))
