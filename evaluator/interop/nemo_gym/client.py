"""Asks a running resource server, as an agent does: JSON over plain HTTP, and its cookies are kept."""

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
    """The server did not answer. One line that says how."""


class Answer(NamedTuple):
    """What came back."""

    status: int
    text: str
    body: object
    """The decoded JSON; None where it is none."""

    @property
    def good(self) -> bool:
        return self.status in _GOOD

    @property
    def servers_fault(self) -> bool:
        return self.status >= _SERVERS_FAULT

    @property
    def fields(self) -> JsonObject:
        """The decoded object; empty where it is none."""
        return self.body if isinstance(self.body, dict) else {}

    def __str__(self) -> str:
        return f"{self.status} {' '.join(self.text.split())[:_SHOWN]}".strip()


class Client:
    """One rollout's: every request brings the cookies that earlier ones were given."""

    def __init__(self, url: str, timeout: float) -> None:
        """`url`: http://HOST:PORT, a path may follow. `timeout`: seconds an answer may take."""
        self._parts = urlsplit(url)
        self._timeout = timeout
        self._cookies: dict[str, str] = {}

    def get(self, path: str) -> Answer:
        return self._ask("GET", path, None)

    def post(self, path: str, body: object) -> Answer:
        return self._ask("POST", path, json.dumps(body))

    def _ask(self, method: str, path: str, text: str | None) -> Answer:
        """Raises `NoAnswerError`."""
        headers = {"content-type": "application/json"}
        if self._cookies:
            headers["cookie"] = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        connection = http.client.HTTPConnection(self._parts.netloc, timeout=self._timeout)
        try:
            connection.request(method, self._parts.path.rstrip("/") + path, text, headers)
            answer = connection.getresponse()
            told = answer.read().decode("utf-8", "replace")
            for given in answer.headers.get_all("set-cookie", ()):
                self._keep(given)
        except TimeoutError:
            raise NoAnswerError(f"{method} {path}: no answer within {self._timeout:g} s") from None
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswerError(f"{method} {path}: no answer: {error or type(error).__name__}") from None
        finally:
            connection.close()
        return Answer(answer.status, told, decoded(told))

    def _keep(self, given: str) -> None:
        try:
            self._cookies |= {name: morsel.coded_value for name, morsel in SimpleCookie(given).items()}
        except CookieError:  # no agent would send it back
            return


def response_of(text: str) -> JsonObject:
    """A model's response of one message, with all the fields that NeMo Gym's own servers require."""
    content: JsonObject = {"type": "output_text", "text": text, "annotations": []}
    message: JsonObject = {
        "id": "msg_test", "type": "message", "role": "assistant", "status": "completed", "content": [content],
    }  # fmt: skip
    return response_with([message])


def response_with(output: JsonValue) -> JsonObject:
    """A model's response with this output, whatever it is."""
    return {
        "id": "resp_test", "created_at": 0, "model": "test-server", "object": "response", "output": output,
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
    }  # fmt: skip


def decoded(text: str) -> object:
    """The value of a JSON text; None where it is none."""
    try:
        decoded: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return decoded
