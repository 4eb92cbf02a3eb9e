"""Draws a comparison as HTML. All text is escaped here; white space is visible where it differs."""

from __future__ import annotations

import itertools
import re
from hashlib import sha256

from dashboard.escape import html
from dashboard.facts import counted
from dashboard.text import code_view
from dashboard.text.diff import Comparison, Row, Side, compare
from dashboard.text.words import Span

_MARKS = str.maketrans({" ": "·", "\t": "→", "\r": "␍", "\n": "⏎", "\u00a0": "⍽"})
_ALWAYS = {"\r": "␍", "\x00": "␀", "\x1b": "␛"}
_SPACES = re.compile(r"^\s+|\s+$|\s{2,}|[^\S ]")
_SHOWN = 4_000
_LONG_LINE = 3_000
_MOST_SPANS = 60
_ALIKE = 0.5
"""Characters that two lines share, from which on only the others are marked."""
_NOT_WHOLE = "too long to align: only lines around the first difference are shown"


def visible(text: str) -> str:
    """Text with visible white space: spaces as middle dots, tabs as arrows, returns as signs."""
    return text.translate(_MARKS)


def _marked(text: str) -> str:
    """The same of what differs; a single space between words stays as it is."""
    return _SPACES.sub(lambda found: visible(found[0]), text)


def banner(comparison: Comparison) -> str:
    """Where the first difference is, as one line of text."""
    first = comparison.first
    if first is None:
        return "Expected and actual are the same text."
    where = f"First difference: line {first.line}, column {first.column}"
    return f"{where}, expected {_quoted(first.expected)}, got {_quoted(first.actual)}"


def side_by_side(expected: str, actual: str, line: int | None = None) -> str:
    """A table of both texts with the differences marked; see `rows`."""
    return rows(compare(expected, actual), expected, actual, line)


def rows(comparison: Comparison, expected: str, actual: str, line: int | None = None) -> str:
    """A table of two texts' lines, or of two values' items, each change with a sign and what is missing in words.

    `line`: the line of actual at which the checker found its first difference; that row is outlined. The rows before
    it may differ as texts only. None: the first row that differs.
    """
    if not comparison.rows:
        part = (
            "" if comparison.actual.gap is None and not comparison.actual.extent else ", the same in the stored parts"
        )
        return _one_text(expected, f"expected and actual{part}")
    first = comparison.first_row(line)
    body = "".join(_row(row, first=row is first) for row in comparison.rows)
    extents = _extent(comparison.expected), ": ".join(filter(None, (_extent(comparison.actual), comparison.found)))
    heads = (
        f'<th colspan="2">{html(name + (f" · {extent}" if extent else ""))}</th>'
        for name, extent in zip(("expected", "actual"), extents, strict=True)
    )
    head = f"<thead><tr><th></th>{''.join(heads)}</tr></thead>"
    notes = list(comparison.endings)
    if first is None:
        notes.append("the difference was not stored")
    if not comparison.whole:
        notes.append(_NOT_WHOLE)
        if all(side.gap is None and not side.extent for side in (comparison.expected, comparison.actual)):
            notes.append(f"SHA-256 of expected {_digest(expected)}, of actual {_digest(actual)}")
    tail = "".join(f'<tr><td class="fold" colspan="5">{html(note)}</td></tr>' for note in notes)
    most = max(
        (number for row in comparison.rows for number in (row.left_no, row.right_no) if number is not None),
        default=None,
    )
    width = 0.4 if most is None else max(3.4, 0.65 * len(str(most)) + 1)
    columns = f'<colgroup><col class="sign">{f"<col style=width:{width:.1f}em><col>" * 2}</colgroup>'
    return _box(f"<table>{columns}{head}<tbody>{body}{tail}</tbody></table>")


def one_column(before: str, after: str, title: str = "") -> str:
    """Two codes in one column: lines that are only in the first with a minus, lines that are only in the other with a
    plus, and a few of those around them.
    """
    body = ""
    for changed, group in itertools.groupby(compare(before, after).rows, key=lambda row: row.kind == "change"):
        lines = list(group)
        if changed:
            body += "".join(_line(row.left_no, None, row.left, "minus") for row in lines if row.left is not None)
            body += "".join(_line(None, row.right_no, row.right, "plus") for row in lines if row.right is not None)
        else:
            body += "".join(_fold(row, 3) or _line(row.left_no, row.right_no, row.left, "") for row in lines)
    head = f"<thead><tr><th></th><th></th><th>{html(title)}</th></tr></thead>" if title else ""
    table = f'<table><colgroup><col class="no"><col class="no"><col></colgroup>{head}<tbody>{body}</tbody></table>'
    return f'<div class="rs-diff rs-one-column" tabindex="0">{table}</div>'


def _line(left: int | None, right: int | None, spans: list[Span] | None, kind: str) -> str:
    mark = {"minus": "−", "plus": "+"}.get(kind, " ")
    numbers = "".join(f'<td class="no">{number or ""}</td>' for number in (left, right))
    return f'<tr>{numbers}<td class="{kind}">{mark} {_spans(spans or [])}</td></tr>'


def two_codes(a: str, b: str, height: str) -> str:
    """Two programs as a table: equal stretches folded, changed lines marked, and in similar lines what differs."""
    comparison = compare(a, b)
    if not comparison.rows:
        return code_view.code(a, height=height)
    left, right = code_view.coloured_lines(a), code_view.coloured_lines(b)
    body = ""
    for row in comparison.rows:
        similar = row.kind == "change" and _alike(row.left) and _alike(row.right)
        cells = _code(row.left_no, row.left, left, "minus", row, marked=similar)
        cells += _code(row.right_no, row.right, right, "plus", row, marked=similar)
        body += _fold(row, 4) or f"<tr>{cells}</tr>"
    if not comparison.whole:
        body += f'<tr><td class="fold" colspan="4">{_NOT_WHOLE}</td></tr>'
    table = f"{_TABLE}{_head('A', 'B')}<tbody>{body}</tbody></table>"
    return f'<div class="rs-diff rs-code-diff" tabindex="0" style="max-height:{height}">{table}</div>'


def _code(
    number: int | None, spans: list[Span] | None, coloured: list[str], look: str, row: Row, *, marked: bool
) -> str:
    if spans is None:
        return '<td class="no"></td><td></td>'
    if marked or number is None:
        drawn = "".join(f"<i>{html(text)}</i>" if differs else html(text) for text, differs in spans)
    else:
        drawn = coloured[number - 1]
    return f'<td class="no">{number or ""}</td><td class="{look * (row.kind == "change")}">{drawn}</td>'


def _alike(spans: list[Span] | None) -> bool:
    """Whether most of a line is in the other side's line, too."""
    if not spans or not any(differs for _, differs in spans):
        return False
    equal = sum(len(text.strip()) for text, differs in spans if not differs)
    return equal >= _ALIKE * sum(len(text.strip()) for text, _ in spans)


def _fold(row: Row, columns: int) -> str:
    """The row of a table that stands for lines or characters that are not shown; "" for another row."""
    match row.kind:
        case "fold":
            said = f"… {counted(row.folded, f'equal {row.said}')}"
        case "cut":
            said = f"… {counted(row.folded, 'row')} not shown"
        case "gap":
            said = _left_out(*row.left_out)
        case _:
            return ""
    return f'<tr><td class="fold" colspan="{columns}">{html(said)}</td></tr>'


def beside(expected: str, actual: str) -> str:
    """Both texts unmarked, for values that are not compared as text."""
    head = "<tr><th>expected</th><th>actual</th></tr>"
    cells = "".join(f"<td>{html(_named(cut(text)))}</td>" for text in (expected, actual))
    return _box(f"<table><thead>{head}</thead><tbody><tr>{cells}</tr></tbody></table>")


def expected_alone(expected: str, why: str) -> str:
    """Expected beside the reason for no actual."""
    rows = "".join(
        f'<tr><td class="no">{n}</td><td>{html(line)}</td>'
        + (f'<td class="no"></td><td class="end" rowspan="99">{html(why)}</td>' if n == 1 else "")
        + "</tr>"
        for n, line in enumerate(cut(expected).split("\n"), 1)
    )
    head = _head("expected", "actual")
    return _box(f"{_TABLE}{head}<tbody>{rows}</tbody></table>")


def text_block(text: str, *, height: str = "160px", limit: int = 20_000) -> str:
    """Text in a box that scrolls; beyond `limit` characters, only its head and tail."""
    return f'<pre class="rs-text" style="max-height:{height}">{html(cut(text, limit))}</pre>'


_TABLE = '<table><colgroup><col class="no"><col><col class="no"><col></colgroup>'


def _head(left: str, right: str) -> str:
    return f'<thead><tr><th colspan="2">{html(left)}</th><th colspan="2">{html(right)}</th></tr></thead>'


_SIGNS = {"missing": "−", "extra": "+", "changed": "~"}


def _row(row: Row, *, first: bool) -> str:
    if fold := _fold(row, 5):
        return fold
    changed = row.kind == "change"
    left = _side(row.left_no, row.left, changed, "expected", row.said)
    right = _side(row.right_no, row.right, changed, "actual", row.said)
    sign = f'<td class="sign" title="{row.what}">{_SIGNS[row.what]}</td>' if changed else "<td></td>"
    mark = ' class="first"' if first else "" if changed else ' class="same"'
    return f"<tr{mark}>{sign}{left}{right}</tr>"


def _extent(side: Side) -> str:
    if side.extent:
        return side.extent
    if side.gap is not None:
        return f"head and tail of {counted(side.characters, 'character')}"
    if side.noun != "line":
        return counted(side.characters, side.noun)
    return counted(len(side.lines), "line") if side.lines else ""


def _left_out(expected: int, actual: int) -> str:
    if not (expected and actual):
        return f"{counted(expected or actual, 'character')} of {'expected' if expected else 'actual'} not shown"
    return f"{counted(expected, 'character')} of expected and {actual:,} of actual not shown"


def _side(number: int | None, spans: list[Span] | None, changed: bool, name: str, said: str) -> str:
    if spans is None:
        return f'<td class="no"></td><td class="end">{html(said)}</td>'
    kind = f' class="{name}"' if changed else ""
    return f'<td class="no">{"" if number is None else number}</td><td{kind}>{_spans(spans)}</td>'


def _spans(spans: list[Span]) -> str:
    if sum(len(text) for text, _ in spans) > _LONG_LINE:
        spans = _near_the_change(spans)
    return "".join(f"<i>{html(_marked(text))}</i>" if differs else html(_named(text)) for text, differs in spans)


def _near_the_change(spans: list[Span]) -> list[Span]:
    """Shorten the pieces of a long line so that the differences stay visible."""
    out: list[Span] = []
    for text, differs in spans:
        keep = 600 if differs else 150
        if len(text) > 2 * keep:
            text = f"{text[:keep]} …{counted(len(text) - 2 * keep, 'character')}… {text[-keep:]}"  # noqa: PLW2901
        out.append((text, differs))
    cut = sum(len(text) for text, _ in out[_MOST_SPANS:])
    return [*out[:_MOST_SPANS], (f" …{counted(cut, 'character')}…", False)] if cut else out


def _named(text: str) -> str:
    for char, name in _ALWAYS.items():
        if char in text:
            text = text.replace(char, name)
    return text


def _one_text(text: str, title: str) -> str:
    body = html(_named(cut(text)))
    return _box(f"<table><thead><tr><th>{html(title)}</th></tr></thead><tbody><tr><td>{body}</td></tr></tbody></table>")


def _box(table: str) -> str:
    return f'<div class="rs-diff rs-sides" tabindex="0">{table}</div>'


def cut(text: str, limit: int = _SHOWN) -> str:
    """The text; beyond `limit` characters, its head and tail."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {counted(len(text) - 2 * half, 'character')} not shown …\n{text[-half:]}"


def _quoted(text: str) -> str:
    return f"`{visible(text)}`" if text else "the end of the text"


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:12]
