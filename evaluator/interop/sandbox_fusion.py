"""SandboxFusion over HTTP, and open-instruct's code API (its `open_instruct/code_utils`); neither is imported.

| request | answer |
|---|---|
| `POST /run_code` | 200, also for a program that fails: see `Answer`; 504 if no sandbox was free in time |
| `POST /test_program`, `POST /test_program_stdio` | 200 `{"results", "runtimes"}`: see `TestedProgram` |
| | 503 `{"detail"}` if the sandbox failed, so that nobody takes it for a failed program |
| `GET /v1/ping`, `GET /health` | 200 |

A bad body gets 422 and the reason in `detail`. `endpoints.Guard` refuses some requests before that, on every server.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import os
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from evaluator import syntax
from evaluator.formats.reading.json_text import JsonError, decode_json
from evaluator.formats.tests_alone import task_of_code
from evaluator.interop.endpoints import got, posted, require_at_most, service
from evaluator.interop.program_results import SHARE
from evaluator.interop.program_run import killed_by, return_code, run_program
from evaluator.model import Grade, JsonValue, Kind, Limits, Mode, RecordError, Rollout, Task, TestCase, Verdict
from evaluator.options import Options
from evaluator.sandbox import Outcome, Program, SandboxUnavailable, Status, Stream
from evaluator.tasks.given_tests import stdin_input
from evaluator.tasks.import_headers import LIVECODEBENCH
from evaluator.workers.single import agrade_together
from evaluator.workers.worker import FAULTS

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.routing import Route

LONGEST: Final = 256.0
"""MiB, the largest request."""
MAX_TIMEOUT_S: Final = 60.0
"""The default of the largest `run_timeout` or `max_execution_time` of a request, in seconds."""
LIMITS: Final = Limits()
"""The default of the limits that a request does not set."""
_LEAST_WAIT_S: Final = 5.0

_FOLDER: Final = "/tmp"  # noqa: S108 - the program's own folder in the sandbox
_WRITE: Final = """\
def _write(files):
    import base64, os
    for path, content in files.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(content))
_write({files!r})
del _write
"""
_FETCH: Final = """\
def _fetch(paths, mark):
    import atexit, base64, json, os, sys
    def fetched():
        found = {{}}
        for name, path in paths.items():
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    found[name] = base64.b64encode(file.read()).decode()
        sys.stdout.flush()
        print(mark, json.dumps(found), sep="", end="", file=sys.__stdout__, flush=True)
    atexit.register(fetched)
_fetch({paths!r}, {mark!r})
del _fetch
"""
_SECOND_RUN_S: Final = 8.0
"""The most that a second run may add, if the machine was too busy for the first: verl waits 10 s more than a run."""
_MOST_MB: Final = 10**9

_FAILED_S: Final = -1.0
_SLACK_S: Final = 5.0
_ID: Final = "program"
_SHOWN: Final = 100


class Request(msgspec.Struct):
    """A request. Unknown fields are ignored."""

    code: str
    language: str
    stdin: str | None = None
    compile_timeout: float = 10
    """Seconds to wait for a free sandbox, at least 5: Python compiles nothing beforehand."""
    run_timeout: float = 10
    """Seconds, of wall time and of CPU time."""
    memory_limit_MB: float | None = -1  # noqa: N815 - SandboxFusion's name
    """MiB; 0, less or None: the server's."""
    files: dict[str, str | None] = msgspec.field(default_factory=dict)
    """Base64 by path, written before the run; None is left out."""
    fetch_files: list[str] = msgspec.field(default_factory=list)
    """Paths whose content is in the answer, if the program ends by itself and leaves such a file."""


class CommandResult(msgspec.Struct):
    """How the program ended. Times in seconds; a negative `return_code` is the signal that ended it."""

    status: Literal["Finished", "TimeLimitExceeded"]
    execution_time: float
    return_code: int | None
    """None after a time-out."""
    stdout: str
    stderr: str


class Answer(msgspec.Struct):
    """`Success`: ended with return code 0. `Failed`: another one, or a time-out. `SandboxError`: says nothing about
    the program; the reason is in `message`."""

    status: Literal["Success", "Failed", "SandboxError"]
    message: str = ""
    compile_result: None = None
    run_result: CommandResult | None = None
    executor_pod_name: None = None
    files: dict[str, str] = msgspec.field(default_factory=dict)


class ProgramTests(msgspec.Struct):
    """A request. Unknown fields are ignored."""

    program: str
    tests: JsonValue
    """A list, or its JSON text: of asserts, or of `{input, output}`."""
    max_execution_time: float = 1.0
    """Seconds per test."""


class TestedProgram(msgspec.Struct):
    """Per test: 1 or 0, and the seconds that it took, -1.0 if it failed."""

    results: list[int]
    runtimes: list[float]


class UngradedError(RuntimeError):
    """The sandbox failed: there are no results."""


class BusyError(Exception):
    """No sandbox was free in time."""


def application(limits: Limits = LIMITS, max_timeout_s: float = MAX_TIMEOUT_S) -> Starlette:
    """The server as an ASGI application; `rollscope serve sandbox-fusion` runs it.

    `limits`: of each program, but for the times and what a request sets. `max_timeout_s`: seconds; a request that asks
    for more gets 422. Serve it with
    `evaluator.interop.http_server.serve(application(), listener, host, longest=LONGEST)`.
    """

    slots = asyncio.Semaphore(len(os.sched_getaffinity(0)))
    """Leave to use a sandbox."""

    async def run_code(request: Request) -> Answer:
        _require("run_timeout", request.run_timeout, max_timeout_s)
        wait_s = max(request.compile_timeout, _LEAST_WAIT_S)
        try:
            async with asyncio.timeout(wait_s):
                await slots.acquire()
        except TimeoutError:
            raise BusyError(
                f"no sandbox was free within {wait_s:g} s (see compile_timeout): send it again, or fewer at once"
            ) from None
        try:
            return await run(request, limits)
        finally:
            slots.release()

    def graded(path: str, results: Callable[[ProgramTests, Limits], Awaitable[TestedProgram]]) -> Route:
        async def grade(request: ProgramTests) -> TestedProgram:
            _require("max_execution_time", request.max_execution_time, max_timeout_s)
            async with slots:
                return await results(request, limits)

        return posted(path, ProgramTests, grade, {UngradedError: 503, SandboxUnavailable: 503})

    return service(
        posted("/run_code", Request, run_code, {BusyError: 504}),
        graded("/test_program", results_of_asserts),
        graded("/test_program_stdio", results_of_stdio),
        got("/v1/ping", "pong"),
    )


def _require(name: str, seconds: float, most: float) -> None:
    if not seconds > 0:
        raise ValueError(f"{name} is {seconds:g}: give seconds above 0")
    require_at_most(name, seconds, most)


async def run(request: Request, limits: Limits) -> Answer:
    """Runs the program; waits while all sandboxes are in use. Never raises for what the program does.

    `limits`: of what the request does not set. Raises `ValueError` for unusable `files`, `fetch_files` or memory.

    Files are written and fetched within the sandbox, by code that is put before the program. What it fetches is written
    to stdout after a mark. A program may forge that: it would only change its own files.
    """
    if request.language != "python":
        return Answer("SandboxError", f"language {request.language!r} is not supported: this server runs only python")
    mark = secrets.token_hex(16)
    program = Program(request.code, preamble=_preamble(request, mark))
    try:
        outcome = await run_program(program, request.stdin or "", _limits(request, limits))
    except FAULTS as fault:
        return Answer("SandboxError", f"the sandbox failed, and the code may be right: {fault}")
    printed, _, fetched = outcome.stdout.data.partition(mark.encode())
    timed_out = outcome.status is Status.TIME
    result = CommandResult(
        status="TimeLimitExceeded" if timed_out else "Finished",
        execution_time=outcome.wall_s,
        return_code=None if timed_out else return_code(outcome),
        stdout=Stream(printed).text(),
        stderr=_stderr(outcome),
    )
    try:
        files = msgspec.json.decode(fetched or b"{}", type=dict[str, str])
    except (msgspec.DecodeError, UnicodeDecodeError):  # cut off at the output limit
        files = {}
    files = {name: files[name] for name in files if name in request.fetch_files}
    return Answer("Success" if result.return_code == 0 else "Failed", run_result=result, files=files)


def _preamble(request: Request, mark: str) -> str:
    files = {_path(name): _base64(name, content) for name, content in request.files.items() if content is not None}
    paths = {name: _path(name) for name in request.fetch_files}
    return (_WRITE.format(files=files) if files else "") + (_FETCH.format(paths=paths, mark=mark) if paths else "")


def _path(name: str) -> str:
    path = PurePosixPath(_FOLDER, name)
    if ".." in path.parts or path.parts[:2] != ("/", "tmp") or len(path.parts) < 3:
        raise ValueError(f"file {name!r} is not in the program's folder: give a relative path, or one in {_FOLDER}")
    return str(path)


def _base64(name: str, content: str) -> str:
    try:
        base64.b64decode(content, validate=True)
    except binascii.Error as error:
        raise ValueError(f"file {name!r} is not base64: {error}") from None
    return content


def _limits(request: Request, limits: Limits) -> Limits:
    seconds = request.run_timeout
    memory = request.memory_limit_MB if request.memory_limit_MB and request.memory_limit_MB > 0 else limits.memory_mb
    if memory > _MOST_MB:
        raise ValueError("memory_limit_MB is too large: give MiB, or -1 for the server's limit")
    return msgspec.structs.replace(
        limits,
        wall_s=seconds,
        cpu_s=seconds,
        total_s=seconds + min(seconds, _SECOND_RUN_S),
        memory_mb=memory,
        virtual_mb=max(limits.virtual_mb, memory),
    )


def _stderr(outcome: Outcome) -> str:
    """What it wrote there, and what Python or the sandbox has to add."""
    text = outcome.stderr.text()
    if outcome.status is Status.NOT_LOADED and outcome.failure is not None and not text:
        places = [f'  File "main.py", line {frame.line}\n    {frame.text}\n' for frame in outcome.failure.frames[-1:]]
        return "".join(places) + f"{outcome.failure.type}: {outcome.failure.message}\n"
    return text if outcome.status is Status.TIME else text + killed_by(outcome)


# --- open-instruct


async def results_of_asserts(request: ProgramTests, limits: Limits) -> TestedProgram:
    """Runs asserts, each as if it were the only one. `limits`: of what the request does not set.

    Raises `RecordError` for tests that can't be read, `UngradedError`, `SandboxUnavailable`.

        request = ProgramTests("def add(a, b): return a + b", ["assert add(1, 2) == 3"])
        (await results_of_asserts(request, Limits())).results  # [1]
    """
    tests = [_statement(number, test) for number, test in enumerate(_listed(request.tests))]
    if syntax.tree_of(request.program) is None:
        return TestedProgram([0] * len(tests), [_FAILED_S] * len(tests))

    def task(chosen: Sequence[int]) -> Task:
        return task_of_code("\n".join(tests[number] for number in chosen), _ID)

    # Another verdict may be due to what an earlier assert left behind, or to another one's missing function.
    return await _results(request, limits, len(tests), task, {Verdict.PASSED, Verdict.TIME_LIMIT})


async def results_of_stdio(request: ProgramTests, limits: Limits) -> TestedProgram:
    """Runs a program on inputs and compares what it prints as LiveCodeBench does. As `results_of_asserts` otherwise."""
    cases = [_case(number, test) for number, test in enumerate(_listed(request.tests))]

    def task(chosen: Sequence[int]) -> Task:
        some = tuple(msgspec.structs.replace(cases[number], index=index) for index, number in enumerate(chosen))
        return Task(task_id=_ID, mode=Mode.STDIN, cases=some, preamble=LIVECODEBENCH, checker="livecodebench")

    return await _results(request, limits, len(cases), task, set(Verdict) - {Verdict.NOT_RUN})


async def _results(
    request: ProgramTests, limits: Limits, count: int, task: Callable[[Sequence[int]], Task], final: Set[Verdict]
) -> TestedProgram:
    """Grades all tests together, and those without a final verdict once more, each apart.

    `task`: makes a task of the tests with these numbers.
    """
    if not count:
        return TestedProgram([], [])
    [together] = await _grades(request, limits, [task(range(count))], count)
    found: dict[int, tuple[bool, float]] = {}
    if together.reward is not None and len(together.cases) == count:
        found = {
            number: (case.verdict is Verdict.PASSED, case.wall_s or 0.0)
            for number, case in enumerate(together.cases)
            if case.verdict in final
        }
    others = [number for number in range(count) if number not in found]
    apart = await _grades(request, limits, [task([each]) for each in others], 1) if count > 1 else [together]
    for number, grade in zip(others, apart, strict=False):
        if grade.verdict is Verdict.UNKNOWN:
            raise RecordError(f"tests[{number}] can't be graded: {grade.error_message}")
        if grade.reward is None:
            raise UngradedError(f"the sandbox failed, and the program may be right: {grade.error_message}")
        found[number] = (grade.passed, sum(case.wall_s or 0.0 for case in grade.cases))
    return TestedProgram(
        [int(found[number][0]) for number in range(count)],
        [found[number][1] if found[number][0] else _FAILED_S for number in range(count)],
    )


async def _grades(request: ProgramTests, limits: Limits, tasks: Sequence[Task], count: int) -> list[Grade]:
    """`count`: how many tests each task has."""
    seconds = request.max_execution_time
    limits = msgspec.structs.replace(limits, wall_s=seconds, cpu_s=seconds, total_s=seconds * count + _SLACK_S)
    # The reward only says that later tests count after a failure.
    options = Options(limits=limits, grader=SHARE, disagreement="fail")
    rollout = Rollout(task_id=_ID, completion=request.program, kind=Kind.FULL)
    return await agrade_together([(task, rollout) for task in tasks], options)


def _listed(tests: JsonValue) -> list[JsonValue]:
    if isinstance(tests, str) and tests:
        try:
            tests = decode_json(tests)
        except JsonError as error:
            raise RecordError(
                f"tests is text that is {error}; packed tests, which are pickles, are never loaded"
            ) from None
    if not tests:
        return []
    if not isinstance(tests, list):
        raise RecordError(f"tests must be a list, not {type(tests).__name__}")
    return tests


def _statement(number: int, test: JsonValue) -> str:
    if not isinstance(test, str) or not test.strip():
        raise RecordError(f"tests[{number}] must be an assert, such as 'assert add(1, 2) == 3'")
    if syntax.tree_of(test.strip()) is None:
        raise RecordError(f"tests[{number}] is not valid Python: {test.strip()[:_SHOWN]!r}")
    return test.strip()


def _case(number: int, test: JsonValue) -> TestCase:
    given, expected = (test.get("input"), test.get("output")) if isinstance(test, Mapping) else (None, None)
    if not isinstance(given, str) or not isinstance(expected, str):
        raise RecordError(
            f'tests[{number}] must have an input and an output that are text: {{"input": "1", "output": "2"}}'
        )
    return TestCase(number, stdin_input(given), expected)
