"""A completion run on its test cases in this process, as graders without a sandbox do it.

Imports the standard library alone, so that a process of the benchmark which needs no more stays small.
"""

from __future__ import annotations

import contextlib
import json
from typing import Any, NamedTuple

import _warm


class Work(NamedTuple):
    """A completion and its test cases, as all competitors get them. Marshals and becomes JSON as a list."""

    header: str
    """Code that is run before the completion."""
    source: str
    entry_point: str | None
    """The function to call; None for a program that reads stdin."""
    inputs: list[str]
    outputs: list[str]


def answers(header: str, source: str, entry_point: str | None, inputs: list[str]) -> list[Any]:
    """stdout's text or the returned value for each input. A program is executed for each, a function loaded once."""
    code = _warm.compiled(header + source)
    if entry_point is None:
        return [_warm.run(code, given) for given in inputs]
    function = _warm.loaded(code, entry_point)
    return [function(*map(json.loads, given.split("\n"))) for given in inputs]


def is_right(work: Work, given: list[Any]) -> bool:
    """Whether all answers are the expected ones: values by `==`, texts word by word."""
    pairs = zip(given, work.outputs, strict=True)
    if work.entry_point is None:
        return all(text.split() == expected.split() for text, expected in pairs)
    return all(value == json.loads(expected) for value, expected in pairs)


def passes(work: Work) -> bool:
    """Whether the completion is right; whatever it raises is a failure."""
    with contextlib.suppress(Exception):
        return is_right(work, answers(*work[:4]))
    return False
