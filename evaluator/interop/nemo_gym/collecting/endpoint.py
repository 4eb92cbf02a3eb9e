"""The model's endpoint, by OpenAI's Responses API or by Chat Completions.

In both cases an answer is a response of the Responses API: `output` is a list of items, `usage` counts tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal
from urllib.parse import urlsplit

from evaluator.http_calls import Reply
from evaluator.interop.nemo_gym.collecting.chat_conversion import ConversionError, chat_request, response_of
from evaluator.interop.nemo_gym.collecting.service import (
    CollectError,
    FailureClass,
    Retries,
    RolloutError,
    Service,
    encoded,
    value_of,
)
from evaluator.interop.nemo_gym.wire import JsonObject
from evaluator.model import JsonValue

Api = Literal["responses", "chat"]

KEY: Final = "OPENAI_API_KEY"
ADDRESS: Final = "OPENAI_BASE_URL"

_OPENAI: Final = "https://api.openai.com/v1"
_OF_OPENAI: Final = ("openai.com", "openai.azure.com")
"""Hosts some of whose models refuse `max_tokens`; elsewhere it is better supported than its newer name."""
_NO_QUOTA: Final = "insufficient_quota"
_FINAL: Final = ("completed", "incomplete")


def address_from(given: str | None, environment: Mapping[str, str]) -> tuple[str, str]:
    """The model's URL, the given one or the environment's, and its key, which appears in no message and no file.

    Raises `CollectError`.
    """
    url = given or environment.get(ADDRESS) or _OPENAI
    key = environment.get(KEY, "").strip()
    if not key.isascii() or not (key.isprintable() or not key):
        raise CollectError(f"{KEY} has characters that a key can't have: set it again")
    if not key and _is_openai(url):
        raise CollectError(f"{url} requires a key: set {KEY}, or name another endpoint with --base-url or {ADDRESS}")
    return url, key


class Endpoint(Service):
    """Asks the model, and retries where that may help."""

    broken = busy = FailureClass.AGENT_REQUEST_FAILED
    refused = FailureClass.AGENT_RUN_ERROR

    def __init__(self, url: str, key: str, api: Api, timeout_s: float, retries: Retries) -> None:
        super().__init__("the model's endpoint", url, key, timeout_s, retries)
        self._length = "max_completion_tokens" if _is_openai(url) else "max_tokens"
        self._api = api

    async def ask(self, params: JsonObject, items: list[JsonValue]) -> JsonObject:
        """The response to `items`, the input and all turns since.

        Raises `RolloutError`, or `CollectError` if every request would fail.
        """
        return await (self._response(params, items) if self._api == "responses" else self._completion(params, items))

    async def _response(self, params: JsonObject, items: list[JsonValue]) -> JsonObject:
        response = await self._post("/responses", params | {"input": items})
        output = response.get("output")
        if not isinstance(output, list) or not all(isinstance(item, dict) for item in output):
            raise self._useless(response, "it has no output")
        if response.get("status", "completed" if output else None) not in _FINAL:
            raise self._useless(response, f"its status is {response.get('status')!r}")
        return response

    async def _completion(self, params: JsonObject, items: list[JsonValue]) -> JsonObject:
        try:
            body = chat_request(params, items, self._length)
        except ConversionError as error:
            raise RolloutError(self.refused, str(error), terminal=True) from None
        completion = await self._post("/chat/completions", body)
        try:
            return response_of(completion)
        except ConversionError as error:
            raise self._useless(completion, str(error)) from None

    async def _post(self, path: str, body: JsonObject) -> JsonObject:
        """The answered object."""
        content = encoded(body)
        return await self.retries.run(lambda: self._once(path, content))

    async def _once(self, path: str, content: bytes) -> JsonObject:
        reply = await self.send(path, content)
        if not reply.good:
            raise self.refusal(reply, path)
        value = value_of(reply)
        if not isinstance(value, dict):
            raise self.malformed(reply.text, ": it is not a JSON object")
        refused = value.get("error")
        if refused and not value.get("output") and not value.get("choices"):
            raise self.refusal(reply, path, _status_in(refused))
        self.succeeded = True
        return value

    def _useless(self, answer: JsonObject, why: str) -> RolloutError:
        return self.malformed(encoded(answer).decode("utf-8", "replace"), f": {why}")

    def is_hopeless(self, reply: Reply, status: int) -> bool:
        return _NO_QUOTA in reply.text or super().is_hopeless(reply, status)

    def with_fix(self, message: str, path: str, status: int) -> str:
        fix = "check the account"
        if status in (401, 403):
            fix = f"check {KEY}"
        elif status in (404, 405):
            other = "chat" if path == "/responses" else "responses"
            fix = f"check --model and --base-url, which usually ends in /v1, or give --api {other}"
        return f"{message} ({fix})"


def _is_openai(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host.endswith(_OF_OPENAI)


def _status_in(error: JsonValue) -> int:
    """The status of an error that a gateway sent with 200; 500, which is retried, if the error has none."""
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 500
