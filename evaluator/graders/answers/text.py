"""Finds the answer in a completion."""

from __future__ import annotations

import re
from typing import Literal

Extract = Literal["whole", "last_line", "boxed"]

_BOX = "\\boxed{"
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)


def answer_in(text: str, extract: Extract, marker: str | None, pattern: str | None) -> str | None:
    """The answer; None if there is none. `text` is without thinking."""
    if marker is not None:
        return _after(marker, text)
    if pattern is not None:
        from evaluator.graders.answers.patterns import last_match

        return last_match(pattern, text)
    match extract:
        case "whole":
            return text
        case "last_line":
            return _last_line(text)
        case "boxed":
            return _boxed(text)


def name_of(extract: Extract, marker: str | None, pattern: str | None) -> str:
    """What `answer_in` searches for, in words."""
    if marker is not None:
        return f"text after {marker!r}"
    if pattern is not None:
        return f"match of {pattern!r}"
    return {"whole": "text", "last_line": "text", "boxed": "complete \\boxed{...}"}[extract]


def _after(marker: str, text: str) -> str | None:
    """The rest of the line after the marker's last occurrence, else the next line that is not blank."""
    at = None
    for at in re.finditer(re.escape(marker), text, re.IGNORECASE):  # noqa: B007 - the last one
        pass
    if at is None:
        return None
    rest = _without_emphasis(text[: at.start()], text[at.end() :])
    return next((line for line in rest.splitlines() if line.strip()), None)


def _without_emphasis(before: str, after: str) -> str:
    """`after` without the sign that ends Markdown's emphasis of the marker, as in `**Answer:** 42`."""
    sign = next((sign for sign in ("**", "__", "*", "_") if before.endswith(sign)), None)
    return after.removeprefix(sign) if sign is not None else after


def _last_line(text: str) -> str | None:
    lines = text.rstrip().splitlines()
    return lines[-1] if lines else None


def _boxed(text: str) -> str | None:
    r"""The content of the last `\boxed{...}`, up to its closing brace."""
    at = text.rfind(_BOX)
    if at < 0:
        return None
    depth, start = 1, at + len(_BOX)
    for brace in _BRACES.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(brace.group(), 0)
        if not depth:
            return text[start : brace.start()]
    return None
