"""Small faults, put into the product one at a time: which of them do the tests notice?

    .venv/bin/python tools/mutants.py list --count 50 --seed 1          # a row each: number, place, what is changed
    .venv/bin/python tools/mutants.py try 7 -- .venv/bin/python -m pytest -x tests/checkers

`try` changes the file, runs the command, puts the file back, and ends with the command's status: 0 means that the fault
was not noticed. The same seed and source give the same faults, spread over the packages by their size.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One changed expression."""

    path: Path
    line: int
    start: int
    """In bytes of the file, as `end`."""
    end: int
    old: str
    new: str


def mutants(count: int, seed: int) -> list[Mutant]:
    """Spread over the packages by their size."""
    chance = random.Random(seed)  # noqa: S311  it has to be the same again
    packages: dict[str, list[Path]] = {}
    for top in ("evaluator", "dashboard"):
        for path in sorted((ROOT / top).rglob("*.py")):
            packages.setdefault("/".join(path.relative_to(ROOT).parts[:2]), []).append(path)
    lines = {name: sum(len(path.read_bytes()) for path in paths) for name, paths in packages.items()}
    chosen = chance.choices(sorted(packages), [lines[name] for name in sorted(packages)], k=count)
    found: list[Mutant] = []
    for name in chosen:
        places = [place for path in packages[name] for place in changes(path) if place not in found]
        if places:
            found.append(chance.choice(places))
    return found


def changes(path: Path) -> Iterator[Mutant]:
    """Every change of a comparison, number, condition or returned value that a file allows."""
    source = path.read_bytes()
    starts = [0]
    for row in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(row))
    for node in ast.walk(ast.parse(source)):
        for old, new in changed(node):
            start = starts[old.lineno - 1] + old.col_offset
            end = starts[(old.end_lineno or 0) - 1] + (old.end_col_offset or 0)
            yield Mutant(path, old.lineno, start, end, source[start:end].decode(), f"({ast.unparse(new)})")


def changed(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    match node:
        case ast.Compare(ops=[op]) if type(op) in OPPOSITE:
            other = copy.deepcopy(node)
            other.ops = [OPPOSITE[type(op)]()]
            yield node, other
        case ast.BoolOp(op=op):
            other_one = copy.deepcopy(node)
            other_one.op = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield node, other_one
        case ast.If(test=test):
            yield test, ast.UnaryOp(ast.Not(), test)
        case ast.BinOp(right=ast.Constant(value=int(number)) as right) if not isinstance(number, bool):
            yield right, ast.Constant(number + 1)
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield value, ast.Constant(None)
        case ast.Return(value=ast.Constant(value=bool(answer)) as value):
            yield value, ast.Constant(not answer)


def run_with(mutant: Mutant, command: Sequence[str]) -> int:
    source = mutant.path.read_bytes()
    try:
        written(mutant.path, source[: mutant.start] + mutant.new.encode() + source[mutant.end :])
        return subprocess.run(command, cwd=ROOT, check=False).returncode
    finally:
        written(mutant.path, source)


def written(path: Path, source: bytes) -> None:
    """With a new time, which is how Python notices that its compiled file is old."""
    path.write_bytes(source)
    os.utime(path, (time.time(), path.stat().st_mtime + 2))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["list", "try"])
    parser.add_argument("number", type=int, nargs="?", default=1)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("command", nargs="*")
    asked = parser.parse_args(arguments)
    found = mutants(asked.count, asked.seed)
    if asked.what == "try":
        return run_with(found[asked.number - 1], asked.command)
    for number, mutant in enumerate(found, 1):
        print(f"{number}\t{mutant.path.relative_to(ROOT)}:{mutant.line}\t{mutant.old!r} -> {mutant.new!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
