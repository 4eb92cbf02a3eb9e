"""What a client's check prints, one JSON line for each thing that it compares; `tools/trainers.py` reads it.

Runs in the client's own environment, so it imports neither the client nor anything that only tests have.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

HERE = Path(__file__).parent
Result = TypeVar("Result")


def contest() -> list[dict[str, Any]]:
    """100 rows: `id`, `completion` (a chat answer), `tests` (`inputs`, `outputs`, `fn_name`), `expected` (a bool)."""
    return _rows("contest.jsonl")


def functions() -> list[dict[str, Any]]:
    """100 rows of HumanEval: `id`, `task_id`, `kind`, `prompt`, `completion`, `test`, `entry_point`, `preamble`,
    `expected`."""
    return _rows("functions.jsonl")


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


@contextmanager
def served(system: str) -> Iterator[str]:
    """The address of our server for a system, which runs meanwhile."""
    words = [sys.executable, "-m", "evaluator.cli", "serve", system, "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip().removeprefix("listening on ")
        finally:
            process.terminate()


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """What `work` returns, and the seconds that it took."""
    began = perf_counter()
    return work(), perf_counter() - began


def compared(
    client: str,
    what: str,
    rows: Sequence[dict[str, Any]],
    ours: Sequence[float | None],
    theirs: Sequence[float | None],
    ours_s: float,
    theirs_s: float,
) -> None:
    """Prints how the rewards of the same rows compare. Those that differ are listed, with what the row expects."""
    differ = [
        {"id": row["id"], "ours": our, "theirs": their, "expected": row["expected"]}
        for row, our, their in zip(rows, ours, theirs, strict=True)
        if our != their
    ]
    found = {"client": client, "what": what, "rows": len(rows), "equal": len(rows) - len(differ), "differ": differ}
    print(json.dumps(found | {"ours_s": round(ours_s, 3), "theirs_s": round(theirs_s, 3)}), flush=True)
