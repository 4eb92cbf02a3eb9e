"""Imports point one way (ARCHITECTURE.md), and no package uses another's private names."""

import ast
import graphlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

BASE = {
    "model",
    "options",
    "tasks",
    "syntax",
    "package_modules",
    "stages",
    "extras",
    "lru_cache",
}
"""Records and small helpers, which know each other alone."""
RECORDS = BASE | {
    "http_calls",
    "invisible",
    "recorded",
    "user_files",
    "version",
}
GRADING = {"sandbox", "cases", "excerpts", "suites", "checkers", "flags", "extraction"}
LIBRARY = RECORDS | GRADING | {
    "graders", "workers", "api", "file_grading", "auditing", "references", "report", "formats",
    "runs", "strengthening",
}  # fmt: skip
MAY_IMPORT = {
    **dict.fromkeys(RECORDS, BASE),
    "checkers": RECORDS,
    "extraction": RECORDS,
    "flags": RECORDS,
    "sandbox": RECORDS,
    "cases": RECORDS | {"checkers", "sandbox"},
    "excerpts": RECORDS | {"cases", "checkers"},
    "suites": RECORDS
    | {"cases", "checkers", "excerpts", "flags", "sandbox"},  # literal calls are decided by the `python` checker
    "formats": RECORDS,
    "runs": RECORDS | {"formats", "extraction"},
    "report": RECORDS | {"runs"},
    "graders": RECORDS | GRADING,
    "workers": RECORDS | {"graders", "sandbox", "runs"},
    "api": RECORDS | {"formats", "graders", "sandbox", "workers"},
    "tracing": RECORDS | GRADING | {"graders", "workers"},
    "strengthening": RECORDS | GRADING | {"graders", "workers"},
    "file_grading": LIBRARY,
    "auditing": LIBRARY,
    "references": LIBRARY,
    "__init__": LIBRARY,
    "interop": LIBRARY,
    "commands": LIBRARY | {"interop", "cli"},
    "cli": LIBRARY | {"commands", "interop"},
    "__main__": {"cli"},
}


@cache
def modules(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


@cache
def imported(path: Path) -> list[tuple[str, str]]:
    """Each module that a file imports from, with the name that it takes."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found += [(node.module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
    return found


def package_of(module: str, name: str = "") -> str:
    """`sandbox` of `evaluator.sandbox.host.values`; `syntax` of `evaluator` and `syntax`."""
    parts = [*module.split("."), name]
    return parts[1] if parts[1] in MAY_IMPORT else "__init__"


def room(path: Path) -> str:
    parts = path.relative_to(ROOT / "evaluator").with_suffix("").parts
    return parts[0]


@pytest.mark.parametrize("package", sorted({room(path) for path in modules("evaluator")}))
def test_a_package_imports_what_lies_below_it(package: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {module}.{name}"
        for path in modules("evaluator")
        if room(path) == package
        for module, name in imported(path)
        if module.split(".")[0] == "evaluator"
        and package_of(module, name) not in MAY_IMPORT[package] | {package}
        and not (package_of(module, name) == "__init__" and package in ("commands", "interop"))
    ]
    assert wrong == []


def needed(path: Path) -> Iterator[str]:
    """The modules that a file imports, also within functions; not those that only a type checker reads."""
    waiting: list[ast.AST] = [ast.parse(path.read_text())]
    while waiting:
        match node := waiting.pop():
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                waiting += node.orelse
            case ast.ImportFrom(module=str(module)):
                full = [f"{module}.{alias.name}" for alias in node.names]
                yield from (name if name in files() else module for name in full)
            case ast.Import():
                yield from (name.name for name in node.names)
            case _:
                waiting += ast.iter_child_nodes(node)


@cache
def files() -> dict[str, Path]:
    """The modules of the library and the dashboard by their dotted names."""
    paths = [path for folder in ("evaluator", "dashboard") for path in modules(folder)]
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


def test_no_modules_import_each_other() -> None:
    graph = {module: set(needed(path)) & files().keys() - {module} for module, path in files().items()}
    graphlib.TopologicalSorter(graph).prepare()  # raises `CycleError`, which names the modules


@pytest.mark.parametrize(
    ("folder", "refused"), [("evaluator", ("dashboard", "pages", "streamlit")), ("dashboard", ("pages",))]
)
def test_the_library_knows_no_page(folder: str, refused: tuple[str, ...]) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {module}"
        for path in modules(folder)
        for module, _ in imported(path)
        if module.split(".")[0] in refused
    ]
    assert wrong == []


OF_PAGES = {
    "overview": (), "rollouts": (), "why": (), "completion": ("why",), "tasks": ("completion",),
    "rewards": (), "compare": (), "audit": (), "sql_console": (), "bad_lines": (),
}  # fmt: skip
"""The folders and modules of `dashboard/` that belong to a page, and the other pages' that they use. The rest is
shared."""


def test_what_pages_share_knows_no_page_of_the_dashboard() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {module}.{name}"
        for path in modules("dashboard")
        for folder in [path.relative_to(ROOT).with_suffix("").parts[1]]
        for module, name in imported(path)
        for used in [[*module.split("."), name][1]]
        if module.split(".")[0] == "dashboard" and used in OF_PAGES and used not in (folder, *OF_PAGES.get(folder, ()))
    ]
    assert wrong == []


def test_no_package_uses_the_private_names_of_another() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {module}.{name}"
        for folder in ("evaluator", "dashboard", "pages")
        for path in modules(folder)
        for module, name in imported(path)
        if module.split(".")[0] in ("evaluator", "dashboard")
        and any(is_private(part) for part in (*module.split("."), name))
        and not is_inside(path, module, name)
    ]
    assert wrong == []


def is_private(part: str) -> bool:
    return part.startswith("_") and not part.startswith("__")


def is_inside(path: Path, module: str, name: str) -> bool:
    """Whether a private module or name is used within the folder that holds it."""
    parts = [*module.split("."), name]
    first = next(place for place, part in enumerate(parts) if is_private(part))
    owner = parts[:first] if (ROOT.joinpath(*parts[:first])).is_dir() else parts[: first - 1]
    return path.is_relative_to(ROOT.joinpath(*owner))


def test_no_two_files_of_the_sandbox_share_a_name() -> None:
    names = [path.name for path in modules("evaluator/sandbox") if path.name != "__init__.py"]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("folder", ["evaluator", "dashboard", "pages", "tests", "tools", "benchmarks"])
def test_no_module_is_long(folder: str) -> None:
    long = [str(path.relative_to(ROOT)) for path in modules(folder) if len(path.read_text().splitlines()) > 450]
    assert [path for path in long if "/honest/" not in path] == []  # those are rows of data


MARKUP = re.compile(r"</(?:a|b|code|dd|i|li|p|pre|table|td|th|tr|ul)>")
STATEMENT = re.compile(r"\b(?:SELECT|INSERT INTO|DELETE FROM|UPDATE)\b")


def texts(path: Path) -> Iterator[str]:
    """Every literal text of a module except docstrings."""
    tree = ast.parse(path.read_text())
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in statements:
            yield node.value


def test_sql_is_in_queries_alone() -> None:
    shown = {"sql_console.py"}  # what a visitor may type
    found = {path for path in modules("dashboard") if any(map(STATEMENT.search, texts(path)))}
    assert [path.name for path in found if path.parent.name != "queries" and path.name not in shown] == []


def test_markup_is_in_view_modules_alone() -> None:
    views = {"facts.py", "escape.py"}
    found = {path for path in modules("dashboard") if any(map(MARKUP.search, texts(path)))}
    assert [path.name for path in found if not path.stem.endswith("_view") and path.name not in views] == []


CLOCKS = {"monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "time", "time_ns"}
SLEEPS = {"sleep", "wait_for_timeout"}
ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def calls(node: ast.AST, names: set[str]) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in names
    return False


def holds_a_time(node: ast.AST, kept: set[str]) -> bool:
    """Whether an expression is made of a duration or a time of day; `kept` are the names that hold one."""
    return any(
        calls(part, CLOCKS)
        or (isinstance(part, ast.Attribute) and part.attr == "wall_s")
        or (isinstance(part, ast.Name) and part.id in kept)
        for part in ast.walk(node)
    )


def by_the_clock(block: ast.AST) -> Iterator[int]:
    """The lines that sleep, or ask which of two times is the longer. `sleep(0)` gives way and waits for nothing."""
    kept: set[str] = set()
    for node in ast.walk(block):
        match node:
            case ast.Assign(targets=[target], value=value) if holds_a_time(value, set()):
                kept |= {part.id for part in ast.walk(target) if isinstance(part, ast.Name)}
    for node in ast.walk(block):
        match node:
            case ast.Call(args=[ast.Constant(value=0)]):
                continue
            case ast.Compare(ops=ops) if any(isinstance(how, ORDER) for how in ops) and holds_a_time(node, kept):
                yield node.lineno
            case ast.Call() if calls(node, SLEEPS):
                yield node.lineno


def markers(*nodes: ast.AST) -> set[str]:
    return {part.attr for node in nodes for part in ast.walk(node) if isinstance(part, ast.Attribute)}


def test_no_test_depends_on_the_clock() -> None:
    """What is right on an idle machine is right on a busy one. `tests.waiting` waits for conditions."""
    wrong, marked = [], []
    words = re.compile("|".join([*(f"{name}\\(" for name in CLOCKS | SLEEPS), "wall_s", "clock"]))
    for path in modules("tests"):
        if not words.search(text := path.read_text()):
            continue  # which saves seconds
        module = ast.parse(text)
        of_all = markers(*(node for node in module.body if "pytestmark" in ast.unparse(node).partition("=")[0]))
        for block in module.body:
            own = markers(*block.decorator_list) if isinstance(block, ast.FunctionDef | ast.AsyncFunctionDef) else set()
            if "clock" not in own | of_all:
                wrong += [f"{path.relative_to(ROOT)}:{line}" for line in by_the_clock(block)]
            elif own:
                marked.append(f"{path.name}: {block.name}")
                assert (own | of_all) & {"slow", "attacks"}, f"{marked[-1]} is marked `clock`: mark it `slow`, too"
    outside = [line for line in wrong if not line.startswith("tests/waiting.py")]
    assert outside == [], "wait with tests.waiting, or mark the test `clock` and `slow`, and say why"
    assert len(marked) <= 10, marked
