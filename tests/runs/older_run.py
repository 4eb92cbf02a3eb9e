"""Makes a run look as an older version left it, which knew fewer columns."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def forget_columns(run: Path, *names: str, table: str = "rollouts") -> Path:
    """Take columns out of every part of a table that is there now. Returns the run."""
    for part in sorted((run / table).glob("part-*.parquet")):
        pq.write_table(pq.read_table(part).drop_columns(list(names)), part)
    return run


def narrow_columns(run: Path, *names: str) -> Path:
    """Give columns of every part of the rollouts that is there now 32 bits. Returns the run."""
    for part in sorted((run / "rollouts").glob("part-*.parquet")):
        table = pq.read_table(part)
        fields = [field.with_type(pa.int32()) if field.name in names else field for field in table.schema]
        pq.write_table(table.cast(pa.schema(fields)), part)
    return run
