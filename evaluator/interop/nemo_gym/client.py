"""A client of a running resource server, like an agent: JSON over HTTP, with cookies."""

from __future__ import annotations

import http.client
import json
from http.cookies import CookieError, SimpleCookie
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from pydantic import JsonValue

from evaluator.interop.nemo_gym.wire import JsonObject

_SHOWN: Final = 200
_SERVERS_FAULT: Final = 500
_GOOD: Final = range(200, 300)


class NoAnswerError(Exception):
    """The server did not answer. One line with the reason."""


class Answer(NamedTuple):
    """A server's answer."""

    status: int
    text: str
    body: object
    """The decoded JSON; None for anything else."""

    @property
    def good(self) -> bool:
        return self.status in _GOOD

    @property
    def servers_fault(self) -> bool:
        return self.status >= _SERVERS_FAULT

    @property
    def fields(self) -> JsonObject:
        """The decoded object; empty for anything else."""
        return self.body if isinstance(self.body, dict) else {}

    def __str__(self) -> str:
        return f"{self.status} {' '.join(self.text.split())[:_SHOWN]}".strip()


class Client:
    """The client of one rollout: it sends back the cookies that it got."""

    def __init__(self, url: str, timeout: float) -> None:
        """`url`: http://HOST:PORT and perhaps a path. `timeout`: seconds for one answer."""
        self._parts = urlsplit(url)
        self._timeout = timeout
        self._cookies: dict[str, str] = {}

    def get(self, path: str) -> Answer:
        return self._send("GET", path, None)

    def post(self, path: str, body: object) -> Answer:
        return self._send("POST", path, json.dumps(body))

    def _send(self, method: str, path: str, body: str | None) -> Answer:
        """Raises `NoAnswerError`."""
        headers = {"content-type": "application/json"}
        if self._cookies:
            headers["cookie"] = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        connection = http.client.HTTPConnection(self._parts.netloc, timeout=self._timeout)
        try:
            connection.request(method, self._parts.path.rstrip("/") + path, body, headers)
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", "replace")
            for given in answer.headers.get_all("set-cookie", ()):
                self._keep(given)
        except TimeoutError:
            raise NoAnswerError(f"{method} {path}: no answer within {self._timeout:g} s") from None
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswerError(f"{method} {path}: no answer: {error or type(error).__name__}") from None
        finally:
            connection.close()
        return Answer(answer.status, text, decoded(text))

    def _keep(self, given: str) -> None:
        try:
            self._cookies |= {name: morsel.coded_value for name, morsel in SimpleCookie(given).items()}
        except CookieError:  # no agent would send it back
            return


def response_of(text: str) -> JsonObject:
    """A model's response of one message, with all fields that NeMo Gym's own servers require."""
    content: JsonObject = {"type": "output_text", "text": text, "annotations": []}
    message: JsonObject = {
        "id": "msg_test", "type": "message", "role": "assistant", "status": "completed", "content": [content],
    }  # fmt: skip
    return response_with([message])


def response_with(output: JsonValue) -> JsonObject:
    """A model's response with this output, valid or not."""
    return {
        "id": "resp_test", "created_at": 0, "model": "test-server", "object": "response", "output": output,
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
    }  # fmt: skip


def decoded(text: str) -> object:
    """The value of a JSON text; None if it is not JSON."""
    try:
        decoded: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return decoded
