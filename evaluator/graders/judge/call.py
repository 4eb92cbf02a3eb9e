"""One call to a judge, a server with OpenAI's chat completions: its text, or why there is none."""

from __future__ import annotations

import json
from typing import Final, TypedDict

import msgspec

from evaluator.http_calls import MIB, Caller, ImpossibleRequestError, NoReplyError, Reply, is_transient
from evaluator.model import JsonValue

_LARGEST: Final = 4 * MIB
_MALFORMED: Final = (msgspec.MsgspecError, ValueError, RecursionError)


class JudgeError(Exception):
    """There is no judgement. One line: what failed, and how to fix it if that helps."""


class CallError(Exception):
    """One call gave no judgement. `again`: whether another may; `wait_s`: the wait that the server requests first."""

    def __init__(self, message: str, *, again: bool = True, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.again = again
        self.wait_s = wait_s


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


class _Completion(msgspec.Struct):
    choices: list[_Choice]


class _Fault(msgspec.Struct):
    message: str = ""
    code: str | int | None = None


class _Refusal(msgspec.Struct):
    error: _Fault | str


async def call(caller: Caller, server: Server, question: Question) -> str:
    """The judge's text. Raises `CallError`."""
    body = json.dumps({"model": question.model, "messages": question.messages, **question.options})
    try:
        reply = await caller.send("POST", "/chat/completions", body.encode(), timeout_s=server.timeout_s, most=_LARGEST)
    except NoReplyError as error:
        raise CallError(str(error)) from None
    except ImpossibleRequestError as error:
        raise CallError(str(error), again=False) from None
    if not reply.good:
        raise _refused(caller, server, reply)
    if reply.cut:
        raise CallError(f"the judge's answer is larger than {_LARGEST // MIB} MiB")
    try:
        choices = msgspec.json.decode(reply.body, type=_Completion).choices
    except _MALFORMED:
        raise CallError(f"the judge's reply is not a chat completion: {caller.shown(reply.text, 80)!r}") from None
    if not choices or not choices[0].message.content:
        raise CallError("the judge's reply has no text")
    if choices[0].finish_reason == "length":
        raise CallError("the judge's answer was cut off: raise `max_tokens`")
    return caller.without_key(choices[0].message.content)


def _refused(caller: Caller, server: Server, reply: Reply) -> CallError:
    try:
        error = msgspec.json.decode(reply.body, type=_Refusal).error
    except _MALFORMED:
        error = reply.text
    fault = _Fault(error) if isinstance(error, str) else error
    message = f"the judge answered {reply.status}"
    if fault.message:
        message += f": {caller.shown(fault.message)}"
    hint = _hint(server, reply.status)
    return CallError(
        f"{message} ({hint})" if hint else message,
        again=is_transient(reply.status) and fault.code != "insufficient_quota",
        wait_s=reply.retry_after_s,
    )


def _hint(server: Server, status: int) -> str:
    if status < 400:
        return "a redirect: check `base_url`"
    if status in (401, 403):
        return f"check the key in {server.key_name}"
    return "check `model` and `base_url`" if status == 404 else ""
