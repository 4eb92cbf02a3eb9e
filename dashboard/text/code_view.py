"""Draws code with line numbers, the failing line filled and the traceback's other lines outlined.

Pygments only splits the text into tokens; every token is escaped here, so a completion is never markup.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType

from dashboard.escape import html
from dashboard.facts import counted

MAX_CHARACTERS = 200_000
"""Longer code is shown without colours."""
MAX_LINES = 3_000
"""In longer code, only the lines around the marked one are shown."""

Span = tuple[int, int]
"""Start and end of a part of a text, in characters."""

_CLASSES: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "c"),
    (String, "s"),
    (Number, "m"),
    (Operator.Word, "k"),
    (Keyword, "k"),
    (Name.Builtin, "b"),
    (Name.Exception, "b"),
    (Name.Function, "n"),
    (Name.Class, "n"),
    (Name.Decorator, "n"),
)


def code(
    text: str,
    *,
    failing: int | None = None,
    frames: Collection[int] = (),
    note: str = "",
    prefix: str = "L",
    height: str = "480px",
    found: Sequence[Span] = (),
) -> str:
    """The code as HTML. Lines count from 1; each has the anchor `prefix` + its number.

    `failing` is filled and followed by `note`; the other lines of `frames` are outlined. Long lines wrap.
    `found` is marked.
    """
    lines = coloured_lines(text, found)
    begin, end = _window(len(lines), line_of(text, found) or failing)
    rows = [_line(n, lines[n - 1], failing, frames, note, prefix) for n in range(begin, end + 1)]
    if begin > 1:
        rows.insert(0, _fold(begin - 1, "above"))
    if end < len(lines):
        rows.append(_fold(len(lines) - end, "below"))
    return _box(rows, height)


def raw(
    text: str, *, taken: range | None, failing: int | None = None, height: str = "480px", found: Sequence[Span] = ()
) -> str:
    """A whole completion; lines outside `taken`, which did not run, are faint. `found` is marked."""
    lines = plain_lines(text, found)
    begin, end = _window(len(lines), line_of(text, found) or failing or (taken.start if taken else None))
    rows = []
    for n in range(begin, end + 1):
        kind = "took" if taken is None or n in taken else "cut"
        kind += " fail" if n == failing else ""
        rows.append(f'<span class="ln {kind}" id="R{n}"><span class="no">{n}</span>{lines[n - 1] or " "}</span>')
    return _box(rows, height)


def line_of(text: str, found: Sequence[Span]) -> int | None:
    """The line of the first place that is marked."""
    return text.count("\n", 0, found[0][0]) + 1 if found else None


def plain_lines(text: str, found: Sequence[Span] = ()) -> list[str]:
    """Each line as escaped HTML."""
    marks = _by_line(text, found)
    return [_marked(line, 0, marks.get(number, ())) for number, line in enumerate(text.split("\n"))]


def coloured_lines(text: str, found: Sequence[Span] = ()) -> list[str]:
    """Each line as escaped HTML with a class per token."""
    if len(text) > MAX_CHARACTERS:
        return plain_lines(text, found)
    lines, column, marks = [""], 0, _by_line(text, found)
    for kind, value in PythonLexer(ensurenl=False, stripnl=False).get_tokens(text):
        name = _class_of(kind)
        for index, piece in enumerate(value.split("\n")):
            if index:
                lines.append("")
                column = 0
            if piece:
                shown = _marked(piece, column, marks.get(len(lines) - 1, ()))
                lines[-1] += f'<span class="{name}">{shown}</span>' if name else shown
                column += len(piece)
    return lines


def _by_line(text: str, found: Sequence[Span]) -> dict[int, list[Span]]:
    """The marked columns of each line, from 0."""
    marks: dict[int, list[Span]] = {}
    for start, end in found:
        line, column = text.count("\n", 0, start), start - (text.rfind("\n", 0, start) + 1)
        for part in text[start:end].split("\n"):
            marks.setdefault(line, []).append((column, column + len(part)))
            line, column = line + 1, 0
    return marks


def _marked(text: str, column: int, marks: Sequence[Span]) -> str:
    """The escaped piece of a line that begins at `column`, with its marks."""
    shown, at = "", 0
    for start, end in marks:
        begin, stop = max(start - column, at), min(end - column, len(text))
        if begin < stop:
            shown += f"{html(text[at:begin])}<mark>{html(text[begin:stop])}</mark>"
            at = stop
    return shown + html(text[at:])


def _class_of(kind: _TokenType) -> str:
    return next((name for parent, name in _CLASSES if kind in parent), "")


def _line(number: int, drawn: str, failing: int | None, frames: Collection[int], note: str, prefix: str) -> str:
    kind = " fail" if number == failing else " frame" if number in frames else ""
    said = f'<span class="note">↳ {html(note)}</span>' if note and number == failing else ""
    anchor = f"{prefix}{number}"
    return f'<span class="ln{kind}" id="{anchor}"><span class="no">{number}</span>{drawn or " "}{said}</span>'


def _fold(lines: int, where: str) -> str:
    return f'<span class="fold">{counted(lines, "line")} {where} not shown</span>'


def _window(total: int, centre: int | None) -> tuple[int, int]:
    if total <= MAX_LINES:
        return 1, total
    begin = max(1, min((centre or 1) - MAX_LINES // 2, total - MAX_LINES + 1))
    return begin, begin + MAX_LINES - 1


def _box(rows: list[str], height: str) -> str:
    body = "".join(rows)
    return f'<div class="rs-code" tabindex="0" style="max-height:{height}"><div class="rows">{body}</div></div>'
