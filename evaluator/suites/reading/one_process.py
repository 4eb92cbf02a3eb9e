"""Finds, from its source, why a test suite can only be decided in the completion's own process.

Such a suite changes or reads what belongs to that process: its streams, modules, frames or warnings; or it modifies the
completion's classes. Arguments are not examined here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import StrEnum

from evaluator.suites.reading.reading import SOLUTION, Reading, is_builtin
from evaluator.suites.reading.source import OWN_SCOPES, is_among, walk
from evaluator.suites.reading.uses import STARTING, classes_passed


class Reason(StrEnum):
    """What else such a suite does; `…` stands for a name."""

    AWAITS = "awaits coroutines"
    MODULES = "uses sys.modules"
    STDIN = "uses sys.stdin"
    RUNS_DATA = "loads code from data"
    WARNINGS = "captures warnings"
    ERRORS = "turns warnings into errors"
    LOGS = "captures logs"
    STARTS = "starts a program"
    MONKEYPATCH = "replaces names with `monkeypatch`"
    DICT = "changes a dict with `patch`"
    PATCHES = "replaces one of the completion's names with `patch`"
    REPLACES = "replaces `…`"
    SETS = "sets `…`"
    SETS_ATTRIBUTE = "sets an attribute of `…`"
    ACCESSES = "accesses `…`"
    USES_BUILTINS = "uses `__builtins__`"
    GLOBALS = "uses `globals()`"
    RUNS_TEXT = "runs text as code"
    PASSES = "may pass objects of its own class `…` to the completion"
    SUBCLASSES = "subclasses `…`, which the completion defines"
    IMPORTS = "imports …"
    FORKS = "replaces names in processes that the completion forks"
    FILES = "works with files, which two processes can share only with user namespaces"

    def of(self, name: str) -> str:
        return self.replace("…", name)


READ: dict[str, str] = {
    Reason.AWAITS: "asyncio unittest.IsolatedAsyncioTestCase anyio trio",
    "sets the clock": "freezegun time_machine",
    "replaces the network": "httpretty moto requests_mock responses vcr",
    "replaces the file system": "pyfakefs",
    Reason.MODULES: "sys.modules",
    Reason.STDIN: "sys.stdin sys.__stdin__",
    "replaces a file descriptor": "os.dup2",
    "uses the module __main__": "__main__",
    "uses the completion's module": SOLUTION,
    "accesses `builtins.__dict__`": "builtins.__dict__",
    "reloads a module": "importlib.reload",
    "inspects functions or frames": """inspect sys._current_frames sys._getframe traceback.extract_stack
        traceback.format_stack traceback.print_stack traceback.walk_stack typing.get_type_hints""",
    "traces or profiles code": "cProfile profile sys.setprofile sys.settrace threading.settrace trace tracemalloc",
    "searches the interpreter's objects": "gc.get_objects gc.get_referents gc.get_referrers",
    Reason.RUNS_DATA: """pickle.load pickle.loads pickle.Unpickler marshal.load marshal.loads shelve.open joblib.load
        dill cloudpickle pandas.read_pickle torch.load yaml.load yaml.unsafe_load runpy doctest jsonpickle sympy.sympify
        sympy.parse_expr pandas.eval importlib.machinery importlib.util.spec_from_file_location""",
    "uses sys.path": "sys.path",
    "changes the working directory": "os.chdir contextlib.chdir",
    "sets the locale": "locale.setlocale",
    "uses decimal's context": "decimal.getcontext decimal.localcontext decimal.setcontext",
    "sets the recursion limit": "sys.setrecursionlimit threading.stack_size",
    "sets a signal handler or timer": "signal.alarm signal.setitimer signal.signal",
    "measures the process's resources": "time.process_time time.thread_time resource.getrusage",
    Reason.WARNINGS: "pytest.deprecated_call pytest.warns warnings.filters",
    "starts threads or processes": """concurrent.futures multiprocessing threading.Thread threading.Timer
        _thread.start_new_thread""",
    "opens sockets": "http.server socket.create_server socket.socket socketserver",
    "uses pyplot's current figure": """matplotlib.pyplot.fignum_exists matplotlib.pyplot.gca matplotlib.pyplot.gcf
        matplotlib.pyplot.gci matplotlib.pyplot.get_figlabels matplotlib.pyplot.get_fignums""",
    "reads the fields of dataclasses": """dataclasses.asdict dataclasses.astuple dataclasses.fields
        dataclasses.is_dataclass dataclasses.replace""",
    Reason.MONKEYPATCH: "pytest.MonkeyPatch",
}
"""What such a suite does by reading one of these dotted names, or a name below one."""
_READ_NAMES = {reason: tuple(names.split()) for reason, names in READ.items()}
_METHODS = {
    "assertLogs": Reason.LOGS, "assertNoLogs": Reason.LOGS, "addHandler": Reason.LOGS,
    "assertWarns": Reason.WARNINGS, "assertWarnsRegex": Reason.WARNINGS,
}  # fmt: skip
_FILTERS = ("warnings.filterwarnings", "warnings.simplefilter")
_MAY_BE_SET = (
    "pandas.options.mode", "sys.dont_write_bytecode", "sys.stderr", "sys.stdout", "sys.tracebacklimit", "unittest",
    "warnings", "os.environ",
)  # fmt: skip
"""Attributes of modules that do not matter to a completion, or that its process follows."""
_INSIDES = frozenset(("__builtins__", "__closure__", "__code__", "__defaults__", "__dict__", "__globals__"))
_REPLACED_FOR_COMPLETION = frozenset(("input", "open", "print"))
"""Builtins that a test redefines so that the completion uses its version."""

Finding = tuple[int, str]
"""A line of the test, and what it does there."""


def why_one_process(reading: Reading) -> str | None:
    """The first reason in the test, in one line; None if there is none."""
    finder = _Finder(reading)
    passed = [(line, Reason.PASSES.of(name)) for name, line in classes_passed(reading).items()]
    others = (finding for node in reading.nodes for finding in finder.look_at(node))
    findings = [*passed, *finder.redefined_builtins(), *others]
    if not findings:
        return None
    line, what = min(findings)
    return f"the test {what} (line {line})"


class _Finder:
    """Examines the nodes of a test one by one."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._dotted = reading.imports.dotted
        self._names = _with_aliases(reading)

    def look_at(self, node: ast.AST) -> Iterator[Finding]:
        """The findings in this node alone."""
        match node:
            case ast.Name(ctx=ast.Load()) | ast.Attribute(ctx=ast.Load()):
                yield from self._read(node)
            case ast.Attribute(value=owner, attr=name, lineno=line):
                yield from self._set(owner, name, line)
            case ast.Call():
                yield from self._called(node)
            case ast.ClassDef(bases=bases, keywords=keywords, lineno=line):
                yield from self._subclassed([*bases, *(keyword.value for keyword in keywords)], line)
            case ast.Import(names=aliases, lineno=line):
                yield from _imported([alias.name for alias in aliases], line)
            case ast.ImportFrom(module=module, lineno=line):
                yield from _imported([module or ""], line)
            case ast.arg(arg="monkeypatch", lineno=line):
                yield line, Reason.MONKEYPATCH
            case ast.Await(lineno=line) | ast.AsyncFor(lineno=line) | ast.AsyncWith(lineno=line):
                yield line, Reason.AWAITS

    def redefined_builtins(self) -> Iterator[Finding]:
        """Where the test's module redefines `input` and the like as something callable."""
        for node in walk(self._reading.module.body, OWN_SCOPES):
            match node:
                case ast.FunctionDef(name=name, lineno=line) if name in _REPLACED_FOR_COMPLETION:
                    yield line, Reason.REPLACES.of(name)
                case ast.Assign(targets=[ast.Name(id=name)], value=value, lineno=line):
                    if name in _REPLACED_FOR_COMPLETION and self._can_be_called(value):
                        yield line, Reason.REPLACES.of(name)

    def _can_be_called(self, value: ast.expr) -> bool:
        if isinstance(value, ast.Call):
            return is_among(self._dotted(value.func), ("mock", "unittest.mock"))
        return isinstance(value, ast.Lambda | ast.Attribute | ast.Name)

    def _read(self, node: ast.Name | ast.Attribute) -> Iterator[Finding]:
        dotted = self._dotted(node)
        if dotted:
            yield from ((node.lineno, reason) for reason, names in _READ_NAMES.items() if is_among(dotted, names))
        match node:
            case ast.Attribute(attr=name) if name in _METHODS:
                yield node.lineno, _METHODS[name]
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if name in _INSIDES and owner in self._names:
                yield node.lineno, Reason.ACCESSES.of(f"{owner}.{name}")
            case ast.Name(id="__builtins__"):
                yield node.lineno, Reason.USES_BUILTINS

    def _set(self, owner: ast.expr, name: str, line: int) -> Iterator[Finding]:
        """An attribute that is set or deleted."""
        whose = self._dotted(owner)
        if whose and not is_among(f"{whose}.{name}", _MAY_BE_SET):
            yield line, Reason.SETS.of(f"{whose}.{name}")
        elif _root(owner) in self._names:
            yield line, Reason.SETS_ATTRIBUTE.of(_root(owner))

    def _called(self, call: ast.Call) -> Iterator[Finding]:
        line, function = call.lineno, call.func
        dotted = self._dotted(function)
        if dotted in STARTING:
            yield line, Reason.STARTS
        if is_builtin(self._reading, function, "globals"):
            yield line, Reason.GLOBALS
        is_own_text = isinstance(call.args[0] if call.args else None, ast.Constant)
        if is_builtin(self._reading, function, "eval", "exec") and not is_own_text:
            yield line, Reason.RUNS_TEXT
        if dotted == "numpy.load" and any(each.arg == "allow_pickle" for each in call.keywords):
            yield line, Reason.RUNS_DATA
        if dotted == "warnings.catch_warnings" and any(each.arg == "record" for each in call.keywords):
            yield line, Reason.WARNINGS
        if is_among(dotted, ("unittest.mock.patch", "mock.patch")):
            yield from ((line, reason) for reason in self._patched(dotted.rpartition(".")[2], call.args))
        match function, call.args:
            case ast.Attribute(), [ast.Constant(value="error"), *_] if is_among(dotted, _FILTERS):
                yield line, Reason.ERRORS
            case ast.Name(id="setattr" | "delattr"), [whose, ast.Constant(value=str(name)), *_]:
                yield from self._set(whose, name, line)
            case ast.Name(id="setattr" | "delattr"), [whose, *_]:
                yield from self._set(whose, "?", line)
            case ast.Name(id="type"), [_, ast.Tuple(elts=bases), _]:
                yield from self._subclassed(bases, line)

    def _patched(self, form: str, arguments: list[ast.expr]) -> Iterator[Reason]:
        """What `patch(...)`, `patch.object(...)` or `patch.dict(...)` can't do in two processes."""
        match form, arguments:
            case "dict", [ast.Constant(value="os.environ"), *_]:
                return
            case "dict", [target, *_] if self._dotted(target) != "os.environ":
                yield Reason.DICT
            case "patch", [ast.Constant(value=str(target)), *_]:
                root = target.partition(".")[0]
                if root in ("__main__", SOLUTION, self._reading.entry_point) or target in self._names:
                    yield Reason.PATCHES
                elif target in ("sys.stdin", "sys.modules"):
                    yield Reason.STDIN if target == "sys.stdin" else Reason.MODULES
            case "patch", [ast.JoinedStr() | ast.BinOp() | ast.Name(id="__name__"), *_]:
                yield Reason.PATCHES  # f"{__name__}.helper" and the like
            case "object" | "multiple", [target, *_] if _root(target) in self._names:
                yield Reason.PATCHES
            case "object", [target, ast.Constant(value="stdin" | "modules"), *_] if self._dotted(target) == "sys":
                yield Reason.STDIN

    def _subclassed(self, bases: list[ast.expr], line: int) -> Iterator[Finding]:
        for base in bases:
            if _root(base) in self._names:
                yield line, Reason.SUBCLASSES.of(ast.unparse(base))


def _imported(modules: list[str], line: int) -> Iterator[Finding]:
    for module in modules:
        if is_among(module, ("__main__", SOLUTION)):
            yield line, Reason.IMPORTS.of(module)


def _with_aliases(reading: Reading) -> frozenset[str]:
    """The completion's names, and those that are assigned from one."""
    names = set(reading.completion)
    pairs = [
        (target.id, node.value.id)
        for node in reading.nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    while new := {name for name, value in pairs if value in names} - names:
        names |= new
    return frozenset(names)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
