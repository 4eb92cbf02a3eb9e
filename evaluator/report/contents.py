"""What a report says of a run: its figures, the first failures, the notes. All lists are cut, and say so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

import msgspec

from evaluator.extras import needs
from evaluator.model import TestCase, Verdict
from evaluator.report.verdict_colours import FAILED
from evaluator.runs.export import chosen_rows
from evaluator.runs.expressions import KIND_COLUMN, MODEL, add_kind_column, pass_at_1
from evaluator.runs.metrics import Interval
from evaluator.runs.notes import add_note_columns
from evaluator.runs.reading import Manifest, QueryError, Run, one_line

with needs("runs", "a run needs pyarrow and duckdb"):
    import duckdb

T_co = TypeVar("T_co", covariant=True)

_MEMORY_MB: Final = 200
_MODELS: Final = 50
_CLUSTERS: Final = 100
_FLAGS: Final = 50
TASKS: Final = 200
_SAMPLES: Final = 64
"""Of a task, in the grid; several models share them."""
_FAILURES: Final = 50
_NOTES: Final = 500
_LONGEST: Final = 1_200
"""Characters of an input or output; `_LINES` is the most lines."""
_LINES: Final = 16
_AROUND: Final = 3
"""Lines of code before and after the failing one."""

_COLUMNS: Final = (
    '"row"', "task_id", "sample_id", "model", "reward", "verdict", "verified", "disagreement", "error_type",
    "error_message", "error_line", "first_failing_test", "flags", "tags", "note", "task_judgement", "task_note",
    KIND_COLUMN,
)  # fmt: skip


class Part(NamedTuple, Generic[T_co]):
    """The first rows of a list of `total` rows."""

    rows: Sequence[T_co]
    total: int


class Model(NamedTuple):
    name: str
    rollouts: int
    tasks: int
    mean_reward: float | None
    passed: int
    pass_at_1: Interval


class Cluster(NamedTuple):
    name: str
    verdict: str
    rollouts: int
    tasks: int


class Flag(NamedTuple):
    word: str
    rollouts: int
    tasks: int


class GridRow(NamedTuple):
    """The verdicts of a task's first samples by model, and how many samples it has."""

    task_id: str
    verdicts: dict[str, list[str]]
    samples: int
    passed: int


class Note(NamedTuple):
    """A note on a rollout; on a task if `sample_id` is None, and on one of its test cases if `test` is not."""

    task_id: str
    sample_id: str | None
    test: int | None
    tags: list[str]
    note: str


class Failure(msgspec.Struct):
    """A rollout that did not pass, with its first failing test case. Texts are excerpts."""

    task_id: str
    sample_id: str
    model: str | None
    verdict: str
    error_type: str | None
    error_message: str | None
    error_line: int | None
    test: int | None
    code: list[tuple[int, str]] = []
    """(line number, line) round the failing line, else the start of the code."""
    input: str | None = None
    expected: str | None = None
    actual: str | None = None
    difference: str | None = None


class Contents(NamedTuple):
    """All that the page shows."""

    name: str
    manifest: Manifest
    chosen_by: str
    rates: bool
    """Whether pass@1 means something for these rollouts."""
    total: int
    """Rollouts of the run; `rollouts` of them are in the report."""
    rollouts: int
    tasks: int
    mean_reward: float | None
    unverified: int
    pass_at_1: Interval
    verdicts: dict[str, int]
    models: Part[Model]
    clusters: Part[Cluster]
    flags: Part[Flag]
    grid: Part[GridRow]
    failures: Part[Failure]
    notes: Part[Note]


def gather(run: Run, *, where: str | None, rows: Sequence[int] | None, chosen_by: str, rates: bool) -> Contents:
    """Read the contents. Raises `QueryError` for a bad condition, `ExportError` if the notes can't be read."""
    try:
        with run.connect(memory_mb=_MEMORY_MB) as connection:
            return _ChosenRollouts(connection, run, where, rows).contents(chosen_by, rates=rates)
    except duckdb.Error as error:  # a condition may fail on a row, long after it was accepted
        raise QueryError(one_line(error)) from None


class _ChosenRollouts:
    """The chosen rollouts as the table `chosen_rollouts`: the short columns, in memory."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, run: Run, where: str | None, rows: Sequence[int] | None
    ) -> None:
        self.connection = connection
        self.run = run
        add_kind_column(connection)
        add_note_columns(connection, run.path)
        chosen_rows(connection, "rollout", where, rows).project(", ".join(_COLUMNS)).create("chosen_rollouts")

    def rows(self, sql: str, *params: object) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql, list(params)).fetchall()

    def contents(self, chosen_by: str, *, rates: bool) -> Contents:
        [(rollouts, tasks, reward, unverified)] = self.rows(
            "SELECT count(*), count(DISTINCT task_id), avg(reward), count(*) FILTER (NOT verified) FROM chosen_rollouts"
        )
        counts = dict(self.rows("SELECT verdict, count(*) FROM chosen_rollouts GROUP BY verdict"))
        return Contents(
            name=self.run.name,
            manifest=self.run.manifest,
            chosen_by=chosen_by,
            rates=rates,
            total=self.rows("SELECT count(*) FROM graded_rollouts")[0][0],
            rollouts=rollouts,
            tasks=tasks,
            mean_reward=reward,
            unverified=unverified,
            pass_at_1=pass_at_1(self.connection, "chosen_rollouts"),
            verdicts={v.value: counts[v.value] for v in Verdict if v.value in counts},
            models=self._models(),
            clusters=_part(self.rows(_CLUSTER_SQL), Cluster),
            flags=_part(self.rows(_FLAG_SQL), Flag),
            grid=self._grid(),
            failures=self._failures(),
            notes=_part(self.rows(_NOTE_SQL), Note),
        )

    def _models(self) -> Part[Model]:
        rows = self.rows(f"""
            SELECT {MODEL} AS name, count(*), count(DISTINCT task_id), avg(reward),
                   count(*) FILTER (verdict = 'passed'), count(*) OVER ()
            FROM chosen_rollouts GROUP BY name ORDER BY count(*) DESC, name LIMIT {_MODELS}""")  # noqa: S608
        return _part(
            [(*row[:-1], pass_at_1(self.connection, "chosen_rollouts", row[0]), row[-1]) for row in rows], Model
        )

    def _grid(self) -> Part[GridRow]:
        rows = self.rows(_GRID_SQL)
        [(models,)] = self.rows(f"SELECT count(DISTINCT {MODEL}) FROM chosen_rollouts")  # noqa: S608
        shown = max(1, _SAMPLES // max(1, models))
        cut = [(task, {name: all_[:shown] for name, all_ in by_model.items()}, *rest) for task, by_model, *rest in rows]
        return _part(cut, GridRow)

    def _failures(self) -> Part[Failure]:
        found = self.rows(_FAILURE_SQL, [v.value for v in FAILED])
        total = found[0][-1] if found else 0
        failures = {row[0]: Failure(*row[1:-1]) for row in found}
        codes = self.rows('SELECT "row", code FROM graded_rollouts WHERE list_contains(?, "row")', list(failures))
        for row, code in codes:
            failures[row].code = _excerpt_of_code(code or "", failures[row].error_line)
        self._add_cases(list(failures.values()))
        return Part(list(failures.values()), total)

    def _add_cases(self, failures: list[Failure]) -> None:
        """The first failing test case of each failure, with the input that its task has for it."""
        failed = {(f.task_id, f.sample_id, f.test): f for f in failures if f.test is not None}
        tasks = list({f.task_id for f in failures})
        samples = list({f.sample_id for f in failures})
        rows = self.rows(
            """SELECT task_id, sample_id, test_index, expected, actual, difference FROM cases
               WHERE list_contains(?, task_id) AND list_contains(?, sample_id)""",
            tasks,
            samples,
        )
        for task, sample, test, expected, actual, difference in rows:
            if failure := failed.get((task, sample, test)):
                failure.expected, failure.actual, failure.difference = _cut(expected), _cut(actual), _cut(difference)
        inputs = self._inputs(tasks)
        for failure in failures:
            failure.input = _cut(inputs.get((failure.task_id, failure.test)))

    def _inputs(self, tasks: list[str]) -> dict[tuple[str, int | None], str]:
        rows = self.rows("SELECT task_id, cases FROM tasks WHERE list_contains(?, task_id)", tasks)
        return {(task, case.index): case.input for task, text in rows for case in _cases(text)}


def _part(rows: list[tuple[Any, ...]], kind: Callable[..., T_co]) -> Part[T_co]:
    """From the rows of a query whose last column is the number of all rows."""
    return Part([kind(*row[:-1]) for row in rows], rows[0][-1] if rows else 0)


def _cases(text: str | None) -> Iterator[TestCase]:
    try:
        yield from msgspec.json.decode(text, type=list[TestCase]) if text else ()
    except msgspec.DecodeError:  # not what this version writes
        return


def _cut(text: str | None) -> str | None:
    if text is None:
        return None
    start = "\n".join(text[:_LONGEST].split("\n")[:_LINES])
    return text if start == text else f"{start}\n… ({len(text):,} characters)"


def _excerpt_of_code(code: str, failing: int | None) -> list[tuple[int, str]]:
    lines = code.splitlines()
    first = max(1, failing - _AROUND) if failing is not None and failing <= len(lines) else 1
    last = first + (2 * _AROUND if first > 1 or failing else 4 * _AROUND)
    return [(number, lines[number - 1][:200]) for number in range(first, min(last, len(lines)) + 1)]


_CLUSTER_SQL: Final = f"""
    SELECT {KIND_COLUMN} AS err, mode(verdict), count(*), count(DISTINCT task_id), count(*) OVER () FROM chosen_rollouts
    WHERE err IS NOT NULL GROUP BY err ORDER BY count(*) DESC, err LIMIT {_CLUSTERS}"""  # noqa: S608
_FLAG_SQL: Final = f"""
    SELECT flag, count(*), count(DISTINCT task_id), count(*) OVER ()
    FROM (SELECT unnest(list_distinct(flags)) AS flag, task_id FROM chosen_rollouts)
    GROUP BY flag ORDER BY count(*) DESC, flag LIMIT {_FLAGS}"""  # noqa: S608
_GRID_SQL: Final = f"""
    SELECT task_id, map_from_entries(list((model, verdicts))), sum(samples), sum(passed),
           count(*) OVER ()
    FROM (SELECT task_id, {MODEL} AS model, list(verdict ORDER BY "row")[:{_SAMPLES}] AS verdicts, count(*) AS samples,
                 count(*) FILTER (verdict = 'passed') AS passed, min("row") AS first
          FROM chosen_rollouts GROUP BY ALL)
    GROUP BY task_id ORDER BY min(first) LIMIT {TASKS}"""  # noqa: S608
_FAILURE_SQL: Final = f"""
    SELECT "row", task_id, sample_id, model, verdict, error_type, left(error_message, {_LONGEST}), error_line,
           first_failing_test, count(*) OVER ()
    FROM (SELECT *, row_number() OVER (PARTITION BY model ORDER BY "row") AS turn,
                 min("row") OVER (PARTITION BY model) AS first
          FROM chosen_rollouts WHERE list_contains(?, verdict))
    ORDER BY turn, first LIMIT {_FAILURES}"""  # noqa: S608
_NOTE_SQL: Final = f"""
    SELECT *, count(*) OVER () FROM (
        SELECT DISTINCT task_id, NULL AS sample_id, NULL AS test, [task_judgement] AS tags,
               coalesce(task_note, '') AS note
        FROM chosen_rollouts WHERE task_judgement IS NOT NULL OR task_note IS NOT NULL
        UNION ALL
        SELECT task_id, NULL, test, [judgement], coalesce(note, '')
        FROM test_notes WHERE task_id IN (SELECT task_id FROM chosen_rollouts)
        UNION ALL
        SELECT task_id, sample_id, NULL, coalesce(tags, []), coalesce(note, '')
        FROM chosen_rollouts WHERE len(tags) > 0 OR note IS NOT NULL)
    ORDER BY task_id, sample_id NULLS FIRST, test NULLS FIRST LIMIT {_NOTES}"""  # noqa: S608
