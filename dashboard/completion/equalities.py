"""Whether a wrong answer is right under more lenient rules, so that a grader that is too strict can be seen."""

from __future__ import annotations

import re

from dashboard.queries.records import CaseRecord
from dashboard.text import case_view
from dashboard.text.excerpt import taken_apart
from evaluator.checkers import get_checker
from evaluator.model import Mode, Verdict

_RULES = {"after strip": "lines", "as tokens": "tokens", "as floats": "floats"}
_LONGEST = 200_000
"""Characters of both sides together; longer outputs are not compared again."""
_BRACKETS = re.compile(r"([\[\](){},:])")
_CUT = " characters left out"


def of(test: CaseRecord | None, mode: str) -> list[tuple[str, bool]]:
    """(rule, whether expected and actual are equal by it); none where both are not known as a whole."""
    if test is None or test.verdict != Verdict.WRONG_ANSWER or test.expected is None or test.actual is None:
        return []
    described = mode == Mode.ANSWER or (case_view.is_code(mode) and case_view.in_words(test.expected))
    if described or not (_whole(test.expected) and _whole(test.actual)):
        return []
    if len(test.expected) + len(test.actual) > _LONGEST:
        return []
    by_value = mode != Mode.STDIN
    return [(name, _equal(rule, test.expected, test.actual, by_value=by_value)) for name, rule in _RULES.items()]


def _whole(text: str) -> bool:
    return taken_apart(text).gap is None and not text.endswith(_CUT)


def _equal(rule: str, expected: str, actual: str, *, by_value: bool) -> bool:
    """`by_value`: the texts are values as Python writes them, whose numbers stand between brackets and commas."""
    if by_value and rule == "floats":
        expected, actual = (_BRACKETS.sub(r" \1 ", text) for text in (expected, actual))
    return get_checker(rule).rules["text"](expected, actual) is None
