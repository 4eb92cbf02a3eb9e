"""A run directory for readers: the manifest, and SQL over what has been graded.

`Run.connect()` returns a DuckDB connection with the views `rollouts`, `cases` and `tasks` over the parts that were
complete at that moment. It can open only those files, and its settings can't be changed. SQL typed by a user goes
through `select` (one SELECT statement) or `rows_where` (one condition).
"""

from __future__ import annotations

import atexit
import re
import secrets
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final
from weakref import WeakSet

import msgspec

from evaluator.extras import needs
from evaluator.model import Task
from evaluator.runs.files import TASKS, QueryError, RunError, RunLock, is_run, part_ordinals, part_path, read_manifest
from evaluator.runs.schema import BadLine, Manifest, columns_sql, sample_key

with needs("runs", "a run needs pyarrow and duckdb"):
    import duckdb
    import pyarrow as pa
    from duckdb.func import ARROW, SPECIAL

__all__ = [
    "BadLine", "Manifest", "QueryError", "Run", "RunError", "RunLock",
    "is_run", "one_line", "rows_where", "sample_key", "select",
]  # fmt: skip

_ARROW_TYPES: Final = {"VARCHAR": pa.string(), "INTEGER": pa.int32()}
"""Of what functions of ours return."""
_AT_ONCE: Final = 10_000
_GROUP: Final = re.compile(r'(?<!")\bgroup\b(?!\s+by\b)', re.IGNORECASE)


class Run:
    """A run to read, whether finished, stopped, killed or still growing."""

    length_sql: ClassVar[str] = "length(completion)"
    """The length of a rollout's completion in characters, over the view `part_rollouts`."""
    bytes_sql: ClassVar[str | None] = None
    """About the bytes of a rollout's texts, over the view `rollouts` with `parts`; None: they have to be counted."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest

    @classmethod
    def open(cls, path: Path | str) -> Run:
        """The run in a directory. Raises `RunError` if there is none."""
        run = Path(path)
        return cls(run, read_manifest(run))

    @property
    def name(self) -> str:
        """The directory's name."""
        return self.path.resolve().name

    @property
    def parts(self) -> list[int]:
        """Ordinals of the complete parts; the list grows while the run is being graded."""
        return part_ordinals(self.path, "rollouts")

    def connect(
        self,
        *,
        memory_mb: int = 1_000,
        threads: int = 2,
        spills: bool = True,
        parts: bool = False,
        database: Path | None = None,
        writes: bool = False,
    ) -> duckdb.DuckDBPyConnection:
        """A connection to an in-memory database with the views, as of now; connect again to see new parts.

        It takes 1 GB and two threads at most. Close it when done. For another thread, use its `cursor()`. `spills`:
        whether a sort larger than the memory goes to a temporary file. `parts`: whether `rollouts` and `cases` have a
        last column `part_file`, the path of the row's file: with it in a condition, DuckDB opens no other file.
        `database`: a database file that is attached as `kept`, read-only unless `writes`.
        """
        connection = duckdb.connect(
            ":memory:",
            config={"threads": threads, "memory_limit": f"{memory_mb}MB", "python_enable_replacements": False},
        )
        files = self._make_views(connection, parts=parts)
        if database is not None:
            connection.execute(f"ATTACH {quoted(database)} AS kept {'' if writes else '(READ_ONLY)'}")
        _lock_down(connection, files, spills=spills)
        return connection

    def _make_views(self, connection: duckdb.DuckDBPyConnection, *, parts: bool) -> list[Path]:
        """Make the three views, and return the files that they read."""
        self.manifest = read_manifest(self.path)
        ordinals = self.parts
        files = self._files(ordinals)
        for table, rows in self._selects(connection, files, ordinals, parts=parts).items():
            connection.execute(f"CREATE VIEW {table} AS {rows}")
        return [path for paths in files.values() for path in paths]

    def view_parts(self, connection: duckdb.DuckDBPyConnection, ordinals: Sequence[int], among: Sequence[int]) -> None:
        """Make the views `part_rollouts` and `part_cases` of only these parts, as they are in a run of those `among`.

        DuckDB plans a query over a few files sooner than one over all that leaves most of them out.
        """
        files = self._files(ordinals)
        del files["tasks"]  # it may have come since the connection was made, which could not open it
        selects = self._selects(connection, files, among, parts=True)
        for table in ("rollouts", "cases"):
            connection.execute(f"CREATE OR REPLACE TEMP VIEW part_{table} AS {selects[table]}")

    def tasks(self) -> list[Task]:
        """The tasks, as the grader had them. Raises `RunError` for a run of a version that did not keep them."""
        with self.connect() as connection:
            texts = [text for (text,) in connection.sql("SELECT task FROM tasks").fetchall()]
        if None in texts:
            raise RunError(f"{self.path}: written by a version that did not keep tasks: name their file with --dataset")
        return [msgspec.json.decode(text, type=Task) for text in texts]

    def counts(self) -> dict[str, int]:
        """Its rollouts by verdict, and `rollouts` for all, as now."""
        with self.connect() as connection:
            rows = connection.sql("SELECT verdict, count(*) FROM rollouts GROUP BY verdict ORDER BY verdict").fetchall()
        return {"rollouts": sum(count for _, count in rows), **dict(rows)}

    def samples_where(self, condition: str | None) -> set[int]:
        """The keys (`schema.sample_key`) of the samples that meet a condition, 8 bytes each. Raises `QueryError`."""
        found: set[int] = set()
        with self.connect() as connection:
            chosen = rows_where(connection, "rollouts", condition).project("task_id, sample_id")
            for batch in chosen.to_arrow_reader(_AT_ONCE):
                found.update(map(sample_key, *(column.to_pylist() for column in batch.columns)))
        return found

    def _files(self, ordinals: Sequence[int]) -> dict[str, list[Path]]:
        """The files of each table. Cases without their rollouts are left over from a killed process."""
        run = self.path.resolve()
        graded = ordinals if any((run / "cases").glob("part-*.parquet")) else ()
        return {
            "rollouts": [part_path(run, "rollouts", ordinal) for ordinal in ordinals],
            "cases": [part_path(run, "cases", ordinal) for ordinal in graded],
            "tasks": [run / TASKS] if (run / TASKS).is_file() else [],
        }

    def _selects(
        self, connection: duckdb.DuckDBPyConnection, files: dict[str, list[Path]], among: Sequence[int], *, parts: bool
    ) -> dict[str, str]:
        """The SQL of each table's rows."""
        first = self.manifest.regraded_from
        # Parts from the first regraded one on can supersede a grade, no others.
        regraded = [] if first is None else [ordinal for ordinal in among if ordinal >= first]
        newer = self._files(regraded)["rollouts"]
        return {
            table: rows_sql(connection, table, paths, newer, parts=parts and table != "tasks")
            for table, paths in files.items()
        }


def select(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[object] = ()
) -> duckdb.DuckDBPyRelation:
    """The rows of one SELECT statement typed by a user. Raises `QueryError` for anything else.

    The connection's settings protect other files; this protects the run's own.
    """
    try:
        statements = duckdb.extract_statements(sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise QueryError("use one SELECT statement: the run can be read, not changed")
        return connection.sql(sql, params=list(parameters) or None)
    except duckdb.Error as error:
        raise QueryError(one_line(error) + _hint(error, sql)) from None


def rows_where(connection: duckdb.DuckDBPyConnection, table: str, condition: str | None) -> duckdb.DuckDBPyRelation:
    """The rows of a view that meet a condition typed by a user; all rows without one.

    Raises `QueryError` if the condition is not one boolean expression over the columns.
    """
    relation = connection.view(table)
    if condition is None or not condition.strip():
        return relation
    try:
        chosen = relation.filter(condition)
        chosen.limit(0).fetchall()  # reports a wrong column now, not when the rows are read
        [kind] = relation.select(duckdb.SQLExpression(condition)).types
    except duckdb.Error as error:
        raise QueryError(one_line(error) + _hint(error, condition)) from None
    if str(kind) != "BOOLEAN":
        raise QueryError(f"the condition must be true or false, not a {kind}: compare it with something")
    return chosen


def _hint(error: duckdb.Error, sql: str) -> str:
    """What to do where the column `group` was taken for SQL's word."""
    is_reserved = isinstance(error, duckdb.ParserException) and _GROUP.search(sql)
    return ' (the column group needs quotes: "group")' if is_reserved else ""


def one_line(error: duckdb.Error) -> str:
    """DuckDB's message, without its excerpt of the statement."""
    lines = [line.strip() for line in str(error).splitlines()]
    candidates = [line for line in lines if line.startswith(("Candidate bindings", "Did you mean"))]
    return " ".join([lines[0], *candidates])


def rows_sql(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    paths: Sequence[Path],
    newer: Sequence[Path] = (),
    *,
    parts: bool = False,
    others: Mapping[str, str] | None = None,
    more: Mapping[str, str] | None = None,
) -> str:
    """The SQL of a table's rows in these files, but those that files of `newer` supersede; null for missing columns.

    `parts`: with `part_file`. `others`: the SQL of columns that the files don't have. `more`: further columns that they
    have, with their types.
    """
    if not paths:
        return no_rows(table, parts=parts, more=more)
    # Of the first part and of the last: an older version wrote fewer and narrower columns, and a newer one may have
    # resumed its run.
    ends = [connection.sql(f"FROM read_parquet([{quoted(path)}])") for path in [*paths[:1], *paths[1:][-1:]]]
    stored = [dict(zip(end.columns, map(str, end.types), strict=True)) for end in ends]
    known = {name for columns in stored for name in columns}
    names = columns_sql(table, lambda name: f'"{name}"' if name in known else (others or {}).get(name, "NULL"))
    names += [f'"{name}"' for name in more or {}] + ["_part AS part_file"] * parts
    # To match the parts' columns by name, with the wider type, DuckDB opens every part for each query.
    by_name = any(each != stored[0] for each in stored)
    source = f"read_parquet([{', '.join(map(quoted, paths))}], filename = '_part', union_by_name = {by_name})"
    if not newer or table == "tasks":
        return f"SELECT {', '.join(names)} FROM {source}"  # noqa: S608
    return f"""
        SELECT {", ".join(names)} FROM {source} AS older WHERE NOT EXISTS (
            SELECT 1 FROM read_parquet([{", ".join(map(quoted, newer))}], filename = '_part') AS newer
            WHERE newer.task_id = older.task_id AND newer.sample_id = older.sample_id
              AND {_ordinal("newer")} > {_ordinal("older")})"""  # noqa: S608


def no_rows(table: str, *, parts: bool = False, more: Mapping[str, str] | None = None) -> str:
    """The SQL of a view with a table's columns and nothing in them."""
    names = columns_sql(table, lambda _: "NULL")
    names += [f'NULL::{kind} AS "{name}"' for name, kind in (more or {}).items()]
    names += ["NULL::VARCHAR AS part_file"] * parts
    return f"SELECT {', '.join(names)} WHERE false"


def _ordinal(alias: str) -> str:
    return f"regexp_extract({alias}._part, 'part-(\\d+)', 1)::BIGINT"


def quoted(path: Path) -> str:
    """A path as SQL's text."""
    return "'" + str(path).replace("'", "''") + "'"


_with_functions: Final[WeakSet[duckdb.DuckDBPyConnection]] = WeakSet()


def add_function(
    connection: duckdb.DuckDBPyConnection, name: str, function: Callable[..., object], returns: str = "VARCHAR"
) -> None:
    """Make a function of ours known by this name. It is called for each row, and may give None."""

    def of_columns(*columns: pa.Array) -> pa.Array:
        rows = zip(*(column.to_pylist() for column in columns), strict=True)
        return pa.array([function(*row) for row in rows], _ARROW_TYPES[returns])

    _with_functions.add(connection)
    connection.create_function(name, of_columns, None, returns, type=ARROW, null_handling=SPECIAL)


@atexit.register
def _close_all() -> None:
    """DuckDB's binding prints a page of warnings if the interpreter ends while one of them has a function of ours."""
    for connection in list(_with_functions):
        connection.close()


def _lock_down(connection: duckdb.DuckDBPyConnection, paths: list[Path], *, spills: bool) -> None:
    """From now on the connection can open these files alone, and its settings can't be changed."""
    allowed = ", ".join(map(quoted, paths))
    # For sorts larger than memory: DuckDB creates the directory when it needs it and removes it again.
    spill = Path(tempfile.gettempdir()) / f"rollscope-{secrets.token_hex(8)}"
    connection.execute(f"SET temp_directory = {quoted(spill) if spills else repr('')}")
    connection.execute(f"SET allowed_paths = [{allowed}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
