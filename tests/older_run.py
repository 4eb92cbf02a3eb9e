"""Makes a run look as an older version left it, which knew fewer columns."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq


def forget_columns(run: Path, *names: str, table: str = "rollouts") -> Path:
    """Take columns out of every part of a table that is there now. Returns the run."""
    for part in sorted((run / table).glob("part-*.parquet")):
        pq.write_table(pq.read_table(part).drop_columns(list(names)), part)
    return run
