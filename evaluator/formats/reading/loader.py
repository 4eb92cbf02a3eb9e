"""Reads tasks and rollouts from a file: detects its format, makes the records, and reports the rows it skips."""

from __future__ import annotations

import hashlib
import itertools
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

from evaluator.formats.reading.containers import open_container, read_rows
from evaluator.formats.reading.fields import Fields, refuse_others
from evaluator.formats.reading.file_layout import (
    FileLayout,
    format_of_task,
    layout_of,
    no_rows,
    readings_of,
    rollouts_of,
    samples_of,
    tasks_of,
)
from evaluator.formats.reading.mapping import renamed
from evaluator.formats.reading.problems import FormatError, FormatWarning, Problem, TaskClash, errors_in
from evaluator.formats.reading.registry import Role
from evaluator.formats.reading.sources import FileLike, Source, source_of
from evaluator.model import JsonValue, Mode, RecordError, Rollout, Task, brief
from evaluator.tasks.given_tests import unread_tests

OnProblem = Callable[[Problem], object]
Files: TypeAlias = FileLike | Sequence[FileLike]
"""One file, or several that are read as one."""
Record = TypeVar("Record", Task, Rollout)
Read = TypeVar("Read")


class FormatMatch(NamedTuple):
    """A file's detected format. `why` names the fields that showed it; `container` says how the rows are stored."""

    format: str
    role: Role
    why: str
    container: str
    others: tuple[FormatMatch, ...] = ()
    """Other formats that fit, likeliest first."""


def sniff(
    path: FileLike,
    format: str | None = None,  # noqa: A002 - as in `load_tasks`
    *,
    field_map: Mapping[str, str] | None = None,
) -> FormatMatch:
    """Detects what a file holds from the first object that a format knows. Raises `FormatError` if there is none.

    With a `format` or a `field_map`, as of `load_tasks`, it only says in which role it is read so, and why.
    """
    claims, container = readings_of(path, format, field_map)
    first, *others = (FormatMatch(each.format.name, each.role, each.claim.why, container) for each in claims)
    return first._replace(others=tuple(others))


def sniff_each(
    files: Sequence[Source],
    format: str | None = None,  # noqa: A002 - as in `load_tasks`
    *,
    field_map: Mapping[str, str] | None = None,
) -> dict[Source, FormatMatch]:
    """What each of several files holds, without those that hold nothing known. Raises `FormatError` if all do."""
    found: dict[Source, FormatMatch] = {}
    refused: FormatError | None = None
    for file in files:
        try:
            found[file] = sniff(file, format, field_map=field_map)
        except FormatError as error:
            refused = refused or error
    if refused is not None and not found:
        raise refused
    return found


def load_task(
    row: Mapping[str, JsonValue],
    format: str | None = None,  # noqa: A002 - as in `load_tasks`
    *,
    field_map: Mapping[str, str] | None = None,
) -> Task:
    """The task of one row in any format that has tasks, such as LiveCodeBench's, MBPP's, HumanEval's or APPS's.

    >>> from evaluator import load_task
    >>> row = {"task_id": 2, "text": "Add two numbers.", "code": "...", "test_list": ["assert add(1, 2) == 3"]}
    >>> task = load_task(row)
    >>> task.task_id, task.source, task.entry_point
    ('2', 'MBPP', 'add')

    Args:
        row: An object from JSON, as a dataset has it; a field may be an array or a number of NumPy, as in pandas.
        format: A name that `rollscope formats` lists. None: it is detected.
        field_map: Our names of fields to the row's, or to paths in it, such as `{"task_id": "uid"}`
            (docs/reference/formats.md); without `format` it is then read in the native format.

    Raises:
        FormatError: No known format has these fields, or they are a rollout's. A `ValueError`, as the next one is.
        RecordError: A field is wrong; or no tests were found, where no format is named and the row has other fields.
    """
    if not isinstance(row, Mapping):
        raise TypeError(f"the row is {brief(row)}: give an object, such as a dict")
    row = {name: value.tolist() if hasattr(value, "tolist") else value for name, value in row.items()}
    format_ = format_of_task(row, format or ("mapped" if field_map else None))
    named, *more = renamed(row, field_map) if field_map else [row]
    if more:
        raise RecordError("the row has several tasks: give one of them")
    refuse_others(named)
    task = format_.tasks.read(named)
    if task.is_undecided and task.metadata and format is None:
        others = ", ".join(task.metadata)
        fix = f", such as tests={found}" if (found := unread_tests(task.metadata)) else ""
        raise RecordError(
            f"{format_.name} finds no tests in the row ({others}): map its fields{fix}, or name its format"
        )
    return task


def load_tasks(
    path: Files,
    format: str | None = None,  # noqa: A002 - the library's published word
    *,
    field_map: Mapping[str, str] | None = None,
    on_problem: OnProblem | None = None,
) -> Iterator[Task]:
    """The tasks of a file, one at a time, in its order; memory grows with their number alone, not with their texts.

    >>> from evaluator import load_tasks
    >>> tasks = list(load_tasks("tasks.jsonl"))  # all of them; without `list` a stream, which is read once
    >>> [task.task_id for task in tasks]
    ['t']

    `path`: a file, or several: ids are unique in all of them together, and of several a file that can't be read is a
    problem like a row. `format`: a name of `known_formats()`; None to detect it from the first row that one knows.
    `field_map`: our field names to the file's, or to paths in it (docs/reference/formats.md); without `format` the rows
    are then read in the native format. `on_problem` is called for each skipped row (not JSON, a wrong field, a repeated
    task id); None emits `FormatWarning`s. A file without a usable row yields nothing: see `require_rows`. Raises
    `FormatError`, at once or at the first row, for a file that can't be read.
    """
    reading = _Reading(path, Role.TASKS, format, field_map, on_problem or _warn)
    return _unique_tasks(reading.records(tasks_of), reading.report)


def load_rollouts(
    path: Files,
    format: str | None = None,  # noqa: A002 - the library's published word
    *,
    field_map: Mapping[str, str] | None = None,
    on_problem: OnProblem | None = None,
) -> Iterator[Rollout]:
    """The rollouts of a file, one at a time, in its order. Arguments and errors as in `load_tasks`.

    >>> from evaluator import load_rollouts
    >>> rollouts = list(load_rollouts("rollouts.jsonl"))  # all of them; without `list` a stream, which is read once
    >>> [rollout.sample_id for rollout in rollouts]
    ['t#0', 't#1']

    Each has a `sample_id` that is unique in the file: its own, else `<task_id>#<n>` with n counting the task's samples
    from 0; of two rows with one id the first is kept. `sample_index` is its own, else the number at the end of
    `sample_id`, so that it does not depend on the file's order, else it counts the samples of the same task and model
    from 0.
    """
    reading = _Reading(path, Role.ROLLOUTS, format, field_map, on_problem or _warn)
    return _unique_rollouts(_numbered(reading.records(rollouts_of)), reading.report)


def load_prompts(
    path: Files,
    format: str | None = None,  # noqa: A002 - as in `load_tasks`
    *,
    field_map: Mapping[str, str] | None = None,
) -> Iterator[Task]:
    """The tasks of a file of rollouts, with their prompts if the rows have them, and without test cases.

    Arguments and errors as in `load_rollouts`. Bad rows are not reported: `load_rollouts` does that.
    """
    reading = _Reading(path, Role.ROLLOUTS, format, field_map, lambda _: None)
    known: set[str] = set()
    for (rollout, prompt), place in reading.records(partial(samples_of, known=known)):
        if rollout.task_id not in known:
            known.add(rollout.task_id)
            # the row's own name, beside an id that was made from the prompt
            own = {name: value for name, value in rollout.metadata.items() if name == "task_id"}
            yield Task(task_id=rollout.task_id, mode=Mode.ANSWER, prompt=prompt, metadata=own, line=place.line)


def load_samples(
    file: FileLike,
    format: str | None = None,  # noqa: A002 - as in `load_tasks`
    *,
    field_map: Mapping[str, str] | None = None,
    on_problem: OnProblem | None = None,
) -> Iterator[tuple[Rollout, str]]:
    """The rollouts of a file as its rows have them, with their prompts: ids that are missing stay empty.

    Arguments and errors as in `load_rollouts`.
    """
    reading = _Reading(file, Role.ROLLOUTS, format, field_map, on_problem or _warn)
    for (rollout, prompt), place in reading.records(samples_of):
        rollout.line = place.line
        yield rollout, prompt


def require_rows(records: Iterator[Record], path: Files) -> Iterator[Record]:
    """The same records. Raises `FormatError` at once if there are none: a file with no usable row."""
    first = next(records, None)
    if first is None:
        raise no_rows(*_files(path))
    return itertools.chain([first], records)


def dataset_hash(path: Files) -> str:
    """`sha256:` and the hexadecimal digest of the file's bytes, not decompressed; of several, of their digests."""
    digests = [_digest(file) for file in _files(path)]
    return "sha256:" + (digests[0] if len(digests) == 1 else hashlib.sha256(" ".join(digests).encode()).hexdigest())


def _digest(file: FileLike) -> str:
    try:
        with source_of(file).path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise FormatError(f"{file}: can't be read: {error.strerror}") from None


def _warn(problem: Problem) -> None:
    warnings.warn(str(problem), FormatWarning, stacklevel=4)


def _files(path: Files) -> list[FileLike]:
    return [path] if isinstance(path, str | Path | Source) else list(path)


class _Place(NamedTuple):
    """Where a record came from."""

    layout: FileLayout
    file: int
    """Which of the files, from 0."""
    line: int
    offset: int | None


class _Reading:
    """One pass over the files. One file alone is opened at once, to refuse it at once."""

    def __init__(
        self,
        path: Files,
        role: Role,
        name: str | None,
        field_map: Mapping[str, str] | None,
        report: OnProblem,
    ) -> None:
        self.report = report
        self._files = _files(path)
        self._how = role, name, field_map
        self._only = layout_of(self._files[0], *self._how) if len(self._files) == 1 else None

    def records(self, read: Callable[[FileLayout, Fields], Iterable[Read]]) -> Iterator[tuple[Read, _Place]]:
        """What is read from every row, with its place."""
        for number, layout in enumerate(self._layouts()):
            with open_container(layout.source) as container:
                for row in read_rows(container):
                    if isinstance(row, Problem):
                        self.report(row)
                        continue
                    line, fields, offset = row
                    if layout.header is not None and (line, offset) == layout.header:
                        continue
                    place = _Place(layout, number, line, offset)
                    try:
                        for record in read(layout, fields):
                            yield record, place
                    except ValueError as error:  # a `RecordError`, or a number too long for Python to write
                        for each in errors_in(error):
                            self.report(Problem(layout.source.name, line, str(each), offset=offset))

    def _layouts(self) -> Iterator[FileLayout]:
        if self._only is not None:
            yield self._only
            return
        refused: FormatError | None = None
        usable = False
        for file in self._files:
            try:
                layout = layout_of(file, *self._how)
            except FormatError as error:
                refused = refused or error
                self.report(_of_file(str(file), error))
                continue
            usable = True
            yield layout
        if refused is not None and not usable:
            raise refused


def _of_file(name: str, error: FormatError) -> Problem:
    """A file that can't be read as a whole, as one problem of several files."""
    line, _, message = str(error).removeprefix(f"{name}:").lstrip().partition(": ")
    if line.isdecimal():
        return Problem(name, int(line), f"this file is skipped: {message}", reason="other file")
    return Problem(name, 1, f"this file is skipped: {str(error).removeprefix(f'{name}: ')}", reason="other file")


class _Seen:
    """The ids that came before, and where: about 100 bytes each, however long they are.

    Two different ids among a million share a hash of 64 bits with a probability of about 3e-8.
    """

    def __init__(self) -> None:
        self._places: dict[int, int] = {}
        self._names: dict[int, str] = {}

    def before(self, text: str, place: _Place) -> str | None:
        """Where this id came first, such as `line 3`; None if this is the first time (it is then remembered)."""
        key = hash(text)
        found = self._places.get(key)
        if found is None:
            self._places[key] = place.file << _FILE_BITS | place.line
            self._names[place.file] = place.layout.source.name
            return None
        file, first = found >> _FILE_BITS, found & (1 << _FILE_BITS) - 1
        return f"line {first}" if file == place.file else f"line {first} of {self._names[file]}"


_FILE_BITS = 40


def _unique_tasks(records: Iterator[tuple[Task, _Place]], report: OnProblem) -> Iterator[Task]:
    seen, seen_tests = _Seen(), _Seen()
    for task, place in records:
        task.line = place.line
        path, format_ = place.layout.source.name, place.layout.format
        first = seen.before(task.task_id, place)
        if place.layout.both_roles or format_.repeats_tasks:
            alike = seen_tests.before(f"{task.task_id} {_tests_digest(task)}", place)
            if first is not None and alike is None:
                report(_clash(path, task, first))
        elif first is not None:
            report(_repeated("task", task.task_id, first, place))
        if first is None:
            yield task


def _clash(path: str, task: Task, first: str) -> TaskClash:
    message = f"task {brief(task.task_id)} is also on {first}, with different tests: this row is skipped"
    return TaskClash(path, task.line, f"{message}; give each task its own prompt or id", task_id=task.task_id)


def _tests_digest(task: Task) -> str:
    """Equal for two tasks that grade alike."""
    decides = (
        task.mode, task.entry_point, task.preamble, task.test, task.cases, task.answer, task.checker,
        task.checker_code, task.grader, task.exit_code, task.weights, task.limits, task.time_limit, task.memory_limit,
    )  # fmt: skip
    return hashlib.blake2b(repr(decides).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


_OWN_NUMBER = re.compile(r"[/#_:.-](\d{1,6})\Z")


def own_number(sample_id: str) -> int | None:
    """The number at the end of a sample's id, which is its index where the row has none."""
    own = _OWN_NUMBER.search(sample_id)
    return int(own[1]) if own else None


def _numbered(records: Iterator[tuple[Rollout, _Place]]) -> Iterator[tuple[Rollout, _Place]]:
    of_task: Counter[str] = Counter()
    of_model: Counter[tuple[str, str | None]] = Counter()
    for rollout, place in records:
        rollout.line = place.line
        key = (rollout.task_id, rollout.model)
        if not rollout.sample_id:
            rollout.sample_index = of_model[key] if rollout.sample_index is None else rollout.sample_index
            rollout.sample_id = f"{rollout.task_id}#{of_task[rollout.task_id]}"
        if rollout.sample_index is None:
            own = own_number(rollout.sample_id)
            rollout.sample_index = of_model[key] if own is None else own
        of_task[rollout.task_id] += 1
        of_model[key] += 1
        yield rollout, place


def _unique_rollouts(records: Iterator[tuple[Rollout, _Place]], report: OnProblem) -> Iterator[Rollout]:
    seen = _Seen()
    for rollout, place in records:
        first = seen.before(rollout.sample_id, place)
        if first is None:
            yield rollout
        else:
            report(_repeated("sample", rollout.sample_id, first, place))


def _repeated(what: str, own: str, first: str, place: _Place) -> Problem:
    message = f"{what}_id {brief(own)} is already on {first}: this row is skipped; give each {what} its own id"
    return Problem(place.layout.source.name, place.line, message, offset=place.offset)
