"""The features that `suite_features.py` counts, the names that indicate them, and the reference's definitions."""

from __future__ import annotations

import ast
from collections import ChainMap
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Final, NamedTuple


class Feature(StrEnum):
    """The table's rows, in order; the value is the row's name."""

    LITERAL = "literal calls only"
    CONSTRUCTS = "constructs a class of the completion's"
    METHODS = "calls methods of its objects or classes"
    READS = "reads attributes of its objects or classes"
    SETS = "sets attributes of its objects or classes"
    OPERATORS = "operators on its objects (`==`, `<`, `+`)"
    CONTAINER = "`len`, iteration, `in`, index on its objects"
    WITH = "`with` on its objects or answers"
    ISINSTANCE = "`isinstance`, `issubclass` with its classes or objects"
    SUBCLASS = "subclasses its class"
    ANSWER_METHODS = "calls methods of its answers"
    ANSWER_READS = "reads attributes of its answers"
    ANSWER_CONTAINER = "`len`, iteration, `in`, index on its answers"
    ANSWER_ISINSTANCE = "`isinstance` of its answers"
    PATCH_OWN = "`patch` of the completion's names"
    PATCH_LIBRARY = "`patch` of library names"
    STDOUT = "replaces `sys.stdout` or `sys.stderr`"
    RANDOM = "`random`, a seed"
    TIME = "`time`, `datetime`"
    ASYNC = "`async`, `await`, `asyncio`"
    GENERATORS = "generators (`next`, `send`, `throw`, or the reference yields)"
    PASSES_FUNCTIONS = "passes functions or lambdas"
    PASSES_OWN = "passes classes or objects of the test's own classes"
    PASSES_MOCKS = "passes mocks"
    PASSES_BACK = "passes the completion's objects back to it"
    RAISES = "expects exceptions (`assertRaises`, `except`)"
    RAISES_OWN = "expects the completion's own exceptions"
    ENUM = "Enum in the prompt"
    DATACLASS = "dataclass in the prompt"
    NAMED_TUPLE = "NamedTuple in the prompt"
    NUMPY = "numpy"
    PANDAS = "pandas"
    MATPLOTLIB = "matplotlib, axes"
    INSPECT = "`inspect`, signatures, annotations, `__name__`, `__doc__`"
    COPY = "`pickle`, `copy`"
    FILES = "files (`open`, `tempfile`, `os`, `shutil`, `pathlib`)"
    PROCESSES = "`subprocess`, `multiprocessing`"
    THREADS = "threads"
    SOCKETS = "sockets, HTTP"
    SET_UP = "`setUp`, `tearDown`"
    SET_UP_CLASS = "`setUpClass`, `setUpModule`"
    SUB_TEST = "`subTest`"
    READ_AGAIN = "an argument is read after the call"
    CHANGED = "... and the reference changes a parameter in place"
    MODULE = "module-level statements besides definitions and constants"


class Kind(StrEnum):
    """The kind of an expression in the test."""

    CLASS, FUNCTION, OBJECT, ANSWER = "class", "function", "object", "answer"  # of the completion's
    OWN_CLASS, OWN, CALLABLE, MOCK = "own class", "own", "callable", "mock"  # of the test's


USED: Final = {
    Feature.RANDOM: "random numpy.random secrets faker",
    Feature.TIME: "time datetime freezegun",
    Feature.ASYNC: "asyncio unittest.IsolatedAsyncioTestCase",
    Feature.NUMPY: "numpy",
    Feature.PANDAS: "pandas",
    Feature.MATPLOTLIB: "matplotlib",
    Feature.INSPECT: "inspect typing.get_type_hints",
    Feature.COPY: "pickle copy",
    Feature.FILES: "open tempfile shutil pathlib glob os.remove os.unlink os.mkdir os.makedirs os.rmdir os.listdir "
    "os.walk os.rename os.stat os.path.exists os.path.isfile os.path.isdir os.path.getsize",
    Feature.PROCESSES: "subprocess multiprocessing concurrent.futures.ProcessPoolExecutor",
    Feature.THREADS: "threading concurrent.futures.ThreadPoolExecutor",
    Feature.SOCKETS: "socket ssl http urllib.request requests socketserver",
    Feature.STDOUT: "sys.stdout sys.stderr contextlib.redirect_stdout contextlib.redirect_stderr",
}
OF_ANSWERS: Final = {  # attributes that indicate a library's value, if the reference imports the library
    Feature.NUMPY: ("numpy", "shape dtype ndim tolist"),
    Feature.PANDAS: ("pandas", "columns iloc loc iterrows to_dict equals empty"),
    Feature.MATPLOTLIB: ("matplotlib", "get_title get_xlabel get_ylabel patches lines get_lines get_legend axes"),
}
COMPARED: Final = frozenset("assert" + name for name in "Equal NotEqual Less LessEqual Greater GreaterEqual".split())
ITERATED: Final = frozenset("len iter list tuple set sorted sum dict reversed enumerate zip min max any all".split())
INSTANCE: Final = frozenset("isinstance issubclass assertIsInstance assertNotIsInstance".split())
RAISES: Final = frozenset("assertRaises assertRaisesRegex raises".split())
_CHANGES: Final = frozenset("append extend insert pop remove clear sort reverse update add discard setdefault".split())
REFLECTED: Final = frozenset("__annotations__ __signature__ __doc__ __name__ __code__ __dict__ __defaults__".split())
FIXTURES: Final = {
    Feature.SET_UP: {"setUp", "tearDown", "asyncSetUp", "asyncTearDown"},
    Feature.SET_UP_CLASS: {"setUpClass", "tearDownClass", "setUpModule", "tearDownModule"},
}
DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
Def = ast.FunctionDef | ast.AsyncFunctionDef
Env = ChainMap[str, Kind]


def parsed(text: str) -> ast.Module:
    """An empty module for text that is not Python: a prompt may end in the middle of a function."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def outside(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes below, except in functions, which are scanned one by one."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, DEFINITIONS):
            yield child
            yield from outside(child)


def units(node: ast.AST) -> Iterator[Def]:
    """The outermost functions and methods."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, DEFINITIONS):
            yield child
        else:
            yield from units(child)


def named(node: ast.AST | None) -> str:
    """The last name of `a.b.c`; empty for anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def leaves(nodes: Iterable[ast.expr]) -> Iterator[ast.expr]:
    """The values in list, tuple, set and dict displays."""
    for node in nodes:
        match node:
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.Dict(values=parts):
                yield from leaves(parts)
            case _:
                yield node


def literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def imported(*trees: ast.AST) -> dict[str, str]:
    """The dotted name behind each imported name."""
    found: dict[str, str] = {}
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.Import):
            found |= {
                (a.asname or a.name.split(".")[0]): (a.name if a.asname else a.name.split(".")[0]) for a in node.names
            }
        elif isinstance(node, ast.ImportFrom):
            found |= {(a.asname or a.name): f"{node.module}.{a.name}" for a in node.names}
    return found


class Solution(NamedTuple):
    """The reference's definitions by name; methods count as functions."""

    kinds: dict[str, Kind]
    methods: set[str]
    makers: set[str]
    generators: set[str]
    changers: set[str]

    @classmethod
    def of(cls, tree: ast.Module, entry: str | None) -> Solution:
        classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
        kinds = {node.name: Kind.FUNCTION for node in tree.body if isinstance(node, DEFINITIONS)}
        if entry:
            kinds.setdefault(entry, Kind.FUNCTION)
        defs = list(units(tree))
        return cls(
            kinds | dict.fromkeys(classes, Kind.CLASS),
            {node.name for node in defs},
            {node.name for node in defs if any(named(made) in classes for made in _results(node))},
            {node.name for node in defs if any(isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(node))},
            {node.name for node in defs if _changes(node)},
        )


def _results(node: Def) -> Iterator[ast.AST | None]:
    yield node.returns
    yield from (
        part.value.func for part in ast.walk(node) if isinstance(part, ast.Return) and isinstance(part.value, ast.Call)
    )


def _changes(node: Def) -> bool:
    """Whether a parameter that is never rebound has an item set or a container-changing method called."""
    parts = list(ast.walk(node))
    bound = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    own = {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)} - bound - {"self", "cls"}
    for part in parts:
        match part:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if name in own and attr in _CHANGES:
                return True
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()) if name in own:
                return True
    return False
