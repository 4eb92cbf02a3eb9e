"""The process that scans spans for another one: orders on its input, columns as Arrow streams on its output."""

from __future__ import annotations

import sys
from typing import IO, Any

import msgspec

from evaluator.extras import needs
from evaluator.index.scanning import Found, scan
from evaluator.index.workers import Answer, Order

with needs("runs", "an index needs pyarrow and duckdb"):
    import pyarrow as pa


def _serve(orders: IO[bytes], answers: IO[bytes]) -> None:
    for line in orders:
        order = msgspec.json.decode(line, type=Order)
        body = b""
        try:
            table, found = scan(order.reader, order.span)
            body = _stream(table)
            answer = Answer(found, len(body))
        except OSError as error:
            answer = Answer(Found(), 0, str(error))
        answers.write(msgspec.json.encode(answer) + b"\n" + body)
        answers.flush()


def _stream(table: pa.Table) -> Any:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


if __name__ == "__main__":
    _serve(sys.stdin.buffer, sys.stdout.buffer)
