"""The program that ColossalAI's `run_test` makes of a completion, line for line. Nothing of it is run here.

Source: its `testing_util.py`, as observed: 34 imports that hide missing ones, and for a program that reads stdin the
whole wrapped in a function, which makes its globals locals.
"""

from __future__ import annotations

import ast
from typing import cast

from evaluator import syntax
from evaluator.import_headers import COLOSSALAI

STDIN_FUNCTION = "code"


def imports_before(source: str) -> str:
    """What stands before a program when it is compiled: as many lines, for the numbers in tracebacks.

    Their names are there already. A `from __future__` has to find the imports themselves: it may not come after any.
    """
    return COLOSSALAI if "__future__" in source else "\n" * COLOSSALAI.count("\n")


def wrapped_source(completion: str) -> str:
    """For one that reads stdin: all but its imports at the top goes into a function without arguments."""
    lines = [_indented(line) for line in _without_guard(completion).split("\n")]
    started = False
    parts: list[str] = []
    for line in lines:
        if line.startswith("\t") and not started:
            parts.append(f"stdin = sys.stdin\nstdout = sys.stdout\ndef {STDIN_FUNCTION}():\n")
            started = True
        elif started and _is_import(line):
            parts.append("\t")
        parts.append(line)
    return "".join(parts)


def _indented(line: str) -> str:
    return f"{line}\n" if _is_import(line) else f"\t{line}\n"


def _is_import(line: str) -> bool:
    return line.startswith(("from ", "import "))


def _without_guard(completion: str) -> str:
    """Where the last statement is the main guard, its body in its place; the rest of it is dropped."""
    try:
        body = syntax.parse(completion).body
        last = body[-1] if body else None
        if isinstance(last, ast.If) and ast.unparse(last.test).strip() == "__name__ == '__main__'":
            return "\n".join(map(_unparsed, (body[:-1], last.body)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    return completion


def _unparsed(statements: list[ast.stmt]) -> str:
    """As the original has it: not as a module, whose first text would be a docstring."""
    return ast.unparse(cast("ast.AST", statements))
