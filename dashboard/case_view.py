"""One test case: its input, and expected beside actual. Shared by a rollout's page and the task's."""

from __future__ import annotations

import re

import streamlit as st

from dashboard import code_view, diff, diff_view, facts
from evaluator.model import Mode, Verdict

SHOWN = 20_000
"""Characters of an input that are shown."""

_CELL = 160
_STATEMENT = re.compile(r"^(?=[\w@])(?!(?:else|elif|except|finally)\b)", re.MULTILINE)
_METHOD = re.compile(r"[\w.]+$", re.MULTILINE)
_STATEMENTS = (Mode.ASSERT, Mode.UNITTEST)
_WHAT = {
    Mode.STDIN: "stdin",
    Mode.CALL: "arguments, one a line",
    Mode.ASSERT: "statement",
    Mode.UNITTEST: "method",
    Mode.ANSWER: "what is checked",
}
_IN_WORDS = re.compile(r"(?:an?|anything|close|in|none|one|text) [a-z]|[<>]=? ")
"""What is expected where it is no value, such as `a true value`, `one of [1, 2]` or `< 3`."""


def is_code(mode: str) -> bool:
    """Whether a task's test cases are statements or methods of its test, not inputs with outputs."""
    return mode in _STATEMENTS


def name_of_input(mode: str) -> str:
    """What the input of a test case is."""
    return _WHAT.get(Mode(mode), "input") if mode in set(Mode) else "input"


def given(text: str, mode: str, *, height: int = 150) -> None:
    """The input: a test's code coloured, other inputs as they are. Beyond `SHOWN` characters its head."""
    if is_code(mode):
        st.html(code_view.code(text[:SHOWN].rstrip("\n"), prefix="I", height=f"{height}px", wrap=True))
    else:
        room = 28 + 20 * (text.count("\n") + 1)
        facts.verbatim(text[:SHOWN], height=min(height, room), wrap=True)


def in_one_line(text: str, mode: str) -> str:
    """The beginning of an input or output, for a table. Of a method its name; of statements the last."""
    if mode == Mode.UNITTEST and _METHOD.match(text):
        return text.split("\n", 1)[0][:_CELL]
    if is_code(mode):
        return " ".join(text[_last_statement(text) :][: 4 * _CELL].split())[:_CELL]
    return diff_view.visible(text[:_CELL]) if "\n" in text[:_CELL] else text[:_CELL]


def _last_statement(source: str) -> int:
    """Where the last line begins that is neither indented nor the end of a bracket: those before it set it up."""
    starts = [match.start() for match in _STATEMENT.finditer(source)]
    return starts[-1] if starts else 0


def expected_and_actual(
    verdict: Verdict, expected: str | None, actual: str | None, difference: str | None, mode: str
) -> None:
    """Both sides with their first difference; what there is of them where the test case was not compared."""
    compared = verdict in (Verdict.PASSED, Verdict.WRONG_ANSWER)
    if is_code(mode):
        _asked_and_got(verdict, expected, actual, difference)
        return
    if mode == Mode.ANSWER:
        _checked(verdict, expected, actual, difference)
        return
    if expected is None and actual is None:
        return
    if expected is None:
        _got(actual or "")
        return
    if not actual and not (compared and expected):
        _nothing(expected, verdict)
        return
    actual = actual or ""
    if verdict is Verdict.WRONG_ANSWER:
        where = f"First difference: {difference}" if difference else diff_view.banner(diff.compare(expected, actual))
        facts.banner(where)
    elif compared and expected != actual:
        facts.note("Equal to the checker; the texts differ as marked.")
    elif not compared:
        facts.note(f"What came before {verdict.value}:")
    st.html(diff_view.side_by_side(expected, actual))


def _asked_and_got(verdict: Verdict, expected: str | None, actual: str | None, difference: str | None) -> None:
    """Of a statement: the message names both sides, and may be all that there is."""
    if difference:
        facts.banner(difference, code=True)
    if expected and actual:
        as_text = verdict is Verdict.WRONG_ANSWER and not _IN_WORDS.match(expected)
        st.html((diff_view.side_by_side if as_text else diff_view.beside)(expected, actual))
    elif actual:
        _got(actual)
    elif verdict is Verdict.PASSED:
        facts.note("It holds.")
    elif expected and not difference:
        _nothing(expected, verdict)


def _checked(verdict: Verdict, expected: str | None, actual: str | None, difference: str | None) -> None:
    """Of an answer: what is expected need not be the text that is wanted, such as `0 to 120` or one answer a line."""
    if difference:
        facts.banner(difference)
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
