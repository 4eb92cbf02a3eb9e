"""The same code in one warm interpreter, without a sandbox: the baseline, and the source of expected outputs."""

from __future__ import annotations

import io
import sys
from types import CodeType
from typing import Any


def compiled(source: str) -> CodeType:
    return compile(source, "main.py", "exec", dont_inherit=True)


def loaded(code: CodeType, entry_point: str) -> Any:
    """The code's function, or the method of its `Solution`."""
    namespace: dict[str, Any] = {"__name__": "solution"}
    exec(code, namespace)
    return namespace[entry_point] if entry_point in namespace else getattr(namespace["Solution"](), entry_point)


def run(code: CodeType, stdin: str) -> str:
    """The program's stdout for this stdin."""
    written = io.BytesIO()
    kept = sys.stdin, sys.stdout, sys.getrecursionlimit()
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8")
    sys.stdout = io.TextIOWrapper(written, "utf-8")
    try:
        exec(code, {"__name__": "__main__"})
        sys.stdout.flush()
        return written.getvalue().decode()
    finally:
        sys.stdin, sys.stdout = kept[:2]
        sys.setrecursionlimit(kept[2])
