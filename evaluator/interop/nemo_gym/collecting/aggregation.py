"""The server's own figures of all rollouts, requested per agent and stored as NeMo Gym does."""

from __future__ import annotations

import json
from collections.abc import Iterator

from evaluator.formats.json_text import JsonError, decode_json
from evaluator.interop.nemo_gym.collecting.files import Files, lines_of
from evaluator.interop.nemo_gym.collecting.resources import ResourcesServer
from evaluator.interop.nemo_gym.collecting.transport import encoded
from evaluator.interop.nemo_gym.wire import AGENT_REF, ROLLOUT_INDEX, TASK_INDEX, AggregateMetrics, JsonObject
from evaluator.user_files import replacing

_LEFT_OUT = {
    "response", "responses_create_params", "ng_trajectory", "ng_agent_observations", "ng_model_call_capture",
}  # fmt: skip
_KEPT_OF_RESPONSE = ("usage", "incomplete_details")


async def aggregate(files: Files, server: ResourcesServer) -> str | None:
    """Writes the figures of all agents; returns one line if it could not. Raises `RolloutError`."""
    agents: list[JsonObject] = []
    for name, rollouts in sorted(_by_agent(files).items()):
        answer = await server.aggregate(encoded({"verify_responses": rollouts}))
        if answer is None:
            return "the resources server has no /aggregate_metrics: its figures are left out"
        figures = AggregateMetrics.model_validate(answer).model_dump(exclude_none=True)
        agents.append({AGENT_REF: {"name": name}, **figures})
    with replacing(files.metrics) as new:
        new.write_text(json.dumps(agents, indent=2))
    return None


def _by_agent(files: Files) -> dict[str, list[JsonObject]]:
    """The verified rollouts without prompts and answers, in the order of tasks and repeats."""
    found: dict[str, list[JsonObject]] = {}
    for record in _records(files):
        reference = record.get(AGENT_REF)
        name = reference.get("name") if isinstance(reference, dict) else None
        found.setdefault(str(name), []).append(_stripped(record))
    for rollouts in found.values():
        rollouts.sort(key=lambda rollout: (rollout[TASK_INDEX], rollout[ROLLOUT_INDEX]))
    return found


def _records(files: Files) -> Iterator[JsonObject]:
    for line in lines_of(files.output):
        try:
            record = decode_json(line)
        except JsonError:
            continue
        if isinstance(record, dict) and isinstance(record.get(TASK_INDEX), int) and "reward" in record:
            yield record


def _stripped(record: JsonObject) -> JsonObject:
    response = record.get("response")
    kept: JsonObject = {name: value for name, value in record.items() if name not in _LEFT_OUT}
    if isinstance(response, dict):
        few = {name: response[name] for name in _KEPT_OF_RESPONSE if response.get(name) is not None}
        kept |= {"response": few} if few else {}
    return kept
