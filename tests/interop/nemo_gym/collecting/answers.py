"""What a model's endpoint and a resources server answer in tests, for `tests.graders.judge_server`."""

import json
from typing import Any

from tests.graders.judge_server import Answer, Asked, Handler, sends

RIGHT = "```python\nprint(int(input()) ** 2)\n```"
WRONG = "```python\nprint(0)\n```"


def message(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}


def function_call(name: str, arguments: object, call_id: str = "call_1") -> dict[str, Any]:
    given = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": "fc_1", "type": "function_call", "call_id": call_id, "name": name, "arguments": given}


def responds(*items: dict[str, Any], **more: object) -> Answer:
    """A response of the Responses API: 10 tokens in, 5 out."""
    usage = {
        "input_tokens": 10, "input_tokens_details": {"cached_tokens": 1}, "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15,
    }  # fmt: skip
    response = {
        "id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": "completed",
        "output": list(items), "usage": usage, "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
    }  # fmt: skip
    return sends(json.dumps(response | more))


FINE = responds(message("Fine."))


def completes(finish: str = "stop", **said: object) -> Answer:
    """A chat completion whose message has these fields."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": None} | said}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    completion = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    return sends(json.dumps(completion | {"choices": [choice], "usage": usage}))


def verifies(**more: object) -> Answer:
    """A resources server that gives every rollout the reward 1, and has no other endpoint but `/seed_session`."""

    def answer(handler: Handler, asked: Asked) -> None:
        if asked.path == "/seed_session":
            sends("{}", Set_Cookie="session=1; Path=/; HttpOnly")(handler, asked)
        elif asked.path == "/verify":
            sends(json.dumps({"reward": 1.0, "response": asked.body["response"]} | more))(handler, asked)
        else:
            sends('{"detail": "Not Found"}', 404)(handler, asked)

    return answer


def verifies_but(path: str, *others: Answer) -> Answer:
    """The same, but for the first requests to this path."""
    left = list(others)
    return lambda handler, asked: (left.pop(0) if left and asked.path == path else verifies())(handler, asked)
