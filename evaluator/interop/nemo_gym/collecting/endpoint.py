"""The model's endpoint, by OpenAI's Responses API or by Chat Completions.

In both cases an answer is a response of the Responses API: `output` is a list of items, `usage` counts tokens.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, Literal
from urllib.parse import urlsplit

import msgspec

from evaluator.formats.json_text import JsonError
from evaluator.interop.nemo_gym.collecting.chat_conversion import ConversionError, chat_request, response_of
from evaluator.interop.nemo_gym.collecting.transport import (
    HOPELESS,
    CollectError,
    FailureClass,
    Reply,
    Retries,
    RolloutError,
    TransientError,
    Transport,
    encoded,
    is_transient,
    one_line,
    reason_in,
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
_SHORTEST_SECRET: Final = 8
_SHOWN: Final = 120


class Address(msgspec.Struct, frozen=True):
    """The model's URL and key; the key never appears in a message or a file."""

    url: str
    key: str = ""

    def __repr__(self) -> str:
        return f"Address({self.url!r})"

    def without_key(self, text: str) -> str:
        """The text without the key, which some servers quote when they refuse it."""
        return text.replace(self.key, "[key]") if len(self.key) >= _SHORTEST_SECRET else text


def address_from(given: str | None, environment: Mapping[str, str]) -> Address:
    """The given address, or the environment's. Raises `CollectError`."""
    url = given or environment.get(ADDRESS) or _OPENAI
    key = environment.get(KEY, "").strip()
    if not key.isascii() or not (key.isprintable() or not key):
        raise CollectError(f"{KEY} has characters that a key can't have: set it again")
    if not key and _is_openai(url):
        raise CollectError(f"{url} requires a key: set {KEY}, or name another endpoint with --base-url or {ADDRESS}")
    return Address(url, key)


class ApiClient:
    """Sends requests to the endpoint, and retries where that may help."""

    def __init__(self, address: Address, timeout_s: float, retries: Retries) -> None:
        """`timeout_s`: seconds for one answer."""
        headers = {name: os.environ[variable] for variable, name in _HEADERS.items() if os.environ.get(variable)}
        if address.key:
            headers["authorization"] = f"Bearer {address.key}"
        kind = FailureClass.AGENT_REQUEST_FAILED
        self.address = address
        self.transport = Transport("the model's endpoint", address.url, timeout_s=timeout_s, kind=kind, headers=headers)
        self._retries = retries
        self._answered = False

    async def post(self, path: str, body: JsonObject) -> JsonObject:
        """The answered object. Raises `RolloutError`, or `CollectError` if every request would fail."""
        content = encoded(body)
        return await self._retries.run(lambda: self._once(path, content))

    def malformed(self, reply_text: str, why: str) -> RolloutError:
        """The failure for a malformed reply."""
        shown = one_line(self.address.without_key(reply_text), _SHOWN)
        return RolloutError(
            FailureClass.AGENT_RUN_ERROR, f"{self.transport.who} sent a malformed reply: {why} ({shown!r})"
        )

    async def _once(self, path: str, content: bytes) -> JsonObject:
        reply = await self.transport.send("POST", path, content)
        if not 200 <= reply.status < 300:
            raise self._refusal(reply, path, reply.status)
        try:
            value = reply.json()
        except JsonError as error:
            raise self.malformed(reply.text[: 8 * _SHOWN], str(error)) from None
        if not isinstance(value, dict):
            raise self.malformed(reply.text[: 8 * _SHOWN], "it is not an object")
        refused = value.get("error")
        if refused and not value.get("output") and not value.get("choices"):
            raise self._refusal(reply, path, _status_in(refused))
        self._answered = True
        return value

    def _refusal(self, reply: Reply, path: str, status: int) -> Exception:
        message = f"{self.transport.who} answered {status} to {path}: {self.address.without_key(reason_in(reply))}"
        if _NO_QUOTA in reply.text or (not self._answered and status in HOPELESS):
            return CollectError(one_line(f"{message} ({_fix(status, path)})"))
        if is_transient(status):
            kind = FailureClass.AGENT_REQUEST_FAILED
            return TransientError(kind, message, status=reply.status, wait_s=reply.retry_after_s)
        return RolloutError(FailureClass.AGENT_RUN_ERROR, message, status=reply.status, terminal=True)


class Responses:
    """An endpoint of the Responses API."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    async def ask(self, params: JsonObject, items: list[JsonValue]) -> JsonObject:
        """The response to `items`, the input and all turns since. Raises `RolloutError`."""
        response = await self._client.post("/responses", params | {"input": items})
        output = response.get("output")
        if not isinstance(output, list) or not all(isinstance(item, dict) for item in output):
            raise self._client.malformed(_shown(response), "it has no output")
        if response.get("status", "completed" if output else None) not in _FINAL:
            raise self._client.malformed(_shown(response), f"its status is {response.get('status')!r}")
        return response


class ChatCompletions:
    """An endpoint of Chat Completions."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client
        self._length = "max_completion_tokens" if _is_openai(client.address.url) else "max_tokens"

    async def ask(self, params: JsonObject, items: list[JsonValue]) -> JsonObject:
        """As in `Responses`."""
        try:
            body = chat_request(params, items, self._length)
        except ConversionError as error:
            raise RolloutError(FailureClass.AGENT_RUN_ERROR, str(error), terminal=True) from None
        completion = await self._client.post("/chat/completions", body)
        choices = completion.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise self._client.malformed(_shown(completion), "it has no choices")
        try:
            return response_of(completion, message, choice.get("finish_reason"))
        except ConversionError as error:
            raise self._client.malformed(_shown(completion), str(error)) from None


Endpoint = Responses | ChatCompletions


def endpoint_for(api: Api, client: ApiClient) -> Endpoint:
    return Responses(client) if api == "responses" else ChatCompletions(client)


def _is_openai(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host.endswith(_OF_OPENAI)


def _status_in(error: JsonValue) -> int:
    """The status of an error that a gateway sent with 200; 500, which is retried, if the error has none."""
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 500


def _fix(status: int, path: str) -> str:
    if status in (401, 403):
        return f"check {KEY}"
    if status in (404, 405):
        other = "chat" if path == "/responses" else "responses"
        return f"check --model and --base-url, which usually ends in /v1, or give --api {other}"
    return "check the account"


def _shown(answer: JsonObject) -> str:
    return encoded(answer)[: 8 * _SHOWN].decode("utf-8", "replace")
