"""Where the runs of two codes for the same task part: their steps on the lines that both have, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rapidfuzz import fuzz, process
from rapidfuzz.distance import Indel, Levenshtein

from evaluator.syntax import lines_of
from evaluator.tracing import Step, Trace

_MOST_LINES = 2_000
_ALIKE = 60
_CLOSEST = 20


class Parting(NamedTuple):
    """The steps at which two runs differ, or the two after their last common one; None for a run that has ended."""

    ours: Step | None
    theirs: Step | None
    before: Step | None = None
    """Our last common step, where they went on to different lines."""


def levelled(code: str) -> str:
    """The code with four spaces for each level of its lines: the width of an indent makes no difference."""
    levels, out = [0], []
    for line in lines_of(code):
        text = line.lstrip()
        if text:
            width = len(line.expandtabs()) - len(text.expandtabs())
            while width < levels[-1]:
                levels.pop()
            if width > levels[-1]:
                levels.append(width)
        out.append("    " * (len(levels) - 1) + text if text else "")
    return "\n".join(out)


def nearest(code: str, others: Sequence[str]) -> tuple[int, float]:
    """The place of the code that is most like this one, and how many of its characters are the same, in percent.

    Only those whose lines are most alike are compared character by character, which takes longer.
    """
    ours, theirs = levelled(code), [levelled(other) for other in others]
    by_lines = process.extract(
        ours.split("\n"), [text.split("\n") for text in theirs], scorer=Indel.normalized_similarity, limit=_CLOSEST
    )
    scores = {place: fuzz.ratio(ours, theirs[place]) for _, _, place in by_lines}
    best = max(scores, key=scores.__getitem__)
    return best, scores[best]


def same_lines(ours: str, theirs: str) -> dict[int, int]:
    """Our lines that the other code has too, or has much alike in the same place."""
    left, right = ([line.strip() for line in lines_of(code)[:_MOST_LINES]] for code in (ours, theirs))
    found: dict[int, int] = {}
    for piece in Levenshtein.opcodes(left, right):
        if piece.tag in ("equal", "replace"):
            for line in range(piece.src_start, piece.src_end):
                other = line - piece.src_start + piece.dest_start
                if fuzz.ratio(left[line], right[other]) >= _ALIKE:
                    found[line + 1] = other + 1
    return found


def part(ours: Trace, theirs: Trace, lines: dict[int, int]) -> Parting | None:
    """Where two runs part, as the steps on their common lines show; None if they do not."""
    known = set(lines.values())
    left = [index for index, step in enumerate(ours.steps) if step.line in lines]
    right = [index for index, step in enumerate(theirs.steps) if step.line in known]
    common = 0
    for one, other in zip((ours.steps[i] for i in left), (theirs.steps[i] for i in right), strict=False):
        if lines[one.line] != other.line:
            break
        if _differ(one, other):
            return Parting(one, other)
        common += 1
    is_end = common == min(len(left), len(right))
    if is_end and (common == 0 or len(left) == len(right) or not (_is_whole(ours) and _is_whole(theirs))):
        return None
    before = ours.steps[left[common - 1]] if common else None
    return Parting(_next(ours, left[:common]), _next(theirs, right[:common]), before)


def _next(trace: Trace, common: Sequence[int]) -> Step | None:
    """The step that follows the common ones at once, also on a line that the other code does not have."""
    place = common[-1] + 1 if common else 0
    return trace.steps[place] if place < len(trace.steps) else None


def _differ(one: Step, other: Step) -> bool:
    """Whether two steps did different things. Names do not matter; nor do values that are kept in other variables."""
    left, right = (sorted(change.value for change in step.changed) for step in (one, other))
    return one.said != other.said or (len(left) == len(right) and left != right)


def _is_whole(trace: Trace) -> bool:
    return trace.end is not None and trace.end.steps == len(trace.steps)
