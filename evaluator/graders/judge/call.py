"""One call to an OpenAI-compatible server: its text, or why there is none. Bounded in time and size."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, TypedDict
from urllib.parse import urlsplit

import msgspec

from evaluator.model import JsonValue
from evaluator.retry_after import seconds_of

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_LONGEST: Final = 300
_LARGEST: Final = 4 * 2**20
_LARGEST_REFUSAL: Final = 64 * 1024
_AGAIN: Final = (408, 409, 429)
_SHORTEST_KEY: Final = 8
"""A shorter key is not a secret, and may be any word."""


class JudgeError(Exception):
    """There is no judgement. One line: what failed, and how to fix it if that helps."""


class CallError(Exception):
    """One call gave no judgement. `again`: whether another may; `wait_s`: the wait that the server requests first."""

    def __init__(self, message: str, *, again: bool, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.again = again
        self.wait_s = wait_s


def one_line(text: str, longest: int = _LONGEST) -> str:
    """The text with its white space folded and without control characters, cut at its limit."""
    folded = " ".join(text[: 8 * longest].split())
    shown = "".join(character if character.isprintable() else "?" for character in folded)
    return shown if len(shown) <= longest else shown[: longest - 3] + "..."


class Server(msgspec.Struct, frozen=True):
    """A judge's server, and how it is called. No message and no file contains the key. Seconds and counts."""

    address: str
    key: str
    key_name: str
    """The environment variable that holds the key."""
    timeout_s: float
    """Of one call, from connecting to the last byte."""
    retries: int
    backoff_s: float
    """Before the first retry; doubled for each further one, up to 8 s."""
    concurrency: int

    def __repr__(self) -> str:
        return f"Server({self.address!r})"

    @property
    def host(self) -> str:
        """For messages."""
        return urlsplit(self.address).netloc.rpartition("@")[2] or self.address


class Message(TypedDict):
    """One message of a chat."""

    role: str
    content: str


class Question(msgspec.Struct, frozen=True):
    """A request."""

    model: str
    messages: list[Message]
    options: dict[str, JsonValue]
    """The request's other fields."""


class _ReplyMessage(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _ReplyMessage
    finish_reason: str | None = None


class _Reply(msgspec.Struct):
    choices: list[_Choice]


class _Fault(msgspec.Struct):
    message: str = ""
    code: str | int | None = None


class _Refusal(msgspec.Struct):
    error: _Fault | str


async def call(client: AsyncOpenAI, server: Server, question: Question) -> str:
    """The judge's text. Raises `CallError`."""
    import openai

    try:
        async with asyncio.timeout(server.timeout_s):
            body = await _body(client, server, question)
    except (TimeoutError, openai.APITimeoutError):
        raise CallError(f"the judge did not answer in {server.timeout_s:g} s", again=True) from None
    except openai.APIConnectionError as error:
        if isinstance(error.__cause__, CallError):  # version 2 of the client wraps what a hook raises
            raise error.__cause__ from None
        raise _no_connection(server, error.__cause__ or error) from None
    except (openai.OpenAIError, ValueError) as error:  # an invalid address, a header that can't be sent
        raise CallError(f"the judge can't be called: {_scrubbed(str(error), server)}", again=False) from None
    return _text(body, server)


def client_for(server: Server) -> AsyncOpenAI:
    """A client that does not retry, and reads only the start of an error reply. For an event loop's thread."""
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    async def refuse(response: Any) -> None:
        if response.status_code >= 300:
            body = await _read(response.aiter_bytes(), _LARGEST_REFUSAL, server)
            raise _refused(server, response.status_code, body, response.headers.get("retry-after"))

    http = DefaultAsyncHttpxClient(timeout=None, event_hooks={"response": [refuse]})
    # The client requires a key, even if a local server does not.
    return AsyncOpenAI(base_url=server.address, api_key=server.key or "none", max_retries=0, http_client=http)


async def _body(client: AsyncOpenAI, server: Server, question: Question) -> bytes:
    request = client.chat.completions.with_streaming_response.create(
        model=question.model, messages=question.messages, extra_body=question.options, timeout=None
    )
    async with request as response:
        body = await _read(response.iter_bytes(), _LARGEST + 1, server)
    if len(body) > _LARGEST:
        raise CallError(f"the judge's answer is larger than {_LARGEST // 2**20} MiB", again=True)
    return body


async def _read(chunks: Any, most: int, server: Server) -> bytes:
    body = bytearray()
    try:
        async for chunk in chunks:
            body += chunk[: most - len(body)]
            if len(body) >= most:
                break
    except Exception as error:  # the transport's own exceptions, which the client does not convert
        raise _no_connection(server, error) from None
    return bytes(body)


def _no_connection(server: Server, error: BaseException) -> CallError:
    why = one_line(str(error)) or type(error).__name__
    return CallError(f"the connection to the judge at {server.host} failed: {why}", again=True)


def _text(body: bytes, server: Server) -> str:
    try:
        reply = msgspec.json.decode(body, type=_Reply)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        shown = one_line(_without_key(body[:4096].decode("utf-8", "replace"), server), 80)
        raise CallError(f"the judge's reply is not a chat completion: {shown!r}", again=True) from None
    choice = reply.choices[0] if reply.choices else None
    if choice is None or not choice.message.content:
        raise CallError("the judge's reply has no text", again=True)
    if choice.finish_reason == "length":
        raise CallError("the judge's answer was cut off: raise `max_tokens`", again=True)
    return _without_key(choice.message.content, server)


def _refused(server: Server, status: int, body: bytes, retry_after: str | None) -> CallError:
    reason, code = _reason(body)
    message = f"the judge answered {status}"
    if reason:
        message += f": {_scrubbed(reason, server)}"
    again = (status in _AGAIN or status >= 500) and code != "insufficient_quota"
    hint = _hint(server, status)
    return CallError(f"{message} ({hint})" if hint else message, again=again, wait_s=seconds_of(retry_after))


def _hint(server: Server, status: int) -> str:
    if status < 400:
        return "a redirect: check `base_url`"
    if status in (401, 403):
        return f"check the key in {server.key_name}"
    return "check `model` and `base_url`" if status == 404 else ""


def _reason(body: bytes) -> tuple[str, str]:
    """The message and the code of an error reply."""
    try:
        error = msgspec.json.decode(body, type=_Refusal).error
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return body.decode("utf-8", "replace"), ""
    return (error, "") if isinstance(error, str) else (error.message, str(error.code or ""))


def _scrubbed(text: str, server: Server) -> str:
    return one_line(_without_key(text, server))


def _without_key(text: str, server: Server) -> str:
    """Some servers quote the key."""
    return text.replace(server.key, "[key]") if len(server.key) >= _SHORTEST_KEY else text
