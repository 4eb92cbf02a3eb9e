"""A test's source as code: its module, and the pieces of its check that can be run one by one.

`def check(candidate)` becomes a function that returns its pieces: functions of no arguments that share its variables,
so that closures, `nonlocal` and names that are also global mean what they meant. A check that is the module's own
statements becomes pieces of that module.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from types import CodeType, CoroutineType
from typing import Any, NamedTuple

from evaluator.sandbox.inside import check_asserts, check_calls

FILE = "<test>"
"""The file name of a test's code: of its frames in a traceback."""

Piece = Callable[[], object]
Pieces = list[tuple[Piece | None, Piece | None]]
"""Of each case: the set-up and what judges, to be called; `None` where there is none."""

Compiled = tuple[str, CodeType, Any]
"""A test that is ready to be executed, which can be marshalled: what its check is, the module's code, and what belongs
to that."""

_LOOKS_AT_LOCALS = re.compile(r"\b(?:locals|vars|dir|eval|exec)\b")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_WHOLE = (0, -1)


class Part(NamedTuple):
    """One case's statements: what it needs, then what judges."""

    setup: list[ast.stmt]
    judging: list[ast.stmt]


class CheckModule(NamedTuple):
    """A test that has been read."""

    tree: ast.Module
    parts: list[Part]
    compiled: Compiled


def read(order: dict[str, Any]) -> CheckModule:
    """The test of an order. Raises what `compile` raises."""
    test: str = order["test"]
    with warnings.catch_warnings():  # those are the dataset's, and a filter could make errors of them
        warnings.simplefilter("ignore")
        tree: Any = compile(test, FILE, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        tree.body = [statement for statement in tree.body if not _is_main(statement)]
        if order["records"]:
            check_calls.rewrite(tree, (*order["names"], order["entry_point"], "candidate"))
        if order["form"] != "statements":
            return _without_pieces(tree)
        check = next((node for node in reversed(tree.body) if _is_check(node)), None)
        if check is None:
            return _of_module(tree, order["spans"])
        tree.body = [statement for statement in tree.body if not _is_call(statement, "check")]
        return _of_function(tree, check, order["spans"], test)


def pieces(compiled: Compiled, namespace: dict[str, Any], find: Callable[[], object]) -> Pieces:
    """The pieces, once the code has been executed in these globals; `find` finds the candidate."""
    kind, _, detail = compiled
    return _PIECES[kind](detail, namespace, find) if kind in _PIECES else []


def _is_check(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == "check"


def _is_main(statement: ast.stmt) -> bool:
    """What starts the module as a program, `if __name__ == "__main__"` or `unittest.main()`: no span counts it."""
    match statement:
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"), comparators=[ast.Constant(value="__main__")])):
            return True
        case ast.If(test=ast.Compare(left=ast.Constant(value="__main__"), comparators=[ast.Name(id="__name__")])):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="unittest"), attr="main"))):
            return True
    return False


def _is_call(statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id=called))):
            return called == name
    return False


def _compiled(tree: ast.Module, flags: int = 0) -> CodeType:
    # optimize=0: asserts are there whatever options this interpreter was started with
    code: CodeType = compile(tree, FILE, "exec", flags, dont_inherit=True, optimize=0)
    return code


def _without_pieces(tree: ast.Module) -> CheckModule:
    check_asserts.rewrite(tree.body)
    return CheckModule(tree, [], ("methods", _compiled(tree), None))


def _parts(body: list[ast.stmt], spans: Iterable[tuple[int, int, bool]]) -> list[Part]:
    """The statements of each case; a span's last one is the one that judges, if there is one."""
    parts = []
    for first, last, judges in spans:
        if (first, last) == _WHOLE:
            parts.append(Part([], list(body)))
        else:
            end = last if judges else last + 1
            parts.append(Part(body[first:end], body[end : last + 1]))
    return parts


# The module's own statements


def _of_module(tree: ast.Module, spans: Iterable[tuple[int, int, bool]]) -> CheckModule:
    parts = _parts(tree.body, spans)
    flags = _future_flags(tree)
    code = [(_statements(part.setup, flags), _statements(part.judging, flags)) for part in parts]
    nothing = ast.Module(body=[], type_ignores=[])
    return CheckModule(tree, parts, ("statements", _compiled(nothing), code))


def _executed(
    code: list[tuple[CodeType | None, CodeType | None]], namespace: dict[str, Any], _find: Callable[[], object]
) -> Pieces:
    return [(_executing(setup, namespace), _executing(judging, namespace)) for setup, judging in code]


def _statements(statements: list[ast.stmt], flags: int) -> CodeType | None:
    if not statements:
        return None
    check_asserts.rewrite(statements)
    return _compiled(ast.Module(body=statements, type_ignores=[]), flags)


def _executing(code: CodeType | None, namespace: dict[str, Any]) -> Piece | None:
    return None if code is None else partial(exec, code, namespace)


def _future_flags(tree: ast.Module) -> int:
    names = [
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        for alias in node.names
    ]
    if not names:
        return 0
    import __future__  # hardly ever needed

    flags = 0
    for name in names:
        flags |= getattr(__future__, name).compiler_flag
    return flags


# The body of a function


def _of_function(tree: ast.Module, check: Any, spans: Iterable[tuple[int, int, bool]], test: str) -> CheckModule:
    spans = list(spans)
    parts = _parts(check.body, spans)
    takes_one = bool(check.args.posonlyargs or check.args.args or check.args.vararg)
    if any((first, last) == _WHOLE for first, last, _ in spans):
        check_asserts.rewrite(tree.body)
        return CheckModule(tree, parts, ("whole", _compiled(tree), takes_one))
    walrus = ":=" in test
    _split(check, parts, walrus, bool(_LOOKS_AT_LOCALS.search(test)))
    check_asserts.rewrite(tree.body)
    return CheckModule(tree, parts, ("pieces", _compiled(tree), takes_one))


def _calling(takes_one: bool, namespace: dict[str, Any], find: Callable[[], object]) -> Pieces:
    check = namespace["check"]
    whole = partial(check, find()) if takes_one else check
    return [(None, partial(finished, whole))]


def _returned(takes_one: bool, namespace: dict[str, Any], find: Callable[[], object]) -> Pieces:
    check = namespace["check"]
    made = iter(check(find()) if takes_one else check())
    return list(zip(made, made, strict=True))


_PIECES: dict[str, Callable[[Any, dict[str, Any], Callable[[], object]], Pieces]] = {
    "statements": _executed,
    "whole": _calling,
    "pieces": _returned,
}


def finished(function: Callable[[], Any]) -> object:
    """What the function returns, awaited if it is a coroutine."""
    result = function()
    if type(result) is CoroutineType:
        import asyncio  # takes longer to load than most checks to run

        return asyncio.run(result)
    return result


def _split(check: Any, parts: list[Part], walrus: bool, whole_locals: bool) -> None:
    """Makes the function return its pieces."""
    statements = [piece for part in parts for piece in part]
    names = [bound_names(piece, walrus=walrus) for piece in statements]
    every = set().union(*names)
    arguments = {one.arg for one in _arguments(check.args)}
    body: list[ast.stmt] = []
    returned: list[ast.expr] = []
    for number, (piece, bound) in enumerate(zip(statements, names, strict=True)):
        if not piece:
            returned.append(ast.Constant(value=None, **_NOWHERE))
            continue
        outer = sorted(every | arguments if whole_locals else bound)
        body.append(_piece(f"@piece{number}", piece, outer))
        returned.append(ast.Name(id=f"@piece{number}", ctx=ast.Load(), **_NOWHERE))
    body.append(ast.Return(value=ast.Tuple(elts=returned, ctx=ast.Load(), **_NOWHERE), **_NOWHERE))
    if every:  # never reached: says whose variables they are
        targets: list[ast.expr] = [ast.Name(id=name, ctx=ast.Store(), **_NOWHERE) for name in sorted(every)]
        body.append(ast.Assign(targets=targets, value=ast.Constant(value=None, **_NOWHERE), **_NOWHERE))
    check.body = body
    check.decorator_list = []


def _piece(name: str, statements: list[ast.stmt], outer: list[str]) -> ast.stmt:
    first, last = statements[0], statements[-1]
    shared: list[ast.stmt] = [ast.Nonlocal(names=outer, **_NOWHERE)] if outer else []
    no_arguments = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    fields: dict[str, Any] = {"type_params": []}  # since 3.12
    return ast.FunctionDef(
        name=name,
        args=no_arguments,
        body=[*shared, *statements],
        decorator_list=[],
        lineno=first.lineno,
        col_offset=first.col_offset,
        end_lineno=last.end_lineno,
        end_col_offset=last.end_col_offset,
        **fields,
    )


_NOWHERE: dict[str, Any] = {"lineno": 1, "col_offset": 0, "end_lineno": 1, "end_col_offset": 0}


def bound_names(statements: Iterable[ast.stmt], *, walrus: bool) -> set[str]:
    """The names that the statements bind or delete where they stand, not in functions and classes of their own.

    Without `walrus` there is no `:=` in them, and expressions are passed over. Annotations of names are made such as
    those of other targets, which a function does not evaluate either: a `nonlocal` name may have no other.
    """
    names: set[str] = set()
    pending: list[Any] = list(statements)
    while pending:
        node = pending.pop()
        kind = type(node)
        if kind is ast.Name:
            if type(node.ctx) is not ast.Load:
                names.add(node.id)
        elif kind in _DEFINITIONS:
            names.add(node.name)
            if walrus:
                pending.extend(_evaluated_outside(node))
        elif kind is ast.Lambda:
            pending.extend(_defaults(node.args))
        elif kind in _COMPREHENSIONS:
            pending.extend(_of_comprehension(node))
        elif kind is ast.alias:
            names.add(node.asname or node.name.partition(".")[0])
        else:
            if kind is ast.AnnAssign:
                node.simple = 0
            name = _NAMED.get(kind)
            if name is not None and getattr(node, name) is not None:
                names.add(getattr(node, name))
            fields = getattr(kind, "_fields", ()) if walrus else _PARTS.get(kind, ())
            for field in fields:
                value = getattr(node, field)
                if type(value) is list:
                    pending.extend(value)
                elif isinstance(value, ast.AST):
                    pending.append(value)
    return names


def _evaluated_outside(node: Any) -> list[Any]:
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    return [*node.decorator_list, *_defaults(node.args)]  # no annotation may have a `:=`


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    starred = filter(None, (arguments.vararg, arguments.kwarg))
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *starred]


def _defaults(arguments: ast.arguments) -> list[ast.expr]:
    return [*arguments.defaults, *(one for one in arguments.kw_defaults if one is not None)]


def _of_comprehension(node: Any) -> list[Any]:
    """All but the targets: those are the comprehension's own."""
    results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    return [*results, *(part for one in node.generators for part in (one.iter, *one.ifs))]


_PATTERNS = {
    ast.MatchSequence: ("patterns",),
    ast.MatchMapping: ("patterns",),
    ast.MatchClass: ("patterns", "kwd_patterns"),
    ast.MatchOr: ("patterns",),
    ast.MatchAs: ("pattern",),
}
_PARTS: dict[type, tuple[str, ...]] = {
    **_PATTERNS,
    ast.Assign: ("targets",),
    ast.AugAssign: ("target",),
    ast.AnnAssign: ("target",),
    ast.Delete: ("targets",),
    ast.For: ("target", "body", "orelse"),
    ast.AsyncFor: ("target", "body", "orelse"),
    ast.While: ("body", "orelse"),
    ast.If: ("body", "orelse"),
    ast.With: ("items", "body"),
    ast.AsyncWith: ("items", "body"),
    ast.withitem: ("optional_vars",),
    ast.Try: ("body", "handlers", "orelse", "finalbody"),
    ast.TryStar: ("body", "handlers", "orelse", "finalbody"),
    ast.ExceptHandler: ("body",),
    ast.Match: ("cases",),
    ast.match_case: ("pattern", "body"),
    ast.Import: ("names",),
    ast.ImportFrom: ("names",),
    ast.Tuple: ("elts",),
    ast.List: ("elts",),
    ast.Starred: ("value",),
}
"""Where names are bound without `:=`."""
if hasattr(ast, "TypeAlias"):  # since 3.12
    _PARTS[ast.TypeAlias] = ("name",)

_NAMED: dict[type, str] = {
    ast.ExceptHandler: "name",
    ast.MatchAs: "name",
    ast.MatchStar: "name",
    ast.MatchMapping: "rest",
}
