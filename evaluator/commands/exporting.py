"""`rollscope export`."""

from __future__ import annotations

import sys
from pathlib import Path

from evaluator.commands.output import CommandError, Exit, counted
from evaluator.report import write_report
from evaluator.runs.export import Per, export
from evaluator.runs.reading import Run


def export_run(run: Path, to: str | None, *, per: Per, where: str | None, columns: str | None) -> int:
    """Write a run's rows to a file, or as JSON lines on stdout; stderr shows how many. A .html file is the report."""
    names = [name.strip() for name in columns.split(",") if name.strip()] if columns else None
    if run.is_file():
        raise CommandError(f"{run}: a file, not a run: grade it first, or write its rows with `rollscope convert`")
    source = Run.open(run)
    if to is None or to == "-":
        export(source, sys.stdout.buffer, format="jsonl", per=per, where=where, columns=names)
        return Exit.DONE
    if Path(to).suffix.lower() == ".html":
        if names or per != "rollout":
            raise CommandError(f"{to}: a report has no columns to choose: leave out --columns and --per")
        rows = write_report(source, to, where=where)
    else:
        rows = export(source, to, per=per, where=where, columns=names)
    print(f"{to}: {counted(rows, 'rollout' if per == 'rollout' else 'test case')}", file=sys.stderr)
    return Exit.DONE
