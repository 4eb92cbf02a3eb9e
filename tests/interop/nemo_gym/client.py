"""A client of a resource server, as an agent is one: it keeps its cookie."""

from typing import Any

from tests.interop.serving import Answer, asked


class Client:
    """One rollout's."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.cookie: str | None = None

    def post(self, path: str, body: object) -> Answer:
        answer, given = asked(self._url, "POST", path, body, {"cookie": self.cookie} if self.cookie else {})
        self.cookie = given.partition(";")[0] if given else None  # as NeMo Gym 0.4: each answer's, and no other
        return answer


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
