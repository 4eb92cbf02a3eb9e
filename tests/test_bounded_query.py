"""Statements that visitors type: what they may read, and the limits that hold whatever they do."""

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evaluator.runs.bounded_query import Bounds, Written, query
from evaluator.runs.files import QueryError
from evaluator.runs.reading import Run, select
from tests.dashboard import sample_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample_run.write(tmp_path_factory.mktemp("run") / "sample")


def rows(run: Path, to: Path, sql: str, bounds: Bounds | None = None) -> tuple[list[dict[str, object]], Written]:
    written = query(Run.open(run), sql, to, bounds=bounds)
    with to.open("rb") as file:
        return pa.ipc.open_stream(file).read_all().to_pylist(), written


def test_it_reads_every_table_of_the_run(run: Path, tmp_path: Path) -> None:
    sql = """SELECT count(*) AS n, (SELECT count(*) FROM cases) > 0 AS cases, (SELECT count(*) FROM tasks) > 0 AS tasks
             FROM rollouts WHERE code IS NOT NULL OR completion IS NOT NULL"""
    found, written = rows(run, tmp_path / "rows", sql)
    assert found == [{"n": 13, "cases": True, "tasks": True}]
    assert written == Written(1, more=False)


HOSTILE = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_blob('/proc/self/environ')",
    "SELECT * FROM read_json('http://127.0.0.1:1/x.json')",
    "SELECT * FROM glob('/etc/*')",
    "FROM '/etc/passwd'",
    "SELECT getenv('HOME')",
    "SELECT * FROM connection",
    "COPY rollouts TO '/tmp/rollouts.csv'",
    "PRAGMA database_list",
    "CALL pragma_version()",
    "SET enable_external_access = true",
    "CREATE OR REPLACE VIEW rollouts AS SELECT 1",
    "EXPLAIN ANALYZE DELETE FROM rollouts",
    "SELECT 1; SELECT 2",
    "SELECT $1",
    "SELECT * FROM query('COPY rollouts TO ''/tmp/x''')",
    "",
    "SELECT",
]


@pytest.mark.parametrize("sql", HOSTILE)
def test_it_refuses_what_is_not_a_question_about_the_run(run: Path, sql: str) -> None:
    with (
        Run.open(run).connect(memory_mb=128, threads=1, spills=False) as connection,
        pytest.raises((QueryError, duckdb.Error)) as refused,
    ):
        select(connection, sql).limit(2).fetchall()
    assert "root:" not in str(refused.value)


@pytest.mark.slow
@pytest.mark.parametrize("sql", HOSTILE)
def test_a_refusal_is_one_line(run: Path, tmp_path: Path, sql: str) -> None:
    with pytest.raises(QueryError) as refused:
        query(Run.open(run), sql, tmp_path / "rows")
    assert str(refused.value).strip()
    assert "\n" not in str(refused.value)
    assert "root:" not in str(refused.value)


ENDLESS = [
    "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a) SELECT count(*) FROM a",
    "SELECT count(*) FROM range(100000) a, range(100000) b, range(100000) c",
    "SELECT max(levenshtein(repeat('ab', 50000), repeat('ba', 50000)))",  # computed while it is planned
]


@pytest.mark.parametrize("sql", [ENDLESS[0], *(pytest.param(each, marks=pytest.mark.slow) for each in ENDLESS[1:])])
def test_a_statement_ends_when_its_time_is_over(run: Path, tmp_path: Path, sql: str) -> None:
    with pytest.raises(QueryError, match="stopped after 1 s, the limit"):
        query(Run.open(run), sql, tmp_path / "rows", bounds=Bounds(seconds=1))


LARGE = [
    "SELECT length(repeat('x', 3000000000))",
    "SELECT list(range) FROM range(300000000)",
    "SELECT string_agg(repeat('x', 1000), '') FROM range(3000000)",
    "SELECT count(*) FROM (SELECT DISTINCT a.range * 100000 + b.range FROM range(30000) a, range(30000) b)",
    "SELECT repeat('x', 200000000) FROM range(100)",
]


@pytest.mark.parametrize("sql", [LARGE[0], *(pytest.param(each, marks=pytest.mark.slow) for each in LARGE[1:])])
def test_a_statement_ends_when_it_needs_too_much_memory(run: Path, tmp_path: Path, sql: str) -> None:
    with pytest.raises(QueryError, match="needs more than 128 MB, the limit"):
        query(Run.open(run), sql, tmp_path / "rows", bounds=Bounds(seconds=600, memory_mb=128))
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 64 << 20


@pytest.mark.slow
def test_more_rows_than_are_wanted_are_not_read(run: Path, tmp_path: Path) -> None:
    found, written = rows(run, tmp_path / "rows", "FROM range(1000000000)", Bounds(rows=1_234))
    assert len(found) == 1_234
    assert written == Written(1_234, more=True)


def test_columns_of_one_name_are_told_apart_and_the_last_row_that_is_wanted_is_read(run: Path, tmp_path: Path) -> None:
    found, written = rows(run, tmp_path / "rows", "SELECT 1 AS a, 2 AS a, 3 AS b, 4 AS a", Bounds(rows=1))
    assert found == [{"a": 1, "a_1": 2, "b": 3, "a_2": 4}]
    assert written == Written(1, more=False)


@pytest.mark.slow
def test_a_large_result_ends_early_and_says_so(run: Path, tmp_path: Path) -> None:
    sql = "SELECT repeat(md5(range::VARCHAR), 1000) AS text FROM range(100000)"
    written = query(Run.open(run), sql, tmp_path / "rows", bounds=Bounds(rows=100_000, result_mb=32))
    assert written.more
    assert 0 < written.rows < 100_000
    assert (tmp_path / "rows").stat().st_size < 64 << 20


def test_the_column_group_needs_quotes(run: Path) -> None:
    with Run.open(run).connect() as connection:
        with pytest.raises(QueryError, match='the column group needs quotes: "group"'):
            select(connection, "SELECT group FROM rollouts")
        with pytest.raises((QueryError, duckdb.Error)) as other:
            select(connection, "SELECT model FROM rollouts GROUP BY model ORDER")
    assert "quotes" not in str(other.value)


@pytest.mark.slow
def test_files_hold_the_rows_and_no_formula(run: Path, tmp_path: Path) -> None:
    sql = """SELECT '=1+1' AS "=cmd()", [1, 2] AS list, {'a': 1} AS struct, MAP {'k': 1} AS map, 1::HUGEINT AS large,
                    1.5::DECIMAL(4, 1) AS amount, DATE '2026-01-02' AS day, TIMESTAMP '2026-01-02 03:04:05' AS at"""
    for form in ("csv", "jsonl", "parquet"):
        query(Run.open(run), sql, tmp_path / form, form=form)
    with (tmp_path / "csv").open(newline="") as file:
        head, row = csv.reader(file)
    assert head[0] == "'=cmd()"
    assert row[0] == "'=1+1"
    line = json.loads((tmp_path / "jsonl").read_text())
    assert line["=cmd()"] == "=1+1"
    assert line["list"] == [1, 2]
    assert pq.read_table(tmp_path / "parquet").num_rows == 1


class GoneError(Exception):
    """The visitor went on."""


def test_a_visitor_who_goes_on_ends_the_statement(run: Path, tmp_path: Path) -> None:
    def on_wait(seconds: float) -> None:
        if seconds > 0:
            raise GoneError

    with pytest.raises(GoneError):
        query(Run.open(run), ENDLESS[0], tmp_path / "rows", bounds=Bounds(seconds=600), on_wait=on_wait)
    assert list(children()) == []


def children() -> Iterator[str]:
    """The command lines of this process's children that answer statements."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            command = (path / "cmdline").read_text()
        except OSError:
            continue
        if parent == os.getpid() and "bounded_query" in command:
            yield command
