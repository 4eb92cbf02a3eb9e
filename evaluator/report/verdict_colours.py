"""The verdicts' colours (Okabe-Ito and Tol, for colour-blind readers too), and the ink that is legible on them."""

from __future__ import annotations

from typing import Final

from evaluator.model import Verdict

COLOURS: Final[dict[Verdict, str]] = {
    Verdict.PASSED: "#009E73",
    Verdict.WRONG_ANSWER: "#D55E00",
    Verdict.RUNTIME_ERROR: "#CC79A7",
    Verdict.COMPILE_ERROR: "#882255",
    Verdict.TIME_LIMIT: "#E69F00",
    Verdict.MEMORY_LIMIT: "#56B4E9",
    Verdict.OUTPUT_LIMIT: "#0072B2",
    Verdict.NO_CODE: "#999933",
    Verdict.REJECTED: "#332288",
    Verdict.SANDBOX_ERROR: "#6B6B6B",
    Verdict.UNKNOWN: "#BBBBBB",
    Verdict.NOT_RUN: "#FFFFFF",
}

HATCHED: Final = (Verdict.SANDBOX_ERROR, Verdict.UNKNOWN)
"""Also drawn hatched: they have no reward, and must never look like a failure."""

FAILED: Final = tuple(v for v in Verdict if v.graded and v not in (Verdict.PASSED, Verdict.NOT_RUN))
"""The verdicts that are the completion's own fault."""


def verdict(word: str) -> Verdict:
    """The verdict of a stored word; a word from a newer version counts as unknown."""
    try:
        return Verdict(word)
    except ValueError:
        return Verdict.UNKNOWN


def ink(colour: str) -> str:
    """Black or white, whichever has the higher contrast on `colour` (WCAG relative luminance)."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "#FFFFFF"


def rules(prefix: str, *, border: str) -> str:
    """CSS: one class per verdict, `.<prefix><word>`; `border` is the colour of the line round `not_run`."""
    return "".join(f".{prefix}{v.value} {{ {_rule(v, border)} }}\n" for v in Verdict)


def outlines(prefix: str, within: str, *, border: str) -> str:
    """CSS for a verdict that a rollout came with: its letter outlined, without a fill.

    For `.<prefix><word>.recorded`, and on a page that has an element of the class `within` for all
    `.<prefix><word>` that are not `.own`.
    """
    return "".join(
        f".{prefix}{v.value}.recorded, :root:has(.{within}) .{prefix}{v.value}:not(.own) {{ {_outline(v, border)} }}\n"
        for v in Verdict
    )


def _outline(v: Verdict, border: str) -> str:
    line = f"2px {'dashed' if v in HATCHED else 'solid'} {border if v is Verdict.NOT_RUN else COLOURS[v]}"
    return f"background: none; color: inherit; box-shadow: none; outline: {line}; outline-offset: -2px;"


def _rule(v: Verdict, border: str) -> str:
    if v is Verdict.NOT_RUN:
        return f"background: transparent; color: inherit; box-shadow: inset 0 0 0 1px {border};"
    rule = f"background-color: {COLOURS[v]}; color: {ink(COLOURS[v])};"
    if v in HATCHED:
        rule += " background-image: repeating-linear-gradient(45deg, #0003 0 2px, #0000 2px 5px);"
    return rule
