"""ColossalAI's `testing_util` on our sandbox: the same arguments, results and `error_info`.

The names and signatures are those of `coati.distributed.reward.code_reward.testing_util` (ColossalAI, Apache-2.0).
"""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Callable, Mapping
from enum import Enum
from io import StringIO
from typing import Any, TextIO

from evaluator.engines import pool
from evaluator.graders.bench import Bench, Options
from evaluator.graders.colossalai_testing.run import (
    Asked,
    Code,
    InOutsError,
    Report,
    cleaned_traceback,
    run_tests,
    truncated,
)
from evaluator.interop.colossalai.guard import lent_back
from evaluator.interop.colossalai.modes import is_strict
from evaluator.model import JsonValue
from evaluator.sandbox import FaultError, Sandbox, SandboxUnavailable, Settings

_once_had = threading.Event()
"""Set when a sandbox was had in this process: from then on it is a fault when there is none."""


class CODE_TYPE(Enum):  # noqa: N801 - the original's name
    """How a completion is run."""

    call_based = 0
    standard_input = 1


def run_test(
    in_outs: Mapping[str, JsonValue] | None,
    test: str | None = None,
    debug: bool = False,
    timeout: float = 15,
    run_all_tests: bool = False,
    **unknown: object,
) -> tuple[list[Code], dict[str, str]]:
    """Runs a completion on its test cases, in the sandbox. As often as you like, from any thread.

    `in_outs`: `inputs` and `outputs`, lists of texts of one length, and `fn_name`; where that is missing or None the
    program reads stdin. `test`: the completion's code. `timeout`: seconds a test case; 0: none but the 600 s for all.
    `run_all_tests`: go on after a failure. `debug` and what else is passed
    (`unknown`) are taken and have no effect.

    Gives a list with `True`, `False` (wrong answer), -1 (runtime error, time-out, any other limit) or -2 (does not
    compile) for each test case that was run, and of the one at which it stopped `error`, `traceback`, or `output`,
    `expected`, `inputs`, `error_message`. A fault of the sandbox is -1 with `error` = "sandbox" and the reason as
    `error_message`. `in_outs` stays as it is.

    Raises `InOutsError` (a `ValueError`) for test cases that can't be used; `SandboxUnavailable` where there is no
    sandbox. Within `strict_compat()` it raises what the original does.
    """
    del debug, unknown
    report = report_of(in_outs, test, timeout, run_all_tests)
    return report.results, report.error_info


def report_of(in_outs: Mapping[str, JsonValue] | None, test: str | None, timeout: float, run_all: bool) -> Report:
    """What `run_test` tells, and whether the original would have told anything."""
    strict = is_strict()
    asked = Asked(timeout, run_all, strict)
    try:
        return _report(_checked(in_outs), _program(test), _checked_timeout(asked))
    except InOutsError as error:
        if strict:
            raise error.original from error
        raise


def _report(in_outs: Mapping[str, JsonValue], test: str, asked: Asked) -> Report:
    settings = Settings()

    def run(sandbox: Sandbox) -> Report:
        _once_had.set()
        return run_tests(in_outs, test, asked, Bench(sandbox, Options(sandbox=settings), pool.gate().alone))

    try:
        with lent_back():
            return pool.in_sandbox(settings, run)
    except (FaultError, SandboxUnavailable) as error:
        if isinstance(error, SandboxUnavailable) and not _once_had.is_set():
            raise  # there is none on this machine: that is no failure of a completion
        return Report(error_info={"error": "sandbox", "error_message": str(error) or repr(error)}, faulty=True)


def _checked(in_outs: Mapping[str, JsonValue] | None) -> Mapping[str, JsonValue]:
    if not in_outs:
        told = "in_outs is empty: give inputs and outputs"
        raise InOutsError(told, UnboundLocalError(told))
    if not isinstance(in_outs, Mapping):
        told = f"in_outs is {type(in_outs).__name__}: give an object with inputs and outputs"
        raise InOutsError(told, AttributeError(told))
    return in_outs


def _program(test: str | None) -> str:
    if isinstance(test, str):
        return test
    told = f"test is {type(test).__name__}: give the completion's code"
    raise InOutsError(told, AssertionError(told))


def _checked_timeout(asked: Asked) -> Asked:
    if asked.strict and not isinstance(asked.timeout, int):
        raise TypeError(f"timeout is {asked.timeout!r}: the original takes whole seconds")
    if not isinstance(asked.timeout, int | float) or not 0 <= asked.timeout < float("inf"):
        raise ValueError(f"timeout is {asked.timeout!r}: give seconds, or 0 for none")
    return asked


def truncatefn(s: str, length: int = 300) -> str:
    """The text's two ends with `...(truncated) ...` between, where it is longer than `length` characters."""
    assert isinstance(s, str)
    return truncated(s, length)


def clean_traceback(error_traceback: str) -> str:
    """A traceback from the completion's first frame on; without one, its last character alone, as in the original."""
    return cleaned_traceback(error_traceback)


def stripped_string_compare(s1: str, s2: str) -> bool:
    """Whether both are equal once stripped."""
    return s1.strip() == s2.strip()


def custom_compare_(output: list[str] | str, ground_truth: str) -> bool:
    """Whether the lines, or each of them stripped, make the expected text. Anything but a list of lines does not."""
    if not isinstance(output, list):
        return False
    stripped = "\n".join(line.strip() for line in output)
    return stripped_string_compare("\n".join(output), ground_truth) or stripped_string_compare(stripped, ground_truth)


def call_method(method: Callable[[], Any], inputs: str | list[str]) -> Any:
    """Calls a function of yours, in this process, with `inputs` for stdin and for every file that it opens.

    A `SystemExit` of it is swallowed. Nothing is contained: never give it a completion's.
    """
    text = "\n".join(inputs) if isinstance(inputs, list) else inputs
    stdin, opened = sys.stdin, builtins.open
    sys.stdin = StringIO(text)
    builtins.open = lambda *_, **__: StringIO(text)  # type: ignore[assignment]
    try:
        return method()
    except SystemExit:
        return None
    finally:
        sys.stdin, builtins.open = stdin, opened


class Capturing(list[str]):
    """Within it, what this process writes to `sys.stdout`; after it, a list with that one text."""

    _stdout: TextIO

    def __enter__(self) -> Capturing:
        self._stdout = sys.stdout
        self._written = sys.stdout = StringIO()
        return self

    def __exit__(self, *_: object) -> None:
        self.append(self._written.getvalue())
        sys.stdout = self._stdout
