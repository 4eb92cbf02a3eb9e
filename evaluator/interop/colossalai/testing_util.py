"""ColossalAI's `run_test` and `check_correctness` on Rollscope's sandbox: the same arguments, results and `error_info`.

The names and signatures are those of `coati.distributed.reward.code_reward`, its modules `testing_util` and `utils`
(ColossalAI, Apache-2.0).
"""

from __future__ import annotations

import atexit
import builtins
import faulthandler
import importlib
import json
import os
import resource
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from http import HTTPStatus
from io import StringIO
from types import ModuleType
from typing import Any, Final, TextIO, cast

from evaluator.cases import Bench
from evaluator.graders.colossalai_testing.inside import REFUSED, REFUSED_MODULES
from evaluator.graders.colossalai_testing.run import (
    Asked,
    Code,
    InOutsError,
    Report,
    cleaned_traceback,
    run_tests,
    truncated,
)
from evaluator.model import JsonValue
from evaluator.sandbox import FaultError, SandboxUnavailable
from evaluator.workers.single import in_worker

_had_sandbox = threading.Event()
"""Set once a sandbox has started in this process: from then on a missing one is a fault."""


_strict: ContextVar[bool] = ContextVar("strict_compat", default=False)


@contextmanager
def strict_compat() -> Iterator[None]:
    """A context in which `run_test` and `check_correctness` repeat the original's mistakes, where that is safe.

    Holds for the current thread or asyncio task: `with strict_compat(): run_test(...)`. The mistakes are listed in
    docs/integrations/colossalai.md.
    """
    token = _strict.set(True)
    try:
        yield
    finally:
        _strict.reset(token)


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
    """Runs a completion on its test cases in the sandbox; may be called any number of times, from any thread.

    `in_outs`: `inputs` and `outputs`, lists of texts, an output for each input, and `fn_name`, the function to call;
    None or absent: the program reads stdin. Not changed. `test`: the completion's code. `timeout`: seconds per test
    case, CPU waits not counted; 0: only the 600 s for all of them. `run_all_tests`: continue after a failure. `debug`
    and other keywords are ignored.

    Returns a list with a code for each test case that ran: True, False (wrong answer), -1 (runtime error, time-out or
    another limit) or -2 (does not compile); and of the test case at which it stopped `error` and `traceback`, or
    `output`, `expected`, `inputs` and `error_message`. No test cases give `[]` and `{}`. A fault of the sandbox gives
    `[-1]` with `error` "sandbox" and the reason in `error_message`: leave the completion out rather than punish it.

    Raises `InOutsError` (a `ValueError`) for unusable test cases or if `test` is not `str`, `ValueError` for a bad
    `timeout`, `SandboxUnavailable` if no sandbox starts. Within `strict_compat()` it raises what the original does.

        run_test({"inputs": ["1\\n2"], "outputs": ["3"], "fn_name": "add"}, "def add(a, b): return a + b")
        # ([True], {})
    """
    del debug, unknown
    report = report_of(in_outs, test, timeout, run_all_tests)
    return report.results, report.error_info


def report_of(in_outs: Any, test: Any, timeout: float, run_all: bool) -> Report:
    """The results of `run_test`, and whether the original would have survived to give any."""
    asked = Asked(timeout, run_all, _strict.get())
    try:
        _require_usable(in_outs, test, asked)
        with lent_back():
            report = in_worker(_run_tests, dict(in_outs), test, asked)
        _had_sandbox.set()
        return report
    except InOutsError as error:
        if asked.strict:
            raise error.original from error
        raise
    except (FaultError, SandboxUnavailable) as error:
        if isinstance(error, SandboxUnavailable) and not _had_sandbox.is_set():
            raise  # this machine has none, which no completion caused
        return Report(error_info={"error": "sandbox", "error_message": str(error) or repr(error)}, faulty=True)


def _run_tests(bench: Bench, in_outs: Mapping[str, JsonValue], test: str, asked: Asked) -> Report:
    return run_tests(in_outs, test, asked, bench)


def _require_usable(in_outs: object, test: object, asked: Asked) -> None:
    """Raises `InOutsError`; for a bad time-out `TypeError` or `ValueError`."""
    for unusable, original, message in (
        (not in_outs, UnboundLocalError, "in_outs is empty: give inputs and outputs"),
        (
            not isinstance(in_outs, Mapping),
            AttributeError,
            f"in_outs must be an object with inputs and outputs, not {_kind(in_outs)}",
        ),
        (not isinstance(test, str), AssertionError, f"test must be the completion's code, not {_kind(test)}"),
    ):
        if unusable:
            raise InOutsError(message, original(message))
    if asked.strict and not isinstance(asked.timeout, int):
        raise TypeError(f"timeout is {asked.timeout!r}: the original takes whole seconds")
    if not isinstance(asked.timeout, int | float) or not 0 <= asked.timeout < float("inf"):
        raise ValueError(f"timeout is {asked.timeout!r}: give seconds, or 0 for none")


def _kind(value: object) -> str:
    return type(value).__name__


URL: Final = "http://localhost:8000/check_correctness"
"""Where `rollscope serve colossalai` answers by default."""


def check_correctness(
    in_outs: Mapping[str, JsonValue],
    generation: str | None,
    timeout: float = 10,
    debug: bool = True,
    **unknown: object,
) -> tuple[list[Code], list[dict[str, str]]]:
    """`run_test` up to the first failure, but unusable test cases give -1 each instead of an error.

    `in_outs`: as for `run_test`. `generation`: the completion's code. `timeout`: seconds per test case; 0: only the
    600 s for all of them. `debug` and other keywords, such as `eval_mode`, are ignored.

    Returns the results and `[error_info]`; `[{}]` where `run_test` would have raised. A fault of the sandbox gives -1
    for every test case. Within `strict_compat()`, so does a completion that ended the original's process (time-out,
    `sys.exit` in a call, `os._exit`), with an empty second list.

    Raises `InOutsError` if `in_outs` has no list of inputs to count, `ValueError` for a bad `timeout` (within
    `strict_compat()` -1 each), `SandboxUnavailable` if no sandbox starts.

        check_correctness({"inputs": ["1"], "outputs": ["2"]}, "print(int(input()) + 1)")  # ([True], [{}])
    """
    del debug, unknown
    every: list[Code] = [-1] * _count(in_outs)
    try:
        report = report_of(in_outs, generation, timeout, run_all=False)
    except Exception as error:
        # No completion causes a missing sandbox or a bad time-out.
        if isinstance(error, SandboxUnavailable) or not (_strict.get() or isinstance(error, InOutsError)):
            raise
        return every, [{}]
    if report.died and _strict.get():
        return every, []
    if report.faulty:
        return every, [report.error_info]
    return report.results, [report.error_info]


def check_correctness_code_api(
    in_outs: Mapping[str, JsonValue],
    generation: str | None,
    timeout: float = 10,
    debug: bool = True,
    url: str = URL,
    **unknown: object,
) -> tuple[list[int], list[dict[str, str]]]:
    """`check_correctness` by a server, such as `rollscope serve colossalai` or ColossalAI's verifier, at `url`.

    Takes and returns the same, with 1 for True and 0 for False. A refusal gives -1 each and its reason in
    `error_message`, with `error` "request" for unusable test cases or too large a `timeout` (status 422), else
    "sandbox". Waits for the answer as long as it takes. Raises `ConnectionError` if there is no server, `InOutsError`
    as `check_correctness`.

        check_correctness_code_api({"inputs": ["1"], "outputs": ["1"]}, "print(input())", url=URL)  # ([1], [{}])
    """
    del unknown
    every = [-1] * _count(in_outs)
    sent = {"in_outs": in_outs, "generation": generation, "timeout": timeout, "debug": debug}
    status, body = _posted(url, json.dumps(sent).encode())
    if status == HTTPStatus.OK:
        return body["result"], body["metadata"]
    error = "request" if status == HTTPStatus.UNPROCESSABLE_ENTITY else "sandbox"
    return every, [{"error": error, "error_message": f"{url} answered with status {status}: {body}"}]


def _posted(url: str, body: bytes) -> tuple[int, Any]:
    """The status of the answer; its JSON if it is a success, else its text."""
    request = urllib.request.Request(url, body, {"content-type": "application/json"})  # noqa: S310 - the caller's
    try:
        with urllib.request.urlopen(request) as answer:  # noqa: S310
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        if refusal.code in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED):
            raise ConnectionError(f"{url} is not a verifier ({refusal}): it ends in /check_correctness") from None
        return refusal.code, refusal.read().decode("utf-8", "replace")
    except urllib.error.URLError as error:
        raise ConnectionError(f"{url}: {error.reason}: is `rollscope serve colossalai` running?") from None


def _count(in_outs: object) -> int:
    inputs = in_outs.get("inputs") if isinstance(in_outs, Mapping) else None
    if isinstance(inputs, list | tuple):
        return len(inputs)
    message = 'in_outs has no list of inputs: give {"inputs": [...], "outputs": [...]}'
    raise InOutsError(message, KeyError("inputs"))


def truncatefn(s: str, length: int = 300) -> str:
    """A text longer than `length` characters as its two ends with `...(truncated) ...` between them."""
    assert isinstance(s, str)
    return truncated(s, length)


def clean_traceback(error_traceback: str) -> str:
    """A traceback from the completion's first frame on; without such a frame its last character, as in the original."""
    return cleaned_traceback(error_traceback)


def stripped_string_compare(s1: str, s2: str) -> bool:
    """Whether both are equal when stripped."""
    return s1.strip() == s2.strip()


def custom_compare_(output: list[str] | str, ground_truth: str) -> bool:
    """Whether the lines, as they are or each stripped, make the expected text; False if `output` is not a list."""
    if not isinstance(output, list):
        return False
    stripped = "\n".join(line.strip() for line in output)
    return stripped_string_compare("\n".join(output), ground_truth) or stripped_string_compare(stripped, ground_truth)


def call_method(method: Callable[[], Any], inputs: str | list[str]) -> Any:
    """Calls your own function, in this process, with `inputs` (text or lines) as stdin and as every file that it opens.

    Returns its result, None on `SystemExit`, and raises anything else. There is no sandbox: never pass a completion.
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
    """A context that captures `sys.stdout`; afterwards a list with that one text. `with Capturing() as output: ...`"""

    _stdout: TextIO

    def __enter__(self) -> Capturing:
        self._stdout = sys.stdout
        self._written = sys.stdout = StringIO()
        return self

    def __exit__(self, *_: object) -> None:
        self.append(self._written.getvalue())
        sys.stdout = self._stdout


# --- the guard, on which Rollscope itself never relies


def reliability_guard(maximum_memory_bytes: int | None = None) -> None:
    """Patches the calling process for good, as the original does; it protects nothing and grading does not need it.

    `maximum_memory_bytes` becomes the limit of address space, data and stack, each; None: no limit. `faulthandler` is
    disabled; `exit`, `quit`, `help`, `subprocess.Popen`, `shutil.rmtree`, `move` and `chown`, and the names of
    `REFUSED["os"]` in `os` become None; `OMP_NUM_THREADS` is set to 1; `ipdb`, `joblib`, `resource`, `psutil` and
    `tkinter` can't be imported any more. Raises `ValueError` for a limit above the process's hard limit.

    `posix.system`, `os.posix_spawn`, `importlib.reload(os)`, `ctypes`, sockets, threads and written files stay within
    reach. `run_test` still works, since it gets back what it needs while it starts a sandbox, in which completions miss
    the same names. It may be called twice.

        reliability_guard(maximum_memory_bytes=8 * 2**30)
    """
    if maximum_memory_bytes is not None:
        for limit in (resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_STACK):
            resource.setrlimit(limit, (maximum_memory_bytes, maximum_memory_bytes))
    faulthandler.disable()
    with lent_back():  # it takes os.putenv
        os.environ["OMP_NUM_THREADS"] = "1"
    with _lock:
        for module, names in REFUSED.items():
            owner = importlib.import_module(module)
            for name in names:
                _originals.setdefault((owner, name), getattr(owner, name, None))
        _set_names()
    modules = cast("dict[str, ModuleType | None]", sys.modules)
    modules.update(dict.fromkeys(REFUSED_MODULES))


_originals: dict[tuple[ModuleType, str], object] = {}
"""The names taken from this process."""
_lock = threading.Lock()
_users = 0
"""How many callers need them at this moment."""


@contextmanager
def lent_back() -> Iterator[None]:
    """A context in which the process has what the guard took: starting and ending a sandbox needs some of it."""
    _use(1)
    try:
        yield
    finally:
        _use(-1)


def _use(more: int) -> None:
    global _users  # noqa: PLW0603 - of the process, as the names are
    with _lock:
        _users += more
        _set_names()


def _set_names() -> None:
    for (module, name), value in _originals.items():
        setattr(module, name, value if _users else None)


atexit.register(_use, 1)  # sandboxes end then
