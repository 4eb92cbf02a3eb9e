"""A model behind OpenAI's Responses API, on the loopback address: it gives the answer that a prompt names."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.nemo_gym_release.rollouts import ANSWERS, name_in


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer({"object": "list", "data": []})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = ANSWERS[name_in(str(asked["input"]))].text
        content = [{"type": "output_text", "text": text, "annotations": []}]
        message = {"id": "msg", "type": "message", "role": "assistant", "status": "completed", "content": content}
        usage = {
            "input_tokens": 10, "output_tokens": 20, "total_tokens": 30,
            "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
        }  # fmt: skip
        fixed = {"parallel_tool_calls": False, "tool_choice": "auto", "tools": [], "created_at": 0, "id": "resp"}
        self._answer({"object": "response", "model": asked["model"], "output": [message], "usage": usage, **fixed})

    def _answer(self, body: object) -> None:
        encoded = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(encoded)))
        self.end_headers()
        self.wfile.write(encoded)

    def log_message(self, *_: object) -> None:
        pass


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
