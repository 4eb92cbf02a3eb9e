"""Writes tasks and rollouts in the format of NeMo Gym's files (0.7): dataset rows, materialised inputs, rollouts.

Test cases are `verifier_metadata.unit_tests`, as its code_gen server reads them. Fields of a task that this server does
not have are next to them under the names of the native format.
"""

from __future__ import annotations

import msgspec

from evaluator.formats import fields as field
from evaluator.formats import native_writer
from evaluator.formats._nemo_gym_tests import NATIVE_FIELDS
from evaluator.model import Grade, JsonValue, Rollout, Task, Verdict

HELD = frozenset({"task_id", "completion", "kind", "model", "given_reward", "expected_pass", "usage"})
"""Fields of native rollouts."""
DEFAULT_AGENT = "rollscope_simple_agent"

_AGENT_TYPE = "responses_api_agents"
_FAILURES = {Verdict.SANDBOX_ERROR: "provider_unavailable", Verdict.UNKNOWN: "rollscope:ungradable_task"}
_NOT_GRADED = "rollscope:not_graded"
_UNNAMED_MODEL = "unknown"

Row = dict[str, JsonValue]


class Place(msgspec.Struct, frozen=True):
    """Identifies a rollout of a collection: its task, which of the task's repeats it is (from 0), and its agent."""

    task_index: int
    rollout_index: int
    agent: str = DEFAULT_AGENT

    def fields(self) -> Row:
        """The fields of NeMo Gym's rows that hold it."""
        return {
            "agent_ref": {"type": _AGENT_TYPE, "name": self.agent},
            "_ng_task_index": self.task_index,
            "_ng_rollout_index": self.rollout_index,
        }


def task_row(task: Task) -> Row:
    """A row of a dataset."""
    return {
        "task_id": task.task_id,
        "responses_create_params": _params(task),
        "verifier_metadata": _verifier_metadata(task),
    }


def materialized_input(task: Task, place: Place) -> Row:
    """The row of a dataset as collection writes it for one rollout."""
    return task_row(task) | place.fields()


def rollout_record(rollout: Rollout, task: Task, place: Place, grade: Grade | None) -> Row:
    """One line of a file of rollouts, with the grade's reward, or the source's if there is no grade.

    Without a reward the record has 0 and `mask_sample`, which keeps it out of every mean: NeMo Gym has no empty reward.
    """
    reward = rollout.given_reward if grade is None else grade.reward
    record: Row = {
        "task_id": task.task_id,
        "responses_create_params": _params(task),
        "response": _response(rollout, place),
        "reward": 0.0 if reward is None else reward,
        "mask_sample": reward is None,
        "failure_kind": None if reward is not None else _failure_kind(grade),
        "failure_reason": grade.error_message if grade is not None and reward is None else None,
        "extracted_model_output": rollout.completion,
        "extracted_model_code": grade.code if grade else None,
        "kind": _kind(rollout, grade),
        "difficulty": task.metadata.get("difficulty"),
    }
    if grade is not None:
        record |= {
            "verdict": grade.verdict.value,
            "verified": grade.verified,
            "pass_rate": grade.pass_rate,
            "flags": [flag.word for flag in grade.flags],
        }
    return record | place.fields()


def _params(task: Task) -> Row:
    return {"input": [{"role": "user", "content": task.prompt}]}


def _verifier_metadata(task: Task) -> Row:
    row = native_writer.task_fields(task)
    tests = row.pop("in_outs", None)
    metadata = field.without(row, ("task_id", "prompt"))
    if tests is not None:
        del metadata["mode"]
        metadata.pop("entry_point", None)
        metadata = {"unit_tests": tests, "preamble": "", **metadata}  # no preamble would mean a header of imports
    return metadata | {name: value for name, value in task.metadata.items() if _is_kept(name)}


def _is_kept(name: str) -> bool:
    return not name.startswith("_ng_") and name not in NATIVE_FIELDS | {"agent_ref", "task_id", "unit_tests"}


def _response(rollout: Rollout, place: Place) -> Row:
    """In the format of OpenAI's Responses API. The time is unknown, so 0."""
    number = f"{place.task_index}_{place.rollout_index}"
    part: Row = {"type": "output_text", "text": rollout.completion, "annotations": []}
    message: Row = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }
    usage = rollout.metadata.get("usage")
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 0,
        "model": rollout.model or _UNNAMED_MODEL,
        "output": [message],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage if isinstance(usage, dict) else None,
    }


def _kind(rollout: Rollout, grade: Grade | None) -> str | None:
    kind = rollout.kind or (grade.kind if grade else None)
    return kind.value if kind else None


def _failure_kind(grade: Grade | None) -> str:
    if grade is None:
        return _NOT_GRADED
    if any(flag.word == "judge_failed" for flag in grade.flags):
        return "judge_failed"
    if grade.verdict is Verdict.UNKNOWN and not grade.verified:
        return "rollscope:unverified"
    return _FAILURES.get(grade.verdict, "verifier_error")
