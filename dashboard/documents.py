"""The documentation as a page, so that what a word means is one click away, also without a network."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import streamlit as st

from dashboard import facts, state
from dashboard.state import View

_FOLDER = Path(__file__).resolve().parent.parent / "docs"
_FIRST = ("dashboard", "verdicts", "checks", "checkers", "graders", "formats", "command", "compare", "audit")
"""The documents that the pages link to, in the list's order; the others follow by name."""
_LINK = re.compile(r"\]\(([\w-]+)\.md(#[\w-]+)?\)")
_OUTSIDE = re.compile(r"\[([^\]]*)\]\((?:images/|\.\./)[^)]*\)")


def href(doc: str) -> str:
    """The address of a document, which may have the anchor of a heading."""
    name, mark, anchor = doc.partition("#")
    return state.href("docs", View(view=name)) + mark + anchor


def show(view: View) -> None:
    """The list of documents beside the one that the view names."""
    known = _names()
    if not known:
        facts.note("This installation has no documentation; it is in the folder docs of the repository.")
        return
    current = view.view if view.view in known else known[0]
    left, right = st.columns([1, 5], gap="medium")
    with left:
        for name in known:
            state.link("docs", view.place().but(view=name), name.replace("-", " "))
    with right, st.container(key="document"):
        st.markdown(_text(current))


@cache
def _names() -> list[str]:
    found = {path.stem for path in _FOLDER.glob("*.md")}
    return [name for name in _FIRST if name in found] + sorted(found - {*_FIRST})


@cache
def _text(name: str) -> str:
    """Its Markdown. Links to other documents lead to this page; other files are not served."""
    text = (_FOLDER / f"{name}.md").read_text(encoding="utf-8")
    return _OUTSIDE.sub(r"\1", _LINK.sub(lambda found: f"]({href(found[1] + (found[2] or ''))})", text))
