"""Adds a function of ours to a DuckDB connection: it gets whole columns, and may give null."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Sequence
from weakref import WeakSet

from evaluator.extras import needs

with needs("runs", "an index needs pyarrow and duckdb"):
    import duckdb
    import pyarrow as pa
    from duckdb.func import ARROW, SPECIAL


_connections: WeakSet[duckdb.DuckDBPyConnection] = WeakSet()


def add_function(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    function: Callable[..., pa.Array],
    parameters: Sequence[str],
    returns: str,
) -> None:
    """Make the function known by this name. It gets Arrow columns of these SQL types and returns one."""
    _connections.add(connection)
    connection.create_function(name, function, list(parameters), returns, type=ARROW, null_handling=SPECIAL)


@atexit.register
def _close_all() -> None:
    """DuckDB's binding prints a page of warnings if the interpreter ends while one of them has a function of ours."""
    for connection in list(_connections):
        connection.close()
