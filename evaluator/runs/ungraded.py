"""Files of rollouts that are not graded, for readers: what `Run` is for others, with the grades that they came with.

`connect()` gives the views `rollouts`, `cases` and `tasks` of a run. Their small columns are read from the index
(`runs.indexing`); a text is read from the rollouts' file, and only for the rows whose text is needed.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import msgspec

from evaluator.extraction import Extraction, extract
from evaluator.formats.reading.loader import load_tasks
from evaluator.formats.reading.problems import FormatError
from evaluator.formats.reading.sources import resolve
from evaluator.model import Mode, Rollout, Task, TestCase
from evaluator.recorded import UNVERIFIED
from evaluator.runs.files import TASKS, RunError, forget_unused, part_path
from evaluator.runs.indexing import RolloutSource, State, read_state
from evaluator.runs.parts import TaskFile
from evaluator.runs.reading import Run, add_function, no_rows, quoted, rows_sql
from evaluator.runs.schema import TaskRow, columns_sql, metadata_json, safe_text
from evaluator.user_files import cache_folder

if TYPE_CHECKING:
    import duckdb

PLACE: Final = ("file", "at", "size", "nth")
"""The columns that say where a rollout is."""
_AT: Final = ", ".join(f'"{name}"' for name in PLACE)
_KEPT_BYTES: Final = 16 << 20
"""Of the rows last read: DuckDB asks for one text of 2,048 rows, then for the next text of the same rows."""
_CONSTANT: Final = {
    "verified": "false", "unverified_reason": f"'{UNVERIFIED}'", "grader": "'stored'",
    "tests_passed": "0", "tests_total": "0",
}  # fmt: skip
_VERSION: Final = 2

CasesOf = Callable[[Task], Sequence[TestCase]]
"""The test cases of a task as its grader runs them."""


class Dataset(msgspec.Struct, frozen=True):
    """A file of tasks, or a folder or a pattern, and how to read it."""

    path: str
    """Absolute."""
    format: str | None = None
    field_map: dict[str, str] | None = None


Opening = tuple[RolloutSource, Dataset | None]
"""What another process needs to open the same rollouts without reading them."""


def tasks_file(dataset: Dataset, cases_of: CasesOf) -> Path:
    """The tasks of a dataset as in a run; read now if the dataset is new or has changed.

    Raises `FormatError` or `RunError`.
    """
    try:
        now = [each.path.stat() for each in resolve(dataset.path)]
        decides = (_VERSION, dataset, [(each.st_size, each.st_mtime_ns, each.st_ino) for each in now])
        folder = cache_folder("tasks") / hashlib.sha256(msgspec.json.encode(decides)).hexdigest()[:20]
        if not (folder / TASKS).exists():
            folder.mkdir(parents=True, exist_ok=True)
            forget_unused(folder.parent)
            _write_tasks(dataset, cases_of, folder / TASKS)
    except OSError as error:
        raise RunError(f"{error.filename or folder}: can't be read or written: {error.strerror or error}") from None
    with suppress(OSError):  # a cache that can be read and not written
        os.utime(folder)
    return folder / TASKS


def _write_tasks(dataset: Dataset, cases_of: CasesOf, to: Path) -> None:
    file, task = TaskFile(to), None
    try:
        for task in load_tasks(
            resolve(dataset.path),
            dataset.format,
            field_map=dataset.field_map,
            on_problem=lambda _: None,  # grading reports them
        ):
            file.add(TaskRow(task, cases_of(task)))
        if task is None:
            raise FormatError(f"{dataset.path}: has no usable task (`rollscope formats FILE --check` says why)")
        file.finish()
    except BaseException:
        file.abandon()
        raise


class IndexedFile(Run):
    """A source's rollouts, as of the last `update`."""

    length_sql: ClassVar[str] = '"length"'
    bytes_sql: ClassVar[str | None] = '2 * "size"'  # a completion, and again its code

    def __init__(self, state: State, dataset: Dataset | None, tasks: Path | None) -> None:
        manifest = msgspec.structs.replace(state.manifest, dataset=dataset.path if dataset else "")
        super().__init__(state.source.folder, manifest)
        self.state = state
        self.texts = Texts(state)
        self._dataset = dataset
        self._tasks = tasks

    @classmethod
    def of(cls, source: RolloutSource, dataset: Dataset | None = None, cases_of: CasesOf | None = None) -> IndexedFile:
        """The index of a source as it is now, with the tasks of a dataset; see `evaluator.runs.indexing.update`.

        Raises `RunError` where there is none yet, `FormatError` for a dataset that can't be read.
        """
        state = read_state(source.folder)
        if state is None:
            raise RunError(f"{source.name}: is not read yet")
        tasks = tasks_file(dataset, cases_of or (lambda task: task.cases)) if dataset is not None else None
        return cls(state, dataset, tasks)

    @property
    def opening(self) -> Opening:
        """For `of` in another process."""
        return self.state.source, self._dataset

    @property
    def name(self) -> str:
        return Path(self.state.source.name).name

    @property
    def parts(self) -> list[int]:
        """Ordinals of the index's parts; the list grows with the source."""
        return self.state.parts

    def _make_views(self, connection: duckdb.DuckDBPyConnection, *, parts: bool) -> list[Path]:
        """With `parts`, `rollouts` also has the columns that say where a rollout is in its file."""
        files = self._paths(self.parts)
        self.texts.offer(connection)
        connection.execute(f"CREATE VIEW rollouts AS {_rollouts(connection, files, _TEXTS | _CONSTANT, parts=parts)}")
        connection.execute(f"CREATE VIEW cases AS {no_rows('cases', parts=parts)}")
        if self._tasks is None:
            connection.execute(f"CREATE VIEW tasks AS {_tasks_of_rollouts(files)}")
            return files
        connection.execute(f"CREATE VIEW tasks AS {rows_sql(connection, 'tasks', [self._tasks])}")
        return [*files, self._tasks]

    def view_parts(self, connection: duckdb.DuckDBPyConnection, ordinals: Sequence[int], among: Sequence[int]) -> None:
        """As `Run.view_parts`, with null for all texts, and `length`."""
        del among
        rows = _rollouts(connection, self._paths(ordinals), _CONSTANT, parts=True)
        connection.execute(f"CREATE OR REPLACE TEMP VIEW part_rollouts AS {rows}")
        connection.execute(f"CREATE OR REPLACE TEMP VIEW part_cases AS {no_rows('cases', parts=True)}")

    def _paths(self, ordinals: Sequence[int]) -> list[Path]:
        return [part_path(self.path.resolve(), "rollouts", ordinal) for ordinal in ordinals]

    def tasks(self) -> list[Task]:
        """The tasks of the dataset. Raises `RunError` without one."""
        if self._tasks is None:
            raise RunError(f"{self.state.source.name}: has no tests: name the dataset with --dataset")
        return super().tasks()


def _rollouts(connection: duckdb.DuckDBPyConnection, files: list[Path], others: dict[str, str], *, parts: bool) -> str:
    more = dict.fromkeys((*PLACE, "length"), "BIGINT") if parts else {}
    return rows_sql(connection, "rollouts", files, parts=parts, others=others, more=more)


def _tasks_of_rollouts(files: list[Path]) -> str:
    """The tasks that the rollouts name, each with the prompt of its first row, and without test cases."""
    if not files:
        return no_rows("tasks")
    own = {
        "task_id": "task_id", "mode": "'answer'", "prompt": f"prompt_of({', '.join(f'p.{n}' for n in PLACE)})",
        "tests_total": "0", "task": "json_object('task_id', task_id, 'mode', 'answer')",
    }  # fmt: skip
    names = ", ".join(columns_sql("tasks", lambda name: own.get(name, "NULL")))
    place = ", ".join(f'{name} := "{name}"' for name in PLACE)
    return f"""SELECT {names} FROM (
        SELECT task_id, arg_min(struct_pack({place}), "row") AS p
        FROM read_parquet([{", ".join(map(quoted, files))}]) GROUP BY task_id)"""  # noqa: S608


@dataclass(frozen=True)
class Sample:
    """A rollout, and the prompt if its row has it."""

    rollout: Rollout
    prompt: str

    @cached_property
    def extraction(self) -> Extraction:
        """The program in the completion. A plain text without a fence is not taken for one."""
        rollout = self.rollout
        task = Task(task_id=rollout.task_id, mode=Mode.ANSWER, prompt=self.prompt)
        return extract(rollout.completion, task=task, kind=rollout.kind)


class Texts:
    """The texts of an indexed source, read by their place in its files. Any thread may ask."""

    def __init__(self, state: State) -> None:
        self._readers = [state.reader(number) for number in range(len(state.files))]
        self._paths = [state.data_path(number) for number in range(len(state.files))]
        self._rows: dict[tuple[int, int], list[Sample]] = {}
        self._bytes = 0
        self._lock = threading.Lock()

    def sample(self, file: int, at: int, size: int, nth: int) -> Sample:
        """The rollout at a place, with its prompt. Raises `RunError` if the file has changed."""
        row = self._rows.get((file, at))
        if row is None:
            row = self._read(file, at, size)
            with self._lock:
                if self._bytes > _KEPT_BYTES:
                    self._rows, self._bytes = {}, 0
                self._rows[file, at] = row
                self._bytes += size
        if nth >= len(row):
            raise RunError(f"{self._paths[file]}: has changed since it was opened: load the page again")
        return row[nth]

    def _read(self, file: int, at: int, size: int) -> list[Sample]:
        path = self._paths[file]
        try:
            with path.open("rb", buffering=0) as opened:
                data = os.pread(opened.fileno(), size, at)
            return [Sample(*each) for each in self._readers[file].samples(data)[0]]
        except (OSError, FormatError, msgspec.DecodeError) as error:
            raise RunError(f"{path}: has changed since it was opened ({error}): load the page again") from None

    def offer(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Add the functions `completion_of`, `metadata_of`, `code_of`, `prompt_of` and so on, over `PLACE`."""
        for name, (kind, get) in _FUNCTIONS.items():
            add_function(connection, name, partial(self._text, get), kind)

    def _text(self, get: Callable[[Sample], Any], *place: int) -> Any:
        return get(self.sample(*place))


_FUNCTIONS: Final[dict[str, tuple[str, Callable[[Sample], Any]]]] = {
    "completion_of": ("VARCHAR", lambda sample: safe_text(sample.rollout.completion)),
    "metadata_of": ("VARCHAR", lambda sample: metadata_json(sample.rollout)),
    "prompt_of": ("VARCHAR", lambda sample: safe_text(sample.prompt)),
    "code_of": ("VARCHAR", lambda sample: safe_text(sample.extraction.code) if sample.extraction.code else None),
    "kind_of": ("VARCHAR", lambda sample: sample.extraction.kind.value),
    "line_offset_of": ("INTEGER", lambda sample: sample.extraction.line_offset),
    "extracted_from_of": ("VARCHAR", lambda sample: sample.extraction.extracted_from),
}
_TEXTS: Final = {name.removesuffix("_of"): f"{name}({_AT})" for name in _FUNCTIONS if name != "prompt_of"}
"""The columns of `rollouts` that are read from the source's file."""
