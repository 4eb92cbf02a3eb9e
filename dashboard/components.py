"""What a reward is made of, as a table. Names and messages may come from a completion or a judge: never markup."""

from __future__ import annotations

from typing import Any

import msgspec
import streamlit as st

from dashboard import facts
from dashboard.plain import html
from evaluator.model import Component

_LONGEST = 200
_RIGHT = ' style="text-align:right"'
_HEADS = {"part": 16, "reward": 11, "weight": 11, "weighted": 13, "verdict": 30, "message": 19}
"""Each column with its share of the width."""
_NUMBERS = ("reward", "weight", "weighted")


def of(rollout: dict[str, Any]) -> list[Component]:
    """The parts of a rollout's reward; none where it has no parts, or a run of an older version."""
    try:
        return msgspec.json.decode(rollout.get("components") or "[]", type=list[Component])
    except (msgspec.DecodeError, msgspec.ValidationError):
        return []


def show(rollout: dict[str, Any]) -> None:
    """The table; nothing where the reward is one number."""
    found = of(rollout)
    if not found:
        return
    facts.section("What the reward is made of")
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
    if len(message) > _LONGEST:
        message = f"{message[: _LONGEST - 1]}…"
    return f"<tr><td>{html(part.name)}</td>{cells}<td>{verdict}</td><td>{html(message)}</td></tr>"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"
