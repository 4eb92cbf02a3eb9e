"""Makes one rollout from its row."""

from __future__ import annotations

from typing import Final

from evaluator.interop.nemo_gym.collecting.conversation import converse
from evaluator.interop.nemo_gym.collecting.endpoint import Endpoint
from evaluator.interop.nemo_gym.collecting.failures import RolloutError, SessionLostError
from evaluator.interop.nemo_gym.collecting.resources import ResourcesServer
from evaluator.interop.nemo_gym.wire import AGENT_REF, ROLLOUT_INDEX, TASK_INDEX, JsonObject

FAILURE_CLASS: Final = "_ng_failure_class"

_MOST_BEGINNINGS: Final = 5
_SERVER_STAMP: Final = "_ng_environment_server"
_IDENTITY: Final = (TASK_INDEX, ROLLOUT_INDEX, AGENT_REF, _SERVER_STAMP)


class Roller:
    """Makes rollouts with one endpoint and perhaps one resources server."""

    def __init__(self, endpoint: Endpoint, server: ResourcesServer | None, most_turns: int) -> None:
        self._endpoint = endpoint
        self._server = server
        self._most_turns = most_turns

    async def roll(self, row: JsonObject) -> JsonObject:
        """The record of a rollout, or of its failure, which has `_ng_failure_class`."""
        try:
            record = await (self._unverified(row) if self._server is None else self._verified(row, self._server))
        except RolloutError as failure:
            record = _failed(failure)
        return record | {name: row[name] for name in _IDENTITY if name in row}

    async def _verified(self, row: JsonObject, server: ResourcesServer) -> JsonObject:
        for _ in range(_MOST_BEGINNINGS - 1):
            try:
                return await self._attempt(row, server)
            except SessionLostError:
                server.retries.retries += 1
        return await self._attempt(row, server)

    async def _attempt(self, row: JsonObject, server: ResourcesServer) -> JsonObject:
        session = await server.begin(row)
        try:
            response = await converse(_params(row), self._endpoint, session, self._most_turns)
            verified = await session.verify(response)
        except RolloutError:
            await session.close()
            raise
        await session.close()
        return {"responses_create_params": row["responses_create_params"], "response": response} | verified

    async def _unverified(self, row: JsonObject) -> JsonObject:
        response = await converse(_params(row), self._endpoint, None, self._most_turns)
        return {"responses_create_params": row["responses_create_params"], "response": response}


def _params(row: JsonObject) -> JsonObject:
    params = row["responses_create_params"]
    assert isinstance(params, dict)
    return params


def _failed(failure: RolloutError) -> JsonObject:
    return {
        FAILURE_CLASS: failure.kind.value,
        "_ng_failure_message": str(failure),
        "_ng_failure_http_status": failure.status,
        "_ng_failure_terminal": failure.terminal,
    }
