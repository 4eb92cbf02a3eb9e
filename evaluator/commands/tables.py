"""What commands print on stdout: JSON, and tables, aligned on a terminal and in unbroken lines in a file or pipe."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

_UNBROKEN = 1_000


def new_table(*columns: str, numbers: tuple[str, ...] = ()) -> Table:
    """A table without lines; the columns named in `numbers` are right-aligned."""
    table = Table(box=None, pad_edge=False, show_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in numbers else "left")
    return table


def print_table(table: Table) -> None:
    """Print it. Cells are text, never markup: a file may hold anything."""
    if sys.stdout.isatty():
        Console(markup=False, emoji=False, highlight=False).print(table)
        return
    console = Console(width=_UNBROKEN, markup=False, emoji=False, highlight=False, no_color=True)
    with console.capture() as capture:
        console.print(table)
    print("\n".join(line.rstrip() for line in capture.get().splitlines()))


def print_facts(facts: Iterable[tuple[str, str]]) -> None:
    """Print names and what they are, without a header."""
    table = new_table("", "")
    table.show_header = False
    for name, text in facts:
        table.add_row(name, text)
    print_table(table)


def print_json(rows: object) -> None:
    """Print it with an indent."""
    print(json.dumps(rows, indent=2))


def print_more(total: int, printed: int) -> None:
    """Print how many rows of a table are not printed, if any."""
    if total > printed:
        print(f"... and {total - printed:,} more: --json lists all")


def counted(count: int, what: str) -> str:
    """A number with its noun: "1 task", "2 tasks"."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def one_line(text: str, most: int) -> str:
    """A text that a completion may have chosen, made safe for a terminal and cut to `most` characters."""
    printable = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    return printable if len(printable) <= most else f"{printable[: most - 1]}…"
