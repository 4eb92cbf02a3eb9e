"""A dataset's source text: parsed if it is not too long, cut into statements, its names followed. Never run."""

from __future__ import annotations

import ast
import importlib
import warnings
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain

from evaluator import syntax

MAX_CHARACTERS = 8 * 1024 * 1024
"""A longer test is not parsed."""
FILE = "<dataset source>"

# `"\d"` in a dataset is not our user's mistake. Set once: `catch_warnings` is not thread-safe.
warnings.filterwarnings("ignore", module=FILE)

_LITERAL, _INNER = "is_literal", "inner"
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
    """A node's children, which it remembers: it is walked some ten times. Most nodes of a large test are in lists."""
    known: list[ast.AST] | None = getattr(node, _INNER, None)
    if known is None:
        match node:
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                known = [item for item in items if not _is_literal(item)]
            case _:
                known = [child for child in ast.iter_child_nodes(node) if not isinstance(child, _DULL)]
        setattr(node, _INNER, known)
    return known


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


# Which names are made from which others

_SELVES = ("self", "cls")


class Flow:
    """What flows into each name, directly or through others. Rather too much than too little."""

    def __init__(self, nodes: Iterable[ast.AST], imported: Container[str], reads: Reads) -> None:
        """`imported`: names of modules, which keep nothing that is passed to their functions."""
        self._made_from: dict[str, set[str]] = defaultdict(set)
        self._goes_into: dict[str, set[str]] = defaultdict(set)
        nodes = list(nodes)
        parameters = {node.name: _parameters(node) for node in nodes if isinstance(node, ast.FunctionDef)}
        for node in nodes:
            for targets, parts in chain(_made(node), _passed(node, parameters)):
                names = reads.of_all(parts)
                for target in targets:
                    if target in imported:
                        continue
                    self._made_from[target] |= names
                    for name in names:
                        self._goes_into[name].add(target)

    def reaching(self, names: Iterable[str]) -> frozenset[str]:
        """These names, and all names that they flow into."""
        return _closure(names, self._goes_into)

    def reached_from(self, names: Iterable[str]) -> frozenset[str]:
        """These names, and all names that flow into them."""
        return _closure(names, self._made_from)


def names_read(nodes: ast.AST | Iterable[ast.AST]) -> set[str]:
    """Every name that is read, at any depth."""
    names: set[str] = set()
    for node in walk(nodes):
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in _SELVES:
                names.add(f"self.{name}")
            case ast.Name(id=name, ctx=ast.Load()) if name not in _SELVES:
                names.add(name)
    return names


class Reads:
    """`names_read`, computed once per node: a list may be most of a test."""

    def __init__(self) -> None:
        self._known: dict[ast.AST, frozenset[str]] = {}

    def __call__(self, node: ast.AST) -> frozenset[str]:
        names = self._known.get(node)
        if names is None:
            is_compound = isinstance(node, ast.stmt | ast.excepthandler)
            names = self.of_all(_inner(node)) if is_compound else frozenset(names_read(node))
            self._known[node] = names
        return names

    def of_all(self, nodes: Iterable[ast.AST]) -> frozenset[str]:
        return frozenset[str]().union(*map(self, nodes))


def targets_of(node: ast.expr) -> Iterator[str]:
    """The names that an assignment to this changes."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in _SELVES:
            yield f"self.{name}"
        case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Starred(value=inner):
            yield from targets_of(inner)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            for item in items:
                yield from targets_of(item)


def _made(node: ast.AST) -> Iterator[tuple[list[str], Sequence[ast.AST]]]:
    """The names that a node assigns, and what they are made from."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield [name for target in targets for name in targets_of(target)], [value]
        case (
            ast.For(target=target, iter=value)
            | ast.AsyncFor(target=target, iter=value)
            | ast.comprehension(target=target, iter=value)
        ):
            yield from _taken(target, value)
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.AugAssign(target=target, value=value)
            | ast.NamedExpr(target=target, value=value)
            | ast.withitem(context_expr=value, optional_vars=ast.expr() as target)
        ):
            yield list(targets_of(target)), [value]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield [name], [node]
        case ast.ClassDef(name=name, body=body):
            yield [name], [node]
            for method in body:
                if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield [f"self.{method.name}"], [method]
        case ast.Call(func=ast.Attribute(value=owner), args=arguments, keywords=keywords) if arguments or keywords:
            yield list(targets_of(owner)), [*arguments, *keywords]


def _taken(target: ast.expr, values: ast.expr) -> Iterator[tuple[list[str], Sequence[ast.AST]]]:
    """The names of a loop; those over `zip` and `enumerate` have each its own values."""
    match target, values:
        case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=sources) if len(targets) == len(sources):
            for one, source in zip(targets, sources, strict=True):
                yield from _taken(one, source)
        case ast.Tuple(elts=[_, inner]), ast.Call(func=ast.Name(id="enumerate"), args=[items, *_]):
            yield from _taken(inner, items)
        case _:
            yield list(targets_of(target)), [values]


def _parameters(function: ast.FunctionDef) -> list[str]:
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if names[:1] == ["self"] else names


def _passed(node: ast.AST, functions: Mapping[str, list[str]]) -> Iterator[tuple[list[str], Sequence[ast.AST]]]:
    """The parameters of the test's own function that a call sets, and their arguments."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=arguments) if name in functions:
            yield from (
                ([parameter], [argument]) for parameter, argument in zip(functions[name], arguments, strict=False)
            )
            yield from (([one.arg], [one.value]) for one in node.keywords if one.arg in functions[name])


def _closure(names: Iterable[str], edges: Mapping[str, set[str]]) -> frozenset[str]:
    closure = set(names)
    pending = list(closure)
    while pending:
        new = edges.get(pending.pop(), set()) - closure
        closure |= new
        pending += new
    return frozenset(closure)


# Where names are imported from

_STARRED = frozenset(
    """bisect cmath collections copy dataclasses datetime decimal enum fractions functools heapq itertools json math
    operator os random re statistics string sys time typing unittest unittest.mock""".split()
)
"""Modules whose names are known if they are imported by `*`. No others are imported here to find their names."""
_ALIASES = {"np": "numpy", "pd": "pandas", "plt": "matplotlib.pyplot"}
"""Names that mean these modules if they are not defined."""
_OF_MODULES = {
    "Counter": "collections", "OrderedDict": "collections", "defaultdict": "collections", "deque": "collections",
    "namedtuple": "collections", "deepcopy": "copy", "Decimal": "decimal", "Fraction": "fractions", "isclose": "math",
    "isnan": "math",
}  # fmt: skip
"""Names that mean these modules' if they are not defined: no task asks for a function of such a name."""


class Imports:
    """The imports among nodes, in any scope."""

    def __init__(self, nodes: Iterable[ast.AST]) -> None:
        self.origins: dict[str, str] = {}
        """Name -> dotted name of its origin."""
        self.starred: set[str] = set()
        """Names imported by `*` from known modules."""
        for node in nodes:
            match node:
                case ast.Import(names=names):
                    for alias in names:
                        whole = alias.name if alias.asname else alias.name.partition(".")[0]
                        self.origins[alias.asname or whole] = whole
                case ast.ImportFrom(module=str(module), names=[ast.alias(name="*")]):
                    known = names_of(module)
                    self.starred |= known
                    self.origins |= {name: f"{module}.{name}" for name in known if name not in self.origins}
                case ast.ImportFrom(module=module, names=names, level=level):
                    start = "." * level + (module or "")
                    self.origins |= {alias.asname or alias.name: f"{start}.{alias.name}" for alias in names}

    def dotted(self, node: ast.expr) -> str:
        """The full dotted name of a name, or of an attribute of one; empty if it is not imported."""
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
        origin = self.origins.get(node.id, "") if isinstance(node, ast.Name) else ""
        return ".".join((origin, *reversed(attributes))) if origin else ""


def missing_imports(nodes: Iterable[ast.AST], free: frozenset[str]) -> dict[str, str]:
    """Free names of the standard library, or used only as modules, with the imports that a test left to the completion.

    They belong to the dataset: otherwise a completion could redefine `math` or `isclose`, and decide its own grade.
    """
    standard = {name: f"from {_OF_MODULES[name]} import {name}" for name in free & _OF_MODULES.keys()}
    seen: dict[str, set[str]] = {name: set() for name in free if name in _STARRED or name in _ALIASES}
    uses = Counter[str]()
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in seen:
                seen[name].add(attribute)
                uses[name] += 1
            case ast.Name(id=name) if name in seen:
                uses[name] -= 1
    modules = {name for name in seen if uses[name] == 0 and (name in _ALIASES or _has_all(name, seen[name]))}
    whole = {name: f"import {_ALIASES[name]} as {name}" if name in _ALIASES else f"import {name}" for name in modules}
    return whole | standard


def _has_all(name: str, attributes: set[str]) -> bool:
    module = importlib.import_module(name)
    return all(hasattr(module, attribute) for attribute in attributes)


@cache
def names_of(name: str) -> frozenset[str]:
    """What `from name import *` defines; nothing for an unknown module."""
    if name not in _STARRED:
        return frozenset()
    module = importlib.import_module(name)
    return frozenset(getattr(module, "__all__", None) or [each for each in vars(module) if not each.startswith("_")])


def is_among(dotted: str, names: tuple[str, ...]) -> bool:
    """Whether it is one of these dotted names, or below one."""
    return dotted.startswith(names) and any(dotted == name or dotted.startswith(f"{name}.") for name in names)
