"""What a replay says of a test case that ran out of time: whether it loops, or is merely slow, and in which loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dashboard.facts import counted
from evaluator.sandbox import Status
from evaluator.syntax import lines_of, tree_of
from evaluator.tracing import Replay, Step

_LEAST_ROUNDS = 3
_LONGEST = 60
_UNKNOWN = ("…", "<")
"""In the text of a value that is not shown as a whole."""
_LEAVES = (ast.Break, ast.Return, ast.Raise, ast.Yield, ast.YieldFrom)
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_MAY_RAISE = ("next", "input", "exit", "quit")
Loop = ast.For | ast.AsyncFor | ast.While


def said(made: Replay, code: str) -> str:
    """One sentence; "" where the replay came to an end, or left nothing to go by."""
    trace, tree, lines = made.trace, tree_of(code), lines_of(code)
    if not trace.steps or tree is None:
        return ""
    if trace.end is None:
        is_late = made.outcome is not None and made.outcome.status is Status.TIME
        where = _quoted(lines, trace.steps[-1].line)
        return f"Slow: one step of {where}, takes all the time, without a loop of its own." if is_late else ""
    if trace.end.how != "stopped":
        return ""
    hits, time = dict(trace.end.hits), f"in {made.budget_s:g} s with tracing"
    found = _loop_of(tree, trace.steps)
    if found is not None:
        loop, rounds = found
        what = f"{counted(hits.get(_head(loop), len(rounds)), 'round')} of {_quoted(lines, loop.lineno)}, {time}"
        return _of_loop(loop, rounds, what)
    last = trace.steps[-1]
    if last.function.startswith("<") and last.function != "<module>":
        return f"Slow: {counted(hits.get(last.line, 0), 'round')} within {_quoted(lines, last.line)}, {time}."
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    node = max(functions, key=lambda each: hits.get(each.body[0].lineno, 0), default=None)
    calls = hits.get(node.body[0].lineno, 0) if node else 0
    return f"Slow: {counted(calls, 'call')} of {node.name}, line {node.lineno}, {time}." if node and calls > 1 else ""


def _of_loop(loop: Loop, rounds: list[dict[str, str]], what: str) -> str:
    if _is_endless(loop):
        return f"It loops: {what}, without a break or a return."
    names = _decide(loop) if isinstance(loop, ast.While) else sorted(_set_by(loop.target))
    known = {name: values for name in names if (values := [each[name] for each in rounds if name in each])}
    changed = [(name, values) for name, values in known.items() if len(set(values)) > 1]
    if changed or not isinstance(loop, ast.While):
        moves = [f"; {name}: {_short(values[-2])}, then {_short(values[-1])}" for name, values in changed]
        return f"Slow, as it still moves on: {what}{moves[0] if moves else ''}."
    kept = ", ".join(f"{name} = {_short(values[-1])}" for name, values in known.items())
    count = min(map(len, known.values()), default=0)
    if count < _LEAST_ROUNDS or any(part in values[-1] for values in known.values() for part in _UNKNOWN):
        return f"Nothing shows that it would end: {what}."
    return f"It loops: {what}, and what could end it stays the same: {kept} in the last {count:,} rounds."


def _quoted(lines: Sequence[str], line: int) -> str:
    text = lines[line - 1].strip().rstrip(":") if line <= len(lines) else ""
    return f"`{_short(text)}`, line {line}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _head(loop: Loop) -> int:
    """The line at which a round begins: `while True` has no step of its own."""
    return loop.body[0].lineno if isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant) else loop.lineno


def _loop_of(tree: ast.Module, steps: Sequence[Step]) -> tuple[Loop, list[dict[str, str]]] | None:
    """The outermost loop of which the last steps have several rounds, with the variables at the begin of each."""
    begin = next((n for n in range(len(steps) - 1, 0, -1) if steps[n].number != steps[n - 1].number + 1), 0)
    last = steps[begin:]
    current = {step.frame: step.line for step in last}
    loops = [node for node in ast.walk(tree) if isinstance(node, Loop)]
    found: list[tuple[int, int, Loop, int]] = []
    for loop in loops:
        end = loop.body[-1].end_lineno or loop.lineno
        for frame, depth in {(step.frame, step.depth) for step in last if step.line == _head(loop)}:
            rounds = sum(step.frame == frame and step.line == _head(loop) for step in last)
            if rounds >= _LEAST_ROUNDS and loop.lineno <= current[frame] <= end:
                found.append((depth, loop.lineno, loop, frame))
    if not found:
        return None
    _, _, loop, frame = min(found, key=lambda each: each[:2])
    return loop, list(_rounds(last, frame, _head(loop)))


def _rounds(steps: Sequence[Step], frame: int, head: int) -> Iterator[dict[str, str]]:
    """The variables that were set so far, whenever a call comes to a line."""
    values: dict[str, str] = {}
    for step in steps:
        if step.frame != frame:
            continue
        values.update(step.whole)
        if step.line == head:
            yield {**values, **dict(step.items)}
        values.update(step.changed)


def _is_endless(loop: Loop) -> bool:
    constant = isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant) and bool(loop.test.value)
    return constant and not any(isinstance(node, _LEAVES) or _exits(node) for node in _inside(loop))


def _exits(node: ast.AST) -> bool:
    """Whether it calls something that may raise on purpose, such as `next(rows)`, `input()` or `exit()`."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("next", "input", "exit", "quit")
    )


def _inside(loop: Loop) -> Iterator[ast.AST]:
    """The statements and expressions of a loop's body, without those of functions that it defines."""
    waiting: list[ast.AST] = list(loop.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _INNER):
            waiting.extend(ast.iter_child_nodes(node))


def _decide(loop: Loop) -> list[str]:
    """The names on which it depends whether a loop goes on, sorted."""
    ends = _names(loop.test) if isinstance(loop, ast.While) else set()
    sets: list[tuple[set[str], set[str]]] = []

    def visit(node: ast.AST, tests: set[str]) -> None:
        if isinstance(node, _INNER):
            return
        if isinstance(node, (ast.If, ast.While, ast.For)):
            tests = tests | _names(node.iter if isinstance(node, ast.For) else node.test)
            sets.append((_set_by(node.target) if isinstance(node, ast.For) else set(), tests))
        elif isinstance(node, _LEAVES):
            ends.update(tests)
        elif isinstance(node, ast.stmt):
            sets.append((_set_by(node), tests | _names(node)))
        for child in ast.iter_child_nodes(node):
            visit(child, tests)

    for statement in loop.body:
        visit(statement, set())
    while more := {name for names, by in sets if names & ends for name in by} - ends:
        ends |= more
    return sorted(ends)


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _set_by(node: ast.AST) -> set[str]:
    """What a statement may change: what it assigns, and what it calls a method of."""
    found = set()
    for each in ast.walk(node):
        base = each.func if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) else each
        if base is each and not isinstance(getattr(each, "ctx", None), ast.Store):
            continue
        while isinstance(base, (ast.Attribute, ast.Subscript)):
            base = base.value
        found |= {base.id} if isinstance(base, ast.Name) else set()
    return found
