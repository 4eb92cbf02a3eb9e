"""The program that ColossalAI's `run_test` makes from a completion, line by line. Nothing is run here.

Source: its `testing_util.py`, as observed: 34 imports that hide missing ones, and a program that reads stdin is wrapped
in a function, which turns its globals into locals.
"""

from __future__ import annotations

import ast
from typing import cast

from evaluator import syntax
from evaluator.import_headers import COLOSSALAI

STDIN_FUNCTION = "code"


def imports_before(source: str) -> str:
    """The lines before a program when it is compiled: as many as imports, for the line numbers in tracebacks.

    The imported names exist already. Only a `from __future__` needs the imports: after them it is an error.
    """
    return COLOSSALAI if "__future__" in source else "\n" * COLOSSALAI.count("\n")


def wrapped_source(completion: str) -> str:
    """For a program that reads stdin: everything but its top imports goes into a function without arguments."""
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
    """If the last statement is the main guard, it is replaced by its body; its `else` is dropped."""
    try:
        body = syntax.parse(completion).body
        last = body[-1] if body else None
        if isinstance(last, ast.If) and ast.unparse(last.test).strip() == "__name__ == '__main__'":
            return "\n".join(map(_unparsed, (body[:-1], last.body)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    return completion


def _unparsed(statements: list[ast.stmt]) -> str:
    """As in the original: not as a module, whose first text would be a docstring."""
    return ast.unparse(cast("ast.AST", statements))
