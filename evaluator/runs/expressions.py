"""SQL expressions over a run's `rollouts` that everything with figures shares, and pass@1 by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from evaluator.metrics import Interval, pass_at_k_over_tasks

if TYPE_CHECKING:
    import duckdb

GRADED: Final = "(verdict NOT IN ('unknown', 'sandbox_error') OR (verdict = 'unknown' AND disagreement IS NOT NULL))"
"""What rates count. A disagreement (docs/checks.md) counts as not passed."""
NO_MODEL: Final = "no model named"
MODEL: Final = f"coalesce(model, '{NO_MODEL}')"
"""A rollout's model."""


def pass_at_1(connection: duckdb.DuckDBPyConnection, rollouts: str, model: str | None = None) -> Interval:
    """pass@1 over a view of rollouts: of one model, or of all."""
    counted = connection.execute(
        f"""SELECT count(*) AS n, count(*) FILTER (verdict = 'passed') AS c FROM {rollouts}
            WHERE {GRADED} AND ($model IS NULL OR {MODEL} = $model) GROUP BY task_id ORDER BY task_id""",  # noqa: S608
        {"model": model},
    ).fetchnumpy()
    return pass_at_k_over_tasks(np.asarray(counted["n"]), np.asarray(counted["c"]))
