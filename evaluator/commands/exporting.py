"""`rollscope export`."""

from __future__ import annotations

import sys
from pathlib import Path

from evaluator.commands.failure import Exit
from evaluator.runs.export import Per, export
from evaluator.runs.reading import Run


def export_run(run: Path, to: str | None, *, per: Per, where: str | None, columns: str | None) -> int:
    """Write a run's rows to a file, or as JSON lines on stdout; stderr shows how many."""
    names = [name.strip() for name in columns.split(",") if name.strip()] if columns else None
    source = Run.open(run)
    if to is None or to == "-":
        export(source, sys.stdout.buffer, format="jsonl", per=per, where=where, columns=names)
        return Exit.DONE
    rows = export(source, to, per=per, where=where, columns=names)
    what = "rollout" if per == "rollout" else "test case"
    print(f"{to}: {rows:,} {what}{'' if rows == 1 else 's'}", file=sys.stderr)
    return Exit.DONE
