"""The tools that a model may call: running code, and running a row's public test cases."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from evaluator.checkers import shortened
from evaluator.formats.nemo_gym import read_task
from evaluator.interop.endpoints import in_thread
from evaluator.interop.nemo_gym.base_server import ToolError
from evaluator.interop.nemo_gym.config import ServerConfig, require_short
from evaluator.interop.nemo_gym.sessions import Interpreter, Sessions, answer_of
from evaluator.interop.nemo_gym.wire import (
    ExecuteCodeRequest,
    ExecuteCodeResponse,
    JsonObject,
    PublicTest,
    RunTestsRequest,
    RunTestsResponse,
)
from evaluator.interop.program_run import run_program
from evaluator.model import CaseResult, Kind, Mode, RecordError, Rollout, Task, TestCase
from evaluator.options import Options
from evaluator.sandbox import Program
from evaluator.workers.single import agrade_one
from evaluator.workers.worker import FAULTS

Result = TypeVar("Result")

_SHOWN: Final = 2_000
_LOST: Final = "What was defined before in this session is gone: the server restarted, or needed the memory.\n"


class Tools:
    """The tools of one server."""

    def __init__(self, config: ServerConfig) -> None:
        self._config = config
        self._options = Options(limits=config.limits, checker=config.checker)
        self._threads = ThreadPoolExecutor(len(os.sched_getaffinity(0)) + 4, "rollscope-tool")
        self.sessions = Sessions(lambda: Interpreter(config.limits), config.max_sessions, config.session_idle_secs)

    async def in_thread(self, job: Callable[[], Result]) -> Result:
        """What `job` returns or raises, which may wait for an interpreter."""
        return await in_thread(self._threads, job)

    async def execute_code(self, session: str, request: ExecuteCodeRequest) -> ExecuteCodeResponse:
        """Runs a program, or the session's next piece of code. Raises `ToolError` if the sandbox fails."""
        try:
            if not request.keep_state:
                return answer_of(await run_program(Program(request.code), request.stdin, self._config.limits))

            def run() -> tuple[ExecuteCodeResponse, bool]:
                interpreter, lost = self.sessions.interpreter(session)
                return interpreter.run(request.code, request.stdin), lost

            answer, lost = await self.in_thread(run)
        except FAULTS as error:
            raise ToolError(f"the sandbox failed, and the code may be right: {error}") from error
        if lost and answer.state == "new":
            answer.state, answer.stderr = "lost", answer.stderr + _LOST
        return answer

    async def run_tests(self, session: str, request: RunTestsRequest) -> RunTestsResponse:
        """Runs a program on the public test cases of the session's row.

        Raises `ToolError` if there is no row or no such test case, or the sandbox fails.
        """
        row = self.sessions.row(session)
        if row is None:
            raise ToolError("this session has no task: send the row to /seed_session first, and keep its cookie")
        task = public_task(row, self._config)
        rollout = Rollout(
            task_id=task.task_id, sample_id=f"{task.task_id}#0", completion=request.code, kind=_kind(request)
        )
        try:
            grade = await agrade_one(task, rollout, self._options)
        except FAULTS as error:
            raise ToolError(f"the sandbox failed, and the code may be right: {error}") from error
        if grade.reward is None:
            raise ToolError(f"the test cases could not be run: {grade.error_message}")
        inputs = {case.index: case.input for case in task.cases}
        tests = [_public(case, inputs[case.index]) for case in grade.cases]
        return RunTestsResponse(tests_passed=grade.tests_passed, tests_total=len(tests), tests=tests)

    def close(self) -> None:
        self.sessions.close_all()
        self._threads.shutdown(wait=False, cancel_futures=True)


def public_task(row: JsonObject, config: ServerConfig) -> Task:
    """The row's task with only its public test cases: its `public_tests`, else the first of the others, as many as
    configured. Raises `ToolError` if there are none."""
    try:
        task = read_task(row)
        require_short(task, config)
        cases = _named_cases(row, task) or task.cases[: config.public_tests]
    except RecordError as error:
        raise ToolError(f"the task has no usable test cases: {error}") from None
    if task.mode not in (Mode.CALL, Mode.STDIN) or not cases:
        raise ToolError("the task has no public test cases")
    return Task(
        task_id=task.task_id,
        mode=task.mode,
        prompt=task.prompt,
        entry_point=task.entry_point,
        cases=tuple(cases),
        preamble=task.preamble,
        checker=task.checker,
        exit_code=task.exit_code,
        limits=task.limits,
    )


def _named_cases(row: JsonObject, task: Task) -> tuple[TestCase, ...]:
    details = row.get("verifier_metadata")
    named = details.get("public_tests") if isinstance(details, dict) else None
    if not isinstance(named, dict):
        return ()
    own = {"unit_tests": {"fn_name": task.entry_point, **named}}
    return read_task({**row, "verifier_metadata": own}).cases


def _kind(request: RunTestsRequest) -> Kind | None:
    return Kind.CHAT if "```" in request.code else Kind.FULL


def _public(case: CaseResult, given: str) -> PublicTest:
    error = ": ".join(part for part in (case.error_type, case.error_message) if part)
    return PublicTest(
        index=case.index,
        verdict=case.verdict.value,
        input=shortened(given, _SHOWN, separator="\n", parts=4),
        expected=shortened(case.expected or "", _SHOWN, separator="\n", parts=4),
        actual=None if case.actual is None else shortened(case.actual, _SHOWN, separator="\n", parts=4),
        message=error or (case.difference.message if case.difference else None),
    )
