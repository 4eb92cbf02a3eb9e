"""Finds changes to what others use in the interpreter: builtins, and the modules that tests rely on."""

from __future__ import annotations

import ast
import builtins
import importlib
import re
import sys
from collections.abc import Iterator

from evaluator.flags._parsed_code import Finder, ParsedCode

_LEANED_ON = frozenset(
    (
        "ast", "collections", "copy", "datetime", "faulthandler", "functools", "gc", "importlib", "inspect", "io",
        "itertools", "json", "marshal", "math", "operator", "os", "pickle", "random", "re", "resource", "signal",
        "statistics", "subprocess", "sys", "threading", "time", "traceback", "types", "unittest",
    )
)  # fmt: skip
_CLOSENESS = frozenset(
    ("math.isclose", "numpy.allclose", "numpy.isclose", "numpy.array_equal", "numpy.testing.assert_allclose")
)
_INPUT_AND_OUTPUT = frozenset(("print", "input", "open", "raw_input", "exit", "quit"))
"""Builtins that programs replace for speed or to print less; this does not change what others compare."""
_OWN_HOOKS = (
    "sys.stdin", "sys.stdout", "sys.stderr", "sys.excepthook", "sys.displayhook", "sys.unraisablehook",
    "sys.breakpointhook", "threading.excepthook", "json.JSONEncoder.default",
)  # fmt: skip
"""Hooks that may be replaced by design, or that many programs replace for their own use."""
_ATTRIBUTE_SET = re.compile(r"\.\w+[ \t]*(?:\*\*|//|>>|<<|[-+*/%&|^])?=(?!=)")
_ROOT = re.compile(r"([A-Za-z_]\w*)(?:\.\w+)*$")
_IMPORTED = re.compile(r"^[ \t]*(?:import|from)\b([^\n]*)", re.MULTILINE)
_WORD = re.compile(r"\w+")


def may_occur(code: str) -> bool:
    """Whether the code may set an attribute of something that it imports. Takes microseconds."""
    if any(word in code for word in ("builtins", "setattr", "sys.modules", "vars(", "__dict__")):
        return True
    if "import" not in code:
        return False
    set_on = {_root(code, found.start()) for found in _ATTRIBUTE_SET.finditer(code)} - {"", "self"}
    return bool(set_on) and any(set_on.intersection(_WORD.findall(line)) for line in _IMPORTED.findall(code))


def _root(code: str, dot: int) -> str:
    found = _ROOT.search(code, max(0, dot - 80), dot)
    return found[1] if found else ""


def patches(parsed: ParsedCode) -> Iterator[int]:
    """Assignments that change what others get from a builtin or from a module of the standard library."""
    for node in parsed.nodes:
        match node:
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                if _root_name(node) not in parsed.bound and _is_patch(parsed, node):
                    yield node.lineno
            case ast.Call(func=ast.Name(id="setattr"), args=[target, name, _], lineno=line):
                if _root_name(target) not in parsed.bound and _sets(parsed.dotted(target), name):
                    yield line


def _root_name(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        match node:
            case ast.Call(func=ast.Name(id="vars"), args=[owner]):
                node = owner
            case ast.Call():
                return ""
            case _:
                node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_patch(parsed: ParsedCode, node: ast.Attribute | ast.Subscript) -> bool:
    if isinstance(node, ast.Subscript) and parsed.dotted(node.value) == "sys.modules":
        return parsed.dotted(node) in sys.stdlib_module_names
    match node:
        case (
            ast.Subscript(value=ast.Attribute(value=owner, attr="__dict__"), slice=name)
            | ast.Subscript(value=ast.Call(func=ast.Name(id="vars"), args=[owner]), slice=name)
        ):
            return _sets(parsed.dotted(owner), name)
    return _changes_others(parsed.dotted(node))


def _sets(owner: str, name: ast.expr) -> bool:
    match name:
        case ast.Constant(value=str(known)):
            return bool(owner) and _changes_others(f"{owner}.{known}")
    return owner == "builtins" or owner.partition(".")[0] in _LEANED_ON or owner == "numpy.testing"


def _changes_others(path: str) -> bool:
    """Whether the path is an existing callable that others use; a new name changes nothing for them."""
    module, _, rest = path.partition(".")
    if path in _CLOSENESS:
        return True
    if module == "builtins":
        return rest not in _INPUT_AND_OUTPUT and hasattr(builtins, rest)
    if module not in _LEANED_ON or not rest or path.startswith(_OWN_HOOKS):
        return False
    found: object = importlib.import_module(module)
    for name in rest.split("."):
        if not hasattr(found, name):
            return False
        found = getattr(found, name)
    return callable(found) or rest.endswith("__code__")


FINDERS: dict[str, Finder] = {"patched_builtins": patches}
