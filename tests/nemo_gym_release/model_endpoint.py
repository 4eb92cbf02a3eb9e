"""A model behind OpenAI's Responses API, on the loopback address: it gives the answer that a prompt names."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.nemo_gym_release.rollouts import ANSWERS, Answer, ToolCall, name_in


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer({"object": "list", "data": []})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answer = ANSWERS[name_in(str(asked["input"][0]))]
        told = [item["output"] for item in asked["input"] if item.get("type") == "function_call_output"]
        item = _next_call(answer.calls, told) or _message(_last_word(answer, told))
        usage = {
            "input_tokens": 10, "output_tokens": 20, "total_tokens": 30,
            "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
        }  # fmt: skip
        fixed = {"parallel_tool_calls": False, "tool_choice": "auto", "tools": [], "created_at": 0, "id": "resp"}
        self._answer({"object": "response", "model": asked["model"], "output": [item], "usage": usage, **fixed})

    def _answer(self, body: object) -> None:
        encoded = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(encoded)))
        self.end_headers()
        self.wfile.write(encoded)

    def log_message(self, *_: object) -> None:
        pass


def _next_call(calls: Sequence[ToolCall], told: Sequence[str]) -> dict[str, Any] | None:
    if len(told) == len(calls):
        return None
    call, number = calls[len(told)], len(told)
    return {
        "id": f"fc_{number}", "type": "function_call", "status": "completed", "call_id": f"call_{number}",
        "name": call.name, "arguments": json.dumps(call.arguments),
    }  # fmt: skip


def _last_word(answer: Answer, told: Sequence[str]) -> str:
    """Its answer, unless the tools have said something else than they should."""
    unlike = [one for call, one in zip(answer.calls, told, strict=True) if call.told not in one]
    return f"The tools say: {unlike}" if unlike else answer.text


def _message(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"id": "msg", "type": "message", "role": "assistant", "status": "completed", "content": content}


@contextmanager
def model_endpoint() -> Iterator[str]:
    """Its base URL, while it answers."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
