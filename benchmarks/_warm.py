"""The same code in one warm interpreter, without a sandbox: the baseline, and the source of expected outputs."""

from __future__ import annotations

import contextlib
import io
import sys
import threading
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
    """The program's stdout for this stdin, whatever its exit status, once all threads that it started have ended."""
    written = io.BytesIO()
    kept = sys.stdin, sys.stdout, sys.getrecursionlimit()
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8")
    sys.stdout = io.TextIOWrapper(written, "utf-8")
    running = set(threading.enumerate())
    try:
        with contextlib.suppress(SystemExit):
            exec(code, {"__name__": "__main__"})
        for thread in threading.enumerate():
            if thread not in running and not thread.daemon:
                thread.join()
        sys.stdout.flush()
        return written.getvalue().decode()
    finally:
        sys.stdin, sys.stdout = kept[:2]
        sys.setrecursionlimit(kept[2])
