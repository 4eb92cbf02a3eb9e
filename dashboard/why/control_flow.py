"""What a replay's steps say of its code's control flow: iterations of loops, folded, and the conditions that held."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from evaluator.syntax import tree_of
from evaluator.tracing import Step

_LEAST_TIMES = 2
_MOST_LEVELS = 60
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


class Fold(NamedTuple):
    """Iterations of the loop from line `first` to `last`. Each of `nodes` is a step's index, or an inner loop."""

    times: int
    first: int
    last: int
    nodes: list[Node]


Node = int | Fold


def branches(code: str, steps: Sequence[Step]) -> dict[int, str]:
    """For each step at an `if` or `while`: "true" or "false", as the next line of the same call shows."""
    bodies = _bodies(code)
    found: dict[int, str] = {}
    last: dict[int, int] = {}
    for index, step in enumerate(steps):
        before = last.get(step.frame)
        last[step.frame] = index
        if before is not None and (body := bodies.get(steps[before].line)) is not None:
            found[before] = "true" if body[0] <= step.line <= body[1] else "false"
    for index in last.values():  # whatever it was, the call ended there
        if steps[index].line in bodies and steps[index].said.startswith(("returned", "ended")):
            found.setdefault(index, "false")
    return found


def _bodies(code: str) -> dict[int, tuple[int, int]]:
    tree = tree_of(code)
    return {
        node.lineno: (node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno)
        for node in (ast.walk(tree) if tree else ())
        if isinstance(node, (ast.If, ast.While)) and node.body[0].lineno > (node.test.end_lineno or node.lineno)
    }


class _Loop(NamedTuple):
    head: int
    """The line at which an iteration begins."""
    first: int
    last: int


def folded(code: str, steps: Sequence[Step]) -> list[Node]:
    """The steps' indices, each loop's iterations but the last as one fold."""
    loops = _loops(code)
    nodes: list[Node] = []
    begin = 0
    for index in range(1, len(steps) + 1):
        if index == len(steps) or steps[index].number != steps[index - 1].number + 1:
            nodes += _folded(steps, loops, range(begin, index), 0)
            begin = index
    return nodes


def _loops(code: str) -> dict[int, _Loop]:
    """By the line of an iteration's begin. `while True` has no step of its own: it begins with its first statement."""
    found = {}
    tree = tree_of(code)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant)
            head = node.body[0].lineno if endless else node.lineno
            found[head] = _Loop(head, node.lineno, node.body[-1].end_lineno or node.lineno)
    return found


def _folded(steps: Sequence[Step], loops: dict[int, _Loop], part: range, level: int) -> list[Node]:
    nodes: list[Node] = []
    at = part.start
    while at < part.stop:
        loop = _loop_at(steps[at], loops) if level < _MOST_LEVELS else None
        heads, end = _iterations(steps, loop, range(at, part.stop)) if loop else ([at], at + 1)
        # At the end of a `for` or `while`, its first line runs once more: that is not an iteration.
        left = len(heads) > 1 and end - heads[-1] == 1 < heads[-1] - heads[-2]
        count = len(heads) - 1 - left
        if loop is not None and count >= _LEAST_TIMES:
            inner = _each(steps, loops, heads[: count + 1], level)
            nodes.append(Fold(count, loop.first, loop.last, inner))
            heads = heads[count:]
        nodes += _each(steps, loops, [*heads, end], level)
        at = end
    return nodes


def _each(steps: Sequence[Step], loops: dict[int, _Loop], heads: list[int], level: int) -> list[Node]:
    """The nodes of iterations that begin at `heads`; the last of these is the end."""
    nodes: list[Node] = []
    for head, following in pairwise(heads):
        nodes += [head, *_folded(steps, loops, range(head + 1, following), level + 1)]
    return nodes


def _loop_at(step: Step, loops: dict[int, _Loop]) -> _Loop | None:
    if step.function in _COMPREHENSIONS:
        return _Loop(step.line, step.line, step.line)
    return loops.get(step.line)


def _iterations(steps: Sequence[Step], loop: _Loop, part: range) -> tuple[list[int], int]:
    """Where the iterations of the loop begin that runs from the first step on, and where it ends."""
    first = steps[part.start]
    heads: list[int] = []
    for index in part:
        step = steps[index]
        if step.frame == first.frame:
            if not loop.first <= step.line <= loop.last:
                return heads, index
            if step.line == loop.head:
                heads.append(index)
        elif step.depth <= first.depth:
            return heads, index
    return heads, part.stop
