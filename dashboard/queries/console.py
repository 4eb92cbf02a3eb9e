"""The SQL page's statements: typed by visitors or offered as examples, and the tables they read."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from dashboard.workspace import OpenRun
from evaluator.runs.bounded_query import Bounds, Form, query
from evaluator.runs.files import QueryError
from evaluator.runs.schema import SQL_TYPES, TABLES

SHOWN = Bounds()
"""The limits of what a page shows."""
DOWNLOADED = Bounds(rows=1_000_000, result_mb=128)
"""Those of a file."""
_LONGEST = 20_000
"""Characters of a statement."""


class Example(NamedTuple):
    label: str
    sql: str


EXAMPLES = (
    Example(
        "Pass rate by model and step",
        """SELECT model, step, count(*) AS rollouts, round(avg((verdict = 'passed')::INT), 4) AS pass_rate
FROM rollouts
WHERE verdict NOT IN ('unknown', 'sandbox_error')
GROUP BY model, step
ORDER BY model, step""",
    ),
    Example(
        "Slowest tasks",
        """SELECT task_id, count(*) AS rollouts,
       round(median(wall_s), 3) AS median_wall_s, round(max(wall_s), 3) AS max_wall_s
FROM rollouts
GROUP BY task_id
ORDER BY median_wall_s DESC
LIMIT 100""",
    ),
    Example(
        "Time-outs",
        """SELECT task_id, sample_id, test_index, round(wall_s, 2) AS wall_s, error_line, error_message
FROM cases
WHERE verdict = 'time_limit'
ORDER BY task_id, sample_id, test_index""",
    ),
    Example(
        "Test cases nobody passes",
        """SELECT task_id, test_index, count(*) AS rollouts, mode(verdict) AS usual_verdict,
       any_value(expected) AS expected, mode(actual) AS usual_answer
FROM cases
WHERE verdict <> 'not_run'
GROUP BY task_id, test_index
HAVING count(*) FILTER (verdict = 'passed') = 0
ORDER BY rollouts DESC, task_id, test_index""",
    ),
    Example(
        "Rewards by error",
        """SELECT coalesce(error_type, verdict) AS error, count(*) AS rollouts, round(avg(reward), 4) AS mean_reward,
       min(reward) AS lowest, max(reward) AS highest
FROM rollouts
GROUP BY error
ORDER BY rollouts DESC""",
    ),
)


def tables() -> dict[str, list[tuple[str, str]]]:
    """The columns of each table, as (name, type)."""
    return {table: [(column.name, SQL_TYPES[column.type]) for column in columns] for table, columns in TABLES.items()}


def rows(run: OpenRun, sql: str, on_wait: Callable[[float], object]) -> tuple[pa.Table, bool]:
    """The rows of a statement, and whether there are more. Raises `QueryError`; `on_wait`: see `query`."""
    _require_short(sql)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.arrow"
        written = query(run.run, sql, file, bounds=SHOWN, on_wait=on_wait)
        with file.open("rb") as stream:
            return pa.ipc.open_stream(stream).read_all(), written.more


def download(run: OpenRun, sql: str, form: Form) -> bytes:
    """The rows of a statement as a file. Raises `QueryError`."""
    _require_short(sql)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows"
        query(run.run, sql, file, form=form, bounds=DOWNLOADED)
        return file.read_bytes()


def _require_short(sql: str) -> None:
    if len(sql) > _LONGEST:
        raise QueryError(f"a statement may have {_LONGEST:,} characters, this one has {len(sql):,}")
