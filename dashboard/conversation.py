"""What a rollout did before its last message: tool calls with what came back, reasoning, several turns.

All of it comes from a model or a tool: it is shown as text, and is never markup.
"""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from dashboard import facts, plain
from dashboard.wording import counted

_MOST_ITEMS = 200
_LONGEST_LABEL = 80
_TEXTS = ("text", "arguments", "output")


def of(rollout: dict[str, Any]) -> list[dict[str, Any]]:
    """The items that the rollout's metadata keeps; none for a single message, or where the name means another thing."""
    try:
        metadata = json.loads(rollout.get("metadata") or "{}")
    except (ValueError, RecursionError):
        return []
    found = metadata.get("conversation") if isinstance(metadata, dict) else None
    items = found if isinstance(found, list) else []
    ours = all(map(_is_ours, items))
    return items if ours else []


def show(rollout: dict[str, Any]) -> None:
    """Every item in its order, folded; nothing where the completion is all there is."""
    items = of(rollout)
    if not items:
        return
    with st.expander(f"Conversation: {counted(len(items), 'item')}", expanded=False):
        for number, item in enumerate(items[:_MOST_ITEMS], start=1):
            st.text(f"{number}. {_label(item)}")
            for name in _TEXTS:
                _text(name, item)
            if item.get("omitted"):
                st.text(f"{counted(item['omitted'], 'character')} left out")
        if len(items) > _MOST_ITEMS:
            st.text(f"{counted(len(items) - _MOST_ITEMS, 'item')} more: the file of the rollouts has them.")


def _is_ours(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("type"), str) and isinstance(item.get("omitted", 0), int)


def _label(item: dict[str, Any]) -> str:
    """Who said it or what it is, with the name of a tool."""
    type_, role, name = (_line(item.get(key)) for key in ("type", "role", "name"))
    head = f"{role} {type_}".strip() if role else type_
    return f"{head}: {name}" if name else head


def _line(value: Any) -> str:
    text = value if isinstance(value, str) else ""
    text = " ".join(plain.text(text).split())
    return text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 1]}…"


def _text(name: str, item: dict[str, Any]) -> None:
    value = item.get(name)
    if not isinstance(value, str) or not value:
        return
    if name != "text":
        st.caption(name)
    facts.verbatim(value, height=min(240, 60 + 20 * value.count("\n")), wrap=True)
