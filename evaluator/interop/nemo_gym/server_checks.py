"""Tries on a running resource server what a trainer requests, and what goes wrong in practice; then its tools."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue

from evaluator.interop.nemo_gym.tried_server import (
    OTHERS_ANSWER,
    NoAnswerError,
    Row,
    Server,
    fields_of,
    response_with,
    says,
    shown,
)
from evaluator.interop.nemo_gym.wire import HEALTH_PATHS, FailureKind, JsonObject, ReverifyMode, within

if TYPE_CHECKING:
    from httpx2 import Response

_NOT_THERE: Final = (404, 405)
_HUGE: Final = 300_000
_FULL: Final = 1.0
_SHOWN: Final = 3
_ASKED: Final = "responses_create_params"


class Status(StrEnum):
    """The result of a check. A warning may be intended."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check, and what it saw."""

    check: str
    status: Status
    seen: str


class _NotOkError(Exception):
    """What a check saw. `status`: the check's."""

    def __init__(self, seen: str, status: Status = Status.FAILED) -> None:
        super().__init__(seen)
        self.status = status


def check_server(server: Server) -> Iterator[Finding]:
    """Runs every check; a server that does not answer fails it."""
    for name, check in _CHECKS.items():
        yield _finding(name, partial(check, server))


def _finding(name: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(name, Status.OK, check())
    except _NotOkError as found:
        return Finding(name, found.status, str(found))
    except NoAnswerError as error:
        return Finding(name, Status.FAILED, str(error))


def _health(server: Server) -> str:
    answers = {path: server.get(path) for path in HEALTH_PATHS}
    _require(f"{path}: {shown(answer)}" for path, answer in answers.items() if answer.is_server_error)
    missing = [path for path, answer in answers.items() if not answer.is_success]
    # NeMo Gym waits for any answer on /.
    return f"missing, and not needed: {', '.join(missing)}" if missing else "all five answer"


def _verify(server: Server) -> str:
    answer = server.verify(server.rows[0])
    _good(answer)
    missing = [name for name in (_ASKED, "response", "reward") if name not in fields_of(answer)]
    if missing:
        raise _NotOkError(f"no {', '.join(missing)} in the answer, which agents need: echo the request")
    return f"reward {fields_of(answer)['reward']}"


def _aggregate_metrics(server: Server) -> str:
    rollouts: list[JsonValue] = []
    for index, row in enumerate(server.rows[:_SHOWN]):
        answered = fields_of(server.verify(row))
        kept = {name: value for name, value in answered.items() if name not in (_ASKED, "response")}
        rollouts.append({"reward": 0.0, **kept, "_ng_task_index": index, "_ng_rollout_index": 0, "response": {}})
    answer = server.post("/aggregate_metrics", {"verify_responses": rollouts})
    if answer.is_success and not isinstance(fields_of(answer).get("agent_metrics"), dict):
        raise _NotOkError("no agent_metrics in the answer")
    return _good(answer)


def _reverify_mode(server: Server) -> str:
    answer = server.get("/reverify_mode")
    if answer.status_code in _NOT_THERE:
        raise _NotOkError("missing; NeMo Gym has it from 0.5 on", Status.SKIPPED)
    mode = answer.text.strip().strip('"')
    if answer.is_success and mode in tuple(ReverifyMode):
        return mode
    raise _NotOkError(f"{shown(answer)}: give one of {', '.join(ReverifyMode)}")


def _close_session(server: Server) -> str:
    name = "test-server"
    session = server.seed(resources_session_id=name)
    episode: JsonObject = {"rollout_id": name, "attempt": 0}
    answer = server.post("/close_session", {"resources_session_id": name, "episode_id": episode}, session)
    if answer.status_code in _NOT_THERE:
        raise _NotOkError("missing; only Environment Servers use it", Status.SKIPPED)
    return _good(answer)


def _rewards(server: Server) -> str:
    """A number from 0 to 1 for each row; a masked one has a reason."""
    wrong: list[str] = []
    odd: list[str] = []
    rewards = []
    for row in server.rows:
        answer = server.verify(row)
        reward = _reward(answer)
        if reward is None:
            wrong.append(f"{row.place}: {_no_reward(answer)}")
        elif fields_of(answer).get("mask_sample") is True:
            why = fields_of(answer).get("failure_reason") or fields_of(answer).get("failure_kind")
            broken = fields_of(answer).get("failure_kind") == FailureKind.VERIFIER_ERROR
            (odd if why and not broken else wrong).append(f"{row.place}: masked: {why or 'no failure_reason'}")
        else:
            rewards.append(reward)
    _require(wrong)
    _require(odd, Status.WARNING)
    span = f"{min(rewards):g} to {max(rewards):g} for {_rows(len(rewards))}"
    if min(rewards) < 0 or max(rewards) > _FULL:
        raise _NotOkError(f"{span}: outside of 0 to 1")
    return span


def _same_twice(server: Server) -> str:
    for row in server.rows:
        first, second = (fields_of(server.verify(row)) for _ in range(2))
        for name in ("reward", "verdict"):
            if first.get(name) != second.get(name):
                raise _NotOkError(f"{row.place}: {name} {first.get(name)}, then {second.get(name)}")
    return f"the same reward for {_rows(len(server.rows))}"


def _right_answers(server: Server) -> str:
    tried, missed, status = 0, [], Status.WARNING
    for row in server.rows:
        must_pass, answer = row.right_answer
        if answer is None:
            continue
        tried += 1
        reward = _reward(server.verify(row, says(answer)))
        if reward is None or reward < _FULL:
            missed.append(f"{row.place}: reward {reward}")
            status = Status.FAILED if must_pass else status
    if not tried:
        raise _NotOkError("no row has a reference or an answer", Status.SKIPPED)
    if missed:
        raise _NotOkError("the row's own solution: " + "; ".join(missed[:_SHOWN]), status)
    return f"reward 1 for the solutions of {_rows(tried)}"


def _empty_responses(server: Server) -> str:
    row = server.rows[0]
    return _unearned(server, ("no output", row, response_with([])), ("an empty text", row, says("")))


def _unearned(server: Server, *tried: tuple[str, Row, JsonObject]) -> str:
    """Responses that solve nothing must get no 5xx, and not the full reward."""
    paid = []
    for name, row, response in tried:
        answer = server.verify(row, response)
        if answer.is_server_error:
            raise _NotOkError(f"{name}: {shown(answer)}")
        reward = _reward(answer)
        if reward is not None and reward >= _FULL:
            paid.append(f"{name}: reward {reward:g}")
    _require(paid, Status.WARNING)
    return "not the full reward"


def _malformed(server: Server) -> str:
    """Any request may be refused, but a 5xx would end a whole collection."""
    broken = []
    for name, body in _malformed_requests(server.rows[0]):
        try:
            answer = server.post("/verify", body)
        except NoAnswerError as error:
            broken.append(f"{name}: {error}")
            continue
        if answer.is_server_error:
            broken.append(f"{name}: {shown(answer)}")
        elif answer.is_success and _reward(answer) is None:
            broken.append(f"{name}: {_no_reward(answer)}")
    after = server.verify(server.rows[0])
    if not after.is_success:
        broken.append(f"after them: {shown(after)}")
    _require(broken)
    return "refused, or verified"


def _malformed_requests(row: Row) -> Iterator[tuple[str, JsonObject]]:
    response = row.likely_response
    good: JsonObject = {**row.fields, "response": response}
    yield "no verifier_metadata", {_ASKED: good.get(_ASKED), "response": response}
    values: dict[str, JsonValue] = {"null": None, "a text": "x", "a list": [1], "a number": 7}
    for name, value in values.items():
        yield f"verifier_metadata is {name}", {**good, "verifier_metadata": value}
        yield f"unit_tests is {name}", {**good, "verifier_metadata": {"unit_tests": value}}
    yield "no row", {"response": response}
    yield "nothing", {}
    yield "responses_create_params is a text", {**good, _ASKED: "x"}
    yield "response is a list", {**good, "response": []}
    responses = {
        "output is a text": response_with("x"),
        "output of unknown items": response_with([{"type": "no_such_item"}, {}, None, 7, "x"]),
        "a huge text": says("x" * _HUGE),
        "half a surrogate pair": says("```python\nprint('\ud800')\n```"),
        "a null byte": says("```python\nprint(1)\0\n```"),
    }
    for name, other in responses.items():
        yield name, {**good, "response": other}


def _good(answer: Response) -> str:
    if not answer.is_success:
        raise _NotOkError(shown(answer))
    return str(answer.status_code)


def _require(faults: Iterator[str] | list[str], status: Status = Status.FAILED) -> None:
    """Raises `_NotOkError` with the first faults, if there are any."""
    found = list(faults)
    if found:
        raise _NotOkError("; ".join(found[:_SHOWN]), status)


def _reward(answer: Response) -> float | None:
    value = fields_of(answer).get("reward") if answer.is_success else None
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _no_reward(answer: Response) -> str:
    if not answer.is_success:
        return shown(answer)
    return f"reward {fields_of(answer)['reward']!r}" if "reward" in fields_of(answer) else "no reward"


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


_CHECKS: Final[dict[str, Callable[[Server], str]]] = {
    "health": _health,
    "/seed_session": lambda server: _good(server.seed()),
    "/verify": _verify,
    "/aggregate_metrics": _aggregate_metrics,
    "/reverify_mode": _reverify_mode,
    "/close_session": _close_session,
    "rewards": _rewards,
    "same reward twice": _same_twice,
    "right answers": _right_answers,
    "empty responses": _empty_responses,
    "answers to nothing": lambda server: _unearned(
        server, *((row.place, row, says(OTHERS_ANSWER)) for row in server.rows)
    ),
    "malformed requests": _malformed,
}


_NOT_TOOLS: Final = {"/seed_session", "/verify", "/aggregate_metrics", "/close_session"}
_SAMPLES: Final[dict[str, JsonValue]] = {
    "string": "x", "integer": 1, "number": 1.0, "boolean": False, "array": [], "object": {},
}  # fmt: skip


def check_tools(server: Server) -> Iterator[Finding]:
    """A finding per tool, or one that says that there are none."""
    try:
        description = fields_of(server.get("/openapi.json"))
    except NoAnswerError:
        description = {}
    tools = _tools(description)
    offered = {f"/{name}" for row in server.rows for name in _offered(row)}
    if not tools and not offered:
        yield Finding("tools", Status.SKIPPED, "there are none" if description else "no /openapi.json lists them")
    for path in sorted(tools.keys() | offered):
        yield _finding(f"tool {path}", partial(_tried, server, path, tools.get(path, {})))


def _tried(server: Server, path: str, sample: JsonObject) -> str:
    session = server.seed()
    without = server.post(path, {}, session)
    if without.status_code == 404:
        raise _NotOkError("rows offer it to the model, and the server does not have it")
    if without.is_server_error:
        raise _NotOkError(f"without arguments: {shown(without)}")
    answer = server.post(path, sample, session)
    if answer.is_server_error:  # it may need a missing service, or real arguments: the model would see the error
        raise _NotOkError(shown(answer), Status.WARNING)
    return shown(answer)


def _offered(row: Row) -> Iterator[str]:
    """The names of the functions in the row's `tools`."""
    tools = within(row.fields, _ASKED, "tools")
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict) and tool.get("type") == "function" and isinstance(tool.get("name"), str):
            yield str(tool["name"])


def _tools(description: JsonObject) -> dict[str, JsonObject]:
    """The server's own paths, each with arguments that fit its schema: a value for each required field."""
    paths = description.get("paths")
    found: dict[str, JsonObject] = {}
    for path, methods in paths.items() if isinstance(paths, dict) else ():
        if path not in _NOT_TOOLS and "{" not in path and isinstance(methods, dict) and "post" in methods:
            schema = _resolved(
                within(methods["post"], "requestBody", "content", "application/json", "schema"), description
            )
            required = schema.get("required")
            names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
            found[path] = {name: _sample(within(schema, "properties", name), description) for name in names}
    return found


def _sample(schema: JsonValue, description: JsonObject) -> JsonValue:
    resolved = _resolved(schema, description)
    kind = resolved.get("type")
    return resolved["default"] if "default" in resolved else _SAMPLES.get(kind if isinstance(kind, str) else "string")


def _resolved(schema: JsonValue, description: JsonObject) -> JsonObject:
    reference = within(schema, "$ref")
    if isinstance(reference, str):
        schema = within(description, *reference.removeprefix("#/").split("/"))
    return schema if isinstance(schema, dict) else {}
