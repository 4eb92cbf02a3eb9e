"""The score in a judge's answer, in one form and no other."""

from __future__ import annotations

import re

from evaluator.graders.judge.failures import one_line

_FORM = re.compile(r"Score: ([0-9]{1,9}(?:\.[0-9]{1,9})?)")
_QUOTED = 80


class ScoreError(ValueError):
    """An answer has no score in the agreed form. One line that quotes its last line."""


def form(scale: float) -> str:
    """What a judge is told of the form in which its score is read."""
    return (
        f"End your answer with one line of the form\nScore: N\n"
        f"where N is a number from 0 to {scale:g}. Write nothing after it, and no other such line before it."
    )


def score_of(text: str, scale: float) -> float:
    """The number N of the last line, `Score: N`, 0 <= N <= `scale`. Raises `ScoreError`.

    Blank lines after it and white space around it do not count. That line is the only one of its form.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = [match for line in lines if (match := _FORM.fullmatch(line))]
    if not lines:
        raise ScoreError("its answer is empty")
    last = _FORM.fullmatch(lines[-1])
    if last is None:
        raise ScoreError(f"its last line is {one_line(lines[-1], _QUOTED)!r}, not 'Score: N'")
    if len(found) > 1:
        raise ScoreError(f"its answer has {len(found)} lines with a score")
    score = float(last[1])
    if score > scale:
        raise ScoreError(f"its score is {last[1]}, not within 0 to {scale:g}")
    return score
