"""The resource server that grades code: `verify` by Rollscope's graders, and tools to run code with."""

from __future__ import annotations

import asyncio
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import msgspec

from evaluator.checkers import shortened
from evaluator.formats.nemo_gym import read_task
from evaluator.graders import get_grader
from evaluator.interop.endpoints import in_thread, until_disconnect
from evaluator.interop.nemo_gym.base_server import BaseResourcesServer, ToolError, current_session
from evaluator.interop.nemo_gym.config import ServerConfig, require_short
from evaluator.interop.nemo_gym.sessions import Interpreter, Sessions, answer_of
from evaluator.interop.nemo_gym.verification import Verifier
from evaluator.interop.nemo_gym.wire import (
    CloseSessionRequest,
    ExecuteCodeRequest,
    ExecuteCodeResponse,
    JsonObject,
    PublicTest,
    RunTestsRequest,
    RunTestsResponse,
    SeedSessionRequest,
    VerifyRequest,
    VerifyResponse,
)
from evaluator.interop.program_run import run_program
from evaluator.model import CaseResult, Kind, Mode, RecordError, Rollout, Task, TestCase
from evaluator.options import Options
from evaluator.sandbox import Program
from evaluator.workers.single import agrade_one, warm_up
from evaluator.workers.worker import FAULTS

_IDLE_CHECK_S: Final = 30
_SHOWN: Final = 2_000
_LOST: Final = "What was defined before in this session is gone: the server restarted, or needed the memory.\n"


class CodeResourcesServer(BaseResourcesServer):
    """NeMo Gym's code_gen server on Rollscope's sandbox: for rows with tests, or for any other grader.

    server = CodeResourcesServer(ServerConfig(unit_test_timeout_secs=5))
    response = await server.verify(VerifyRequest.model_validate({**row, "response": {"output": [...]}}))
    response.reward, response.verdict  # 1.0, "passed"
    """

    def __init__(self, config: ServerConfig | None = None, server_client: object = None) -> None:
        """As in `BaseResourcesServer`. Starts no sandbox: `prove` does."""
        super().__init__(config, server_client)
        own = self.config
        self.verifier = Verifier(own)
        self._options = Options(limits=own.limits, checker=own.checker)
        self._sessions = Sessions(lambda: Interpreter(own.limits), own.max_sessions, own.session_idle_secs)
        self._threads = ThreadPoolExecutor(len(os.sched_getaffinity(0)) + 4, "rollscope-tool")
        """For what may wait for an interpreter."""
        self._housekeeping: asyncio.Task[None] | None = None

    async def seed_session(self, body: SeedSessionRequest) -> dict[str, str]:
        """Starts a rollout: stores its row for `run_tests` and drops earlier state.

        Raises `ToolError` if `body.resources_session_id` was closed.
        """
        session, name = current_session.get(), body.resources_session_id
        row = body.task_data if body.task_data is not None else dict(body.model_extra or {})
        if not await in_thread(self._threads, lambda: self._sessions.seed(session, row, name)):
            raise ToolError(f"the session {name} was closed: start another")
        return await super().seed_session(body)

    async def close_session(self, body: CloseSessionRequest) -> dict[str, str]:
        """Ends a rollout and its interpreter."""
        session, name = current_session.get(), body.resources_session_id
        await in_thread(self._threads, lambda: self._sessions.close(session, name))
        return await super().close_session(body)

    async def execute_code(self, body: ExecuteCodeRequest) -> ExecuteCodeResponse:
        """Run a Python program, and see what it prints. With `keep_state`, the next one has its names."""
        try:
            return await until_disconnect(self._executed(current_session.get(), body))
        except FAULTS as error:
            raise _failed(error) from error

    async def run_tests(self, body: RunTestsRequest) -> RunTestsResponse:
        """Run a program on the task's public test cases."""
        row = self._sessions.row(current_session.get())
        if row is None:
            raise ToolError("this session has no task: send the row to /seed_session first, and keep its cookie")
        task = _public_task(row, self.config)
        kind = Kind.CHAT if "```" in body.code else Kind.FULL
        rollout = Rollout(task_id=task.task_id, sample_id=f"{task.task_id}#0", completion=body.code, kind=kind)
        try:
            grade = await until_disconnect(agrade_one(task, rollout, self._options))
        except FAULTS as error:
            raise _failed(error) from error
        if grade.reward is None:
            raise ToolError(f"the test cases could not be run: {grade.error_message}")
        inputs = {case.index: case.input for case in task.cases}
        tests = [_public(case, inputs[case.index]) for case in grade.cases]
        return RunTestsResponse(tests_passed=grade.tests_passed, tests_total=len(tests), tests=tests)

    async def verify(self, body: VerifyRequest) -> VerifyResponse:
        """Grades the response by the row's tests, or as `grader` says. If it can't, the answer is a masked rollout."""
        return await self.verifier.verify(body)

    @property
    def runs_code(self) -> bool:
        """Whether it needs a sandbox."""
        return self.config.grader is None or get_grader(self.config.grader_text or "").runs_code

    def prove(self) -> None:
        if self.runs_code:
            warm_up()

    def found_session(self, session: str) -> None:
        self._sessions.note_lost(session)

    async def started(self) -> None:
        self._housekeeping = asyncio.create_task(self._end_idle())

    async def closed(self) -> None:
        if self._housekeeping is not None:
            self._housekeeping.cancel()
        self.verifier.close()
        self._sessions.close_all()
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self.verifier.profile is not None:
            print(self.verifier.profile.table(), file=sys.stderr, flush=True)
            print(self.verifier.profile.json(), flush=True)

    async def _executed(self, session: str, request: ExecuteCodeRequest) -> ExecuteCodeResponse:
        if not request.keep_state:
            return answer_of(await run_program(Program(request.code), request.stdin, self.config.limits))

        def run() -> tuple[ExecuteCodeResponse, bool]:
            interpreter, lost = self._sessions.interpreter(session)
            return interpreter.run(request.code, request.stdin), lost

        answer, lost = await in_thread(self._threads, run)
        if lost and answer.state == "new":
            answer.state, answer.stderr = "lost", answer.stderr + _LOST
        return answer

    async def _end_idle(self) -> None:
        while True:
            await asyncio.sleep(_IDLE_CHECK_S)
            await in_thread(self._threads, self._sessions.close_idle)


def _failed(error: Exception) -> ToolError:
    return ToolError(f"the sandbox failed, and the code may be right: {error}")


def _public_task(row: JsonObject, config: ServerConfig) -> Task:
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
    return msgspec.structs.replace(
        task, cases=tuple(cases), grader=None, weights=None, reference=None, answer=None, metadata={}
    )


def _named_cases(row: JsonObject, task: Task) -> tuple[TestCase, ...]:
    details = row.get("verifier_metadata")
    named = details.get("public_tests") if isinstance(details, dict) else None
    if not isinstance(named, dict):
        return ()
    own = {"unit_tests": {"fn_name": task.entry_point, **named}}
    return read_task({**row, "verifier_metadata": own}).cases


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
