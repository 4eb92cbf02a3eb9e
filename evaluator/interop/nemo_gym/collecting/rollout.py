"""Makes one rollout from its row: asks the model, makes its tool calls until it makes none, and has it verified."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from typing import Final, NamedTuple

from evaluator.formats.reading.json_text import JsonError, decode_json
from evaluator.interop.nemo_gym.collecting.endpoint import Endpoint
from evaluator.interop.nemo_gym.collecting.resources import ResourcesServer, Session, SessionLostError
from evaluator.interop.nemo_gym.collecting.service import RolloutError, encoded
from evaluator.interop.nemo_gym.wire import AGENT_REF, ROLLOUT_INDEX, TASK_INDEX, JsonObject
from evaluator.model import JsonValue

FAILURE_CLASS: Final = "_ng_failure_class"

_MOST_BEGINNINGS: Final = 5
_IDENTITY: Final = (TASK_INDEX, ROLLOUT_INDEX, AGENT_REF, "_ng_environment_server")
_REQUIRED: Final[JsonObject] = {
    "object": "response",
    "model": "unknown",
    "parallel_tool_calls": True,
    "tool_choice": "auto",
}
"""Fields that OpenAI's and NeMo Gym's types of a response require, and that some endpoints leave out."""
_ASKED: Final = ("model", "tool_choice", "parallel_tool_calls", "temperature", "top_p", "max_output_tokens")


class Roller(NamedTuple):
    """Makes rollouts with one endpoint and perhaps one resources server."""

    endpoint: Endpoint
    server: ResourcesServer | None
    most_turns: int

    async def roll(self, row: JsonObject) -> JsonObject:
        """The record of a rollout, or of its failure, which has `_ng_failure_class`."""
        params = row["responses_create_params"]
        assert isinstance(params, dict)
        try:
            record = {"responses_create_params": params} | await self._made(row, params)
        except RolloutError as failure:
            record = {
                FAILURE_CLASS: failure.kind.value,
                "_ng_failure_message": str(failure),
                "_ng_failure_http_status": failure.status,
                "_ng_failure_terminal": failure.terminal,
            }
        return record | {name: row[name] for name in _IDENTITY if name in row}

    async def _made(self, row: JsonObject, params: JsonObject) -> JsonObject:
        if self.server is None:
            return {"response": await self._conversed(params, None)}
        for _ in range(_MOST_BEGINNINGS - 1):
            try:
                return await self._verified(row, params, self.server)
            except SessionLostError:
                self.server.retries.count += 1
        return await self._verified(row, params, self.server)

    async def _verified(self, row: JsonObject, params: JsonObject, server: ResourcesServer) -> JsonObject:
        session = await server.begin(row)
        try:
            response = await self._conversed(params, session)
            verified = await session.verify(response)
        except RolloutError:
            await session.close()
            raise
        await session.close()
        return {"response": response} | verified

    async def _conversed(self, params: JsonObject, session: Session | None) -> JsonObject:
        """The last response, with `output` and `usage` over all turns.

        Without a session the conversation ends at the first tool call. Raises `RolloutError`.
        """
        given = params["input"]
        asked: list[JsonValue] = [{"role": "user", "content": given}] if isinstance(given, str) else list(_items(given))
        said: list[JsonValue] = []
        usage: JsonValue = None
        for _ in range(self.most_turns):
            response = await self.endpoint.ask(params, asked + said)
            output = list(_items(response["output"]))
            said += output
            usage = _added(usage, response.get("usage"))
            calls = [item for item in output if isinstance(item, dict) and item.get("type") == "function_call"]
            if session is None or not calls or response.get("incomplete_details"):
                break
            for call in calls:
                said.append(await _answered(call, session))
        return whole(response, params) | {"output": said, "usage": usage}


async def _answered(call: JsonObject, session: Session) -> JsonObject:
    """The item with the tool's output."""
    given = call.get("arguments")
    try:
        arguments = decode_json(given) if isinstance(given, str) and given.strip() else given or {}
    except JsonError as error:
        output = encoded({"error": f"the arguments of this call are {error}"}).decode()
    else:
        output = await session.call(str(call.get("name") or ""), arguments)
    return {"type": "function_call_output", "call_id": call.get("call_id") or call.get("id"), "output": output}


def _items(value: JsonValue) -> Iterator[JsonValue]:
    yield from value if isinstance(value, list) else ()


def _added(before: JsonValue, usage: JsonValue) -> JsonValue:
    """The sum of two token counts, field by field; if only one has a field, its value."""
    if isinstance(before, dict) and isinstance(usage, dict):
        return {name: _added(before.get(name), usage.get(name)) for name in before | usage}
    if isinstance(before, int | float) and isinstance(usage, int | float):
        return before + usage
    return before if usage is None else usage


def whole(response: JsonObject, params: JsonObject) -> JsonObject:
    """The response with all required fields."""
    asked: JsonObject = {name: params[name] for name in _ASKED if params.get(name) is not None}
    asked["tools"] = [_whole_tool(tool) for tool in _items(params.get("tools"))]
    sent = {name: value for name, value in response.items() if value is not None}
    own: JsonObject = {"id": f"resp_{uuid.uuid4().hex}", "created_at": int(time.time())}
    return {**response, **own, **_REQUIRED, **asked, **sent}


def _whole_tool(tool: JsonValue) -> JsonValue:
    """A function with the two fields that are optional in requests and required in responses."""
    if not isinstance(tool, dict) or tool.get("type") != "function":
        return tool
    return {"parameters": None, "strict": None, **tool}
