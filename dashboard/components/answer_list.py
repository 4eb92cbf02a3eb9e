"""The distinct answers to a test case, each with its samples; every sample links to its completion at that test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dashboard import escape, state, theme
from dashboard.facts import short_sample
from dashboard.queries.answers import SHOWN, Answer
from dashboard.state import View
from dashboard.text import values
from evaluator.model import Verdict

_mount = theme.component("answer_list", '<div class="answers" role="list"></div>', "links.js")


class Mine(NamedTuple):
    """The sample of the page, whose answer is marked, and the answer that its test case expects."""

    sample_id: str
    expected: str


def show(found: Sequence[Answer], here: View, *, height: str, mine: Mine | None = None) -> None:
    """`here` is a completion's view, with task and test; a click on a sample opens that with the sample.

    An expected answer that nobody gave is listed last, with no samples.
    """
    total = sum(answer.rollouts for answer in found if answer.verdict != Verdict.NOT_RUN)
    rows = [_row(answer, total, here, mine) for answer in found]
    if mine and mine.expected and not any(row["mark"] for row in rows):
        rows.append(_nobody(mine.expected, total))
    _mount(key="answers", data={"rows": rows, "palette": theme.palette(), "height": height})


def said(verdict: str, text: str | None) -> str:
    """An answer as one text; where there was none to compare, the verdict's word."""
    if text is None:
        return "passes" if verdict == Verdict.PASSED else verdict
    return text.rstrip("\n") or "(nothing)"


def _row(answer: Answer, total: int, here: View, mine: Mine | None) -> dict[str, object]:
    error = f": {answer.error}" if answer.error and answer.text is None else ""
    samples = [
        {
            "label": escape.text(short_sample(here.task, sample)),
            "title": escape.text(f"{sample} ({model})" if model else sample),
            "href": state.href("completion", here.but(sample=sample)),
            "here": mine is not None and sample == mine.sample_id,
        }
        for sample, model in zip(answer.samples, answer.models, strict=True)
    ]
    unlisted = answer.rollouts - len(samples)
    return {
        "letter": theme.verdict(answer.verdict).letter,
        "text": escape.text(said(answer.verdict, answer.text) + error),
        "words": answer.text is None,
        "mark": _mark(answer, mine) if mine else "",
        "here": answer.is_own,
        "count": f"{answer.rollouts:,}" if answer.verdict == Verdict.NOT_RUN else f"{answer.rollouts:,} of {total:,}",
        "samples": samples,
        "rollouts": answer.rollouts,
        "unlisted": f"and {unlisted:,} more" if unlisted else "",
    }


def _mark(answer: Answer, mine: Mine) -> str:
    if mine.expected and answer.text is not None and values.same_literal(answer.text, mine.expected[:SHOWN]):
        return "expected"
    return "accepted" if answer.verdict == Verdict.PASSED and answer.text is not None else ""


def _nobody(expected: str, total: int) -> dict[str, object]:
    return {
        "letter": "",
        "text": escape.text(expected[:SHOWN]),
        "words": False,
        "mark": "expected",
        "here": False,
        "count": f"0 of {total:,}",
        "samples": [],
        "rollouts": 0,
        "unlisted": "",
    }
