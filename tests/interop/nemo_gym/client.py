"""A client of a resource server, as an agent is one: it keeps its cookie."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

from tests.interop.serving import PATIENCE_S, Answer


class Client:
    """One rollout's."""

    def __init__(self, url: str) -> None:
        self._place = urlsplit(url).netloc
        self.cookie: str | None = None

    def get(self, path: str) -> Answer:
        return self._ask("GET", path, None)

    def post(self, path: str, body: object) -> Answer:
        return self.post_text(path, json.dumps(body))

    def post_text(self, path: str, text: str) -> Answer:
        return self._ask("POST", path, text)

    def _ask(self, method: str, path: str, text: str | None) -> Answer:
        headers = {"content-type": "application/json"} | ({"cookie": self.cookie} if self.cookie else {})
        connection = http.client.HTTPConnection(self._place, timeout=PATIENCE_S)
        try:
            connection.request(method, path, text, headers)
            answer = connection.getresponse()
            given = answer.getheader("set-cookie")
            self.cookie = given.partition(";")[0] if given else None  # as NeMo Gym 0.4: each answer's, and no other
            return Answer(answer.status, json.loads(answer.read()))
        finally:
            connection.close()


def answer_of(text: str) -> dict[str, Any]:
    """A response of one message."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": content}
    return {"id": "r", "object": "response", "model": "loopback", "output": [message]}


def fenced(code: str) -> str:
    return f"```python\n{code}\n```"


def request(text: str, tests: object, **more: object) -> dict[str, Any]:
    """A request to verify; `tests` are the row's `unit_tests`."""
    return {
        "responses_create_params": {"input": [{"role": "user", "content": "square the number"}]},
        "response": answer_of(text),
        "verifier_metadata": {"unit_tests": tests, **more},
    }
