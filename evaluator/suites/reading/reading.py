"""A task's test, parsed once for all that plans it, with its names classified. Never run."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property

from evaluator import syntax
from evaluator.model import Task
from evaluator.suites.reading import Refusal
from evaluator.suites.reading.prompt import definitions
from evaluator.suites.reading.source import (
    FILE,
    MAX_CHARACTERS,
    Flow,
    Imports,
    Lines,
    Reads,
    binds,
    missing_imports,
    parsed,
    walk,
)
from evaluator.syntax import BUILTINS, Scopes

CANDIDATE = "candidate"
SOLUTION = "solution"
"""The name of the completion's module."""


Check = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Reading:
    """A test, and the dataset's code before it."""

    source: str
    """The test; imports of the completion are replaced by assignments, or removed."""
    module: ast.Module
    entry_point: str | None
    preamble: str
    definitions: str
    check: Check | None
    """The test's `check`, if it has one."""
    scopes: Scopes
    outside: tuple[str, ...]
    """Sources that run before the test."""
    nodes: list[ast.AST] = field(repr=False)
    reads: Reads = field(default_factory=Reads, repr=False)
    """The names that a node reads."""

    @cached_property
    def lines(self) -> Lines:
        return Lines(self.source)

    @cached_property
    def imports(self) -> Imports:
        """Those of the test, of the sources before it, and those that it lacks."""
        missing = parsed("\n".join(self.missing_imports.values()))
        return Imports([*self._nodes_outside, *self.nodes, *(walk(missing) if missing else [])])

    @cached_property
    def flow(self) -> Flow:
        return Flow(self.nodes, self.imports.origins, self.reads)

    @cached_property
    def names(self) -> frozenset[str]:
        """Names that neither the dataset nor Python defines: they are looked up in the completion."""
        return self._free - self.missing_imports.keys()

    @cached_property
    def missing_imports(self) -> dict[str, str]:
        """Modules that the test uses without an import, and those imports."""
        return missing_imports(self.nodes, self._free)

    @cached_property
    def _free(self) -> frozenset[str]:
        starred = Imports([*self._nodes_outside, *self.nodes]).starred
        free = self.scopes.free() - starred - {self.entry_point, CANDIDATE}
        return free.difference(*(binds(module.body) for module in self._modules_outside))

    @cached_property
    def completion(self) -> frozenset[str]:
        """All names that mean something of the completion."""
        names = set(self.names)
        defined = self.scopes.defined()
        names.update(name for name in (self.entry_point, CANDIDATE) if name is not None and name not in defined)
        if self.parameter is not None:
            names.add(self.parameter)
        return frozenset(names)

    @cached_property
    def in_touch(self) -> frozenset[str]:
        """Names of functions that may call the completion, and of values that it may have made."""
        return self.flow.reaching(self.completion)

    @property
    def parameter(self) -> str | None:
        """The parameter of `check` that is the completion's function."""
        if self.check is None:
            return None
        arguments = self.check.args
        parameters = [*arguments.posonlyargs, *arguments.args, *filter(None, [arguments.vararg])]
        return parameters[0].arg if parameters else None

    @cached_property
    def _nodes_outside(self) -> list[ast.AST]:
        return walk(self._modules_outside)

    @cached_property
    def _modules_outside(self) -> list[ast.Module]:
        return [module for module in map(parsed, self.outside) if module is not None]


def read_test(task: Task) -> Reading:
    """Reads a task of mode assert or unittest. Raises `UngradableError`."""
    if not task.test or not task.test.strip():
        raise Refusal.NO_CODE.error()
    if len(task.test) > MAX_CHARACTERS:
        raise Refusal.TOO_LONG.error(MAX_CHARACTERS)
    source, module = _without_imports_of_completion(task.test, task.entry_point)
    helpers = definitions(task.prompt, task.entry_point, task.preamble)
    checks = [node for node in module.body if isinstance(node, Check) and node.name == "check" and not _is_empty(node)]
    try:
        scopes = Scopes(source)
    except SyntaxError as error:
        raise Refusal.NOT_PYTHON.error(error) from None
    return Reading(
        source=source,
        module=module,
        entry_point=task.entry_point,
        preamble=task.preamble,
        definitions=helpers,
        check=checks[-1] if checks else None,
        scopes=scopes,
        outside=tuple(text for text in (task.preamble, helpers) if text),
        nodes=walk(module),
    )


def is_builtin(reading: Reading, node: ast.expr, *names: str) -> bool:
    """Whether this is one of these builtins, and the test does not redefine it as a global."""
    match node:
        case ast.Name(id=name):
            return name in names and name in BUILTINS and name not in reading.scopes.defined()
        case _:
            return False


def _is_empty(check: Check) -> bool:
    """MathQA's tests have their asserts in the module, and an empty `check`."""
    texts = (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in check.body)
    return all(isinstance(node, ast.Pass) or is_text for node, is_text in zip(check.body, texts, strict=True))


def _without_imports_of_completion(source: str, entry_point: str | None) -> tuple[str, ast.Module]:
    """Removes `from solution import f`, which names what the completion defines: `f` is known without it."""
    module = _parsed_or_refused(source)
    own = {SOLUTION, entry_point}
    replaced: dict[ast.stmt, str] = {}
    for node in walk(module):
        match node:
            case ast.ImportFrom(module=name, names=names) if name in own:
                renamed = [alias for alias in names if alias.asname not in (None, alias.name)]
                replaced[node] = "; ".join(f"{alias.asname} = {alias.name}" for alias in renamed) or "pass"
    if not replaced:
        return source, module
    changed = Lines(source).replaced(replaced)
    return changed, _parsed_or_refused(changed)


def _parsed_or_refused(source: str) -> ast.Module:
    try:
        return syntax.parse(source, FILE)
    except syntax.NOT_PYTHON as error:
        where = f" (line {error.lineno} of the test)" if isinstance(error, SyntaxError) and error.lineno else ""
        reason = error.msg if isinstance(error, SyntaxError) else error
        raise Refusal.NOT_PYTHON.error(f"{reason}{where}") from None
