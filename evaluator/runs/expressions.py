"""SQL over a run's `rollouts` that everything with figures shares: what counts, pass@1, and the error clusters.

Similar failures have the same name: the error cluster, which the report and the dashboard count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from evaluator.runs.difference_kinds import LONGEST, kind
from evaluator.runs.metrics import Interval, pass_at_k_over_tasks

if TYPE_CHECKING:
    import duckdb

GRADED: Final = "(verdict NOT IN ('unknown', 'sandbox_error') OR (verdict = 'unknown' AND disagreement IS NOT NULL))"
"""What rates count. A disagreement (docs/concepts/checks.md) counts as not passed."""
NO_MODEL: Final = "no model named"
MODEL: Final = f"coalesce(model, '{NO_MODEL}')"
"""A rollout's model."""
GROUP: Final = 'hash(task_id, model, step, "group")'
"""A rollout's group: the rollouts of one prompt by one model at one step, of which the file may name several."""


def pass_at_1(
    connection: duckdb.DuckDBPyConnection, rollouts: str, model: str | None = None, *, counted: str = GRADED
) -> Interval:
    """pass@1 over a view of rollouts: of one model, or of all; and of these, those that `counted` is true of."""
    of_tasks = connection.execute(
        f"""SELECT count(*) AS n, count(*) FILTER (verdict = 'passed') AS c FROM {rollouts}
            WHERE {counted} AND ($model IS NULL OR {MODEL} = $model) GROUP BY task_id ORDER BY task_id""",  # noqa: S608
        {"model": model},
    ).fetchnumpy()
    return pass_at_k_over_tasks(np.asarray(of_tasks["n"]), np.asarray(of_tasks["c"]))


# Digits, quoted text and addresses differ between similar failures, so a cluster's name leaves them out. An apostrophe
# after a letter opens no quotation: "can't".
_FIRST_LINE: Final = r"""left(regexp_replace(regexp_replace(regexp_replace(split_part(error_message, chr(10), 1),
    '0x[0-9a-fA-F]+', '0x…', 'g'), '(^|\W)(''[^'']*''|"[^"]*")', '\1''…''', 'g'), '-?\d+(\.\d+)?', 'N', 'g'), 100)"""
LOADING: Final = "failed while loading: "
"""How the cluster of code begins that parses, and raises before anything of it is called."""
_WHERE: Final = f"""CASE WHEN verdict = 'compile_error' AND NOT starts_with(coalesce(error_message, ''), 'the code ')
    AND error_type NOT IN ('SyntaxError', 'IndentationError', 'TabError') THEN '{LOADING}' ELSE '' END"""
CLUSTER: Final = f"""CASE WHEN verdict = 'passed' THEN NULL
    WHEN verdict = 'wrong_answer' THEN concat_ws(': ', verdict, difference_kind)
    WHEN verdict IN ('time_limit', 'memory_limit', 'output_limit', 'not_run') THEN verdict
    WHEN error_type IS NULL AND coalesce(error_message, '') = '' THEN verdict
    WHEN verdict = 'compile_error' AND error_type = 'AssertionError' THEN '{LOADING}its own assert'
    WHEN verdict = 'compile_error' AND starts_with(error_message, 'No module named ')
        THEN '{LOADING}package ' || split_part(error_message, chr(39), 2) || ' is missing'
    ELSE {_WHERE} || coalesce(error_type, verdict) || CASE WHEN coalesce(error_message, '') = '' THEN ''
         ELSE ': ' || {_FIRST_LINE} END END"""
"""The name of the error cluster of a rollout, from its columns and its `difference_kind`."""
KIND_COLUMN: Final = "error_kind"
"""The column of exports with that name; the word of the dashboard's filter is `err`."""
KINDS: Final = "difference_kinds"
"""The table that `load` makes: `row` and `difference_kind` of each wrong answer with both outputs."""

_AT_ONCE: Final = 5_000
"""Pairs of outputs that are in Python at once."""
_MESSAGE: Final = 300
# One character more than is compared shows which texts are longer.
_WRONG: Final = """
    CREATE TEMP TABLE wrong AS
    WITH r AS (SELECT "row", task_id, sample_id, first_failing_test AS test_index
               FROM {rollouts} WHERE verdict = 'wrong_answer'),
         c AS (SELECT task_id, sample_id, test_index, diff_line IS NOT NULL OR diff_path IS NULL AS as_text,
                      left(expected, {longest}) AS expected, left(actual, {longest}) AS actual,
                      left(coalesce(difference, ''), {message}) AS message
               FROM {cases} WHERE verdict = 'wrong_answer' AND expected IS NOT NULL AND actual IS NOT NULL)
    SELECT "row", any_value(struct_pack(expected, actual, message, as_text)) AS pair
    FROM r JOIN c USING (task_id, sample_id, test_index) GROUP BY "row" """
_KINDS: Final = f"""
    CREATE TEMP TABLE {KINDS} AS SELECT wrong."row", named.difference_kind
    FROM (SELECT unnest($ids) AS id, unnest($kinds) AS difference_kind) AS named
    JOIN pairs USING (id) JOIN wrong USING (pair)"""  # noqa: S608


def add_kind_column(connection: duckdb.DuckDBPyConnection) -> None:
    """Replace the view `rollouts` by one that has `KIND_COLUMN` too."""
    load_kinds(connection, "rollouts", "cases")
    connection.execute(f"""
        ALTER VIEW rollouts RENAME TO stored_rollouts;
        CREATE TEMP VIEW rollouts AS
        SELECT r.*, {CLUSTER} AS {KIND_COLUMN} FROM stored_rollouts r LEFT JOIN {KINDS} USING ("row")""")  # noqa: S608


def load_kinds(connection: duckdb.DuckDBPyConnection, rollouts: str, cases: str) -> None:
    """Make the table from these two views. Many samples fail alike, so each pair of outputs is looked at once."""
    connection.execute(_WRONG.format(rollouts=rollouts, cases=cases, longest=LONGEST + 1, message=_MESSAGE))
    connection.execute("CREATE TEMP TABLE pairs AS SELECT pair, row_number() OVER () AS id FROM wrong GROUP BY pair")
    columns = "id, pair.expected, pair.actual, pair.message, pair.as_text"
    named: dict[int, str] = {}
    pairs = connection.execute(f"SELECT {columns} FROM pairs")  # noqa: S608
    while rows := pairs.fetchmany(_AT_ONCE):
        named |= {id_: kind(wanted, got, message, as_text=as_text) for id_, wanted, got, message, as_text in rows}
    connection.execute(_KINDS, {"ids": list(named), "kinds": list(named.values())})
    connection.execute("DROP TABLE wrong; DROP TABLE pairs")
