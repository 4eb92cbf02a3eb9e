"""Finds what a completion's code reaches for outside itself: ending the process, others' frames, the collector, raw
memory, and changes to builtins and modules that others use. The code is parsed once, never run.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple, TypeGuard

from evaluator import syntax

_DEEPEST_NAME = 8
"""Parts of a dotted name that are followed; no module is nested deeper."""
_SHOWN_LINE = 100
_OPEN_TO_STARS = ("ctypes", "gc", "inspect", "os", "sys")


class ParsedCode:
    """The code of a completion, with its names traced to their imports."""

    def __init__(self, code: str, *, main_runs: bool) -> None:
        """`main_runs`: whether the code under `if __name__ == "__main__"` runs at all."""
        self._lines = syntax.lines_of(code)
        tree = syntax.completion_tree(code)
        self.nodes = list(_walk(tree, main_runs)) if tree is not None else []
        """Every node that may run, also in strings for `exec` and `eval`; none if the code is not Python."""
        self.nodes += [inner for node in self.nodes for inner in _executed_text(node)]
        self.imports: dict[str, str] = {"__builtins__": "builtins"}
        """Name in the code -> dotted name of its import."""
        for node in self.nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    top = alias.name.partition(".")[0]
                    self.imports[alias.asname or top] = alias.name if alias.asname else top
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                self.imports |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}

    @cached_property
    def bound(self) -> frozenset[str]:
        """Names that the code itself binds: arguments, variables, functions, classes."""
        found: set[str] = set()
        for node in self.nodes:
            match node:
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                    found.add(name)
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
                    found.add(name)
        return frozenset(found)

    @cached_property
    def named(self) -> list[tuple[ast.expr, str]]:
        """Every expression that refers to something imported, with its dotted name."""
        kinds = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
        found = [(node, self.dotted(node)) for node in self.nodes if isinstance(node, kinds)]
        return [(node, name) for node, name in found if name]

    def lines_naming(self, names: Iterable[str]) -> Iterator[int]:
        return (node.lineno for node, name in self.named if name in names)

    def dotted(self, node: ast.expr, depth: int = _DEEPEST_NAME) -> str:
        """The dotted name of what an expression refers to; empty if that is not imported."""
        if depth == 0:
            return ""
        match node:
            case ast.Name(id=name):
                star = self.imports.get("*", "").removesuffix(".*")
                starred = f"{star}.{name}" if star in _OPEN_TO_STARS and name not in self.bound else ""
                return self.imports.get(name) or starred
            case ast.Call(func=ast.Name(id="vars"), args=[inner]):
                return _joined(self.dotted(inner, depth - 1), "__dict__")
            case ast.Call(func=ast.Name(id="__import__"), args=[ast.Constant(value=str(module)), *_]):
                return module
            case ast.Call(func=function, args=[ast.Constant(value=str(module)), *_]):
                loads = self.dotted(function, depth - 1) in ("importlib.import_module", "builtins.__import__")
                return module if loads else ""
            case ast.Subscript(value=inner, slice=ast.Constant(value=str(key))):
                return _item(self.dotted(inner, depth - 1), key)
        attribute = _attribute_of(node)
        return _joined(self.dotted(attribute[0], depth - 1), attribute[1]) if attribute else ""

    def evidence(self, line: int) -> str:
        """A line's number, from 1, and its text, shortened."""
        return f"line {line}: {shortened(self._lines[line - 1])}"


class Finder(NamedTuple):
    """What looks for one flag in the code."""

    word: str
    may_occur: Callable[[str], bool]
    """Whether the code has a word without which it can't occur. Takes microseconds."""
    lines: Callable[[ParsedCode], Iterable[int]]
    """The lines of the code, from 1, that show it."""


def _walk(node: ast.AST, main_runs: bool) -> Iterator[ast.AST]:
    """`ast.walk`, without the code under `if __name__ == "__main__"` unless it runs."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        if not main_runs and is_main_guard(current):
            pending.extend(current.orelse)
        else:
            pending.extend(ast.iter_child_nodes(current))


def is_main_guard(node: ast.AST) -> TypeGuard[ast.If]:
    """Whether it is `if __name__ == "__main__"`."""
    match node:
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"), ops=[ast.Eq()], comparators=[ast.Constant()])):
            return True
        case ast.If(test=ast.Compare(left=ast.Constant(), ops=[ast.Eq()], comparators=[ast.Name(id="__name__")])):
            return True
    return False


def shortened(text: str, room: int = _SHOWN_LINE) -> str:
    """The text as one line of at most `room` characters."""
    flat = " ".join(text[: 4 * room].split())
    return flat if len(flat) <= room else flat[: room - 3] + "..."


def _attribute_of(node: ast.AST) -> tuple[ast.expr, str] | None:
    """The object and the name of an attribute access, also by `getattr` with a literal name."""
    match node:
        case ast.Attribute(value=inner, attr=name):
            return inner, name
        case ast.Call(func=ast.Name(id="getattr"), args=[inner, ast.Constant(value=str(name)), *_]):
            return inner, name
    return None


def _joined(inner: str, name: str) -> str:
    return f"{inner}.{name}" if inner and not inner.endswith(".__dict__") else ""


def _item(inner: str, key: str) -> str:
    if inner == "sys.modules":
        return key
    if inner == "builtins":  # outside `__main__`, `__builtins__` is the module's dict
        return f"builtins.{key}"
    return f"{inner.removesuffix('.__dict__')}.{key}" if inner.endswith(".__dict__") else ""


def _executed_text(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a string passed to `exec`, `eval` or `compile`, with the line of the call."""
    match node:
        case ast.Call(
            func=ast.Name(id="exec" | "eval" | "compile"), args=[ast.Constant(value=str(text)), *_], lineno=line
        ):
            tree = syntax.tree_of(text, syntax.COMPLETION)
            for inner in ast.walk(tree) if tree is not None else ():
                if hasattr(inner, "lineno"):
                    inner.lineno = line
                yield inner


# ways out

_EXITS = frozenset(("os._exit", "os.abort", "posix._exit", "posix.abort"))
"""`sys.exit` is an ordinary exception: if it ends a call, the result shows it."""
_FRAME_VALUES = frozenset(("f_locals", "f_globals", "f_builtins"))
_OTHER_FRAME = frozenset(("f_back", "tb_frame", "gi_frame", "cr_frame", "ag_frame"))
_OTHER_FRAMES = frozenset(
    (
        "inspect.stack", "inspect.trace", "inspect.getouterframes", "inspect.getinnerframes", "sys._current_frames",
        "sys.settrace", "sys.setprofile", "threading.settrace", "threading.setprofile", "traceback.walk_stack",
        "traceback.walk_tb",
    )
)  # fmt: skip
_GETS_FRAME = frozenset(("sys._getframe", "inspect.currentframe"))
_COLLECTOR = frozenset(("gc.get_objects", "gc.get_referrers", "gc.get_referents"))
_MEMORY = frozenset(
    (
        "ctypes.CDLL", "ctypes.PyDLL", "ctypes.cdll", "ctypes.pydll", "ctypes.pythonapi", "ctypes.memmove",
        "ctypes.string_at", "ctypes.wstring_at", "ctypes.util.find_library", "_ctypes.PyObj_FromPtr", "_ctypes.dlopen",
    )
)  # fmt: skip


def _frames(parsed: ParsedCode) -> Iterable[int]:
    """Reads of values from another function's frame. Callers' names and line numbers are fine: logging needs them."""
    steps = set(parsed.lines_naming(_OTHER_FRAMES))
    reads = set(parsed.lines_naming(("inspect.getargvalues",)))
    harmless = _harmless_reads(parsed)
    for node in parsed.nodes:
        if isinstance(node, ast.Call) and parsed.dotted(node.func) == "sys._getframe" and not _is_own(node):
            steps.add(node.lineno)
        attribute = _attribute_of(node)
        if attribute is None or not isinstance(node, ast.expr):
            continue
        inner, name = attribute
        if name in _OTHER_FRAME:
            steps.add(node.lineno)
        elif name == "co_consts":
            reads |= {node.lineno} if (_attribute_of(inner) or (None, ""))[1] == "f_code" else set()
        elif name in _FRAME_VALUES and node not in harmless:
            of_own = isinstance(inner, ast.Call) and parsed.dotted(inner.func) in _GETS_FRAME and _is_own(inner)
            reads |= set() if of_own else {node.lineno}
    return steps | reads if steps and reads else ()


def _is_own(call: ast.Call) -> bool:
    return not call.args or (isinstance(call.args[0], ast.Constant) and call.args[0].value == 0)


def _harmless_reads(parsed: ParsedCode) -> set[ast.expr]:
    """`f_globals` for a module's name, and for `linecache`, which shows a line of code."""
    found: set[ast.expr] = set()
    for node in parsed.nodes:
        match node:
            case ast.Subscript(value=read, slice=ast.Constant(value="__name__" | "__file__")):
                found.add(read)
            case ast.Call(func=ast.Attribute(value=read, attr="get"), args=[ast.Constant(value="__name__"), *_]):
                found.add(read)
            case ast.Call(func=function, args=[*_, read]) if parsed.dotted(function) == "linecache.getline":
                found.add(read)
    return found


def _collector(parsed: ParsedCode) -> Iterator[int]:
    """Objects taken from the garbage collector; just counting them does not count."""
    counted: set[ast.expr] = set()
    for node in parsed.nodes:
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Call(func=function)]):
                counted.add(function)
    return (node.lineno for node, name in parsed.named if name in _COLLECTOR and node not in counted)


def _memory(parsed: ParsedCode) -> Iterator[int]:
    """Memory and shared libraries through ctypes; its types alone are fine, for arithmetic."""
    yield from parsed.lines_naming(_MEMORY)
    used = any(name.partition(".")[0] == "ctypes" for _, name in parsed.named)
    for node in parsed.nodes:
        match node:
            case ast.Attribute(attr="from_address", lineno=line) if used:
                yield line
            case ast.Call(func=function, lineno=line) if parsed.dotted(function) == "ctypes.cast":
                if any(_is_object(parsed, inner) for inner in ast.walk(node)):
                    yield line


def _is_object(parsed: ParsedCode, node: ast.AST) -> bool:
    """Whether a cast with it turns an address into an object, or an object into an address."""
    match node:
        case ast.Call(func=ast.Name(id="id")):
            return True
    return isinstance(node, ast.expr) and parsed.dotted(node) == "ctypes.py_object"


# changes to what others use

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
_NO_NAME = re.compile(r"[^\w.]")
_IMPORTED = re.compile(r"^[ \t]*(?:import|from)\b([^\n]*)", re.MULTILINE)
_WORD = re.compile(r"\w+")


def _may_patch(code: str) -> bool:
    """Whether the code may set an attribute of something that it imports."""
    if _names_attributes(code):
        return True
    if "import" not in code:
        return False
    before = (code[max(0, found.start() - 80) : found.start()] for found in _ATTRIBUTE_SET.finditer(code))
    set_on = {_NO_NAME.split(text)[-1].partition(".")[0] for text in before} - {"", "self"}
    return bool(set_on) and any(set_on.intersection(_WORD.findall(line)) for line in _IMPORTED.findall(code))


def _patches(parsed: ParsedCode) -> Iterator[int]:
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
    while True:
        match node:
            case ast.Attribute(value=owner) | ast.Subscript(value=owner):
                node = owner
            case ast.Call(func=ast.Name(id="vars"), args=[owner]):
                node = owner
            case _:
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


def _has(*words: str) -> Callable[[str], bool]:
    return lambda code: any(map(code.__contains__, words))


_names_attributes = _has("builtins", "setattr", "sys.modules", "vars(", "__dict__")

FINDERS = (
    Finder("early_exit", _has("_exit", "abort"), lambda parsed: parsed.lines_naming(_EXITS)),
    Finder("frame_walking", _has(*_FRAME_VALUES, "co_consts", "getargvalues"), _frames),
    Finder("gc_walking", _has("get_objects", "get_refer"), _collector),
    Finder("ctypes", _has("ctypes"), _memory),
    Finder("patched_builtins", _may_patch, _patches),
)
