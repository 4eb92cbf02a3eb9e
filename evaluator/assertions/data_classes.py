"""The dataset's classes whose objects cross as data, and the source of those that a test gives to a completion.

Of the test's own classes the completion's process gets those alone that objects are given to it of, or that such
objects are made with: a class may as well hold what is expected of the completion.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

from evaluator.assertions.flow import targets_of
from evaluator.assertions.imports import Imports
from evaluator.assertions.reading import Reading
from evaluator.assertions.scopes import Scopes
from evaluator.assertions.source import parsed

_PLAIN_BASES = frozenset(("ABC", "Enum", "Flag", "Generic", "IntEnum", "IntFlag", "NamedTuple", "StrEnum", "object"))
_MAKERS = frozenset(("Enum", "Flag", "IntEnum", "IntFlag", "NamedTuple", "StrEnum", "make_dataclass", "namedtuple"))

_Class = ast.ClassDef | ast.Assign


def data_classes(reading: Reading) -> tuple[tuple[str, ...], str]:
    """Names of the dataset's plain classes, and what the completion's process needs of the test to know them."""
    outside = [module for module in map(parsed, reading.outside) if module is not None]
    theirs = [node for module in outside for node in _classes(module.body, reading)]
    known = _plain(theirs, set())
    own = list(_classes([*reading.module.body, *(reading.check.body if reading.check else [])], reading))
    plain = _plain(own, known)
    given = reading.flow.reached_from(_given(reading))
    support = [node for node in own if _name(node) in plain & given]
    support = _complete(support, reading, known)
    names = known | {_name(node) for node in support}
    return tuple(sorted(names)), _source(support, reading)


def _classes(body: Iterable[ast.stmt], reading: Reading) -> Iterator[_Class]:
    for node in body:
        match node:
            case ast.ClassDef(name=name) if name != reading.entry_point:
                yield node
            case ast.Assign(targets=[ast.Name()], value=ast.Call(func=ast.Name(id=maker) | ast.Attribute(attr=maker))):
                if maker in _MAKERS:
                    yield node
            case ast.If(body=body, orelse=orelse):
                yield from _classes([*body, *orelse], reading)
            case ast.Try(body=body, handlers=handlers):
                yield from _classes([*body, *(inner for handler in handlers for inner in handler.body)], reading)


def _name(node: _Class) -> str:
    return node.name if isinstance(node, ast.ClassDef) else next(targets_of(node.targets[0]))


def _plain(nodes: Iterable[_Class], known: set[str]) -> set[str]:
    """Names of the classes among these that have no bases, or plain ones."""
    found: set[str] = set()
    for node in nodes:
        bases = node.bases if isinstance(node, ast.ClassDef) else []
        odd = isinstance(node, ast.ClassDef) and node.keywords
        if not odd and all(_is_plain(base, found | known) for base in bases):
            found.add(_name(node))
    return found


def _is_plain(base: ast.expr, known: set[str]) -> bool:
    if isinstance(base, ast.Subscript):
        base = base.value
    match base:
        case ast.Name(id=name) if name in known:
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            kind = getattr(builtins, name, None)
            return name in _PLAIN_BASES or (isinstance(kind, type) and issubclass(kind, BaseException))
        case _:
            return False


def _given(reading: Reading) -> set[str]:
    """Names that go into the arguments of a call of the completion, or into what it has made."""
    found: set[str] = set()
    for node in reading.nodes:
        match node:
            case ast.Call(func=function, args=arguments, keywords=keywords):
                given = [*arguments, *(keyword.value for keyword in keywords)]
                direct = any(isinstance(each, ast.Name) and each.id in reading.completion for each in given)
                if direct or _is_in_touch(function, reading):
                    found |= reading.reads.of_all(given)
            case ast.Assign(targets=[ast.Attribute(value=owner)], value=value) if _is_in_touch(owner, reading):
                found |= reading.reads(value)
    return found


def _is_in_touch(function: ast.expr, reading: Reading) -> bool:
    return not reading.in_touch.isdisjoint(targets_of(function))


def _complete(nodes: list[_Class], reading: Reading, known: set[str]) -> list[_Class]:
    """Those that can be made with nothing else of the test than imports and each other."""
    read = {node: _globals_of(node, reading) for node in nodes}
    kept = nodes
    while True:
        others = reading.scopes.defined() - {_name(node) for node in kept} - known - reading.imports.origins.keys()
        others |= reading.completion
        left = [node for node in kept if read[node].isdisjoint(others)]
        if len(left) == len(kept):
            return kept
        kept = left


def _globals_of(node: _Class, reading: Reading) -> frozenset[str]:
    try:
        return Scopes(_at_margin(node, reading)).free()
    except SyntaxError:
        return reading.scopes.defined()


def _source(support: list[_Class], reading: Reading) -> str:
    """Source of the classes after the test's imports of what they read."""
    if not support:
        return ""
    wanted = frozenset[str]().union(*(_globals_of(node, reading) for node in support))
    imports = [node for node in reading.nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    needed = [node for node in imports if _is_of_future(node) or not wanted.isdisjoint(Imports([node]).origins)]
    statements: list[ast.stmt] = [*sorted(needed, key=lambda node: node.lineno), *support]
    return "".join(f"{source}\n" for source in dict.fromkeys(_at_margin(node, reading) for node in statements))


def _is_of_future(node: ast.Import | ast.ImportFrom) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _at_margin(node: ast.stmt, reading: Reading) -> str:
    """The statement as it would stand at the start of a line."""
    return ast.unparse(node) if node.col_offset else reading.lines.of(node)
