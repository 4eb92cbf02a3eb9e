"""The model's endpoint, by OpenAI's Responses API or by Chat Completions.

In both cases an answer is a response of the Responses API: `output` is a list of items, `usage` counts tokens.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, Literal
from urllib.parse import urlsplit

import msgspec

from evaluator.formats.reading.json_text import JsonError
from evaluator.interop.nemo_gym.collecting.chat_conversion import ConversionError, chat_request, response_of
from evaluator.interop.nemo_gym.collecting.transport import (
    CollectError,
    FailureClass,
    Kinds,
    Reply,
    Retries,
    RolloutError,
    Transport,
    encoded,
    one_line,
)
from evaluator.interop.nemo_gym.wire import JsonObject
from evaluator.model import JsonValue

Api = Literal["responses", "chat"]

KEY: Final = "OPENAI_API_KEY"
ADDRESS: Final = "OPENAI_BASE_URL"

_OPENAI: Final = "https://api.openai.com/v1"
_HEADERS: Final = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}
_OF_OPENAI: Final = ("openai.com", "openai.azure.com")
"""Hosts some of whose models refuse `max_tokens`; elsewhere it is better supported than its newer name."""
_NO_QUOTA: Final = "insufficient_quota"
_FINAL: Final = ("completed", "incomplete")
_KINDS: Final = Kinds(
    broken=FailureClass.AGENT_REQUEST_FAILED,
    busy=FailureClass.AGENT_REQUEST_FAILED,
    refused=FailureClass.AGENT_RUN_ERROR,
)
_SHORTEST_SECRET: Final = 8
_SHOWN: Final = 120


class Address(msgspec.Struct, frozen=True):
    """The model's URL and key; the key never appears in a message or a file."""

    url: str
    key: str = ""

    def __repr__(self) -> str:
        return f"Address({self.url!r})"


def address_from(given: str | None, environment: Mapping[str, str]) -> Address:
    """The given address, or the environment's. Raises `CollectError`."""
    url = given or environment.get(ADDRESS) or _OPENAI
    key = environment.get(KEY, "").strip()
    if not key.isascii() or not (key.isprintable() or not key):
        raise CollectError(f"{KEY} has characters that a key can't have: set it again")
    if not key and _is_openai(url):
        raise CollectError(f"{url} requires a key: set {KEY}, or name another endpoint with --base-url or {ADDRESS}")
    return Address(url, key)


class Endpoint(Transport):
    """Asks the model, and retries where that may help."""

    def __init__(self, address: Address, api: Api, timeout_s: float, retries: Retries) -> None:
        """`timeout_s`: seconds for one answer."""
        headers = {name: os.environ[variable] for variable, name in _HEADERS.items() if os.environ.get(variable)}
        if address.key:
            headers["authorization"] = f"Bearer {address.key}"
        super().__init__("the model's endpoint", address.url, timeout_s=timeout_s, kinds=_KINDS, headers=headers)
        self._key = address.key
        self._length = "max_completion_tokens" if _is_openai(address.url) else "max_tokens"
        self._api = api
        self._retries = retries

    async def ask(self, params: JsonObject, items: list[JsonValue]) -> JsonObject:
        """The response to `items`, the input and all turns since.

        Raises `RolloutError`, or `CollectError` if every request would fail.
        """
        return await (self._response(params, items) if self._api == "responses" else self._completion(params, items))

    async def _response(self, params: JsonObject, items: list[JsonValue]) -> JsonObject:
        response = await self._post("/responses", params | {"input": items})
        output = response.get("output")
        if not isinstance(output, list) or not all(isinstance(item, dict) for item in output):
            raise self._malformed(_shown(response), "it has no output")
        if response.get("status", "completed" if output else None) not in _FINAL:
            raise self._malformed(_shown(response), f"its status is {response.get('status')!r}")
        return response

    async def _completion(self, params: JsonObject, items: list[JsonValue]) -> JsonObject:
        try:
            body = chat_request(params, items, self._length)
        except ConversionError as error:
            raise RolloutError(FailureClass.AGENT_RUN_ERROR, str(error), terminal=True) from None
        completion = await self._post("/chat/completions", body)
        choices = completion.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise self._malformed(_shown(completion), "it has no choices")
        try:
            return response_of(completion, message, choice.get("finish_reason"))
        except ConversionError as error:
            raise self._malformed(_shown(completion), str(error)) from None

    async def _post(self, path: str, body: JsonObject) -> JsonObject:
        """The answered object."""
        content = encoded(body)
        return await self._retries.run(lambda: self._once(path, content))

    async def _once(self, path: str, content: bytes) -> JsonObject:
        reply = await self.send("POST", path, content)
        if not 200 <= reply.status < 300:
            raise self.refusal(reply, path)
        try:
            value = reply.json()
        except JsonError as error:
            raise self._malformed(reply.text, str(error)) from None
        if not isinstance(value, dict):
            raise self._malformed(reply.text, "it is not an object")
        refused = value.get("error")
        if refused and not value.get("output") and not value.get("choices"):
            raise self.refusal(reply, path, _status_in(refused))
        self.succeeded = True
        return value

    def _malformed(self, reply_text: str, why: str) -> RolloutError:
        """The failure for a malformed reply."""
        shown = one_line(self.without_secret(reply_text[: 8 * _SHOWN]), _SHOWN)
        return RolloutError(FailureClass.AGENT_RUN_ERROR, f"{self.who} sent a malformed reply: {why} ({shown!r})")

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

    def without_secret(self, text: str) -> str:
        """The text without the key, which some servers quote when they refuse it."""
        return text.replace(self._key, "[key]") if len(self._key) >= _SHORTEST_SECRET else text


def _is_openai(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host.endswith(_OF_OPENAI)


def _status_in(error: JsonValue) -> int:
    """The status of an error that a gateway sent with 200; 500, which is retried, if the error has none."""
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 500


def _shown(answer: JsonObject) -> str:
    return encoded(answer).decode("utf-8", "replace")
