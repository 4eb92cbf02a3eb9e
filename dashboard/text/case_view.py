"""One test case: its input, and expected beside actual. The Completion and the Tasks page share it."""

from __future__ import annotations

import re
from typing import NamedTuple

import streamlit as st

from dashboard import facts, theme
from dashboard.facts import counted
from dashboard.queries.records import CaseRecord, decoded
from dashboard.text import code_view, diff, diff_view, values
from evaluator.model import Excerpt, Mode, Verdict

SHOWN = 20_000
"""The most characters of an input that are shown."""

_RAW_FROM = 3
"""Rows from which on the raw texts have a tab."""
_CELL = 160
_STATEMENT = re.compile(r"^(?=[\w@])(?!(?:else|elif|except|finally)\b)", re.MULTILINE)
_METHOD = re.compile(r"[\w.]+$", re.MULTILINE)
_STATEMENTS = (Mode.ASSERT, Mode.UNITTEST)
_WHAT = {
    Mode.STDIN: "stdin",
    Mode.CALL: "arguments, one per line",
    Mode.ASSERT: "statement",
    Mode.UNITTEST: "method",
    Mode.ANSWER: "what the grader checks",
}
_NO_ANSWER = {Verdict.UNKNOWN: "not known", Verdict.NOT_RUN: "not run"}
_IN_WORDS = re.compile(r"(?:an?|anything|close|in|none|one|text) [a-z]|[<>]=? ")
_PLACE = re.compile(r"line \d|\[")


def is_code(mode: str) -> bool:
    """Whether test cases of this mode are statements or methods of the task's test code, not inputs with outputs."""
    return mode in _STATEMENTS


def name_of_input(mode: str) -> str:
    """What kind of input a test case of this mode has."""
    return _WHAT.get(Mode(mode), "input") if mode in set(Mode) else "input"


def show_input(text: str, mode: str, *, height: int = 150) -> None:
    """The input: test code coloured, other inputs as text. Only the first `SHOWN` characters."""
    if is_code(mode):
        st.html(code_view.code(text[:SHOWN].rstrip("\n"), prefix="I", height=f"{height}px"))
    else:
        room = 28 + 20 * (text.count("\n") + 1)
        facts.verbatim(text[:SHOWN], height=min(height, room))


def note_cut(text: str) -> bool:
    """Say so, and return True, if only the start of a text is shown."""
    if len(text) > SHOWN:
        facts.note(f"The first {SHOWN:,} of {counted(len(text), 'character')}.")
    return len(text) > SHOWN


def in_one_line(text: str, mode: str) -> str:
    """The start of an input or output, for a table. A method's name; the last of several statements."""
    if mode == Mode.UNITTEST and _METHOD.match(text):
        return text.split("\n", 1)[0][:_CELL]
    if is_code(mode):
        return " ".join(text[_last_statement(text) :][: 4 * _CELL].split())[:_CELL]
    return diff_view.visible(text[:_CELL]) if "\n" in text[:_CELL] else text[:_CELL]


def _last_statement(source: str) -> int:
    """The start of the last line that is neither indented nor a closing bracket: the lines before it prepare it."""
    starts = [match.start() for match in _STATEMENT.finditer(source)]
    return starts[-1] if starts else 0


class Sides(NamedTuple):
    """The two sides of a test case, as a run keeps them."""

    verdict: Verdict
    expected: str | None
    actual: str | None
    difference: str | None
    mode: str
    line: int | None = None
    """Where the difference is in the actual output, if the checker says so."""
    checker: str | None = None
    """The rule by which values are equal."""
    excerpt: Excerpt | None = None

    def compared(self) -> diff.Comparison:
        """Item by item where both are values, else line by line."""
        sides = self.expected or "", self.actual or ""
        found = None if self.mode == Mode.STDIN else values.compare(*sides, self.checker, self.excerpt)
        return found or diff.compare(*sides, self.excerpt)


def sides_of(case: CaseRecord, mode: str, checker: str | None) -> Sides:
    """Those of a stored test case."""
    kept, verdict = decoded(case.excerpt, Excerpt), theme.verdict(case.verdict)
    return Sides(verdict, case.expected, case.actual, case.difference, mode, case.diff_line, checker, kept)


def first_difference(sides: Sides) -> str:
    """What is wrong, in one line: what is missing or extra, else what the checker says, else where the texts differ."""
    said, mode = sides.difference, sides.mode
    if said and _speaks(said):
        return said
    compared = sides.verdict is Verdict.WRONG_ANSWER and sides.expected is not None and sides.actual
    if not compared or mode == Mode.ANSWER or (is_code(mode) and not said):
        return f"First difference: {said}" if said else ""
    found = sides.compared()
    first = found.first_row(sides.line)
    if first and first.said:
        text = "".join(text for text, _ in first.left or first.right or ())
        return f"First difference: {first.said}: {'expected' if first.left else 'got'} {text[:_CELL]}"
    return f"First difference: {said}" if said else diff_view.banner(found)


def _speaks(difference: str) -> bool:
    """Whether it needs no introduction, unlike `line 3, column 1` or `[0][1]: expected 5, got 4`."""
    return not _PLACE.match(difference)


def expected_and_actual(sides: Sides, *, introduced: bool = False) -> None:
    """Both sides with their first difference; or the sides that there are, where the test case was not compared.

    `introduced`: the page says already what `first_difference` says.
    """
    said = "" if introduced else first_difference(sides)
    verdict, expected, actual = sides[:3]
    if said:
        facts.banner(said, code=is_code(sides.mode))
    if is_code(sides.mode):
        _statement(sides)
    elif sides.mode == Mode.ANSWER:
        _checked(verdict, expected, actual, sides.difference)
    elif expected is None:
        if actual is not None:
            _got(actual)
    else:
        _output(sides, expected, actual or "")


def _output(sides: Sides, expected: str, actual: str) -> None:
    """For an output or a value: both texts."""
    verdict = sides.verdict
    compared = verdict in (Verdict.PASSED, Verdict.WRONG_ANSWER)
    if not actual and not (compared and expected):
        _nothing(expected, verdict)
        return
    if verdict is Verdict.PASSED and expected != actual:
        facts.note("The checker accepts it; the texts differ as marked.")
    elif not compared:
        facts.note(f"Output before {verdict.value}:")
    _both(sides, expected, actual)


def _both(sides: Sides, expected: str, actual: str) -> None:
    """The rows of both sides; the texts as they are in a second tab."""
    found = sides.compared()
    drawn = diff_view.rows(found, expected, actual, sides.line)
    if len(found.rows) < _RAW_FROM:
        st.html(drawn)
        return
    shown, raw = st.tabs([f"By {found.actual.noun}", "Raw text"])
    shown.html(drawn)
    raw.html(diff_view.beside(expected, actual))


def _statement(sides: Sides) -> None:
    """For a statement: the message names both sides, and may be all there is."""
    verdict, expected, actual = sides[:3]
    if expected and actual and verdict is Verdict.WRONG_ANSWER and not in_words(expected):
        _both(sides, expected, actual)
    elif expected and actual:
        st.html(diff_view.beside(expected, actual))
    elif actual:
        _got(actual)
    elif verdict is Verdict.PASSED:
        facts.note("Passed: the statement raised nothing.")
    elif expected and not sides.difference:
        _nothing(expected, verdict)


def in_words(expected: str) -> bool:
    """Whether an expectation is a description, such as `a true value`, `one of [1, 2]` or `< 3`, and no value."""
    return bool(_IN_WORDS.match(expected))


def _checked(verdict: Verdict, expected: str | None, actual: str | None, difference: str | None) -> None:
    """For an answer: the expectation may be no text to match, such as `0 to 120` or one answer per line."""
    if expected and actual is not None:
        is_text = (difference or "").startswith("expected ")  # not `0 to 120`, or a schema
        as_text = verdict is Verdict.WRONG_ANSWER and is_text and "\n" not in expected
        st.html((diff_view.side_by_side if as_text else diff_view.beside)(expected, actual))
    elif actual is not None:
        _got(actual)
    elif expected:
        _nothing(expected, verdict)


def _got(actual: str) -> None:
    facts.section("Actual")
    st.html(diff_view.text_block(actual))


def _nothing(expected: str, verdict: Verdict) -> None:
    if verdict in (Verdict.PASSED, Verdict.WRONG_ANSWER):
        got = "nothing"
    else:
        got = _NO_ANSWER.get(verdict) or f"nothing before {verdict.value}"
    st.html(diff_view.expected_alone(expected, got))
