"""The figures of a collection, from its files, and the server's own by agent, which are stored as NeMo Gym does."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Final

import msgspec
import numpy as np

from evaluator.interop.nemo_gym.collecting.files import Files, fields_of, lines_of
from evaluator.interop.nemo_gym.collecting.resources import ResourcesServer
from evaluator.interop.nemo_gym.collecting.service import CollectError, RolloutError, encoded
from evaluator.interop.nemo_gym.wire import AGENT_REF, ROLLOUT_INDEX, TASK_INDEX, AggregateMetrics, JsonObject
from evaluator.model import JsonValue
from evaluator.runs.metrics import known, pass_at_k_over_tasks
from evaluator.user_files import replacing

_FULL_REWARD: Final = 1.0
_CALL: Final = "function_call"
_NOT_FOUND: Final = '{"detail":"Not Found"}'
"""FastAPI's answer for an unknown path, in NeMo Gym's servers and ours."""


class PassAtK(msgspec.Struct):
    """pass@k with its 95 % interval; a rollout passes if its reward is 1 or more. `n` counts tasks, or the rollouts of
    a single task."""

    k: int
    value: float | None
    low: float | None
    high: float | None
    n: int


class Figures(msgspec.Struct):
    """The figures. Means leave out masked rollouts and those without a reward."""

    asked: int
    """Rollouts to collect: rows times repeats."""
    rollouts: int = 0
    failed: int = 0
    failures: dict[str, int] = {}
    """Failed rollouts by `_ng_failure_class`."""
    masked: int = 0
    unverified: int = 0
    """Rollouts without a reward, since there was no resources server."""
    mean_reward: float | None = None
    pass_at_k: list[PassAtK] = []
    input_tokens: int = 0
    output_tokens: int = 0
    counted: int = 0
    """Rollouts whose tokens the endpoint counted."""
    cut_off: int = 0
    """Rollouts whose last answer the endpoint cut off, usually at `max_output_tokens`."""
    tool_calls: int = 0
    no_such_tool: int = 0
    """Tool calls that the server answered with 404: the rows are for another server."""
    thinking: int = 0
    """Rollouts whose reward is the penalty for thinking tags in the answer."""
    retries: int = 0
    """Of this session, as are the next."""
    seconds: float = 0.0
    stopped: bool = False


class _Response(msgspec.Struct):
    output: JsonValue = None
    usage: JsonValue = None
    incomplete_details: JsonValue = None


class _Line(msgspec.Struct):
    task: int = msgspec.field(name=TASK_INDEX)
    response: _Response = msgspec.field(default_factory=_Response)
    reward: float | None = None
    mask_sample: JsonValue = None
    reasoning_format_violation_rate: JsonValue = None


class _Failure(msgspec.Struct):
    task: int = msgspec.field(name=TASK_INDEX)
    rollout: int = msgspec.field(name=ROLLOUT_INDEX)
    kind: str = msgspec.field(name="_ng_failure_class", default="unknown")


def figures_of(files: Files, asked: int, repeats: int) -> Figures:
    """Reads the rollouts and the failures once, one line at a time."""
    figures = Figures(asked)
    rewards = 0.0
    graded: Counter[int] = Counter()
    passed: Counter[int] = Counter()
    for line in filter(None, (fields_of(raw, _Line) for raw in lines_of(files.output))):
        figures.rollouts += 1
        figures.thinking += line.reasoning_format_violation_rate not in (None, 0)
        _count_response(figures, line.response)
        if line.mask_sample:
            figures.masked += 1
        elif line.reward is None:
            figures.unverified += 1
        else:
            rewards += line.reward
            graded[line.task] += 1
            passed[line.task] += line.reward >= _FULL_REWARD
    raw = lines_of(files.failures) if files.failures.exists() else ()
    failed = filter(None, (fields_of(line, _Failure) for line in raw))
    last = {(each.task, each.rollout): each.kind for each in failed}
    figures.failures = dict(Counter(last.values()).most_common())
    figures.failed = sum(figures.failures.values())
    if graded:
        figures.mean_reward = rewards / graded.total()
        n, c = np.array([*graded.values()]), np.array([passed[task] for task in graded])
        figures.pass_at_k = [
            PassAtK(k, known(found.value), known(found.low), known(found.high), found.n)
            for k in sorted({1, repeats})
            if (found := pass_at_k_over_tasks(n, c, k)).n
        ]
    return figures


def _count_response(figures: Figures, response: _Response) -> None:
    items = response.output if isinstance(response.output, list) else []
    figures.tool_calls += sum(isinstance(item, dict) and item.get("type") == _CALL for item in items)
    figures.no_such_tool += sum(isinstance(item, dict) and item.get("output") == _NOT_FOUND for item in items)
    figures.cut_off += bool(response.incomplete_details)
    if isinstance(response.usage, dict):
        figures.counted += 1
        asked, answered = response.usage.get("input_tokens"), response.usage.get("output_tokens")
        figures.input_tokens += asked if isinstance(asked, int) else 0
        figures.output_tokens += answered if isinstance(answered, int) else 0


_LEFT_OUT = {
    "response", "responses_create_params", "ng_trajectory", "ng_agent_observations", "ng_model_call_capture",
}  # fmt: skip
_KEPT_OF_RESPONSE = ("usage", "incomplete_details")


async def aggregate(files: Files, server: ResourcesServer, tell: Callable[[str], None]) -> None:
    """Writes the server's figures of all agents; calls `tell` with one line if it can't."""
    agents: list[JsonObject] = []
    try:
        for name, rollouts in sorted(_by_agent(files).items()):
            answer = await server.aggregate(encoded({"verify_responses": rollouts}))
            if answer is None:
                tell("the resources server has no /aggregate_metrics: its figures are left out")
                return
            figures = AggregateMetrics.model_validate(answer).model_dump(exclude_none=True)
            agents.append({AGENT_REF: {"name": name}, **figures})
    except (RolloutError, CollectError, ValueError) as error:
        tell(" ".join(f"{files.metrics.name} is left out: {error}".split()))
        return
    with replacing(files.metrics) as new:
        new.write_text(json.dumps(agents, indent=2))


def _by_agent(files: Files) -> dict[str, list[JsonObject]]:
    """The verified rollouts without prompts and answers, in the order of tasks and repeats."""
    found: dict[str, list[JsonObject]] = {}
    for line in lines_of(files.output):
        record = fields_of(line, dict)
        if record is None or "reward" not in record or not isinstance(record.get(TASK_INDEX), int):
            continue
        reference = record.get(AGENT_REF)
        name = reference.get("name") if isinstance(reference, dict) else None
        found.setdefault(str(name), []).append(_stripped(record))
    for rollouts in found.values():
        rollouts.sort(key=lambda rollout: (rollout[TASK_INDEX], rollout[ROLLOUT_INDEX]))
    return found


def _stripped(record: JsonObject) -> JsonObject:
    response = record.get("response")
    kept: JsonObject = {name: value for name, value in record.items() if name not in _LEFT_OUT}
    if isinstance(response, dict):
        few = {name: response[name] for name in _KEPT_OF_RESPONSE if response.get(name) is not None}
        kept |= {"response": few} if few else {}
    return kept
