"""The distinct answers to a test case, each with its samples; every sample links to its completion at that test."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import escape, state, theme
from dashboard.queries.answers import Answer
from dashboard.state import View
from dashboard.wording import short_sample
from evaluator.model import Verdict

_mount = st.components.v2.component(
    "rollscope_answer_list",
    html='<div class="answers" role="list"></div>',
    css=theme.asset("answer_list.css"),
    js=theme.asset("links.js", "answer_list.js"),
)


def show(found: Sequence[Answer], view: View, *, task_id: str, test: int, height: str) -> None:
    """`view` is the page's; a click on a sample opens its completion, from which "Up" leads back here."""
    total = sum(answer.rollouts for answer in found if answer.verdict != Verdict.NOT_RUN)
    here = view.place().but(task=task_id, test=test, up=view.but(task=task_id, test=test).below())

    def picked() -> None:
        row, sample = st.session_state["answers"].pick
        state.go("completion", here.but(sample=found[row].samples[sample]))

    rows = [_row(answer, total, here, task_id) for answer in found]
    _mount(key="answers", data={"rows": rows, "palette": theme.palette(), "height": height}, on_pick_change=picked)


def said(verdict: str, text: str | None) -> str:
    """An answer as one text; where there was none to compare, the verdict's word."""
    if text is None:
        return "it holds" if verdict == Verdict.PASSED else verdict
    return text.rstrip("\n") or "(nothing)"


def _row(answer: Answer, total: int, here: View, task_id: str) -> dict[str, object]:
    error = f": {answer.error}" if answer.error and answer.text is None else ""
    samples = [
        {
            "label": escape.text(short_sample(task_id, sample)),
            "title": escape.text(f"{sample} ({model})" if model else sample),
            "href": state.href("completion", here.but(sample=sample)),
        }
        for sample, model in zip(answer.samples, answer.models, strict=True)
    ]
    more = answer.rollouts - len(samples)
    return {
        "letter": theme.verdict(answer.verdict).letter,
        "text": escape.text(said(answer.verdict, answer.text) + error),
        "words": answer.text is None,
        "count": f"{answer.rollouts:,}" if answer.verdict == Verdict.NOT_RUN else f"{answer.rollouts:,} of {total:,}",
        "samples": samples,
        "more": f"and {more:,} more" if more else "",
    }
