"""What a prompt defines besides what it requests, and the classes that a task mentions. Parsed, never run."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterator

from evaluator.suites.reading.source import Imports, Lines, binds, is_start, names_of, names_read, parsed, walk
from evaluator.syntax import BUILTINS

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_CLASS_STATEMENT = re.compile(r"\bclass\s+([A-Za-z_]\w*)\s*[:(]")
_MENTIONS = re.compile(
    r"\b(?:class(?:es)?|(?:instances?|objects?|subclass) of)\s+(?:(?:an?|the|named|called|type)\s+)*[`'\"*]*([A-Z]\w*)"
    r"|[`'\"*]*\b([A-Z]\w*)[`'\"*]*\s+(?:class|object|instance|subclass)"
    r"|`([A-Z]\w*)(?:\([^`]*\))?`"
)
_NO_NAMES = frozenset(
    """A All An Any Base Child Complete Create Custom Define Each Every Given Implement Its My New Our Parent Python
    Return Returns Same Some That The These This Those Using Write Your""".split()
)
"""Words before `class` in prose that name no class."""
_BLOCKING = "input"


def definitions(prompt: str, entry_point: str | None, preamble: str) -> str:
    """Source of the prompt's imports, functions, classes and assignments, without what the completion must define.

    That is the entry point, every function without a body, every class with such a method, and what depends on them.
    Definitions that the preamble already has are left out. Empty if the prompt is not Python.
    """
    module = _module(prompt, entry_point)
    if module is None:
        return ""
    known = {ast.dump(node) for node in getattr(parsed(preamble), "body", ())}
    requested = {_BLOCKING, *([entry_point] if entry_point else [])}
    requested.update(*(binds(node) for node in module.body if _is_requested(node, entry_point)))
    own: list[ast.stmt] = []
    for node in module.body:
        if not _defines(node) or is_start(node):
            continue
        if requested & _read_at_once(node):
            requested |= binds(node)
        elif not (requested & binds(node)) and ast.dump(node) not in known:
            own.append(node)
    lines = Lines(prompt)
    return "".join(f"{lines.of(node)}\n" for node in own)


def mentioned(prompt: str, entry_point: str | None) -> set[str]:
    """Names of classes that the prompt defines, annotates with, or mentions."""
    names = set(_CLASS_STATEMENT.findall(prompt))
    for match in _MENTIONS.finditer(prompt):
        names.update(name for name in match.groups() if name and name not in _NO_NAMES)
    module = _module(prompt, entry_point)
    if module is not None:
        nodes = walk(module)
        names |= _annotated(nodes) - Imports(nodes).origins.keys() - names_of("typing")
        names |= {node.name for node in nodes if isinstance(node, ast.ClassDef)}
    return {name for name in names if name not in BUILTINS and not keyword.iskeyword(name)}


def _module(prompt: str, entry_point: str | None) -> ast.Module | None:
    """The prompt as Python, or the part before an unfinished entry point."""
    module = parsed(prompt)
    if module is not None or not entry_point:
        return module
    start = re.search(rf"^(?:@|(?:async[ \t]+)?def[ \t]+{re.escape(entry_point)}\b)", prompt, re.MULTILINE)
    return parsed(prompt[: start.start()]) if start else None


def _defines(node: ast.stmt) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return True
        case ast.Assign() | ast.AnnAssign(value=ast.expr()) | ast.AugAssign() | ast.Pass():
            return True
        case ast.If(body=body, orelse=orelse):
            return all(map(_defines, body + orelse))
        case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
            inner = [statement for handler in handlers for statement in handler.body]
            return all(map(_defines, body + inner + orelse + final))
        case _:
            return False


def _is_requested(node: ast.stmt, entry_point: str | None) -> bool:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name == entry_point or _has_no_body(node)
        case ast.ClassDef(name=name):
            return name == entry_point or any(
                isinstance(method, _Function) and (method.name == entry_point or _has_no_body(method))
                for method in node.body
            )
        case _:
            return entry_point in binds(node)


def _has_no_body(node: _Function) -> bool:
    """Whether the completion must write it; an abstract method or an overload is complete."""
    if any(ast.unparse(decorator).endswith(("abstractmethod", "overload")) for decorator in node.decorator_list):
        return False
    says_nothing = isinstance(node.body[-1], ast.Expr)  # `...` or a docstring; an `__init__` of `pass` is complete
    return all(map(_does_nothing, node.body)) and (node.name != "__init__" or says_nothing)


def _does_nothing(node: ast.stmt) -> bool:
    match node:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Raise(exc=ast.Name(id=name) | ast.Call(func=ast.Name(id=name))):
            return name == "NotImplementedError"
        case _:
            return False


def _read_at_once(node: ast.stmt) -> set[str]:
    """Names that are read when the statement runs, without those that a function reads when called."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            defaults = [default for default in (*node.args.defaults, *node.args.kw_defaults) if default is not None]
            return names_read([*node.decorator_list, *defaults])
        case ast.ClassDef():
            own = names_read([*node.decorator_list, *node.bases, *node.keywords])
            return own.union(*map(_read_at_once, node.body))
        case _:
            return names_read(node)


def _annotated(nodes: list[ast.AST]) -> set[str]:
    return {name for node in nodes for annotation in _annotations(node) for name in _names_in(annotation)}


def _annotations(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.arg(annotation=ast.expr() as annotation) | ast.AnnAssign(annotation=annotation):
            yield annotation
        case ast.FunctionDef(returns=ast.expr() as annotation) | ast.AsyncFunctionDef(returns=ast.expr() as annotation):
            yield annotation


def _names_in(annotation: ast.expr) -> Iterator[str]:
    """Names in an annotation, also in one that is written as text."""
    for node in ast.walk(annotation):
        match node:
            case ast.Name(id=name):
                yield name
            case ast.Constant(value=str(text)):
                yield from re.findall(r"(?<![.\w])[A-Za-z_]\w*", text)
