"""Checks that can only be decided in the completion's own process, told from their source.

Such a check changes, or looks at, what belongs to the process in which the completion runs: names that are patched,
its streams, its modules, its frames, its warnings. What is passed to the completion as an argument is not seen here.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

from evaluator.graders._check_flow import targets_of
from evaluator.graders._check_imports import is_among
from evaluator.graders._check_reading import SOLUTION, Reading, is_builtin
from evaluator.graders._check_source import walk, walk_own
from evaluator.graders._check_uses import is_patch_of

_WHAT = {
    ("unittest.mock.patch", "mock.patch"): "replaces names with `patch`",
    ("pytest.MonkeyPatch",): "replaces names with `monkeypatch`",
    ("freezegun", "time_machine"): "sets the clock",
    ("httpretty", "moto", "requests_mock", "responses", "vcr"): "replaces the network",
    ("pyfakefs",): "replaces the file system",
    ("sys.modules",): "uses sys.modules",
    ("sys.stdin", "sys.__stdin__"): "uses sys.stdin",
    ("os.dup2",): "replaces a file descriptor",
    ("__main__",): "uses the module __main__",
    (SOLUTION,): "uses the completion's module",
    ("builtins.__dict__",): "looks into `builtins`",
    ("importlib.reload",): "reloads a module",
    (
        "inspect.currentframe", "inspect.getinnerframes", "inspect.getouterframes", "inspect.stack", "inspect.trace",
        "sys._current_frames", "sys._getframe", "traceback.extract_stack", "traceback.format_stack",
        "traceback.print_stack", "traceback.walk_stack",
    ): "inspects frames",
    ("cProfile", "profile", "sys.setprofile", "sys.settrace", "threading.settrace", "trace", "tracemalloc"):
        "traces what is run",
    ("gc.get_objects", "gc.get_referents", "gc.get_referrers"): "looks at the interpreter's objects",
    (
        "pickle.load", "pickle.loads", "pickle.Unpickler", "marshal.load", "marshal.loads", "shelve.open",
        "joblib.load", "dill", "cloudpickle", "pandas.read_pickle", "torch.load", "yaml.load",
        "yaml.unsafe_load", "runpy", "doctest", "jsonpickle", "sympy.sympify", "sympy.parse_expr", "pandas.eval",
        "importlib.machinery", "importlib.util.spec_from_file_location",
    ): "runs code that is read from data",
    ("sys.path",): "looks for modules in other folders",
    ("os.putenv", "os.unsetenv"): "changes the environment",
    ("os.chdir", "contextlib.chdir"): "changes the working directory",
    ("locale.setlocale",): "sets the locale",
    ("decimal.getcontext", "decimal.localcontext", "decimal.setcontext"): "sets decimal's context",
    ("sys.setrecursionlimit", "threading.stack_size"): "sets the limit of recursion",
    ("signal.alarm", "signal.setitimer", "signal.signal"): "sets a signal",
    ("time.process_time", "time.thread_time", "resource.getrusage"): "measures the process",
    ("pytest.deprecated_call", "pytest.warns"): "captures warnings",
    ("concurrent.futures", "multiprocessing", "threading.Thread", "threading.Timer", "_thread.start_new_thread"):
        "starts threads or processes",
    ("http.server", "socket.create_server", "socket.socket", "socketserver"): "opens sockets",
    (
        "matplotlib.pyplot.fignum_exists", "matplotlib.pyplot.gca", "matplotlib.pyplot.gcf", "matplotlib.pyplot.gci",
        "matplotlib.pyplot.get_figlabels", "matplotlib.pyplot.get_fignums",
    ): "asks for pyplot's current figure",
}  # fmt: skip
"""Dotted names, or what they begin with -> what reading them says of a test."""

_METHODS = {
    "assertLogs": "captures logs",
    "assertNoLogs": "captures logs",
    "addHandler": "captures logs",
    "assertWarns": "captures warnings",
    "assertWarnsRegex": "captures warnings",
}
_MOCKS = tuple(
    f"{module}.{name}"
    for module in ("unittest.mock", "mock")
    for name in ("AsyncMock", "MagicMock", "Mock", "NonCallableMock", "PropertyMock", "create_autospec", "mock_open")
)
_FILTERS = ("warnings.filterwarnings", "warnings.simplefilter")
_MAY_BE_SET = (
    "pandas.options.mode",
    "sys.dont_write_bytecode",
    "sys.stderr",
    "sys.stdout",
    "sys.tracebacklimit",
    "unittest",
    "warnings",
)
"""Attributes of modules that mean nothing to a completion, or that are followed where it runs."""
_INSIDES = frozenset(("__builtins__", "__closure__", "__code__", "__defaults__", "__dict__", "__globals__"))
_TALKING = frozenset(("input", "open", "print"))
"""Builtins that a test gives a meaning of its own so that the completion finds it."""
_CHANGING_A_DICT = frozenset(("clear", "pop", "popitem", "setdefault", "update"))

Finding = tuple[int, str]


def why_same_process(reading: Reading) -> str | None:
    """The reason in one line, that of the first such line of the test; None where there is none."""
    finder = _Finder(reading)
    found = [*finder.redefined_builtins(), *(finding for node in reading.nodes for finding in finder.look_at(node))]
    if not found:
        return None
    line, what = min(found)
    return f"the test {what} (line {line})"


class _Finder:
    """Looks at the nodes of a test one by one."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._dotted = reading.imports.dotted
        self._names = _with_aliases(reading)
        self._objects = self._made_by_completion()
        self._followed = {inner for node in reading.nodes for inner in self._followed_in(node)}

    def look_at(self, node: ast.AST) -> Iterator[Finding]:
        """What this node alone says of the test."""
        match node:
            case ast.Name(ctx=ast.Load()) | ast.Attribute(ctx=ast.Load()):
                found = self._read(node)
            case ast.Attribute(value=owner, attr=name, lineno=line):
                found = self._set(owner, name, line)
            case ast.Subscript(value=owner, ctx=ast.Store() | ast.Del(), lineno=line):
                found = self._item_set(owner, line)
            case ast.Assign(targets=[ast.Attribute(value=owner)], value=ast.Call(func=made), lineno=line):
                found = self._mock_put(owner, made, line)
            case ast.Call():
                found = self._called(node)
            case ast.ClassDef(bases=bases, keywords=keywords, lineno=line):
                found = self._subclassed([*bases, *(keyword.value for keyword in keywords)], line)
            case ast.Import() | ast.ImportFrom():
                found = _imported(node)
            case ast.arg(arg="monkeypatch", lineno=line):
                found = iter([(line, "replaces names with `monkeypatch`")])
            case _:
                return
        yield from found

    def redefined_builtins(self) -> Iterator[Finding]:
        """Where the test's module gives `input` and its like a meaning of its own; a mere variable is none."""
        for node in walk_own(self._reading.module.body):
            yield from self._redefined(node)
        for function in self._reading.nodes:
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                own = list(walk_own(function.body))
                declared = {name for node in own if isinstance(node, ast.Global) for name in node.names}
                yield from (found for node in own for found in self._redefined(node, declared))

    def _redefined(self, node: ast.AST, among: Container[str] = _TALKING) -> Iterator[Finding]:
        match node:
            case ast.FunctionDef(name=name) if name in _TALKING and name in among:
                yield node.lineno, f"replaces `{name}`"
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in _TALKING and name in among:
                if self._can_be_called(value):
                    yield node.lineno, f"replaces `{name}`"

    def _can_be_called(self, value: ast.expr) -> bool:
        own = self._reading.scopes.defined() - self._reading.imports.origins.keys()
        match value:
            case ast.Lambda() | ast.Attribute():
                return True
            case ast.Name(id=name) | ast.Call(func=ast.Name(id=name)) if name in own:
                return True
            case ast.Call(func=function):
                return self._is_mock(function)
            case _:
                return False

    def _read(self, node: ast.Name | ast.Attribute) -> Iterator[Finding]:
        if node in self._followed:
            return
        dotted = self._dotted(node)
        if dotted:
            yield from ((node.lineno, what) for names, what in _WHAT.items() if is_among(dotted, names))
        match node:
            case ast.Attribute(attr=name) if name in _METHODS:
                yield node.lineno, _METHODS[name]
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if name in _INSIDES and owner in self._names:
                yield node.lineno, f"looks into `{owner}.{name}`"
            case ast.Name(id="__builtins__"):
                yield node.lineno, "uses `__builtins__`"

    def _set(self, owner: ast.expr, name: str, line: int) -> Iterator[Finding]:
        """An attribute that is set or deleted."""
        whose = self._dotted(owner)
        if whose and not is_among(f"{whose}.{name}", _MAY_BE_SET):
            yield line, f"sets `{whose}.{name}`"
        elif _root(owner) in self._names:
            yield line, f"sets an attribute of `{_root(owner)}`"

    def _item_set(self, owner: ast.expr, line: int) -> Iterator[Finding]:
        if self._dotted(owner) == "os.environ":
            yield line, "changes the environment"

    def _mock_put(self, owner: ast.expr, made: ast.expr, line: int) -> Iterator[Finding]:
        if self._is_mock(made) and not self._objects.isdisjoint(targets_of(owner)):
            yield line, "puts a mock into an object of the completion's"

    def _called(self, call: ast.Call) -> Iterator[Finding]:
        line, function = call.lineno, call.func
        dotted = self._dotted(function)
        if is_builtin(self._reading, function, "globals"):
            yield line, "uses `globals()`"
        if any(is_builtin(self._reading, function, name) for name in ("eval", "exec")) and not self._is_own(call.args):
            yield line, "runs text as code"
        if dotted == "numpy.load" and any(each.arg == "allow_pickle" for each in call.keywords):
            yield line, "runs code that is read from data"
        if dotted == "warnings.catch_warnings" and any(each.arg == "record" for each in call.keywords):
            yield line, "captures warnings"
        owner, _, method = dotted.rpartition(".")
        if owner == "os.environ" and method in _CHANGING_A_DICT:
            yield line, "changes the environment"
        match function, call.args:
            case ast.Attribute(), [ast.Constant(value="error"), *_] if is_among(dotted, _FILTERS):
                yield line, "turns warnings into errors"
            case ast.Name(id="setattr" | "delattr"), [whose, ast.Constant(value=str(name)), *_]:
                yield from self._set(whose, name, line)
            case ast.Name(id="setattr" | "delattr"), [whose, *_]:
                yield from self._set(whose, "?", line)
            case ast.Name(id="type"), [_, ast.Tuple(elts=bases), _]:
                yield from self._subclassed(bases, line)

    def _is_own(self, arguments: list[ast.expr]) -> bool:
        """Whether the first argument is the test's own text."""
        own = self._reading.module.body
        texts = {
            name
            for node in own
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            for name in targets_of(target)
        }
        match arguments:
            case [ast.Constant(), *_]:
                return True
            case [ast.Name(id=name), *_]:
                return name in texts
            case _:
                return False

    def _subclassed(self, bases: list[ast.expr], line: int) -> Iterator[Finding]:
        for base in bases:
            if _root(base) in self._names:
                yield line, f"subclasses `{ast.unparse(base)}`, which the completion defines"

    def _made_by_completion(self) -> frozenset[str]:
        found: set[str] = set()
        for node in self._reading.nodes:
            match node:
                case ast.Assign(targets=targets, value=ast.Call(func=function)) if _root(function) in self._names:
                    found.update(name for target in targets for name in targets_of(target))
        return frozenset(found)

    def _is_mock(self, node: ast.expr) -> bool:
        return self._dotted(node) in _MOCKS

    def _followed_in(self, node: ast.AST) -> list[ast.AST]:
        """What stands for `patch` where a call of it captures what is printed: that can be had without it."""
        if not isinstance(node, ast.Call) or not is_patch_of(self._reading, node.func, node.args, "stdout"):
            return []
        places = 2 if isinstance(node.args[0], ast.Constant) else 3
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        new = given.get("new", node.args[places - 1] if len(node.args) >= places else None)
        made = given.get("new_callable", new.func if isinstance(new, ast.Call) else None)
        if isinstance(new, ast.Name):
            made = self._stream_named(new.id)
        return walk(node.func) if made is not None and self._dotted(made) == "io.StringIO" else []

    def _stream_named(self, wanted: str) -> ast.expr | None:
        """What makes the only thing that a name stands for."""
        made: list[ast.expr | None] = []
        for node in self._reading.nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == wanted:
                    made.append(value.func if isinstance(value, ast.Call) else None)
        return made[0] if made and len({self._dotted(each) if each else "" for each in made}) == 1 else None


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[Finding]:
    modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    for module in modules:
        if is_among(module, ("__main__", SOLUTION)):
            yield node.lineno, f"imports {module}"


def _with_aliases(reading: Reading) -> frozenset[str]:
    """The completion's names, and those that are assigned from one."""
    found = set(reading.completion)
    pairs = [
        (target.id, node.value.id)
        for node in reading.nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    while new := {name for name, value in pairs if value in found} - found:
        found |= new
    return frozenset(found)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
