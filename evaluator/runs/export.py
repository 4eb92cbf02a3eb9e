"""Writes the rows of a run as CSV, JSON lines or Parquet, streamed, sorted by task and sample.

Equal grades give equal bytes: rows are sorted, and addresses in messages (`<A object at 0x7f...>`), which differ from
run to run, are written as `0x0`. A missing reward is an empty cell or null.
"""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final, Literal

import msgspec

from evaluator.extras import needs
from evaluator.runs.expressions import KIND_COLUMN, add_kind_column
from evaluator.runs.files import ExportError
from evaluator.runs.notes import CASE_NOTE_COLUMNS, NOTE_COLUMNS, add_note_columns
from evaluator.runs.reading import QueryError, Run, one_line, rows_where
from evaluator.runs.schema import column_names
from evaluator.user_files import replacing

with needs("runs", "a run needs pyarrow and duckdb"):
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq

Per = Literal["rollout", "case"]

ROLLOUT_DEFAULTS: Final = (
    "task_id", "sample_id", "sample_index", "group", "model", "step", "reward", "verdict", "verified",
    "unverified_reason", "tests_passed", "tests_total", "pass_rate", "error_type", "error_message", "error_line",
    "first_failing_test", "wall_s", "cpu_s", "memory_mb", "flags", "checker", "grader", "dataset_hash",
    "evaluator_version", "code",
)  # fmt: skip
CASE_DEFAULTS: Final = (
    "task_id", "sample_id", "test_index", "verdict", "expected", "actual", "difference", "wall_s", "cpu_s",
    "memory_mb",
)  # fmt: skip

_IF_ANY: Final = {"unverified_reason": ("given_reward", "recorded_verdict"), "grader": ("components",)}
"""By default there after these columns of rollouts, if any rollout has something in them."""
_PROMPT: Final = "prompt"
"""Of the task. Its inputs are no column: with those of contests, of many MB each, an export would not fit in memory."""

_TABLES: Final[dict[Per, str]] = {"rollout": "rollouts", "case": "cases"}
_DEFAULTS: Final[dict[Per, tuple[str, ...]]] = {"rollout": ROLLOUT_DEFAULTS, "case": CASE_DEFAULTS}
_NOTED: Final[dict[Per, tuple[str, ...]]] = {"rollout": NOTE_COLUMNS, "case": CASE_NOTE_COLUMNS}
_ORDER: Final[dict[Per, str]] = {"rollout": "task_id, sample_id", "case": "task_id, sample_id, test_index"}
_CHOSEN: Final[dict[Per, str]] = {
    "rollout": '"row" IN (SELECT "row" FROM chosen)',
    "case": """(task_id, sample_id) IN
        (SELECT (task_id, sample_id) FROM rollouts WHERE "row" IN (SELECT "row" FROM chosen))""",
}
_MESSAGES: Final = ("error_message", "unverified_reason", "difference")
_ADDRESS: Final = re.compile(r"(?<= at )0x[0-9a-fA-F]+")
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t", "\r")
_BATCH_ROWS: Final = 1_000
_RANGE_BYTES: Final = 32 << 20
"""Of rows that are sorted at once. A sort of all rows would hold all of their code."""
_ROW_BYTES: Final = 300
"""What a row takes besides its texts."""
_MEMORY_MB: Final = 200

BatchWriter = Callable[[Iterator[pa.RecordBatch], pa.Schema, IO[bytes]], int]


def export(
    run: Run,
    to: Path | str | IO[bytes],
    *,
    format: str | None = None,  # noqa: A002 - the word that readers expect
    per: Per = "rollout",
    where: str | None = None,
    rows: Sequence[int] | None = None,
    columns: Sequence[str] | None = None,
) -> int:
    """Write the rows of a run and return their number.

    `to`: a file whose extension (.csv, .jsonl, .parquet) is the format, or an open binary stream with `format` "csv",
    "jsonl" or "parquet". A file appears only once it is complete. `per`: one row per rollout or per test case.
    `where`: a DuckDB condition over the columns of that table. `rows`: only rollouts with these values of the column
    `row`, and their test cases. `columns`: which of `export_columns`, in this order; None for the default.
    Raises `ExportError` for an unknown extension, column or format, `QueryError` for a bad condition.
    """
    write = _writer(_format_of(to) if format is None else format)
    chosen = _checked_columns(columns, per)
    try:
        sized_by = run.bytes_sql if per == "rollout" else None
        with run.connect(memory_mb=_MEMORY_MB, parts=sized_by is not None) as connection:
            if not columns and per == "rollout":
                chosen = _with_those_present(connection)
            if per == "rollout" and (KIND_COLUMN in chosen or KIND_COLUMN in (where or "").lower()):
                add_kind_column(connection)
            if where is not None or not set(_NOTED[per]).isdisjoint(chosen):
                add_note_columns(connection, run.path)
            if _PROMPT in chosen or _PROMPT in (where or "").lower():
                _add_prompts(connection, _TABLES[per])
            relation = chosen_rows(connection, per, where, rows)
            schema = _projected(relation.limit(0), chosen).to_arrow_reader(_BATCH_ROWS).schema
            batches = (_without_addresses(batch) for batch in _sorted(relation, per, chosen, sized_by))
            if isinstance(to, Path | str):
                return write_file(Path(to), lambda file: write(batches, schema, file))
            return write(batches, schema, to)
    except duckdb.Error as error:  # a condition may fail on a row, long after it was accepted
        raise QueryError(one_line(error)) from None


def write_batches(batches: Iterator[pa.RecordBatch], schema: pa.Schema, file: IO[bytes], format_: str) -> int:
    """Write rows as "csv", "jsonl", "parquet" or an "arrow" stream, and return their number."""
    return _writer(format_)(batches, schema, file)


def _sorted(
    relation: duckdb.DuckDBPyRelation, per: Per, columns: Sequence[str], sized_by: str | None
) -> Iterator[pa.RecordBatch]:
    for within in _ranges(relation, columns, sized_by):
        yield from _projected(relation.filter(within).order(_ORDER[per]), columns).to_arrow_reader(_BATCH_ROWS)


def _ranges(
    relation: duckdb.DuckDBPyRelation, columns: Sequence[str], sized_by: str | None
) -> Iterator[duckdb.Expression]:
    """The conditions of ranges of tasks, or of samples of one task, in order, with about `_RANGE_BYTES` each."""
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    texts = [f'coalesce(strlen("{name}"), 0)' for name in columns if types[name] == "VARCHAR"]
    texts = texts if sized_by is None else [sized_by]
    size = f"sum({' + '.join([str(_ROW_BYTES), *texts])})::BIGINT"
    first, last, together = None, "", 0
    for task, bytes_ in relation.aggregate(f"task_id, {size}").order("task_id").fetchall():
        if first is not None and together + bytes_ > _RANGE_BYTES:
            yield _between("task_id", first, last)
            first, together = None, 0
        if bytes_ > _RANGE_BYTES:
            yield from _ranges_within(relation, task, size)
            continue
        first, last, together = task if first is None else first, task, together + bytes_
    if first is not None:
        yield _between("task_id", first, last)


def _ranges_within(relation: duckdb.DuckDBPyRelation, task: str, size: str) -> Iterator[duckdb.Expression]:
    """The ranges of samples of a large task."""
    of_task = _between("task_id", task, task)
    so_far = "sum(bytes) OVER (ORDER BY sample_id ROWS UNBOUNDED PRECEDING)"
    samples = relation.filter(of_task).aggregate(f"sample_id, {size} AS bytes")
    ranges = samples.project(f"sample_id, {so_far} // {_RANGE_BYTES} AS number")
    for _, first, last in ranges.aggregate("number, min(sample_id), max(sample_id)").order("number").fetchall():
        yield of_task & _between("sample_id", first, last)


def _between(column: str, first: str, last: str) -> duckdb.Expression:
    low, high = duckdb.ConstantExpression(first), duckdb.ConstantExpression(last)
    return duckdb.ColumnExpression(column).between(low, high)


def _projected(relation: duckdb.DuckDBPyRelation, columns: Sequence[str]) -> duckdb.DuckDBPyRelation:
    return relation.project(", ".join(f'"{name}"' for name in columns))


def chosen_rows(
    connection: duckdb.DuckDBPyConnection, per: Per, where: str | None, rows: Sequence[int] | None
) -> duckdb.DuckDBPyRelation:
    """The rows that an export with these arguments has, in any order. Raises `QueryError` for a bad condition."""
    relation = rows_where(connection, _TABLES[per], where)
    if rows is None:
        return relation
    connection.register("chosen", pa.table({"row": pa.array(rows, pa.int64())}))
    return relation.filter(_CHOSEN[per])


def export_columns(per: Per) -> list[str]:
    """The columns that an export can have: those of the run, `KIND_COLUMN` of rollouts, people's notes, `_PROMPT`."""
    return [
        *column_names(_TABLES[per]), *([KIND_COLUMN] if per == "rollout" else ()), *_NOTED[per], _PROMPT,
    ]  # fmt: skip


def _format_of(to: Path | str | IO[bytes]) -> str:
    if not isinstance(to, Path | str):
        raise ExportError("a stream has no file extension: pass the format")
    ending = Path(to).suffix.lower().removeprefix(".")
    if ending not in _WRITERS:
        raise ExportError(f"{to}: unknown file extension: use one of {', '.join(f'.{name}' for name in _WRITERS)}")
    return ending


def _writer(format_: str) -> BatchWriter:
    if format_ not in _WRITERS:
        raise ExportError(f"format {format_!r} is unknown: use one of {', '.join(_WRITERS)}")
    return _WRITERS[format_]


def _checked_columns(columns: Sequence[str] | None, per: Per) -> Sequence[str]:
    if not columns:
        return _DEFAULTS[per]
    known = export_columns(per)
    for name in columns:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0)[0]
            raise ExportError(f"column {name!r} is unknown: did you mean {near}? (all: {', '.join(known)})")
    if len(set(columns)) != len(columns):
        raise ExportError("a column is listed twice: list each once")
    return columns


def _with_those_present(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """The default columns of rollouts."""
    found: list[str] = []
    for name in ROLLOUT_DEFAULTS:
        found += (name, *(each for each in _IF_ANY.get(name, ()) if _is_there(connection, each)))
    return found


def _is_there(connection: duckdb.DuckDBPyConnection, column: str) -> bool:
    return bool(connection.sql(f"SELECT 1 FROM rollouts WHERE {column} IS NOT NULL LIMIT 1").fetchall())  # noqa: S608


def _add_prompts(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    """Replace the view by one that has `_PROMPT` too."""
    connection.execute(f"""
        ALTER VIEW {table} RENAME TO without_prompts;
        CREATE TEMP VIEW {table} AS
        SELECT w.*, t.prompt FROM without_prompts w LEFT JOIN tasks t USING (task_id)""")  # noqa: S608


def _without_addresses(batch: pa.RecordBatch) -> pa.RecordBatch:
    for name in _MESSAGES:
        if name in batch.schema.names:
            index = batch.schema.get_field_index(name)
            texts = [text and _ADDRESS.sub("0x0", text) for text in batch.column(index).to_pylist()]
            batch = batch.set_column(index, batch.schema.field(index), pa.array(texts, batch.column(index).type))
    return batch


def write_file(path: Path, write: Callable[[IO[bytes]], int]) -> int:
    """Write a file that appears only once it is complete. Raises `ExportError`."""
    try:
        with replacing(path) as temporary, temporary.open("wb") as file:
            return write(file)
    except OSError as error:
        raise ExportError(f"{path}: can't be written: {error.strerror}") from None


def _write_csv(batches: Iterator[pa.RecordBatch], schema: pa.Schema, file: IO[bytes]) -> int:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\r\n")  # RFC 4180; also quotes a lone CR or LF
    writer.writerow(map(_cell, schema.names))
    rows = 0
    for batch in batches:
        writer.writerows(zip(*(map(_cell, column.to_pylist()) for column in batch.columns), strict=True))
        rows += batch.num_rows
    text.detach()  # the stream belongs to the caller
    return rows


def _cell(value: Any) -> Any:
    """A value that is safe in a spreadsheet: text that it would run as a formula gets a leading quote."""
    if isinstance(value, list):  # evidence is code, which may have semicolons but no line feeds
        items = [str(item) for item in value]
        value = ("\n" if any(";" in item for item in items) else ";").join(items)
    if isinstance(value, str):
        value = value.replace("\0", "\\x00")
        return "'" + value if value.lstrip("\n").startswith(_FORMULA_STARTS) else value
    if isinstance(value, bool):
        return "true" if value else "false"
    return value


def _write_jsonl(batches: Iterator[pa.RecordBatch], schema: pa.Schema, file: IO[bytes]) -> int:
    del schema
    encoder = msgspec.json.Encoder()
    rows = 0
    for batch in batches:
        file.write(encoder.encode_lines(batch.to_pylist()))
        rows += batch.num_rows
    return rows


def _write_parquet(batches: Iterator[pa.RecordBatch], schema: pa.Schema, file: IO[bytes]) -> int:
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        return _write_all(batches, writer)


def _write_arrow(batches: Iterator[pa.RecordBatch], schema: pa.Schema, file: IO[bytes]) -> int:
    with pa.ipc.new_stream(file, schema) as writer:
        return _write_all(batches, writer)


def _write_all(batches: Iterator[pa.RecordBatch], writer: pq.ParquetWriter | pa.ipc.RecordBatchStreamWriter) -> int:
    rows = 0
    for batch in batches:
        writer.write_batch(batch)
        rows += batch.num_rows
    return rows


_WRITERS: Final[dict[str, BatchWriter]] = {
    "csv": _write_csv,
    "jsonl": _write_jsonl,
    "parquet": _write_parquet,
    "arrow": _write_arrow,
}
