"""`rollscope formats`: the supported formats, and the format of a file."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from evaluator.commands.failure import Exit
from evaluator.commands.tables import new_table, print_table
from evaluator.formats import (
    FormatMatch,
    Problem,
    Role,
    known_formats,
    load_rollouts,
    load_tasks,
    parse_field_map,
    sniff,
)
from evaluator.model import Rollout, Task

_SHOWN: Final = 20


def list_formats(*, as_json: bool) -> int:
    """Print every format and what it holds."""
    formats = known_formats().values()
    if as_json:
        rows = [{"name": f.name, "roles": [role.value for role in f.roles], "title": f.title} for f in formats]
        json.dump(rows, sys.stdout, indent=2)
        print()
        return Exit.DONE
    table = new_table("format", "holds", "fields")
    for each in formats:
        table.add_row(each.name, ", ".join(each.roles), each.title)
    print_table(table)
    print("Plain, .gz or .zst; JSON lines or one JSON list. Detected from the first row.")
    return Exit.DONE


def inspect(file: Path, name: str | None, field_map: str | None, *, check: bool, as_json: bool) -> int:
    """Print a file's format, how many rows are usable, and its bad lines (all of them with `check`)."""
    names = parse_field_map(field_map) if field_map else None
    found = _format_of(file, name, mapped=names is not None)
    problems: list[Problem] = []
    bad = 0

    def on_problem(problem: Problem) -> None:
        nonlocal bad
        bad += 1
        if check or bad <= _SHOWN:
            problems.append(problem)

    load = load_tasks if found.role is Role.TASKS else load_rollouts
    records: Iterator[Task] | Iterator[Rollout] = load(file, name, field_map=names, on_problem=on_problem)
    rows = sum(1 for _ in records)
    if as_json:
        report = {
            "file": str(file), "format": found.format, "holds": found.role.value, "why": found.why,
            "container": found.container, "rows": rows, "bad_lines": bad,
            "problems": [{"line": p.line, "message": p.message, "snippet": p.snippet} for p in problems],
        }  # fmt: skip
        json.dump(report, sys.stdout, indent=2)
        print()
    else:
        _print(file, found, rows, bad, problems)
    return Exit.BAD_INPUT if rows == 0 or (check and bad) else Exit.DONE


def _format_of(file: Path, name: str | None, *, mapped: bool) -> FormatMatch:
    if mapped and name is None:
        name = "mapped"
    if name is None:
        return sniff(file)
    roles = known_formats()[name].roles if name in known_formats() else ()
    return FormatMatch(name, Role.ROLLOUTS if Role.ROLLOUTS in roles or not roles else Role.TASKS, "named", "")


def _print(file: Path, found: FormatMatch, rows: int, bad: int, problems: list[Problem]) -> None:
    packed = f", {found.container}" if found.container else ""
    print(f"{file}: {found.role} in format {found.format} ({found.why}){packed}")
    for other in found.others:
        print(f"  could be read as {other.role} in format {other.format} ({other.why})")
    print(f"  {rows:,} usable row{'' if rows == 1 else 's'}, {bad:,} bad line{'' if bad == 1 else 's'}")
    for problem in problems:
        print(problem)
    if bad > len(problems):
        print(f"... and {bad - len(problems):,} more (--check prints all)")
