"""The model's endpoint: one answer to what was said so far, in OpenAI's Responses API or in Chat Completions.

Whichever is spoken, an answer is a response of the Responses API: `output` is a list of items, `usage` counts tokens.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, Literal, Protocol, Self
from urllib.parse import urlsplit

import msgspec

from evaluator.formats.json_text import JsonError
from evaluator.interop.nemo_gym.collecting.chat_conversion import ConversionError, chat_request, response_of
from evaluator.interop.nemo_gym.collecting.failures import (
    CollectError,
    FailureClass,
    RolloutError,
    TransientError,
    one_line,
)
from evaluator.interop.nemo_gym.collecting.retries import Retries
from evaluator.interop.nemo_gym.collecting.transport import Reply, Transport, encoded, told_by
from evaluator.interop.nemo_gym.wire import JsonObject
from evaluator.model import JsonValue

Api = Literal["responses", "chat"]

KEY: Final = "OPENAI_API_KEY"
ADDRESS: Final = "OPENAI_BASE_URL"

_OPENAI: Final = "https://api.openai.com/v1"
_HEADERS: Final = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}
_OF_OPENAI: Final = ("openai.com", "openai.azure.com")
"""Where `max_tokens` is refused by some models; elsewhere it is known better than its younger name."""
_AGAIN: Final = (408, 409, 429)
_HOPELESS: Final = (401, 403, 404, 405)
"""Every other request would be answered alike, where none went well before."""
_NO_QUOTA: Final = "insufficient_quota"
_FINAL: Final = ("completed", "incomplete")
_SHORTEST_SECRET: Final = 8
_SHOWN: Final = 120


class Address(msgspec.Struct, frozen=True):
    """Where the model is asked, and with which key; the key is in no message and no file."""

    url: str
    key: str = ""

    def __repr__(self) -> str:
        return f"Address({self.url!r})"

    def without_key(self, text: str) -> str:
        """The text as it may be shown: some servers quote the key that they refuse."""
        return text.replace(self.key, "[key]") if len(self.key) >= _SHORTEST_SECRET else text


def address_from(given: str | None, environment: Mapping[str, str]) -> Address:
    """The address that was given, or the environment's. Raises `CollectError`."""
    url = given or environment.get(ADDRESS) or _OPENAI
    key = environment.get(KEY, "").strip()
    if not key.isascii() or not (key.isprintable() or not key):
        raise CollectError(f"{KEY} holds characters that no key has: set it anew")
    if not key and _is_openai(url):
        raise CollectError(f"{url} wants a key: set {KEY}, or name another endpoint with --base-url or {ADDRESS}")
    return Address(url, key)


class Endpoint(Protocol):
    """A model that can be asked."""

    async def ask(self, params: JsonObject, items: list[JsonValue]) -> JsonObject:
        """The response to `items`: the input, and all that was said since. Raises `RolloutError`."""


class ApiClient:
    """Requests to the endpoint, made again where that may help."""

    def __init__(self, address: Address, timeout_s: float, retries: Retries) -> None:
        """`timeout_s`: of one answer."""
        headers = {name: os.environ[variable] for variable, name in _HEADERS.items() if os.environ.get(variable)}
        if address.key:
            headers["authorization"] = f"Bearer {address.key}"
        kind = FailureClass.AGENT_REQUEST_FAILED
        self.address = address
        self._transport = Transport(
            "the model's endpoint", address.url, timeout_s=timeout_s, kind=kind, headers=headers
        )
        self._retries = retries
        self._answered = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._transport.__aexit__()

    async def post(self, path: str, body: JsonObject) -> JsonObject:
        """The object that is answered. Raises `RolloutError`, or `CollectError` where nobody will be answered."""
        content = encoded(body)
        return await self._retries.run(lambda: self._once(path, content))

    def nonsense(self, reply_text: str, why: str) -> RolloutError:
        """The failure where what was answered is no answer."""
        shown = one_line(self.address.without_key(reply_text), _SHOWN)
        return RolloutError(
            FailureClass.AGENT_RUN_ERROR, f"what {self._transport.who} answered is no answer: {why} ({shown!r})"
        )

    async def _once(self, path: str, content: bytes) -> JsonObject:
        reply = await self._transport.post(path, content)
        if not 200 <= reply.status < 300:
            raise self._refusal(reply, path, reply.status)
        try:
            value = reply.json()
        except JsonError as error:
            raise self.nonsense(reply.text[: 8 * _SHOWN], str(error)) from None
        if not isinstance(value, dict):
            raise self.nonsense(reply.text[: 8 * _SHOWN], "it is no object")
        refused = value.get("error")
        if refused and not value.get("output") and not value.get("choices"):
            raise self._refusal(reply, path, _status_in(refused))
        self._answered = True
        return value

    def _refusal(self, reply: Reply, path: str, status: int) -> Exception:
        told = self.address.without_key(told_by(reply))
        message = f"{self._transport.who} answered {status} to {path}: {told}"
        if _NO_QUOTA in reply.text or (not self._answered and status in _HOPELESS):
            return CollectError(one_line(f"{message} ({_mend(status, path)})"))
        if status in _AGAIN or status >= 500:
            kind = FailureClass.AGENT_REQUEST_FAILED
            return TransientError(kind, message, status=reply.status, wait_s=reply.retry_after_s)
        return RolloutError(FailureClass.AGENT_RUN_ERROR, message, status=reply.status, terminal=True)


class Responses:
    """An endpoint that speaks the Responses API."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    async def ask(self, params: JsonObject, items: list[JsonValue]) -> JsonObject:
        response = await self._client.post("/responses", params | {"input": items})
        output = response.get("output")
        if not isinstance(output, list) or not all(isinstance(item, dict) for item in output):
            raise self._client.nonsense(_shown(response), "it has no output")
        if response.get("status", "completed" if output else None) not in _FINAL:
            raise self._client.nonsense(_shown(response), f"its status is {response.get('status')!r}")
        return response


class ChatCompletions:
    """An endpoint that speaks Chat Completions."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client
        self._length = "max_completion_tokens" if _is_openai(client.address.url) else "max_tokens"

    async def ask(self, params: JsonObject, items: list[JsonValue]) -> JsonObject:
        try:
            body = chat_request(params, items, self._length)
        except ConversionError as error:
            raise RolloutError(FailureClass.AGENT_RUN_ERROR, str(error), terminal=True) from None
        completion = await self._client.post("/chat/completions", body)
        choices = completion.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise self._client.nonsense(_shown(completion), "it has no choices")
        try:
            return response_of(completion, message, choice.get("finish_reason"))
        except ConversionError as error:
            raise self._client.nonsense(_shown(completion), str(error)) from None


def endpoint_for(api: Api, client: ApiClient) -> Endpoint:
    return Responses(client) if api == "responses" else ChatCompletions(client)


def _is_openai(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host.endswith(_OF_OPENAI)


def _status_in(error: JsonValue) -> int:
    """Of an error that came with status 200, as gateways send it; one that says nothing may go well the next time."""
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 500


def _mend(status: int, path: str) -> str:
    if status in (401, 403):
        return f"see to {KEY}"
    if status in (404, 405):
        other = "chat" if path == "/responses" else "responses"
        return f"see to --model and --base-url, which mostly ends in /v1, or give --api {other}"
    return "see to the account"


def _shown(answer: JsonObject) -> str:
    return encoded(answer)[: 8 * _SHOWN].decode("utf-8", "replace")
