"""Code to run, how its processes are made, and what each of them is sent first."""

from __future__ import annotations

import ast
import marshal
import math
from collections.abc import Sequence
from functools import cache, lru_cache

import msgspec

from evaluator import syntax
from evaluator.model import Limits
from evaluator.options import Way
from evaluator.sandbox.guest.header import Import
from evaluator.sandbox.host.launch import own_folder
from evaluator.sandbox.host.launch.settings import Runner
from evaluator.sandbox.host.limits.refusals import may_try


class SuiteNeeds(msgspec.Struct, frozen=True, kw_only=True):
    """What the completion's process gets of a test suite: about the dataset's data, nothing of the test."""

    classes: tuple[str, ...]
    """The dataset's classes whose objects cross as data."""
    mentioned: tuple[str, ...]
    """Names of classes that the task mentions, which a completion may therefore have to write."""
    uses: tuple[str, ...]
    """Some of: environment, exits, files, identity, mocks, numpy, numpy_random, pandas, random."""
    imports: tuple[str, ...] = ()
    """The test module's own imports. The completion gets them too, as if both were one module."""


class Program(msgspec.Struct, frozen=True):
    """Code to run: a function to call (`entry_point`), a program that reads stdin, or code for a test suite."""

    source: str
    entry_point: str | None = None
    preamble: str = ""
    suite: SuiteNeeds | None = None
    """The suite that tests it from another process; it sees next to nothing of the suite."""
    shares_process: bool = False
    """Whether the suite runs in the program's own process instead."""
    audits: bool = False
    """Whether to note what the program needs from the machine and can't get in the sandbox."""
    system: bool = False
    """Whether it sees the machine's own programs, if the sandbox can show them."""
    loopback: bool = False
    """Whether it may use the loopback interface of a separate network, if the sandbox has one."""
    runner: Runner | None = None
    """Runs it in place of the sandbox's own code; inputs are then calls that this runner answers."""


class FaultError(Exception):
    """The sandbox itself failed: our fault or the machine's, never the completion's."""


class UndecidedError(FaultError):
    """The machine is too busy to decide what the program would do. Trying again does not help."""


_LIMITS = frozenset(("setrecursionlimit", "set_int_max_str_digits"))
"""They are restored after each run."""

_MAKES_CONSTANTS = frozenset(("float", "int"))


@lru_cache(64)
def header_of(preamble: str) -> tuple[Import | str, ...] | None:
    """What a header does, in order: its imports, and the text of other statements; None if it is not a header."""
    try:
        steps = tuple(step for statement in syntax.parse(preamble).body for step in _steps(statement))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    imports = [step for step in steps if not isinstance(step, str)]
    if any(bound.startswith("__") or module in _OF_THE_COMPILER for bound, module, _ in imports):
        return None
    return steps


_OF_THE_COMPILER = ("__main__", "__future__")


def _steps(statement: ast.stmt) -> list[Import | str]:
    """Raises `ValueError` for a statement that a header does not have."""
    if isinstance(statement, ast.Import):
        return [_import(name.name, name.asname) for name in statement.names]
    if isinstance(statement, ast.ImportFrom) and not statement.level:
        return [(name.asname or name.name, statement.module or "", name.name) for name in statement.names]
    if not _is_harmless(statement):
        raise ValueError
    return [ast.unparse(statement)]


def _import(module: str, name: str | None) -> Import:
    package, _, last = module.rpartition(".")
    if name and package:  # `import a.b as c` binds b, `import a.b` binds a
        return name, package, last
    return name or module.partition(".")[0], module, ""


def _is_harmless(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        is_simple = all(isinstance(target, ast.Name) and not target.id.startswith("__") for target in statement.targets)
        return is_simple and _is_constant(statement.value)
    if isinstance(statement, ast.Expr):
        return _is_constant(statement.value) or _sets_limit(statement.value)
    return isinstance(statement, ast.Pass)


def _sets_limit(value: ast.expr) -> bool:
    """`sys.setrecursionlimit(10**6)` and the like."""
    if not isinstance(value, ast.Call) or value.keywords:
        return False
    match value.func:
        case ast.Attribute(value=ast.Name(id="sys"), attr=name) | ast.Name(id=name):
            return name in _LIMITS and all(map(_is_constant, value.args))
    return False


def _is_constant(value: ast.expr) -> bool:
    """Whether it is immutable and computing it has no effect: `10**9 + 7`, `float("inf")`, `("a", -1)`."""
    match value:
        case ast.Constant():
            return True
        case ast.UnaryOp(operand=operand):
            return _is_constant(operand)
        case ast.BinOp(left=left, right=right):
            return _is_constant(left) and _is_constant(right)
        case ast.Tuple(elts=items):
            return all(map(_is_constant, items))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return name in _MAKES_CONSTANTS and all(map(_is_constant, arguments))
    return False


_MIB = 2**20


class ProgramSetup(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for all processes of one program."""

    program: Program
    limits: Limits
    """Those of the program, without new processes where these could be left behind."""
    is_call: bool
    """Whether an input is a call, which is answered with a value; else it is a program's stdin."""
    header: tuple[Import | str, ...] | None
    """The preamble as steps, where a process may run those that the program needs; None: it runs the preamble."""
    runs_ahead: bool
    """Whether inputs may be sent with the program."""
    shared: bool
    """Whether processes follow one another in the zygote's own namespaces; else each gets new ones."""
    loopback: bool
    shares_files: bool
    """Whether it shares its /tmp with the process of its test suite."""
    reports_calls: bool
    """Whether the kernel asks us about calls that are refused."""

    @property
    def output_bytes(self) -> int:
        return int(self.limits.output_mb * _MIB)


def setup_for(program: Program, limits: Limits, way: Way, *, reuse: bool, several: bool) -> ProgramSetup:
    """`reuse`: whether a process may run on several inputs. `several`: whether more than one will come."""
    namespaces, suite = way is Way.NAMESPACES, program.suite
    if not namespaces:
        limits = msgspec.structs.replace(limits, processes=0)
    alone = limits.processes == 0
    bare = suite is None and program.runner is None
    is_call = not bare or program.entry_point is not None
    uses_header = bare and (is_call or (several and alone and reuse))
    header = header_of(program.preamble) if uses_header else None
    loopback = program.loopback and namespaces
    return ProgramSetup(
        program=program,
        limits=limits,
        is_call=is_call,
        header=header,
        runs_ahead=reuse and alone and bare and (is_call or header is not None or not several),
        shared=namespaces and alone and bare and not (loopback or program.system),
        loopback=loopback,
        shares_files=suite is not None and not program.shares_process and "files" in suite.uses,
        reports_calls=(not namespaces and not own_folder.has_users()) or may_try(program.source),
    )


_BACKSTOP_CPU_S = 2
SPARE_TASKS = 4
"""The process itself, its namespace's first process, and the threads that libraries start."""


def program_order(setup: ProgramSetup, *, inputs: Sequence[bytes] | None, memory_counted: bool) -> bytes:
    """For a completion's process. `inputs`: those that it gets together, if any."""
    program = setup.program
    order = {
        **confinement(setup.limits, memory_counted=memory_counted, forks=False, spare_tasks=SPARE_TASKS),
        **_role(setup),
        "source": program.source,
        "entry_point": program.entry_point,
        "preamble": program.preamble,
        "header": setup.header,
        "inputs": None if inputs is None else list(inputs),
        "reports_calls": setup.reports_calls,
        "loopback": setup.loopback,
        "audits": program.audits,
        "shares_files": "gives" if setup.shares_files else "",
    }
    return marshal.dumps(order, 2)


_CALLED = """
from collections import defaultdict
def f(x, y=0):
    g = defaultdict(list)
    g[len(x)].append([a for a in x])
    return sorted(g[len(x)]) + [y]
"""
_READING = """
import sys, math
from collections import deque
class C:
    def __init__(self, word): self.word = word
def main():
    words = deque(sys.stdin.readline().split())
    print(*[C(word).word for word in words if math.sqrt(len(word)) > 0])
if __name__ == "__main__":
    main()
"""
_HEADER = "import sys\nfrom math import *\nMOD = 10**9 + 7"


@cache
def rehearsals() -> tuple[bytes, ...]:
    """Orders like those of completions, with inputs, for a zygote to carry out in advance."""
    call = marshal.dumps((([1, 2], "a"), {}), 2)
    programs = (Program(_CALLED, "f", _HEADER), [call, call]), (Program(_READING, None, _HEADER), [b"a b\n", b""])
    return tuple(
        program_order(
            setup_for(program, Limits(), Way.NAMESPACES, reuse=True, several=True), inputs=inputs, memory_counted=True
        )
        for program, inputs in programs
    )


def _role(setup: ProgramSetup) -> dict[str, object]:
    """The role of the process, and what is specific to it."""
    program = setup.program
    if program.suite is None:
        return {"role": "runner" if program.runner else "program"}
    if program.shares_process:
        return {"role": "shared_process"}
    return {"role": "server", **{name: getattr(program.suite, name) for name in SuiteNeeds.__struct_fields__}}


def confinement(limits: Limits, *, memory_counted: bool, forks: bool, spare_tasks: int) -> dict[str, object]:
    """What the kernel allows a process. `memory_counted`: whether a control group counts its memory."""
    return {
        "forks": forks,
        "inputs": None,
        "reports_calls": False,
        "memory_counted": memory_counted,
        "processes": limits.processes,
        "loopback": False,
        "virtual_bytes": int(limits.virtual_mb * _MIB),
        "output_bytes": int(limits.output_mb * _MIB),
        "cpu_s": math.ceil(limits.total_s) + _BACKSTOP_CPU_S,
        "tasks": limits.threads + limits.processes + spare_tasks + forks,
    }
