"""The parts of a reward, as a table. Names and messages may come from a completion or a judge: never markup."""

from __future__ import annotations

import streamlit as st

from dashboard import facts
from dashboard.escape import html
from dashboard.queries.records import RolloutRecord, decoded
from evaluator.model import Component

_MAX_MESSAGE = 200
_RIGHT = ' style="text-align:right"'
_HEADS = {"part": 16, "reward": 11, "weight": 11, "weighted": 13, "verdict": 30, "message": 19}
"""The columns, with their share of the width."""
_NUMBERS = ("reward", "weight", "weighted")


def show(rollout: RolloutRecord) -> None:
    """The table; nothing where the reward is one number."""
    found = decoded(rollout.components, list[Component])
    if not found:
        return
    facts.section("Parts of the reward")
    widths = "".join(f'<col style="width:{share}%">' for share in _HEADS.values())
    head = "".join(f"<th{_RIGHT if name in _NUMBERS else ''}>{name}</th>" for name in _HEADS)
    body = "".join(map(_row, found))
    st.html(
        '<div class="rs-diff" role="group" aria-label="components" style="max-height:240px"><table>'
        f"<colgroup>{widths}</colgroup><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(part: Component) -> str:
    weighted = None if part.reward is None else part.reward * part.weight
    numbers = (_number(part.reward), f"{part.weight:g}", _number(weighted))
    cells = "".join(f"<td{_RIGHT}>{number}</td>" for number in numbers)
    verdict = f"{facts.chip_html(part.verdict.value)} {part.verdict.value}"
    message = part.message or ""
    if len(message) > _MAX_MESSAGE:
        message = f"{message[: _MAX_MESSAGE - 1]}…"
    return f"<tr><td>{html(part.name)}</td>{cells}<td>{verdict}</td><td>{html(message)}</td></tr>"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"
