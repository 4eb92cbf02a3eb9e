"""One test case: its input, and expected beside actual. The Completion and the Tasks page share it."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

import streamlit as st

from dashboard import facts
from dashboard.facts import counted
from dashboard.text import code_view, diff, diff_view
from evaluator.model import Mode, Verdict
from evaluator.syntax import tree_of

_LONGEST = 20_000
_PARTS = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.USub, ast.expr_context)


def alike(expected: str, actual: str) -> tuple[str, str]:
    """Both as Python writes them; as they are where one is not a literal, or where nothing would be left to see."""
    ours, theirs = written(expected), written(actual)
    if ours is None or theirs is None or ours == theirs:
        return expected, actual
    return ours, theirs


def same_literal(one: str, other: str) -> bool:
    """Whether they are the same text, or the same literal."""
    return one == other or (written(one) is not None and written(one) == written(other))


@lru_cache(maxsize=1_000)
def written(text: str) -> str | None:
    """`[1, 'a']` for `[1,"a"]`. None if the text is not a literal, or very long. Nothing is evaluated."""
    tree = tree_of(text.strip()) if len(text) <= _LONGEST else None
    if tree is None or len(tree.body) != 1:
        return None
    (only,) = tree.body
    if not isinstance(only, ast.Expr) or not all(isinstance(node, _PARTS) for node in ast.walk(only.value)):
        return None
    return ast.unparse(only.value)


SHOWN = 20_000
"""The most characters of an input that are shown."""

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
        st.html(code_view.code(text[:SHOWN].rstrip("\n"), prefix="I", height=f"{height}px", wrap=True))
    else:
        room = 28 + 20 * (text.count("\n") + 1)
        facts.verbatim(text[:SHOWN], height=min(height, room), wrap=True)


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


def first_difference(
    verdict: Verdict, expected: str | None, actual: str | None, difference: str | None, mode: str
) -> str:
    """What is wrong, in one line: what the checker says, else where the texts first differ; or nothing."""
    if difference:
        return difference if _speaks(difference) else f"First difference: {difference}"
    compared = verdict is Verdict.WRONG_ANSWER and not is_code(mode) and mode != Mode.ANSWER
    return diff_view.banner(diff.compare(expected, actual)) if compared and expected is not None and actual else ""


def _speaks(difference: str) -> bool:
    """Whether it needs no introduction, unlike `line 3, column 1` or `[0][1]: expected 5, got 4`."""
    return not _PLACE.match(difference)


def expected_and_actual(
    verdict: Verdict,
    expected: str | None,
    actual: str | None,
    difference: str | None,
    mode: str,
    line: int | None = None,
    *,
    introduced: bool = False,
) -> None:
    """Both sides with their first difference; or the sides that there are, where the test case was not compared.

    `line`: where the difference is in the actual output, if the checker says so.
    `introduced`: the page says already what `first_difference` says.
    """
    said = "" if introduced else first_difference(verdict, expected, actual, difference, mode)
    if said:
        facts.banner(said, code=is_code(mode))
    if is_code(mode):
        _statement(verdict, expected, actual, difference)
    elif mode == Mode.ANSWER:
        _checked(verdict, expected, actual, difference)
    elif expected is None:
        if actual is not None:
            _got(actual)
    else:
        values = (expected, actual or "")
        _output(verdict, *(alike(*values) if mode == Mode.CALL else values), line)


def _output(verdict: Verdict, expected: str, actual: str, line: int | None) -> None:
    """For an output or a value: both texts."""
    compared = verdict in (Verdict.PASSED, Verdict.WRONG_ANSWER)
    if not actual and not (compared and expected):
        _nothing(expected, verdict)
        return
    if verdict is Verdict.PASSED and expected != actual:
        facts.note("The checker accepts it; the texts differ as marked.")
    elif not compared:
        facts.note(f"Output before {verdict.value}:")
    st.html(diff_view.side_by_side(expected, actual, line))


def _statement(verdict: Verdict, expected: str | None, actual: str | None, difference: str | None) -> None:
    """For a statement: the message names both sides, and may be all there is."""
    if expected and actual:
        as_text = verdict is Verdict.WRONG_ANSWER and not in_words(expected)
        st.html((diff_view.side_by_side if as_text else diff_view.beside)(*alike(expected, actual)))
    elif actual:
        _got(actual)
    elif verdict is Verdict.PASSED:
        facts.note("Passed: the statement raised nothing.")
    elif expected and not difference:
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
        got = "not known" if verdict is Verdict.UNKNOWN else f"nothing before {verdict.value}"
    st.html(diff_view.expected_alone(expected, got))
