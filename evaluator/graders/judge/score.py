"""The score in a judge's answer, in exactly one form."""

from __future__ import annotations

import re

from evaluator.graders.judge.failures import one_line

_FORM = re.compile(r"Score: ([0-9]{1,9}(?:\.[0-9]{1,9})?)")
_QUOTED = 80


class ScoreError(ValueError):
    """An answer has no score in the agreed form. One line that quotes its last line."""


def form(scale: float) -> str:
    """The instruction for the judge about the form of its score."""
    return (
        f"End your answer with one line of the form\nScore: N\n"
        f"where N is a number from 0 to {scale:g}. Write nothing after it, and no other such line before it."
    )


def score_of(text: str, scale: float) -> float:
    """The number N of the last line, `Score: N`, 0 <= N <= `scale`. Raises `ScoreError`.

    Blank lines after it and white space around it do not count. No other line may have that form.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise ScoreError("its answer is empty")
    last = _FORM.fullmatch(lines[-1])
    if last is None:
        raise ScoreError(f"its last line is {one_line(lines[-1], _QUOTED)!r}, not 'Score: N'")
    if (count := sum(_FORM.fullmatch(line) is not None for line in lines)) > 1:
        raise ScoreError(f"its answer has {count} lines with a score")
    score = float(last[1])
    if score > scale:
        raise ScoreError(f"its score is {last[1]}, not within 0 to {scale:g}")
    return score
