"""An index of a dataset: which tasks it has and where. Prompts and tests stay in the file until they are shown."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

import duckdb
import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from evaluator.formats.reading.file_layout import FileLayout, layout_of, tasks_of
from evaluator.formats.reading.json_text import JsonError, decode_json
from evaluator.formats.reading.loader import load_tasks
from evaluator.formats.reading.problems import FormatError
from evaluator.formats.reading.registry import Role
from evaluator.index.scanning import Found, Span, lines
from evaluator.index.state import VERSION, read_at
from evaluator.model import RecordError, Task, TestCase
from evaluator.runs.files import RunError, forget_unused
from evaluator.runs.parts import Rows
from evaluator.runs.reading import add_function, quoted
from evaluator.runs.schema import TASK_COLUMNS, Column, TaskRow, encoded, safe_text
from evaluator.user_files import cache_folder, replacing

CasesOf = Callable[[Task], Sequence[TestCase]]
"""The test cases of a task as its grader runs them."""

_SHORT: Final = (
    *(column for column in TASK_COLUMNS if column.name in ("task_id", "mode", "entry_point", "source", "test_hash")),
    Column[TaskRow]("tests_total", "int32", lambda row: len(row.cases) or None),
)
_SHORT_NAMES: Final = {column.name for column in _SHORT}
_TASKS_KEPT: Final = 8
"""In memory, read."""


class Dataset(msgspec.Struct, frozen=True):
    """A file of tasks and how to read it."""

    path: str
    """Absolute."""
    format: str | None = None
    field_map: dict[str, str] | None = None


class IndexedTasks:
    """The tasks of a dataset. Any thread may ask."""

    def __init__(self, dataset: Dataset, folder: Path, cases_of: CasesOf) -> None:
        self.dataset = dataset
        self.table = folder / "tasks.parquet"
        self._cases_of = cases_of
        self._kept = folder / "tasks.jsonl"
        self._in_place = not self._kept.exists()
        self._layout = (
            layout_of(dataset.path, Role.TASKS, dataset.format, dataset.field_map) if self._in_place else None
        )
        self.task = lru_cache(_TASKS_KEPT)(self._task)

    @classmethod
    def open(cls, dataset: Dataset, cases_of: CasesOf) -> IndexedTasks:
        """The tasks; read now if the file is new or has changed. Raises `FormatError` or `RunError`."""
        folder = _folder(dataset)
        if not (folder / "tasks.parquet").exists():
            try:
                folder.mkdir(parents=True, exist_ok=True)
                forget_unused(folder.parent)
                _build(dataset, folder)
            except OSError as error:
                why = f"{error.filename or folder}: can't be read or written: {error.strerror or error}"
                raise RunError(why) from None
        with suppress(OSError):  # a cache that can be read and not written
            os.utime(folder)
        return cls(dataset, folder, cases_of)

    def _task(self, at: int, size: int) -> Task:
        """The task at a place. Raises `RunError` if the file has changed."""
        path = self.dataset.path if self._in_place else str(self._kept)
        try:
            return self._read(read_at(path, at, size))
        except (OSError, JsonError, RecordError, msgspec.DecodeError) as error:
            raise RunError(f"{path}: has changed since it was opened ({error}): load the page again") from None

    def _read(self, data: bytes) -> Task:
        if self._layout is None:
            return msgspec.json.decode(data, type=Task)
        fields = decode_json(data)
        if not isinstance(fields, dict):
            raise RecordError("the row is no longer a JSON object")
        return next(tasks_of(self._layout, fields))

    def offer(self, connection: duckdb.DuckDBPyConnection) -> str:
        """Add functions to a connection, and return the SELECT that has the columns of `tasks`."""
        names = []
        for column in TASK_COLUMNS:
            if column.name in _SHORT_NAMES:
                names.append(f'"{column.name}"')
                continue
            add_function(connection, f"task_{column.name}", partial(self._text, column.get))
            names.append(f'task_{column.name}("at", "size") AS "{column.name}"')
        return f"SELECT {', '.join(names)} FROM read_parquet({quoted(self.table)})"  # noqa: S608

    def _text(self, get: Callable[[TaskRow], Any], at: int, size: int) -> str | None:
        task = self.task(at, size)
        text = get(TaskRow(task, self._cases_of(task)))
        return safe_text(text) if isinstance(text, str) else text


def _folder(dataset: Dataset) -> Path:
    now = Path(dataset.path).stat()
    decides = (VERSION, dataset, now.st_size, now.st_mtime_ns, now.st_ino)
    return cache_folder("tasks") / hashlib.sha256(msgspec.json.encode(decides)).hexdigest()[:20]


def _build(dataset: Dataset, folder: Path) -> None:
    layout = layout_of(dataset.path, Role.TASKS, dataset.format, dataset.field_map)
    found = _in_place(dataset, layout) if layout.in_place and layout.unwrap is None else _copied(dataset, folder)
    rows = Rows(_SHORT)
    places: list[tuple[int, int]] = []
    seen: set[str] = set()
    for at, size, task in found:
        if task.task_id not in seen:
            seen.add(task.task_id)
            rows.add(TaskRow(task, task.cases))
            places.append((at, size))
    if not seen:
        raise FormatError(f"{dataset.path}: has no usable task (`rollscope formats FILE --check` says why)")
    table = rows.table()
    for name, values in zip(("at", "size"), zip(*places, strict=True), strict=True):
        table = table.append_column(name, pa.array(values, pa.int64()))
    with replacing(folder / "tasks.parquet") as path:
        pq.write_table(table, path, compression="zstd")


def _in_place(dataset: Dataset, layout: FileLayout) -> Iterator[tuple[int, int, Task]]:
    span = Span(0, dataset.path, layout.offset, Path(dataset.path).stat().st_size, exact=True)
    for _, at, data in lines(span, Found()):
        try:
            fields = decode_json(data) if not data.isspace() else None
            if isinstance(fields, dict):
                yield at, len(data), next(tasks_of(layout, fields))
        except (JsonError, RecordError):
            continue  # grading reports them


def _copied(dataset: Dataset, folder: Path) -> Iterator[tuple[int, int, Task]]:
    tasks = load_tasks(dataset.path, dataset.format, field_map=dataset.field_map, on_problem=lambda _: None)
    at = 0
    with (folder / "tasks.jsonl").open("wb") as file:
        for task in tasks:
            data = encoded(task) + b"\n"
            file.write(data)
            yield at, len(data), task
            at += len(data)
