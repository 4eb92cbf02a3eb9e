"""The results of test cases as a run kept them, of some rollouts at a time."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from evaluator.extras import needs
from evaluator.model import CaseResult, Verdict
from evaluator.runs.reading import Run

with needs("runs", "a run needs pyarrow and duckdb"):
    import duckdb

_PART = "part-"


def kept_results(
    run: Run, connection: duckdb.DuckDBPyConnection, samples: Iterable[tuple[str, str, str]]
) -> dict[tuple[str, str], list[CaseResult]]:
    """By task and sample, in the order of the test cases: verdict, what was printed, its size, and the error's message.

    `samples`: of each its task, its id and its `part_file`. `connection`: made with `parts`, and not used meanwhile.
    """
    files = {(task_id, sample_id): file for task_id, sample_id, file in samples}
    results: dict[tuple[str, str], list[CaseResult]] = {sample: [] for sample in files}
    if not files:
        return results
    ordinals = sorted({int(Path(file).stem.removeprefix(_PART)) for file in files.values()})
    run.view_parts(connection, ordinals, run.parts)
    rows = connection.execute(
        """SELECT task_id, sample_id, test_index, verdict, actual, stdout_bytes, error_message FROM part_cases
           WHERE sample_id IN (SELECT unnest($samples)) ORDER BY test_index""",
        {"samples": [sample_id for _, sample_id in files]},
    )
    for task_id, sample_id, index, verdict, actual, size, message in rows.fetchall():
        if (task_id, sample_id) in results:
            results[task_id, sample_id].append(
                CaseResult(
                    index=index, verdict=Verdict(verdict), actual=actual, stdout_bytes=size, error_message=message
                )
            )
    return results
