"""The resource server that grades code: `verify` by Rollscope's graders, and tools to run code with."""

from __future__ import annotations

import asyncio
import sys
from typing import Final

from evaluator.graders import get_grader
from evaluator.interop.endpoints import until_disconnect
from evaluator.interop.nemo_gym.base_server import BaseResourcesServer, ToolError, current_session
from evaluator.interop.nemo_gym.config import ServerConfig
from evaluator.interop.nemo_gym.tools import Tools
from evaluator.interop.nemo_gym.verification import Verifier
from evaluator.interop.nemo_gym.wire import (
    CloseSessionRequest,
    ExecuteCodeRequest,
    ExecuteCodeResponse,
    RunTestsRequest,
    RunTestsResponse,
    SeedSessionRequest,
    VerifyRequest,
    VerifyResponse,
)
from evaluator.workers.single import warm_up

_IDLE_CHECK_S: Final = 30


class CodeResourcesServer(BaseResourcesServer):
    """NeMo Gym's code_gen server on Rollscope's sandbox: for rows with tests, or for any other grader.

    server = CodeResourcesServer(ServerConfig(unit_test_timeout_secs=5))
    response = await server.verify(VerifyRequest.model_validate({**row, "response": {"output": [...]}}))
    response.reward, response.verdict  # 1.0, "passed"
    """

    def __init__(self, config: ServerConfig | None = None, server_client: object = None) -> None:
        """As in `BaseResourcesServer`. Starts no sandbox: `prove` does."""
        super().__init__(config, server_client)
        self.verifier = Verifier(self.config)
        self._tools = Tools(self.config)
        self._housekeeping: asyncio.Task[None] | None = None

    async def seed_session(self, body: SeedSessionRequest) -> dict[str, str]:
        """Starts a rollout: stores its row for `run_tests` and drops earlier state.

        Raises `ToolError` if `body.resources_session_id` was closed.
        """
        session = current_session.get()
        row = body.task_data if body.task_data is not None else dict(body.model_extra or {})
        name, sessions = body.resources_session_id, self._tools.sessions
        if name is None:
            await self._tools.in_thread(lambda: sessions.seed(session, row))
        elif not await self._tools.in_thread(lambda: sessions.seed_named(name, session, row)):
            raise ToolError(f"the session {name} was closed: start another")
        return await super().seed_session(body)

    async def close_session(self, body: CloseSessionRequest) -> dict[str, str]:
        """Ends a rollout and its interpreter."""
        name, session, sessions = body.resources_session_id, current_session.get(), self._tools.sessions
        await self._tools.in_thread(lambda: sessions.close_named(name) if name is not None else sessions.close(session))
        return await super().close_session(body)

    async def execute_code(self, body: ExecuteCodeRequest) -> ExecuteCodeResponse:
        """Run a Python program, and see what it prints. With `keep_state`, the next one has its names."""
        return await until_disconnect(self._tools.execute_code(current_session.get(), body))

    async def run_tests(self, body: RunTestsRequest) -> RunTestsResponse:
        """Run a program on the task's public test cases."""
        return await until_disconnect(self._tools.run_tests(current_session.get(), body))

    async def verify(self, body: VerifyRequest) -> VerifyResponse:
        """Grades the response by the row's tests, or as `grader` says. If it can't, the answer is a masked rollout."""
        return await self.verifier.verify(body)

    def prove(self) -> None:
        if self.config.grader is None or get_grader(self.config.grader_text or "").runs_code:
            warm_up()

    def found_session(self, session: str) -> None:
        self._tools.sessions.note_lost(session)

    async def started(self) -> None:
        self._housekeeping = asyncio.create_task(self._end_idle())

    async def closed(self) -> None:
        if self._housekeeping is not None:
            self._housekeeping.cancel()
        self.verifier.close()
        self._tools.close()
        if self.verifier.profile is not None:
            print(self.verifier.profile.table(), file=sys.stderr, flush=True)
            print(self.verifier.profile.json(), flush=True)

    async def _end_idle(self) -> None:
        while True:
            await asyncio.sleep(_IDLE_CHECK_S)
            await self._tools.in_thread(self._tools.sessions.close_idle)
