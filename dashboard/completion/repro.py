"""A script that runs one test case of one completion with plain Python, without Rollscope and without its sandbox."""

from __future__ import annotations

import ast
import contextlib
import re

import msgspec
import streamlit as st

from dashboard import escape, facts
from dashboard.queries import records
from dashboard.queries.records import CaseRecord, RolloutRecord, TaskRecord, decoded
from evaluator.model import Limits, Mode, Task
from evaluator.tasks import long_numbers

_MOST_SHOWN = 100_000
"""Characters; a longer script is only downloaded."""
_SHORT = 80
_METHOD = re.compile(r"[\w.]+\n(?:@|async def |def )")
"""A test case that is a method or function of the test code: its name, then its source."""

_HEAD = '''\
"""{about}

Run it with `python repro.py`. A model wrote the code below: read it first. It is run with the limits of its
grading, but without a sandbox.
"""

import pathlib
import resource
import subprocess
import sys
import tempfile

LIMITS = {limits}
EXPECTED = {expected}
STDIN = {stdin}
PROGRAM = {program}
COMMAND = {command}
'''

_RUN = """

def limit():
    cpu_s, memory = int(LIMITS["cpu_s"]) + 1, int(LIMITS["virtual_mb"] * 2**20)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def main():
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "solution.py").write_text(PROGRAM, encoding="utf-8")
        try:
            done = subprocess.run(
                [sys.executable, *COMMAND], input=STDIN.encode("utf-8", "surrogatepass"), capture_output=True,
                timeout=LIMITS["wall_s"], cwd=folder, preexec_fn=limit,
            )
        except subprocess.TimeoutExpired:
            sys.exit(f"time limit: {LIMITS['wall_s']:g} s of wall time")
        value = pathlib.Path(folder, "value")
        printed = done.stdout.decode("utf-8", "replace")
        actual = value.read_text(encoding="utf-8") if value.exists() else printed
    print(f"--- expected\\n{EXPECTED}\\n--- actual\\n{actual}")
    if actual is not printed and printed:
        print(f"--- stdout\\n{printed}")
    if done.stderr:
        print("--- stderr\\n" + done.stderr.decode("utf-8", "replace"))
    print(f"--- exit status\\n{done.returncode}")


main()
"""

_CALL = """

import json as _json, pathlib as _pathlib
_function = globals().get({entry!r})
if getattr(_function, "__module__", "") != __name__ and hasattr(globals().get("Solution"), {entry!r}):
    _function = getattr(Solution(), {entry!r})
_value = _function(*[_json.loads(line) for line in {arguments}])
_pathlib.Path("value").write_text(repr(_value), encoding="utf-8")
"""

_STATEMENT = """

import ast as _ast, pathlib as _pathlib
candidate = {entry}
try:
    exec({test}, globals())  # what the statement uses
except AssertionError:
    pass
*_before, _last = _ast.parse({statement}).body
_compares = isinstance(_last, _ast.Assert) and isinstance(_last.test, _ast.Compare) and len(_last.test.ops) == 1
try:
    exec(compile(_ast.Module(_before, []), "test", "exec"), globals())
    if _compares and isinstance(_last.test.ops[0], _ast.Eq):
        _value = eval(compile(_ast.Expression(_last.test.left), "test", "eval"), globals())
        _pathlib.Path("value").write_text(repr(_value), encoding="utf-8")
        assert _value == eval(compile(_ast.Expression(_last.test.comparators[0]), "test", "eval"), globals())
    else:
        exec(compile(_ast.Module([_last], []), "test", "exec"), globals())
except NameError:
    check(candidate)  # it uses what the statements before it have set
"""


@st.dialog("Standalone repro", width="large")
def show(record: TaskRecord, rollout: RolloutRecord, test: CaseRecord, text: str) -> None:
    """The script, to copy or to download. `text` is the code, or its edit."""
    made = script(record, rollout, test, text)
    facts.note("Runs with python repro.py: the limits of the grading, but no sandbox. Read the code first.")
    if len(made) <= _MOST_SHOWN and escape.text(made) == made:
        st.code(made, language="python", height=420)
    else:
        facts.note("It is too long to show, or has invisible characters: download it.")
    data = made.encode("utf-8", "backslashreplace")
    st.download_button("Download repro.py", data, "repro.py", "text/x-python", on_click="ignore", key="dl_repro")


def script(record: TaskRecord, rollout: RolloutRecord, test: CaseRecord, text: str) -> str:
    """The script's text, for any task whose completions are code."""
    task = msgspec.json.decode(record.task, type=Task)
    case = next((case for case in records.test_cases(record) if case.index == test.test_index), None)
    given, expected = (case.input, case.expected) if case else ("", "")
    ending, command = _ending(task, given)
    limits = decoded(rollout.limits, Limits) or Limits()
    about = f"{rollout.task_id}, sample {rollout.sample_id}, test {test.test_index}"
    head = _HEAD.format(
        about=about.encode("ascii", "replace").decode().replace("\\", "/").replace('"', "'"),
        limits={"wall_s": limits.wall_s, "cpu_s": limits.cpu_s, "virtual_mb": limits.virtual_mb},
        expected=_literal(expected if task.mode is Mode.STDIN else _as_python(test.expected or expected)),
        stdin=_literal(given if task.mode is Mode.STDIN else ""),
        program=_literal(f"{task.preamble.rstrip()}\n{text.rstrip()}\n{ending}".lstrip("\n")),
        command=command,
    )
    return head + _RUN


def _ending(task: Task, given: str) -> tuple[str, list[str]]:
    """What follows the code so that it runs the test case, and Python's arguments."""
    name, test, imported = task.entry_point or "", task.test or "", ["-c", "import solution"]
    if task.mode is Mode.CALL:
        lines = [line for line in given.split("\n") if line.strip()]
        return _CALL.format(entry=name.split(".")[-1], arguments=lines), imported
    if task.mode is Mode.STDIN:
        return "", ["solution.py"]
    if not _METHOD.match(given):
        return _STATEMENT.format(entry=name, test=_literal(test), statement=_literal(given)), imported
    method = given.split("\n", 1)[0]
    if "." in method:
        return f"\n\n{test}", ["-m", "unittest", "-v", f"solution.{method}"]
    return f"\n\n{test}\n\n{method}()\n", imported


def _as_python(text: str) -> str:
    """A value as `repr` writes it, like the actual one; other text, such as `a true value`, as it is."""
    for read in (long_numbers.loads, ast.literal_eval):
        with contextlib.suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            return repr(read(text))
    return text


def _literal(text: str) -> str:
    """The text as Python source: over several lines, as it is, where that is possible."""
    quotes = next((mark for mark in ("'''", '"""') if mark not in text and not text.endswith((mark[0], "\\"))), None)
    readable = all(line.isprintable() for line in text.replace("\t", "").split("\n"))
    if len(text) <= _SHORT or quotes is None or not readable:
        return repr(text)
    return f"r{quotes}{text}{quotes}" if "\\" in text else f"{quotes}\\\n{text}{quotes}"
