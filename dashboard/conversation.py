"""What a rollout did before its last message: tool calls with their results, reasoning, several turns.

All of it comes from a model or a tool: it is shown as text, never as markup.
"""

from __future__ import annotations

import json

import msgspec
import streamlit as st

from dashboard import escape, facts
from dashboard.wording import counted

_MAX_ITEMS = 200
_MAX_LABEL = 80


class Item(msgspec.Struct, frozen=True):
    """One item of a conversation; `omitted` counts the characters left out of it."""

    type: str
    role: str | None = None
    name: str | None = None
    text: str | None = None
    arguments: str | None = None
    output: str | None = None
    omitted: int = 0


class _Metadata(msgspec.Struct, frozen=True):
    conversation: list[Item] = []


def items(metadata: str | None) -> list[Item]:
    """The conversation in a rollout's metadata; none for a single message, or where the name means something else."""
    try:
        return msgspec.convert(json.loads(metadata or "{}"), _Metadata).conversation
    except (ValueError, RecursionError, msgspec.ValidationError):
        return []


def show(metadata: str | None) -> None:
    """Every item in order, folded; nothing where the completion is all there is."""
    found = items(metadata)
    if not found:
        return
    with st.expander(f"Conversation: {counted(len(found), 'item')}", expanded=False):
        for number, item in enumerate(found[:_MAX_ITEMS], start=1):
            st.text(f"{number}. {_label(item)}")
            _text("", item.text)
            _text("arguments", item.arguments)
            _text("output", item.output)
            if item.omitted:
                st.text(f"{counted(item.omitted, 'character')} left out")
        if len(found) > _MAX_ITEMS:
            st.text(f"{counted(len(found) - _MAX_ITEMS, 'item')} more: see the rollouts file.")


def _label(item: Item) -> str:
    """Its role and type, with the name of a tool."""
    type_, role, name = (_line(text or "") for text in (item.type, item.role, item.name))
    head = f"{role} {type_}".strip()
    return f"{head}: {name}" if name else head


def _line(text: str) -> str:
    text = " ".join(escape.text(text).split())
    return text if len(text) <= _MAX_LABEL else f"{text[: _MAX_LABEL - 1]}…"


def _text(caption: str, text: str | None) -> None:
    if text and caption:
        st.caption(caption)
    if text:
        facts.verbatim(text, height=min(240, 60 + 20 * text.count("\n")), wrap=True)
