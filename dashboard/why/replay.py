"""Replays of test cases with line tracing: run once per session, and arranged for the screen."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec
import streamlit as st

from dashboard.controls import Screen
from dashboard.queries import records
from dashboard.queries.records import CaseRecord, RolloutRecord
from dashboard.wording import counted
from evaluator.model import Limits, Task, Verdict
from evaluator.sandbox import FaultError, SandboxUnavailable, Status
from evaluator.syntax import tree_of
from evaluator.tracing import Replay, Step, Window, replay

TO_SHOW = Window()
TO_COMPARE = Window(first=3_000, last=0, most_s=4.0)
"""The first steps: two runs are compared from the start."""
_SLOW_S = 4.0
"""For a test case that timed out, whose last lines are soon there."""
_KEPT = 24
_SESSION = "replays"
_LEAST_TIMES = 2
_MOST_LEVELS = 60
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
_LONG_VALUE = 300


class ReplayError(Exception):
    """A test case that can't be replayed. The message says why, in one line."""


class Fold(NamedTuple):
    """Iterations of the loop from line `first` to `last`. Each of `nodes` is a step's index, or an inner loop."""

    times: int
    first: int
    last: int
    nodes: list[Node]


Node = int | Fold


def of(
    screen: Screen, rollout: RolloutRecord, test: CaseRecord, window: Window = TO_SHOW, code: str | None = None
) -> Replay:
    """The replay of a rollout's test case, from this session if it was made before. Raises `ReplayError`.

    `code`: another code of the same task to run in its place.
    """
    code = rollout.code if code is None else code
    key = (screen.run.key, rollout.task_id, test.test_index, window, code)
    known: dict[object, Replay] = st.session_state.setdefault(_SESSION, {})
    if key not in known:
        made = _made(screen, rollout, test, window, code)
        while len(known) >= _KEPT:
            known.pop(next(iter(known)))
        known[key] = made
    return known[key]


def _made(screen: Screen, rollout: RolloutRecord, test: CaseRecord, window: Window, code: str | None) -> Replay:
    record = records.task(screen.run, rollout.task_id)
    if code is None or record is None:
        missing = "completion has no code" if code is None else "run does not have the task"
        raise ReplayError(f"Nothing to replay: the {missing}.")
    if test.verdict == Verdict.TIME_LIMIT:
        window = window._replace(most_s=min(window.most_s, _SLOW_S))
    try:
        made = replay(
            msgspec.json.decode(record.task, type=Task),
            code,
            test.test_index,
            limits=_limits(screen, rollout),
            checker=screen.run.manifest.checker,
            window=window,
        )
    except (SandboxUnavailable, FaultError, msgspec.DecodeError) as error:
        raise ReplayError(f"The replay failed: {error}") from None
    if made.refusal:
        raise ReplayError(made.refusal)
    return made


def _limits(screen: Screen, rollout: RolloutRecord) -> Limits:
    try:
        return msgspec.json.decode(rollout.limits or "", type=Limits)
    except msgspec.DecodeError:
        return screen.run.manifest.limits


# --- What a replay shows ------------------------------------------------------------------------


def ending(made: Replay) -> str:
    """How the replay ended, in a few words."""
    end, outcome = made.trace.end, made.outcome
    if end is None:
        why = outcome.message or outcome.status.value if outcome else ""
        return f"killed: {why}"
    if end.how == "raised":
        where = f" (line {end.line})" if end.line and not made.trace.steps else ""
        return f"raised {end.error}: {end.value}".rstrip(": ") + where
    if end.how == "stopped":
        return f"stopped after {made.budget_s:g} s"
    if end.how == "exited":
        return "exited by itself"
    return f"returned {end.value}" if end.value else "ran to its end"


def unlike_the_run(made: Replay, test: CaseRecord) -> str:
    """How the replay ended otherwise than the run did, as one line; empty if it ended in the same way."""
    end, verdict = made.trace.end, test.verdict
    if verdict in (Verdict.TIME_LIMIT, Verdict.MEMORY_LIMIT, Verdict.OUTPUT_LIMIT):
        slow = end is None or end.how == "stopped"
        return "" if slow or _at_limit(made) else f"The run ended with {verdict}, the replay {ending(made)}."
    if end is None or end.how == "stopped":
        return ""  # tracing is slow: not the program's doing
    if verdict in (Verdict.RUNTIME_ERROR, Verdict.COMPILE_ERROR):
        same = end.how == "raised" and (test.error_type in (None, end.error))
        return "" if same else f"The run raised {test.error_type or 'an exception'}, the replay {ending(made)}."
    if not made.checkable or verdict not in (Verdict.PASSED, Verdict.WRONG_ANSWER):
        return ""
    if end.how == "raised":
        return f"The run ended with {verdict}, the replay {ending(made)}."
    if made.right is not None:
        same = made.right == (verdict == Verdict.PASSED) and _same_output(made, test)
        return "" if same else "The replay printed another output than the run: the program may be random."
    return _other_value(end.value, test.actual or "")


def _at_limit(made: Replay) -> bool:
    return made.outcome is not None and made.outcome.status in (Status.TIME, Status.MEMORY, Status.OUTPUT)


def _same_output(made: Replay, test: CaseRecord) -> bool:
    printed = made.outcome.stdout.text() if made.outcome else ""
    return test.actual is None or len(test.actual) > _LONG_VALUE or printed == test.actual


def _other_value(value: str, actual: str) -> str:
    if max(len(value), len(actual)) > _LONG_VALUE or any(c in value + actual for c in "<…"):
        return ""  # cut, or no data
    if value == actual or ("{" in value and sorted(value) == sorted(actual)):  # a set in another order
        return ""
    return f"The replay returned {value}, the run {actual}: the program may be random."


def extent(made: Replay) -> str:
    """How many steps there were, and which are kept."""
    kept, end = made.trace.steps, made.trace.end
    total = max(end.steps if end else 0, kept[-1].number if kept else 0)
    if total <= len(kept):
        return counted(total, "step")
    first = next((n for n, step in enumerate(kept) if step.number != n + 1), len(kept))
    return f"the first {first:,} and the last {len(kept) - first:,} of {counted(total, 'step')}"


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
        if steps[index].line in bodies and steps[index].said.startswith("returned"):
            found.setdefault(index, "false")
    return found


def _bodies(code: str) -> dict[int, tuple[int, int]]:
    tree = tree_of(code)
    return {
        node.lineno: (node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno)
        for node in (ast.walk(tree) if tree else ())
        if isinstance(node, (ast.If, ast.While)) and node.body[0].lineno > (node.test.end_lineno or node.lineno)
    }


# --- Loops --------------------------------------------------------------------------------------


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
        # At the end of a `for` or `while`, its first line runs once more: that is no iteration.
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
