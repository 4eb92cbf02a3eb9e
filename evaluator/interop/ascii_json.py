"""The JSON answers of all servers."""

from __future__ import annotations

import json
from typing import Any

from evaluator.extras import needs

with needs("serve", "a server needs starlette"):
    from starlette.requests import Request
    from starlette.responses import JSONResponse


class AsciiJSON(JSONResponse):
    """JSON in ASCII, since models write half a surrogate pair, which UTF-8 lacks. NaN and infinity become null."""

    def render(self, content: Any) -> bytes:
        try:
            return _compact(content)
        except ValueError:
            return _compact(json.loads(json.dumps(content), parse_constant=lambda _: None))


async def health(_request: Request) -> AsciiJSON:
    """The endpoint that says that a server runs."""
    return AsciiJSON({"status": "ok"})


def _compact(content: Any) -> bytes:
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")
