"""An indexed source for readers: what `Run` is for a graded one, with the grades that its rollouts came with.

`connect()` gives the views `rollouts`, `cases` and `tasks` of a run. Their small columns are read from the index; a
text is read from the source's file, and only for the rows whose text is needed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Final

import duckdb

from evaluator.formats.reading.problems import Problem
from evaluator.index.scanning import COLUMNS
from evaluator.index.state import RolloutSource, State, folder_of, kept_problems, read_state
from evaluator.index.tasks import CasesOf, Dataset, IndexedTasks
from evaluator.index.texts import PLACE, Texts
from evaluator.model import Task
from evaluator.recorded import UNVERIFIED
from evaluator.runs.files import RunError, part_path
from evaluator.runs.reading import Run, no_rows, quoted
from evaluator.runs.schema import MAX_PROBLEMS, Manifest, columns_sql

_OWN: Final = set(COLUMNS)
_TEXTS: Final = {"completion", "code", "kind", "line_offset", "extracted_from", "metadata"}
"""Read from the source's file by the functions `completion_of` and so on, of `Texts`."""
_CONSTANT: Final = {
    "verified": "false", "unverified_reason": f"'{UNVERIFIED}'", "grader": "'stored'",
    "tests_passed": "0", "tests_total": "0",
}  # fmt: skip
_AT: Final = ", ".join(f'"{name}"' for name in PLACE)


Opening = tuple[RolloutSource, Dataset | None]
"""What another process needs to open the same source without reading it."""


class IndexedFile(Run):
    """A source's rollouts, as of the last `update`."""

    length_sql: ClassVar[str] = '"length"'
    bytes_sql: ClassVar[str | None] = '2 * "size"'  # a completion, and again its code

    def __init__(self, folder: Path, state: State, tasks: IndexedTasks | None) -> None:
        super().__init__(folder, _manifest(folder, state, tasks))
        self.state = state
        self.texts = Texts(folder, state)
        self._tasks = tasks

    @classmethod
    def of(cls, source: RolloutSource, dataset: Dataset | None = None, cases_of: CasesOf | None = None) -> IndexedFile:
        """The index of a source as it is now, with the tasks of a dataset; see `evaluator.index.update`.

        Raises `RunError` where there is none yet, `FormatError` for a dataset that can't be read.
        """
        folder = folder_of(source)
        state = read_state(folder)
        if state is None:
            raise RunError(f"{source.name}: is not read yet")
        tasks = IndexedTasks.open(dataset, cases_of or (lambda task: task.cases)) if dataset is not None else None
        return cls(folder, state, tasks)

    @property
    def opening(self) -> Opening:
        """For `of` in another process."""
        return self.state.source, self._tasks.dataset if self._tasks is not None else None

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
        connection.execute(f"CREATE VIEW rollouts AS {_rollouts(files, texts=True, parts=parts)}")
        connection.execute(f"CREATE VIEW cases AS {no_rows('cases', parts=parts)}")
        if self._tasks is None:
            connection.execute(f"CREATE VIEW tasks AS {_tasks_of_rollouts(files)}")
            return files
        connection.execute(f"CREATE VIEW tasks AS {self._tasks.offer(connection)}")
        return [*files, self._tasks.table]

    def view_parts(self, connection: duckdb.DuckDBPyConnection, ordinals: Sequence[int], among: Sequence[int]) -> None:
        """As `Run.view_parts`, with null for all texts, and `length`."""
        del among
        rows = _rollouts(self._paths(ordinals), texts=False, parts=True)
        connection.execute(f"CREATE OR REPLACE TEMP VIEW part_rollouts AS {rows}")
        connection.execute(f"CREATE OR REPLACE TEMP VIEW part_cases AS {no_rows('cases', parts=True)}")

    def _paths(self, ordinals: Sequence[int]) -> list[Path]:
        return [part_path(self.path.resolve(), "rollouts", ordinal) for ordinal in ordinals]

    def problems(self) -> Iterator[Problem]:
        """The rows that could not be used: the first 10,000."""
        return kept_problems(self.path, self.state)

    def tasks(self) -> list[Task]:
        """The tasks of the dataset. Raises `RunError` without one."""
        if self._tasks is None:
            raise RunError(f"{self.state.source.name}: has no tests: name the dataset with --dataset")
        return super().tasks()


def _rollouts(files: list[Path], *, texts: bool, parts: bool) -> str:
    names = columns_sql("rollouts", lambda name: _value(name, texts=texts))
    names += [_AT, '"length"', "_part AS part_file"] if parts else []
    return f"SELECT {', '.join(names)} FROM {_read(files)}"  # noqa: S608


def _value(name: str, *, texts: bool) -> str:
    if name in _OWN or name == "row":
        return f'"{name}"'
    return f"{name}_of({_AT})" if texts and name in _TEXTS else _CONSTANT.get(name, "NULL")


def _tasks_of_rollouts(files: list[Path]) -> str:
    """The tasks that the rollouts name, each with the prompt of its first row, and without test cases."""
    own = {
        "task_id": "task_id", "mode": "'answer'", "prompt": f"prompt_of({', '.join(f'p.{n}' for n in PLACE)})",
        "tests_total": "0", "task": "json_object('task_id', task_id, 'mode', 'answer')",
    }  # fmt: skip
    names = ", ".join(columns_sql("tasks", lambda name: own.get(name, "NULL")))
    place = ", ".join(f'{name} := "{name}"' for name in PLACE)
    return f"""SELECT {names} FROM (
        SELECT task_id, arg_min(struct_pack({place}), "row") AS p FROM {_read(files)} GROUP BY task_id)"""  # noqa: S608


def _read(files: list[Path]) -> str:
    if not files:
        columns = ", ".join(f'NULL AS "{name}"' for name in ("row", *COLUMNS))
        return f"(SELECT {columns}, NULL::VARCHAR AS _part WHERE false)"
    return f"read_parquet([{', '.join(map(quoted, files))}], filename = '_part')"


def _manifest(folder: Path, state: State, tasks: IndexedTasks | None) -> Manifest:
    manifest = Manifest(
        state="finished" if state.complete else "running",
        rollouts=state.source.name,
        dataset=tasks.dataset.path if tasks else "",
        counts={"rollouts": state.rows},
        folder=None,
    )
    for problem in itertools.islice(kept_problems(folder, state), MAX_PROBLEMS):
        manifest.add_problem(
            problem.path, problem.line, problem.message, problem.snippet, offset=problem.offset, reason=problem.reason
        )
    manifest.problems_total, manifest.problem_reasons = state.problems, state.reasons
    return manifest
