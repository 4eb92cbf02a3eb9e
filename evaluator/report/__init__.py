"""One HTML page about a run, for people without Rollscope: it loads nothing, runs no script, and prints well."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO

from evaluator.report import contents, page
from evaluator.runs.export import write_file
from evaluator.runs.reading import Run

__all__ = ["write_report"]


def write_report(
    run: Run,
    to: Path | str | IO[bytes],
    *,
    where: str | None = None,
    rows: Sequence[int] | None = None,
    chosen_by: str = "",
    by_outcome: bool = False,
) -> int:
    """Write the report and return the number of rollouts that it is about.

    `where`, `rows`: which rollouts, as in `evaluator.runs.export.export`. `chosen_by`: what the page says of that
    choice, the condition by default. `by_outcome`: they were chosen by how they ended, so there is no pass@1.
    Raises `QueryError` for a bad condition, `ExportError` if the file can't be written.
    """
    found = contents.gather(run, where=where, rows=rows, chosen_by=chosen_by or where or "", rates=not by_outcome)
    text = page.html(found).encode("utf-8", "backslashreplace")
    if isinstance(to, Path | str):
        write_file(Path(to), lambda file: file.write(text))
    else:
        to.write(text)
    return found.rollouts
