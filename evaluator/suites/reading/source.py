"""A dataset's source text: parsed if it is not too long, and cut into statements. Never run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Mapping

from evaluator import syntax

MAX_CHARACTERS = 8 * 1024 * 1024
"""A longer test is not parsed."""
FILE = "<dataset source>"

# `"\d"` in a dataset is not our user's mistake. Set once: `catch_warnings` is not thread-safe.
warnings.filterwarnings("ignore", module=FILE)

_LITERAL = "is_literal"
_DULL = (ast.Constant, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
OWN_SCOPES = (*DEFINITIONS, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def parsed(source: str) -> ast.Module | None:
    """The syntax tree; None if the text is not Python (a prompt may be prose) or too long."""
    return syntax.tree_of(source, FILE) if len(source) <= MAX_CHARACTERS else None


def walk(root: ast.AST | Iterable[ast.AST], closed: tuple[type[ast.AST], ...] = ()) -> list[ast.AST]:
    """Every node, except kinds that no caller examines, such as literals in lists, which may be most of a test.

    `closed`: the inside of such nodes is left out: `OWN_SCOPES`; `DEFINITIONS`, which do not run where they stand.
    """
    nodes: list[ast.AST] = []
    pending = [root] if isinstance(root, ast.AST) else list(root)
    while pending:
        node = pending.pop()
        nodes.append(node)
        if not isinstance(node, closed):
            pending.extend(_inner(node))
    return nodes


def _inner(node: ast.AST) -> list[ast.AST]:
    """A node's children; most nodes of a large test are in lists of lists."""
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [item for item in items if not _is_literal(item)]
        case _:
            return [child for child in ast.iter_child_nodes(node) if not isinstance(child, _DULL)]


def _is_literal(node: ast.expr | None) -> bool:
    """Whether there are only numbers, texts and other constants in it. A container remembers that."""
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(operand=ast.Constant()):
            return True
        case ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
            known: bool | None = getattr(node, _LITERAL, None)
            if known is None:
                parts = [*node.keys, *node.values] if isinstance(node, ast.Dict) else node.elts
                known = all(map(_is_literal, parts))
                setattr(node, _LITERAL, known)
            return known
    return False


def binds(root: ast.AST | Iterable[ast.AST]) -> frozenset[str]:
    """Names that these statements assign in their own scope."""
    names: set[str] = set()
    for node in walk(root, OWN_SCOPES):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.ExceptHandler(name=str(name)):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                names.add(name)
            case ast.alias(name=name, asname=renamed):
                names.add(renamed or name.partition(".")[0])
    return frozenset(names)


def is_start(node: ast.stmt) -> bool:
    """Whether it starts the module as a program: `if __name__ == "__main__"`, or `unittest.main()`."""
    match node:
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"), comparators=[ast.Constant(value="__main__")])):
            return True
        case ast.If(test=ast.Compare(left=ast.Constant(value="__main__"), comparators=[ast.Name(id="__name__")])):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="unittest"), attr="main"))):
            return True
    return False


class Lines:
    """A text by lines as the parser counts them. Its offsets in a line are in bytes."""

    def __init__(self, source: str) -> None:
        self._lines = [line.encode("utf-8", "surrogatepass") for line in syntax.lines_of(source)]

    def of(self, node: ast.stmt | ast.expr) -> str:
        """Like `ast.get_source_segment`, with decorators, and without splitting the whole text again."""
        lines = self._lines[_first_line(node) - 1 : node.end_lineno]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        return b"\n".join(lines).decode("utf-8", "surrogatepass")

    def at_margin(self, node: ast.stmt) -> str:
        """The source without its indentation, unless some line is indented less."""
        first, *others = self.of(node).split("\n")
        margin = " " * node.col_offset
        if all(line.startswith(margin) or not line.strip() for line in others):
            others = [line[node.col_offset :] for line in others]
        return "\n".join((first, *others))

    def replaced(self, statements: Mapping[ast.stmt, str]) -> str:
        """The text with each of these statements replaced by one line; all other lines keep their numbers."""
        lines = self._lines[:]
        for node in sorted(statements, key=lambda one: (one.lineno, one.col_offset), reverse=True):
            first, last = _first_line(node) - 1, node.end_lineno or node.lineno
            rest = lines[last - 1][node.end_col_offset :]
            lines[first] = lines[first][: node.col_offset] + statements[node].encode()
            if last - 1 == first:
                lines[first] += rest
            else:
                lines[first + 1 : last] = [b""] * (last - first - 2) + [rest.lstrip(b" ;\t")]
        return b"\n".join(lines).decode("utf-8", "surrogatepass")


def _first_line(node: ast.stmt | ast.expr) -> int:
    decorators = node.decorator_list if isinstance(node, DEFINITIONS) else []
    return decorators[0].lineno if decorators else node.lineno
