"""Guards and habits of graders in common use that fail honest programs, each as a function that says whether it would.

Three kinds: what looks at the source alone; what `naive_grader.py` does, in one process; and what is done with
`python main.py`, in a process of its own. Programs run in a throw-away folder and process. They are honest.
"""

from __future__ import annotations

import ast
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from evaluator.model import Mode, Task
from tests.attacks.naive_habits import HABITS

Guard = Callable[[str, Task], bool]
"""Takes a program and its task; true where it would fail the program."""

_REPOSITORY = Path(__file__).parents[2]
_PATIENCE_S = 20.0
_SHORT_PATIENCE_S = 1.0

_FORBIDDEN_MODULES = frozenset(
    "os sys subprocess shutil socket threading multiprocessing concurrent ctypes signal resource pickle importlib "
    "builtins tempfile asyncio inspect gc mmap select faulthandler platform locale logging warnings traceback sqlite3 "
    "unittest atexit code pathlib time".split()
)
_ALLOWED_MODULES = frozenset("math itertools collections functools heapq bisect re string typing random sys".split())
_FORBIDDEN_CALLS = re.compile(r"\b(exit|quit|open|eval|exec|compile|__import__|globals|setattr|getattr)\s*\(")
_DUNDER = re.compile(r"__\w+__")
_OS_OR_SYS = re.compile(r"\b(os|sys)\.")
_EVAL = re.compile(r"eval\s*\(")
_TEST_WORDS = re.compile(r"\b(assert\w*|unittest|pytest|expected|grader|reward|test\w*)\b", re.IGNORECASE)
_LONGEST_SOURCE = 2000


def _matches(pattern: re.Pattern[str], code: str, task: Task) -> bool:
    return pattern.search(code) is not None


def _imported(code: str) -> set[str]:
    modules: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            modules.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            modules.add((node.module or "").partition(".")[0])
    return modules


def _imports_forbidden(code: str, task: Task) -> bool:
    return not _imported(code).isdisjoint(_FORBIDDEN_MODULES)


def _imports_unlisted(code: str, task: Task) -> bool:
    return not _imported(code) <= _ALLOWED_MODULES


def _catches_all(code: str, task: Task) -> bool:
    """A bare `except`, or one of BaseException: it might swallow the time limit's exception."""
    handlers = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ExceptHandler))
    return any(
        node.type is None
        or any(
            isinstance(name, ast.Name) and name.id in ("BaseException", "SystemExit") for name in ast.walk(node.type)
        )
        for node in handlers
    )


def _defines_own_equality(code: str, task: Task) -> bool:
    """A class with `__eq__` or `__hash__`: its values might call themselves right."""
    names = {"__eq__", "__hash__", "__ne__", "__lt__"}
    return any(isinstance(node, ast.FunctionDef) and node.name in names for node in ast.walk(ast.parse(code)))


def _assigns_builtin(code: str, task: Task) -> bool:
    """A builtin's or a stream's name on the left of an assignment, or deleted."""
    names = re.compile(r"^\s*(?:(?:print|input|list|sum|max|min|len|sys\.std\w+|builtins\.\w+)\s*=[^=]|del\s)", re.M)
    return names.search(code) is not None


def _is_not_ascii(code: str, task: Task) -> bool:
    return not code.isascii()


def _has_carriage_return(code: str, task: Task) -> bool:
    """Splits the source at "\\n" alone."""
    return any(line.endswith("\r") for line in code.split("\n"))


def _is_long(code: str, task: Task) -> bool:
    return len(code) > _LONGEST_SOURCE


def _loops_for_ever(code: str, task: Task) -> bool:
    return re.search(r"while\s+(True|1)\s*:", code) is not None


def fails_in_one_process(habit: str, code: str, task: Task) -> bool:
    """Whether a grader with that habit (`careful`: none) fails it."""
    cases = [(case.input, case.expected) for case in task.cases]
    order = {"habit": habit, "code": code, "entry_point": task.entry_point, "cases": cases}
    with tempfile.TemporaryDirectory() as folder:
        job, verdict = Path(folder) / "job.json", Path(folder) / "verdict"
        job.write_text(json.dumps(order), "utf-8")
        command = [sys.executable, "-m", "tests.attacks.naive_grader", str(job), str(verdict)]
        environment = {**os.environ, "PYTHONPATH": str(_REPOSITORY)}
        try:
            subprocess.run(
                command, cwd=folder, env=environment, timeout=_PATIENCE_S, check=False, input=b"", capture_output=True
            )
        except subprocess.TimeoutExpired:
            return True
        return not verdict.exists() or verdict.read_text("utf-8") != "passed"


class _Ended:
    """What `python main.py < input` left."""

    def __init__(self, code: str, given: str, **options: object) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "main.py").write_text(code, "utf-8", "surrogatepass")
            ended: subprocess.CompletedProcess[bytes] = subprocess.run(  # type: ignore[call-overload]
                [sys.executable, "main.py"],
                cwd=folder,
                input=given.encode("utf-8", "surrogateescape"),
                capture_output=True,
                timeout=_PATIENCE_S,
                check=False,
                **options,
            )
        self.status = ended.returncode
        self.stdout = ended.stdout
        self.stderr = ended.stderr

    def is_right(self, expected: str) -> bool:
        return self.stdout.split() == expected.encode("utf-8", "surrogateescape").split()


def _writes_other_bytes(code: str, task: Task) -> bool:
    """Compares the output byte for byte."""
    cases = ((_Ended(code, case.input), case.expected) for case in task.cases)
    return any(ended.stdout != expected.encode("utf-8", "surrogateescape") for ended, expected in cases)


def _writes_to_stderr(code: str, task: Task) -> bool:
    return any(_Ended(code, case.input).stderr for case in task.cases)


def _ends_with_a_status(code: str, task: Task) -> bool:
    return any(_Ended(code, case.input).status for case in task.cases)


def _fails_where_output_is_ascii(code: str, task: Task) -> bool:
    """Runs it with the C locale, as a container without one has it."""
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    return not all(_Ended(code, case.input, env=environment).is_right(case.expected) for case in task.cases)


def _fails_in_little_memory(code: str, task: Task) -> bool:
    """512 MiB of address space."""
    limit = partial(resource.setrlimit, resource.RLIMIT_AS, (2**29, 2**29))
    return not all(_Ended(code, case.input, preexec_fn=limit).is_right(case.expected) for case in task.cases)


def _fails_with_a_small_stack(code: str, task: Task) -> bool:
    """160 KiB: little more than the 128 KiB of a thread under musl."""
    limit = partial(resource.setrlimit, resource.RLIMIT_STACK, (160 * 2**10, 160 * 2**10))
    return not all(_Ended(code, case.input, preexec_fn=limit).is_right(case.expected) for case in task.cases)


def _fails_where_no_file_can_grow(code: str, task: Task) -> bool:
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (0, 0))
    return not all(_Ended(code, case.input, preexec_fn=limit).is_right(case.expected) for case in task.cases)


def _overflows_a_pipe(code: str, task: Task) -> bool:
    """Waits for the end before it reads what was written."""
    with tempfile.TemporaryDirectory() as folder:
        main, given = Path(folder) / "main.py", Path(folder) / "input"
        main.write_text(code, "utf-8")
        given.write_text(task.cases[-1].input, "utf-8")
        with given.open("rb") as stdin:
            process = subprocess.Popen([sys.executable, str(main)], stdin=stdin, stdout=subprocess.PIPE)
            try:
                process.wait(_SHORT_PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                return True
            finally:
                process.communicate()
    return False


def _of_programs(judge: Guard) -> Guard:
    """A guard for programs that read stdin; functions pass it."""
    return lambda code, task: task.mode is Mode.STDIN and judge(code, task)


GUARDS: dict[str, Guard] = {
    "forbidden_calls": partial(_matches, _FORBIDDEN_CALLS),
    "dunder_names": partial(_matches, _DUNDER),
    "os_or_sys": partial(_matches, _OS_OR_SYS),
    "words_of_tests": partial(_matches, _TEST_WORDS),
    "eval_anywhere": partial(_matches, _EVAL),
    "forbidden_modules": _imports_forbidden,
    "allowed_modules": _imports_unlisted,
    "catches_all": _catches_all,
    "own_equality": _defines_own_equality,
    "assigned_builtin": _assigns_builtin,
    "ascii_source": _is_not_ascii,
    "carriage_return": _has_carriage_return,
    "long_source": _is_long,
    "endless_loop": _loops_for_ever,
    **{habit: partial(fails_in_one_process, habit) for habit in HABITS if habit != "careful"},
    "exact_bytes": _of_programs(_writes_other_bytes),
    "empty_stderr": _of_programs(_writes_to_stderr),
    "exit_status_0": _of_programs(_ends_with_a_status),
    "ascii_output": _of_programs(_fails_where_output_is_ascii),
    "little_memory": _of_programs(_fails_in_little_memory),
    "small_stack": _of_programs(_fails_with_a_small_stack),
    "no_growing_file": _of_programs(_fails_where_no_file_can_grow),
    "unread_pipe": _of_programs(_overflows_a_pipe),
}
