"""Tries on a running resource server what a trainer requests, and what goes wrong in practice; then its tools."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pydantic import JsonValue

from evaluator.interop.nemo_gym.client import Answer, Client, NoAnswerError, response_of, response_with
from evaluator.interop.nemo_gym.wire import HEALTH_PATHS, FailureKind, JsonObject, ReverifyMode

_NOT_THERE: Final = (404, 405)
_HUGE: Final = 300_000
_FULL: Final = 1.0
_SHOWN: Final = 3
_ASKED: Final = "responses_create_params"
_NOT_OF_METRICS: Final = (_ASKED, "response")
_OTHERS_ANSWER: Final = "```python\npass\n```"
_ANSWERS: Final = ("answer", "expected_answer", "reference_answer")


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


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a dataset, its place, and a model's response to it if one is known."""

    place: str
    fields: JsonObject
    response: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Server:
    """A running server, and the rows to try it with."""

    url: str
    rows: list[Row]
    timeout: float

    def client(self) -> Client:
        return Client(self.url, self.timeout)

    def verify(self, fields: JsonObject, response: JsonObject) -> Answer:
        """Seeds a session with the row and requests the reward, as an agent does."""
        client = self.client()
        client.post("/seed_session", fields)
        return client.post("/verify", {**fields, "response": response})


def check_server(server: Server) -> Iterator[Finding]:
    """Runs every check; a server that does not answer fails it."""
    for name, check in _CHECKS.items():
        try:
            status, seen = check(server)
        except NoAnswerError as error:
            status, seen = Status.FAILED, str(error)
        yield Finding(name, status, seen)


Result = tuple[Status, str]


def _health(server: Server) -> Result:
    answers = {path: server.client().get(path) for path in HEALTH_PATHS}
    broken = [f"{path}: {answer}" for path, answer in answers.items() if answer.servers_fault]
    if broken:
        return Status.FAILED, broken[0]
    missing = [path for path, answer in answers.items() if not answer.good]
    # NeMo Gym waits for any answer on /.
    return Status.OK, f"missing, and not needed: {', '.join(missing)}" if missing else "all five answer"


def _seed_session(server: Server) -> Result:
    return _good(server.client().post("/seed_session", server.rows[0].fields))


def _verify(server: Server) -> Result:
    row = server.rows[0]
    answer = server.verify(row.fields, _response(row))
    if not answer.good:
        return Status.FAILED, str(answer)
    missing = [name for name in (_ASKED, "response", "reward") if name not in answer.fields]
    if missing:
        return Status.FAILED, f"no {', '.join(missing)} in the answer, which agents need: echo the request"
    return Status.OK, f"reward {answer.fields['reward']}"


def _aggregate_metrics(server: Server) -> Result:
    rollouts = []
    for index, row in enumerate(server.rows[:_SHOWN]):
        answered = server.verify(row.fields, _response(row)).fields
        kept = {name: value for name, value in answered.items() if name not in _NOT_OF_METRICS}
        rollouts.append({"reward": 0.0, **kept, "_ng_task_index": index, "_ng_rollout_index": 0, "response": {}})
    answer = server.client().post("/aggregate_metrics", {"verify_responses": rollouts})
    if answer.good and not isinstance(answer.fields.get("agent_metrics"), dict):
        return Status.FAILED, "no agent_metrics in the answer"
    return _good(answer)


def _reverify_mode(server: Server) -> Result:
    answer = server.client().get("/reverify_mode")
    if answer.status in _NOT_THERE:
        return Status.SKIPPED, "missing; NeMo Gym has it from 0.5 on"
    if answer.good and answer.body in set(ReverifyMode):
        return Status.OK, str(answer.body)
    return Status.FAILED, f"{answer}: give one of {', '.join(ReverifyMode)}"


def _close_session(server: Server) -> Result:
    client = server.client()
    session: JsonObject = {"resources_session_id": "test-server"}
    client.post("/seed_session", {**server.rows[0].fields, **session})
    episode: JsonObject = {"rollout_id": "test-server", "attempt": 0}
    answer = client.post("/close_session", {**session, "episode_id": episode})
    if answer.status in _NOT_THERE:
        return Status.SKIPPED, "missing; only Environment Servers use it"
    return _good(answer)


def _rewards(server: Server) -> Result:
    """A number from 0 to 1 for each row; a masked one has a reason."""
    wrong: list[str] = []
    odd: list[str] = []
    rewards = []
    for row in server.rows:
        answer = server.verify(row.fields, _response(row))
        reward = _reward(answer)
        if reward is None:
            wrong.append(f"{row.place}: {_no_reward(answer)}")
        elif answer.fields.get("mask_sample") is True:
            why = answer.fields.get("failure_reason") or answer.fields.get("failure_kind")
            broken = answer.fields.get("failure_kind") == FailureKind.VERIFIER_ERROR
            (odd if why and not broken else wrong).append(f"{row.place}: masked: {why or 'no failure_reason'}")
        else:
            rewards.append(reward)
    if wrong:
        return Status.FAILED, "; ".join(wrong[:_SHOWN])
    if odd:
        return Status.WARNING, "; ".join(odd[:_SHOWN])
    span = f"{min(rewards):g} to {max(rewards):g} for {_rows(len(rewards))}"
    if min(rewards) < 0 or max(rewards) > _FULL:
        return Status.FAILED, f"{span}: outside of 0 to 1"
    return Status.OK, span


def _same_twice(server: Server) -> Result:
    for row in server.rows:
        first, second = (server.verify(row.fields, _response(row)).fields for _ in range(2))
        for name in ("reward", "verdict"):
            if first.get(name) != second.get(name):
                return Status.FAILED, f"{row.place}: {name} {first.get(name)}, then {second.get(name)}"
    return Status.OK, f"the same reward for {_rows(len(server.rows))}"


def _right_answers(server: Server) -> Result:
    tried, missed = 0, []
    for row in server.rows:
        must_pass, answer = _right_answer(row.fields)
        if answer is None:
            continue
        tried += 1
        reward = _reward(server.verify(row.fields, response_of(answer)))
        if reward is None or reward < _FULL:
            missed.append((must_pass, f"{row.place}: reward {reward}"))
    if not tried:
        return Status.SKIPPED, "no row has a reference or an answer"
    if missed:
        status = Status.FAILED if any(must_pass for must_pass, _ in missed) else Status.WARNING
        return status, "the row's own solution: " + "; ".join(text for _, text in missed[:_SHOWN])
    return Status.OK, f"reward 1 for the solutions of {_rows(tried)}"


def _empty_responses(server: Server) -> Result:
    row = server.rows[0]
    return _unearned(server, {"no output": (row, response_with([])), "an empty text": (row, response_of(""))})


def _others_answers(server: Server) -> Result:
    return _unearned(server, {row.place: (row, response_of(_OTHERS_ANSWER)) for row in server.rows})


def _malformed(server: Server) -> Result:
    """Any request may be refused, but a 5xx would end a whole collection."""
    broken = []
    for name, body in _malformed_requests(server.rows[0]):
        try:
            answer = server.client().post("/verify", body)
        except NoAnswerError as error:
            broken.append(f"{name}: {error}")
            continue
        if answer.servers_fault:
            broken.append(f"{name}: {answer}")
        elif answer.good and _reward(answer) is None:
            broken.append(f"{name}: {_no_reward(answer)}")
    after = server.verify(server.rows[0].fields, _response(server.rows[0]))
    if not after.good:
        broken.append(f"after them: {after}")
    if broken:
        return Status.FAILED, "; ".join(broken[:_SHOWN])
    return Status.OK, "refused, or verified"


def _malformed_requests(row: Row) -> Iterator[tuple[str, JsonObject]]:
    good: JsonObject = {**row.fields, "response": _response(row)}
    bare: JsonObject = {_ASKED: good.get(_ASKED), "response": good["response"]}
    yield "no verifier_metadata", bare
    values: dict[str, JsonValue] = {"null": None, "a text": "x", "a list": [1], "a number": 7}
    for name, value in values.items():
        yield f"verifier_metadata is {name}", {**good, "verifier_metadata": value}
        yield f"unit_tests is {name}", {**good, "verifier_metadata": {"unit_tests": value}}
    yield "no row", {"response": good["response"]}
    yield "nothing", {}
    yield "responses_create_params is a text", {**good, _ASKED: "x"}
    yield "response is a list", {**good, "response": []}
    yield "output is a text", {**good, "response": response_with("x")}
    yield "output of unknown items", {**good, "response": response_with([{"type": "no_such_item"}, {}, None, 7, "x"])}
    yield "a huge text", {**good, "response": response_of("x" * _HUGE)}
    yield "half a surrogate pair", {**good, "response": response_of("```python\nprint('\ud800')\n```")}
    yield "a null byte", {**good, "response": response_of("```python\nprint(1)\0\n```")}


def _good(answer: Answer) -> Result:
    return (Status.OK, f"{answer.status}") if answer.good else (Status.FAILED, str(answer))


def _unearned(server: Server, tried: dict[str, tuple[Row, JsonObject]]) -> Result:
    """Responses that solve nothing must get no 5xx, and not the full reward."""
    paid = []
    for name, (row, response) in tried.items():
        answer = server.verify(row.fields, response)
        if answer.servers_fault:
            return Status.FAILED, f"{name}: {answer}"
        reward = _reward(answer)
        if reward is not None and reward >= _FULL:
            paid.append(f"{name}: reward {reward:g}")
    return (Status.WARNING, "; ".join(paid[:_SHOWN])) if paid else (Status.OK, "not the full reward")


def _reward(answer: Answer) -> float | None:
    value = answer.fields.get("reward") if answer.good else None
    if not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _no_reward(answer: Answer) -> str:
    if not answer.good:
        return str(answer)
    return f"reward {answer.fields['reward']!r}" if "reward" in answer.fields else "no reward"


def _response(row: Row) -> JsonObject:
    return row.response if row.response is not None else response_of(_right_answer(row.fields)[1] or _OTHERS_ANSWER)


def _right_answer(fields: JsonObject) -> tuple[bool, str | None]:
    """A response that should earn the full reward, and whether it must: an answer may need another form."""
    places = [fields.get("verifier_metadata"), fields.get("metadata"), fields]
    known = [place for place in places if isinstance(place, dict)]
    for place in known:
        if isinstance(place.get("reference"), str):
            return True, f"```python\n{place['reference']}\n```"
    for place in known:
        for name in _ANSWERS:
            if isinstance(place.get(name), str):
                return False, str(place[name])
    return False, None


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


_CHECKS: Final[dict[str, Callable[[Server], Result]]] = {
    "health": _health,
    "/seed_session": _seed_session,
    "/verify": _verify,
    "/aggregate_metrics": _aggregate_metrics,
    "/reverify_mode": _reverify_mode,
    "/close_session": _close_session,
    "rewards": _rewards,
    "same reward twice": _same_twice,
    "right answers": _right_answers,
    "empty responses": _empty_responses,
    "answers to nothing": _others_answers,
    "malformed requests": _malformed,
}


_NOT_TOOLS: Final = {"/seed_session", "/verify", "/aggregate_metrics", "/close_session"}
_SAMPLES: Final[dict[str, JsonValue]] = {
    "string": "x", "integer": 1, "number": 1.0, "boolean": False, "array": [], "object": {},
}  # fmt: skip
_DEEP: Final = 5


def check_tools(server: Server) -> Iterator[Finding]:
    """A finding per tool, or one that says that there are none."""
    try:
        description = server.client().get("/openapi.json").fields
    except NoAnswerError:
        description = {}
    tools = _tools(description)
    offered = _offered(server)
    if not tools and not offered:
        yield Finding("tools", Status.SKIPPED, "there are none" if description else "no /openapi.json lists them")
    for path in sorted(tools | {f"/{name}": {} for name in offered}):
        try:
            yield Finding(f"tool {path}", *_tried(server, path, tools.get(path, {})))
        except NoAnswerError as error:
            yield Finding(f"tool {path}", Status.FAILED, str(error))


def _tried(server: Server, path: str, sample: JsonObject) -> tuple[Status, str]:
    client = server.client()
    client.post("/seed_session", server.rows[0].fields)
    without = client.post(path, {})
    if without.status == 404:
        return Status.FAILED, "rows offer it to the model, and the server does not have it"
    if without.servers_fault:
        return Status.FAILED, f"without arguments: {without}"
    answer = client.post(path, sample)
    # It may need a missing service, or real arguments: the model would see the error.
    return (Status.WARNING if answer.servers_fault else Status.OK), str(answer)


def _offered(server: Server) -> set[str]:
    """The names of the functions in the rows' `tools`."""
    names = set()
    for row in server.rows:
        asked = row.fields.get("responses_create_params")
        tools = asked.get("tools") if isinstance(asked, dict) else None
        for tool in tools if isinstance(tools, list) else ():
            if isinstance(tool, dict) and tool.get("type") == "function" and isinstance(tool.get("name"), str):
                names.add(str(tool["name"]))
    return names


def _tools(description: JsonObject) -> dict[str, JsonObject]:
    """The server's own paths, each with arguments that fit its schema."""
    paths = description.get("paths")
    found: dict[str, JsonObject] = {}
    for path, methods in paths.items() if isinstance(paths, dict) else ():
        if path not in _NOT_TOOLS and "{" not in path and isinstance(methods, dict) and "post" in methods:
            schema = _within(methods["post"], "requestBody", "content", "application/json", "schema")
            sample = _sample(schema, description, _DEEP)
            found[path] = sample if isinstance(sample, dict) else {}
    return found


def _sample(schema: JsonValue, description: JsonObject, deep: int) -> JsonValue:
    """A value that fits a schema, with required fields only."""
    if not isinstance(schema, Mapping) or deep == 0:
        return {}
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return _sample(_within(description, *reference.removeprefix("#/").split("/")), description, deep - 1)
    if "default" in schema:
        return schema["default"]
    properties, required = schema.get("properties"), schema.get("required")
    if isinstance(properties, Mapping):
        names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
        return {name: _sample(properties.get(name), description, deep - 1) for name in names}
    kind = schema.get("type")
    return _SAMPLES.get(kind) if isinstance(kind, str) else "x"


def _within(value: JsonValue, *names: str) -> JsonValue:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value
