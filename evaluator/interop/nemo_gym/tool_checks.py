"""Tries the tools of a running resource server: its own, and the tools its rows offer to the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pydantic import JsonValue

from evaluator.interop.nemo_gym.client import NoAnswerError
from evaluator.interop.nemo_gym.server_checks import Finding, Server, Status
from evaluator.interop.nemo_gym.wire import JsonObject

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
