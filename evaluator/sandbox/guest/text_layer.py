"""A program's `sys.stdin`, `sys.stdout` and `sys.stderr`."""

from __future__ import annotations

import io

_NAMES = ("<stdin>", "<stdout>", "<stderr>")


def text_layer(descriptor: int, mode: str, errors: str) -> io.TextIOWrapper:
    """UTF-8 over descriptor 0, 1 or 2, like the stream that the interpreter creates at start."""
    raw = io.FileIO(descriptor, mode, closefd=False)
    raw.name = _NAMES[descriptor]
    buffer = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
    stream = io.TextIOWrapper(buffer, "utf-8", errors, newline="\n", line_buffering=descriptor == 2)
    stream.mode = mode  # type: ignore[misc]
    return stream
