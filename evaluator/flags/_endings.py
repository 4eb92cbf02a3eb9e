"""Flags that follow from how a completion's test cases ended."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence

from evaluator.flags._parsed_code import shortened
from evaluator.model import CaseResult, Flag, Mode, Task, Verdict

_SUCCESS = ("", "0", "None")
"""The messages of a `SystemExit` that reports success."""
_MISSING = re.compile(r"No module named '([^\W\d]\w{0,99})(?:\.[\w.]*)?'")
_ENDED = (Verdict.PASSED, Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR)


def flags(task: Task, code: str, cases: Sequence[CaseResult]) -> Iterator[Flag]:
    """A call that ended with a successful `SystemExit`, and a missing module."""
    for case in cases:
        trace = case.traceback
        if trace is None:
            continue
        if trace.type == "SystemExit" and trace.message in _SUCCESS and task.mode is not Mode.STDIN:
            where = f"line {trace.line}: {shortened(trace.frames[-1].text)}" if trace.frames else "outside the code"
            yield Flag("early_exit", f"test {case.index} ended with SystemExit, {where}")
            return
        module = _MISSING.match(trace.message) if trace.type == "ModuleNotFoundError" else None
        if module is not None and _is_package(module[1], code):
            yield Flag("missing_package", module[1])
            return


def silent(cases: Sequence[CaseResult]) -> bool:
    """Whether a program ended by itself, without an exception and without any output."""
    return any(case.verdict in _ENDED and case.error_type is None and not case.stdout_bytes for case in cases)


def _is_package(name: str, code: str) -> bool:
    """Whether it could be installed: it is neither in the standard library nor defined by the code itself."""
    if name in sys.stdlib_module_names:
        return False
    return not re.search(rf"^[ \t]*(?:(?:class|def)[ \t]+{name}\b|{name}[ \t]*=(?!=))", code, re.MULTILINE)
