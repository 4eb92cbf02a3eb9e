"""The dataset's classes whose objects cross as data: those of preamble and prompt, which both sides have."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

from evaluator.suites.reading.flow import targets_of
from evaluator.suites.reading.reading import Reading
from evaluator.suites.reading.source import parsed

_BASES_WITHOUT_FIELDS = frozenset(
    ("ABC", "Enum", "Flag", "Generic", "IntEnum", "IntFlag", "NamedTuple", "StrEnum", "object")
)
_MAKERS = frozenset(("Enum", "Flag", "IntEnum", "IntFlag", "NamedTuple", "StrEnum", "make_dataclass", "namedtuple"))

_Class = ast.ClassDef | ast.Assign


def data_classes(reading: Reading) -> tuple[str, ...]:
    """Names of the classes that have no bases, or bases without fields."""
    outside = [module for module in map(parsed, reading.outside) if module is not None]
    names: set[str] = set()
    for node in (node for module in outside for node in _classes(module.body, reading)):
        bases = node.bases if isinstance(node, ast.ClassDef) else []
        is_odd = isinstance(node, ast.ClassDef) and node.keywords
        if not is_odd and all(_adds_nothing(base, names) for base in bases):
            names.add(_name(node))
    return tuple(sorted(names))


def classes_passed(reading: Reading) -> dict[str, int]:
    """The test's own classes that may be passed to the completion, with the lines of their definitions.

    The completion's process does not have them, because such a class might contain expected values.
    """
    body = [*reading.module.body, *(reading.check.body if reading.check else [])]
    own = {_name(node): node.lineno for node in _classes(body, reading) if not _makes_tuples(node)}
    passed = reading.flow.reached_from(_argument_names(reading))
    return {name: line for name, line in own.items() if name in passed}


def _classes(body: Iterable[ast.AST], reading: Reading) -> Iterator[_Class]:
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


def _makes_tuples(node: _Class) -> bool:
    """Whether it is a named tuple, which crosses as data wherever it is defined."""
    maker = [node.value.func] if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) else []
    kinds = [*maker, *(node.bases if isinstance(node, ast.ClassDef) else [])]
    return any(ast.unparse(each).rpartition(".")[2] in ("NamedTuple", "namedtuple") for each in kinds)


def _adds_nothing(base: ast.expr, known: set[str]) -> bool:
    if isinstance(base, ast.Subscript):
        base = base.value
    match base:
        case ast.Name(id=name) if name in known:
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            kind = getattr(builtins, name, None)
            return name in _BASES_WITHOUT_FIELDS or (isinstance(kind, type) and issubclass(kind, BaseException))
        case _:
            return False


def _argument_names(reading: Reading) -> set[str]:
    """Names that are passed to the completion, or assigned to attributes of its objects."""
    names: set[str] = set()
    for node in reading.nodes:
        match node:
            case ast.Call(func=function, args=arguments, keywords=keywords):
                values = [*arguments, *(keyword.value for keyword in keywords)]
                direct = any(isinstance(each, ast.Name) and each.id in reading.completion for each in values)
                if direct or _is_in_touch(function, reading):
                    names |= reading.reads.of_all(values)
            case ast.Assign(targets=[ast.Attribute(value=owner)], value=value) if _is_in_touch(owner, reading):
                names |= reading.reads(value)
    return names


def _is_in_touch(function: ast.expr, reading: Reading) -> bool:
    return not reading.in_touch.isdisjoint(targets_of(function))
