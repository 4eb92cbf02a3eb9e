"""Checks as they are given to the runner, planned by the simplest rule: what is no assignment or definition judges."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from evaluator.sandbox.inside import encode
from evaluator.sandbox.inside.check_runner import Runner

_SETUP = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Pass)


def show(value: object) -> str:
    return encode.encode(value, 100_000).decode()


def order(test: str, *, entry_point: str = "candidate", names: tuple[str, ...] = (), **fields: Any) -> dict[str, Any]:
    """The order for a test; `spans` and `methods` as given, or else found by the rule."""
    if "methods" in fields:
        fields["form"] = "methods"
    elif "spans" not in fields:
        fields["spans"] = spans_of(test)
    return {
        "test": test, "form": "statements", "spans": (), "methods": (), "preamble": "", "definitions": "",
        "records": False, "entry_point": entry_point, "names": names,
        "classes": (), "support": "", "mentioned": (), "uses": (), **fields,
    }  # fmt: skip


def spans_of(test: str) -> list[tuple[int, int, bool]]:
    module = ast.parse(test)
    checks = [node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == "check"]
    body = checks[-1].body if checks else module.body
    spans, first = [], 0
    for index, statement in enumerate(body):
        if not isinstance(statement, _SETUP) and not _is_text(statement):
            spans.append((first, index, True))
            first = index + 1
    if first < len(body):
        spans.append((first, len(body) - 1, False))
    return spans


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def loaded(test: str, candidate: Callable[..., Any] | None = None, **fields: Any) -> Runner:
    """A runner that has loaded the test; other names of the completion's go in `given`."""
    given = fields.pop("given", {})
    made = order(test, **fields)
    namespace = {"__name__": "check", **given}
    if candidate is not None:
        namespace |= {made["entry_point"]: candidate, "candidate": candidate}
    runner = Runner(made, namespace, show)
    runner.load()
    return runner


def results(test: str, candidate: Callable[..., Any] | None = None, **fields: Any) -> list[dict[str, Any]]:
    """What each case came to, all in one process."""
    runner = loaded(test, candidate, **fields)
    made = order(test, **{key: value for key, value in fields.items() if key in ("spans", "methods")})
    return [runner.run(index) for index in range(len(made["spans"]) or len(made["methods"]))]


def statuses(test: str, candidate: Callable[..., Any] | None = None, **fields: Any) -> list[str]:
    return [result["status"] for result in results(test, candidate, **fields)]
