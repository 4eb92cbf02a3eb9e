"""The kinds of difference of all wrong answers of a run, found once when it is opened."""

from __future__ import annotations

from typing import Final

import duckdb

from dashboard.difference_kinds import LONGEST, kind

KINDS: Final = "difference_kinds"
"""The table that `load` makes: `row` and `difference_kind` of each wrong answer with both outputs."""

_MESSAGE: Final = 300
# One character more than is compared shows which texts are longer.
_WRONG: Final = f"""
    CREATE TEMP TABLE wrong AS
    WITH r AS (SELECT "row", task_id, sample_id, first_failing_test AS test_index
               FROM stored_rollouts WHERE verdict = 'wrong_answer'),
         c AS (SELECT task_id, sample_id, test_index, diff_line IS NOT NULL OR diff_path IS NULL AS as_text,
                      left(expected, {LONGEST + 1}) AS expected, left(actual, {LONGEST + 1}) AS actual,
                      left(coalesce(difference, ''), {_MESSAGE}) AS message
               FROM stored_cases WHERE verdict = 'wrong_answer' AND expected IS NOT NULL AND actual IS NOT NULL)
    SELECT "row", any_value(struct_pack(expected, actual, message, as_text)) AS pair
    FROM r JOIN c USING (task_id, sample_id, test_index) GROUP BY "row" """  # noqa: S608
_KINDS: Final = f"""
    CREATE TEMP TABLE {KINDS} AS SELECT wrong."row", named.difference_kind
    FROM (SELECT unnest($ids) AS id, unnest($kinds) AS difference_kind) AS named
    JOIN pairs USING (id) JOIN wrong USING (pair)"""  # noqa: S608


def load(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the table. Many samples fail alike, so each pair of outputs is looked at once."""
    connection.execute(_WRONG)
    connection.execute("CREATE TEMP TABLE pairs AS SELECT pair, row_number() OVER () AS id FROM wrong GROUP BY pair")
    columns = "id, pair.expected, pair.actual, pair.message, pair.as_text"
    found = connection.execute(f"SELECT {columns} FROM pairs").fetchall()  # noqa: S608
    kinds = [kind(expected, actual, message, as_text=as_text) for _, expected, actual, message, as_text in found]
    connection.execute(_KINDS, {"ids": [row[0] for row in found], "kinds": kinds})
    connection.execute("DROP TABLE wrong; DROP TABLE pairs")
