"""The HTML of the SQL page: the tables with their columns."""

from __future__ import annotations

from dashboard.escape import html


def schema(tables: dict[str, list[tuple[str, str]]]) -> str:
    """Each table as a list that opens."""
    return "".join(_table(name, columns, opened=index == 0) for index, (name, columns) in enumerate(tables.items()))


def _table(name: str, columns: list[tuple[str, str]], *, opened: bool) -> str:
    rows = "".join(
        f"<tr><td>{html(_quoted(column))}</td><td>{html(kind.lower())}</td></tr>" for column, kind in columns
    )
    head = f"<summary>{html(name)} <span>{len(columns)} columns</span></summary>"
    return f'<details class="rs-schema"{" open" if opened else ""}>{head}<table>{rows}</table></details>'


def _quoted(column: str) -> str:
    """As it is written in a statement."""
    return f'"{column}"' if column in ("group", "row") else column
