"""NeMo Gym's files (0.7): writes dataset rows, materialised inputs and rollouts, and finds the files beside rollouts.

Test cases are `verifier_metadata.unit_tests`, as its code_gen server reads them. Fields of a task that this server does
not have are next to them under the names of the native format. Beside `out.jsonl` its collection writes the inputs
(`out_materialized_inputs.jsonl`), the failures (`out_failures.jsonl`) and the figures (`out_aggregate_metrics.json`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from evaluator.formats.nemo_gym import NATIVE_FIELDS, ROLLOUT_INDEX, TASK_INDEX, index_of
from evaluator.formats.reading import fields as field
from evaluator.formats.reading.containers import open_container, read_rows
from evaluator.formats.reading.loader import sniff
from evaluator.formats.reading.problems import FormatError
from evaluator.formats.reading.registry import Role, Row
from evaluator.formats.reading.sources import SIDECARS, Source, resolve
from evaluator.formats.writers import JsonRow, task_fields
from evaluator.model import Grade, Rollout, Task, Verdict

_FORMAT = "nemo_gym"
_PACKINGS = (".gz", ".zst")


def roles_of(path: Path, format_name: str | None = None) -> set[Role]:
    """What the rows of a file of NeMo Gym's can be read as; nothing where its format is another or none is known."""
    return {role for name, role in _readings(path, format_name) if name == _FORMAT}


def tasks_file(rollouts: Path, format_name: str | None = None) -> Path | None:
    """The tasks of rollouts: NeMo Gym's inputs beside them, else the rollouts where their rows have the tests."""
    roles = roles_of(rollouts, format_name)
    if Role.ROLLOUTS not in roles:
        with_tests = {role for _, role in _readings(rollouts, format_name)} == {*Role}
        return rollouts if with_tests else None
    beside = materialized_inputs_path(rollouts)
    if beside.is_file():
        return beside
    return rollouts if Role.TASKS in roles else None


def tasks_files(rollouts: Sequence[Source], format_name: str | None = None) -> list[Source] | None:
    """The files with the tasks of rollouts, if there are any: the same where the rows of each have the tests."""
    found = tasks_file(rollouts[0].path, format_name)
    if found is None or (len(rollouts) == 1 and found != rollouts[0].path):
        return None if found is None else resolve(found)
    own = all(tasks_file(each.path, format_name) == each.path for each in rollouts)
    return list(rollouts) if own else None


def _readings(path: Path, format_name: str | None) -> set[tuple[str, Role]]:
    """The formats and roles that the rows of a file fit; of a format that is named, its own alone."""
    try:
        found = sniff(path)
    except FormatError:
        return set()
    readings = {(reading.format, reading.role) for reading in (found, *found.others)}
    return {(name, role) for name, role in readings if format_name in (None, name)}


def materialized_inputs_path(rollouts: Path) -> Path:
    """The inputs of a file of rollouts: the existing file, compressed or not; else where it would be."""
    return _sidecar(rollouts, SIDECARS[0])


def failures_path(rollouts: Path) -> Path:
    """Its failed rollouts."""
    return _sidecar(rollouts, SIDECARS[1])


def aggregate_metrics_path(rollouts: Path) -> Path:
    """Its figures."""
    return _sidecar(rollouts, SIDECARS[2])


def read_failures(path: Path) -> Counter[str]:
    """How many rollouts failed for each reason (`_ng_failure_class`), by their last attempts.

    An empty file has no failures. Raises `FormatError` for one that can't be opened.
    """
    if path.is_file() and path.stat().st_size == 0:
        return Counter()
    last: dict[tuple[int, int] | int, str] = {}
    for row in read_rows(open_container(path)):
        if isinstance(row, Row):
            task, rollout = index_of(row.fields, TASK_INDEX), index_of(row.fields, ROLLOUT_INDEX)
            kind = row.fields.get("_ng_failure_class") or row.fields.get("failure_kind")
            place = row.line if task is None or rollout is None else (task, rollout)
            last[place] = kind if isinstance(kind, str) else "not reported"
    return Counter(last.values())


def _sidecar(rollouts: Path, ending: str) -> Path:
    name = rollouts.name
    for packing in _PACKINGS:
        name = name.removesuffix(packing)
    unpacked = rollouts.with_name(Path(name).stem + ending)
    packed = (unpacked.with_name(unpacked.name + packing) for packing in _PACKINGS)
    return next((path for path in (unpacked, *packed) if path.is_file()), unpacked)


HELD = frozenset({"task_id", "completion", "kind", "model", "given_reward", "expected_pass", "usage"})
"""Fields of native rollouts."""
DEFAULT_AGENT = "rollscope_simple_agent"

_AGENT_TYPE = "responses_api_agents"
_FAILURES = {Verdict.SANDBOX_ERROR: "provider_unavailable", Verdict.UNKNOWN: "rollscope:ungradable_task"}
_NOT_GRADED = "rollscope:not_graded"
_UNNAMED_MODEL = "unknown"


class Place(msgspec.Struct, frozen=True):
    """Identifies a rollout of a collection: its task, which of the task's repeats it is (from 0), and its agent."""

    task_index: int
    rollout_index: int
    agent: str = DEFAULT_AGENT

    def fields(self) -> JsonRow:
        """The fields of NeMo Gym's rows that hold it."""
        return {
            "agent_ref": {"type": _AGENT_TYPE, "name": self.agent},
            "_ng_task_index": self.task_index,
            "_ng_rollout_index": self.rollout_index,
        }


def task_row(task: Task) -> JsonRow:
    """A row of a dataset."""
    return {
        "task_id": task.task_id,
        "responses_create_params": _params(task),
        "verifier_metadata": _verifier_metadata(task),
    }


def materialized_input(task: Task, place: Place) -> JsonRow:
    """The row of a dataset as collection writes it for one rollout."""
    return task_row(task) | place.fields()


def rollout_record(rollout: Rollout, task: Task, place: Place, grade: Grade | None) -> JsonRow:
    """One line of a file of rollouts, with the grade's reward, or the source's if there is no grade.

    Without a reward the record has 0 and `mask_sample`, which keeps it out of every mean: NeMo Gym has no empty reward.
    """
    reward = rollout.given_reward if grade is None else grade.reward
    record: JsonRow = {
        "task_id": task.task_id,
        "responses_create_params": _params(task),
        "response": _response(rollout, place),
        "reward": 0.0 if reward is None else reward,
        "mask_sample": reward is None,
        "failure_kind": None if reward is not None else _failure_kind(grade),
        "failure_reason": grade.error_message if grade is not None and reward is None else None,
        "extracted_model_output": rollout.completion,
        "extracted_model_code": None if grade is None else grade.code,
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


def _params(task: Task) -> JsonRow:
    return {"input": [{"role": "user", "content": task.prompt}]}


def _verifier_metadata(task: Task) -> JsonRow:
    row = task_fields(task)
    tests = row.pop("in_outs", None)
    metadata = field.without(row, ("task_id", "prompt"))
    if tests is not None:
        del metadata["mode"]
        metadata.pop("entry_point", None)
        metadata = {"unit_tests": tests, "preamble": "", **metadata}  # no preamble would mean a header of imports
    return metadata | {name: value for name, value in task.metadata.items() if _is_kept(name)}


def _is_kept(name: str) -> bool:
    return not name.startswith("_ng_") and name not in NATIVE_FIELDS | {"agent_ref", "task_id", "unit_tests"}


def _response(rollout: Rollout, place: Place) -> JsonRow:
    """In the format of OpenAI's Responses API. The time is unknown, so 0."""
    number = f"{place.task_index}_{place.rollout_index}"
    part: JsonRow = {"type": "output_text", "text": rollout.completion, "annotations": []}
    message: JsonRow = {
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
    kind = rollout.kind or (None if grade is None else grade.kind)
    return kind.value if kind else None


def _failure_kind(grade: Grade | None) -> str:
    if grade is None:
        return _NOT_GRADED
    if any(flag.word == "judge_failed" for flag in grade.flags):
        return "judge_failed"
    if grade.verdict is Verdict.UNKNOWN and not grade.verified:
        return "rollscope:unverified"
    return _FAILURES.get(grade.verdict, "verifier_error")
