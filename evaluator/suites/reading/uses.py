"""What a test uses that needs preparation if it runs in a separate process, or that a task needs from the machine.

Also the dataset's classes whose objects cross as data: those of preamble and prompt, which both sides have.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from enum import StrEnum

from evaluator.model import Task
from evaluator.suites.reading.reading import Reading, is_builtin
from evaluator.suites.reading.source import is_among, parsed, targets_of
from evaluator.syntax import BUILTINS

_FILES = (
    "codecs.open", "fileinput", "glob", "io.FileIO", "io.open", "os", "pathlib", "shelve", "shutil", "sqlite3",
    "tarfile", "tempfile", "zipfile", "numpy.fromfile", "numpy.load", "numpy.loadtxt", "numpy.save", "numpy.savetxt",
    "numpy.savez", "pandas.ExcelFile", "pandas.ExcelWriter", "pandas.read_csv", "pandas.read_excel",
    "pandas.read_json", "pandas.read_parquet", "pandas.read_pickle", "pandas.read_table",
)  # fmt: skip
_NO_FILES = (
    "os.cpu_count", "os.environ", "os.fspath", "os.fsdecode", "os.fsencode", "os.getenv", "os.getpid", "os.linesep",
    "os.name", "os.sep", "os.urandom", "os.path.basename", "os.path.dirname", "os.path.join", "os.path.normpath",
    "os.path.sep", "os.path.split", "os.path.splitext", "pathlib.PurePath", "pathlib.PurePosixPath",
    "pathlib.PureWindowsPath",
)  # fmt: skip
_FILE_METHODS = frozenset(
    """is_dir is_file iterdir mkdir read_bytes read_text rmdir savefig to_csv to_excel to_hdf to_parquet to_pickle touch
    unlink write_bytes write_text""".split()
)
_OWN_GENERATORS = ("random.Random", "random.SystemRandom", "numpy.random.Generator", "numpy.random.default_rng",
    "numpy.random.RandomState", "numpy.random.SeedSequence", "numpy.random.PCG64",
)  # fmt: skip


class Need(StrEnum):
    """An extra permission for a completion."""

    PROCESSES = "new processes"
    LOOPBACK = "the loopback interface"


_NEEDING = {
    Need.PROCESSES: frozenset("multiprocessing pexpect psutil sh subprocess".split()),
    Need.LOOPBACK: frozenset("ftplib http smtplib socket socketserver ssl wsgiref xmlrpc".split()),
}
_POOL = "ProcessPoolExecutor"
STARTING = frozenset(
    """os.fork os.forkpty os.popen os.posix_spawn os.system subprocess.Popen subprocess.call subprocess.check_call
    subprocess.check_output subprocess.getoutput subprocess.getstatusoutput subprocess.run""".split()
)
"""The functions that start a process."""


def uses_of(reading: Reading) -> tuple[str, ...]:
    """The words of `SuiteCode.uses`, in alphabetical order."""
    words = {word for node in reading.nodes for word in _words(reading, node)}
    modules = {origin.partition(".")[0] for origin in reading.imports.origins.values()}
    return tuple(sorted(words | (modules & {"numpy", "pandas"})))


def _words(reading: Reading, node: ast.AST) -> Iterator[str]:
    match node:
        case ast.ExceptHandler(type=None):
            yield "exits"
        case ast.Name(id="SystemExit" | "BaseException", ctx=ast.Load()):
            yield "exits"
        case ast.Call(func=function) if is_builtin(reading, function, "open"):
            yield "files"
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot(), *_], comparators=[right, *_]):
            if not any(map(_is_itself, (left, right))):
                yield "identity"
        case ast.Call(func=ast.Attribute(attr="assertIs" | "assertIsNot") | ast.Name(id="id")):
            yield "identity"
        case ast.Attribute(attr=name) if name in _FILE_METHODS:
            yield "files"
    if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
        yield from _by_dotted(reading.imports.dotted(node))


def _is_itself(node: ast.expr) -> bool:
    """Whether it is the same object in every process: None, a builtin, the class of something."""
    match node:
        case ast.Constant():
            return True
        case ast.Name(id=name) | ast.Call(func=ast.Name(id="type" as name)):
            return name in BUILTINS
    return False


def _by_dotted(dotted: str) -> Iterator[str]:
    if is_among(dotted, _FILES) and dotted not in ("os", "os.path", "pathlib") and not is_among(dotted, _NO_FILES):
        yield "files"
    if dotted.startswith("random.") and not is_among(dotted, _OWN_GENERATORS):
        yield "random"
    if dotted.startswith("numpy.random.") and not is_among(dotted, _OWN_GENERATORS):
        yield "numpy_random"
    if is_among(dotted, ("mock", "unittest.mock")):
        yield "mocks"
    if is_among(dotted, ("os.environ", "os.putenv")):
        yield "environment"


def needs_of(task: Task, reading: Reading) -> frozenset[Need]:
    """From the dataset's list of libraries (`libs`), the imports of prompt, preamble and test, and the test's calls."""
    modules = _modules(task, reading)
    needs = {need for need, using in _NEEDING.items() if using & modules}
    starts = any(isinstance(node, ast.Call) and reading.imports.dotted(node.func) in STARTING for node in reading.nodes)
    if starts or _POOL in reading.imports.origins:
        needs.add(Need.PROCESSES)
    return frozenset(needs)


def forks(task: Task, reading: Reading) -> bool:
    """Whether the new processes may be copies of the completion's own process."""
    return "multiprocessing" in _modules(task, reading) or _POOL in reading.imports.origins


def _modules(task: Task, reading: Reading) -> set[str]:
    return {origin.partition(".")[0] for origin in reading.imports.origins.values()}.union(
        _listed(task.metadata.get("libs"))
    )


def _listed(libs: object) -> list[str]:
    """The modules in `libs`; BigCodeBench writes the list as text."""
    if isinstance(libs, str):
        try:
            libs = ast.literal_eval(libs)
        except (ValueError, SyntaxError):
            return libs.replace(",", " ").split() if isinstance(libs, str) else []
    return [name.partition(".")[0] for name in libs if isinstance(name, str)] if isinstance(libs, list) else []


# Classes

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
