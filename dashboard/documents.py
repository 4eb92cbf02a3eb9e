"""The documentation as a page, so that what a word means is one click away, also without a network."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import streamlit as st

from dashboard import facts, state
from dashboard.state import View

_FOLDER = Path(__file__).resolve().parent.parent / "docs"
_SECTIONS = {
    "start": "Start",
    "how-to": "How-to",
    "concepts": "Concepts",
    "reference": "Reference",
    "integrations": "Integrations",
    "project": "Project",
}
"""The folders of documents, in the list's order. No two documents share a name."""
_DEFAULT = "dashboard"
_LINK = re.compile(r"\]\((?:[\w./-]*/)?([\w-]+)\.md(#[\w-]+)?\)")
_OUTSIDE = re.compile(r"\[([^\]]*)\]\((?:[\w./-]*/)?[A-Z]+\.md[^)]*\)")
_PICTURE = re.compile(r"^!\[.*\n+", re.MULTILINE)
_FROM_DOCSTRING = re.compile(r"^::: (\S+)$", re.MULTILINE)
"""The site has the docstring there."""


def href(doc: str) -> str:
    """The address of a document, which may have the anchor of a heading."""
    name, mark, anchor = doc.partition("#")
    return state.href("docs", View(view=name)) + mark + anchor


def show(view: View) -> None:
    """The list of documents beside the one that the view names."""
    known = _paths()
    if not known:
        facts.note("This installation has no documentation; it is in the folder docs of the repository.")
        return
    current = view.view if view.view in known else _DEFAULT
    left, right = st.columns([1, 5], gap="medium")
    with left:
        for folder, title in _SECTIONS.items():
            facts.section(title)
            for name in (name for name, path in known.items() if path.parent.name == folder):
                state.link("docs", view.place().but(view=name), name.replace("-", " "))
    with right, st.container(key="document"):
        st.markdown(_text(current))


def path(name: str) -> Path:
    """The file of a document. Raises `KeyError` for a name that none has."""
    return _paths()[name]


@cache
def _paths() -> dict[str, Path]:
    return {path.stem: path for folder in _SECTIONS for path in sorted((_FOLDER / folder).glob("*.md"))}


@cache
def _text(name: str) -> str:
    """Its Markdown. Links to other documents lead to this page; other files, and pictures, are not served."""
    text = path(name).read_text(encoding="utf-8")
    text = _FROM_DOCSTRING.sub(r"- `\1`", _OUTSIDE.sub(r"\1", _PICTURE.sub("", text)))
    return _LINK.sub(lambda found: f"]({href(found[1] + (found[2] or ''))})", text)
