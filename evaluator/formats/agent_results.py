"""What evaluations of agents write: tau-bench, Terminal-Bench, SWE-bench, SWE-agent, mini-swe-agent, aider.

Their transcripts and recorded grades are shown. What decides them is an environment of their own (a user, a shell, a
repository), so they are not graded here, and what has no text of the model has an empty completion.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath

from evaluator.formats._trainer_rows import objects
from evaluator.formats.reading import chat
from evaluator.formats.reading import fields as field
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.registry import Format
from evaluator.formats.reading.spec import Recorded, Rollouts, Said, any_of, claims, truth
from evaluator.model import JsonValue, Verdict


def _nothing(_: Fields) -> str:
    return ""


def _messages(fields: Fields, name: str) -> Said:
    return chat.split_at_answer(chat.messages_of(fields.get(name), name, "user"))


def _simulations(fields: Fields) -> Iterator[Fields]:
    """The rows of tau-bench 2, which has all in one object, as those of the first."""
    if "simulations" not in fields:
        yield fields
        return
    for each in objects(fields["simulations"], "simulations"):
        reward = field.inner(each, "reward_info").get("reward")
        yield {**field.without(each, {"messages"}), "traj": each.get("messages"), "reward": reward}


def _full_reward(fields: Fields) -> bool | None:
    reward = field.number(fields.get("reward"))
    return None if reward is None else reward >= 1


TAU_BENCH = Format(
    name="tau_bench",
    title="tau-bench: results with task_id, trial, reward, traj; those of tau2 with simulations",
    rollouts=Rollouts(
        claim=any_of(
            claims("3: task_id, reward, info, traj:list"), claims("3: simulations:list, tasks:list, info:object")
        ),
        each=_simulations,
        said=lambda row: _messages(row, "traj"),
        all_turns=True,
        prompt="",
        sample_id="",
        sample_index="trial",
        reward="reward",
        passed=_full_reward,
        by="tau-bench",
        left_out="traj, reward",
    ),
)


_TIMEOUTS = ("agent_timeout", "test_timeout", "timeout")


def _trials(fields: Fields) -> Iterator[Fields]:
    return objects(fields["results"], "results") if "results" in fields else iter((fields,))


def _resolved(trial: Fields) -> Recorded | None:
    passed, mode = trial.get("is_resolved"), field.text(trial, "failure_mode")
    if isinstance(passed, bool) and not passed and mode in _TIMEOUTS:
        return Recorded(Verdict.TIME_LIMIT, mode)
    return truth(passed, "is_resolved ") if isinstance(passed, bool) else None


TERMINAL_BENCH = Format(
    name="terminal_bench",
    title="Terminal-Bench: results with trial_name, task_id, is_resolved, failure_mode",
    rollouts=Rollouts(
        claim=claims("3: results:list, n_resolved+resolved_ids; 3: trial_name, task_id, is_resolved"),
        each=_trials,
        completion=_nothing,
        prompt="instruction",
        sample_id="trial_name",
        grade=_resolved,
        by="Terminal-Bench",
        left_out="instruction, is_resolved, trial_name",
    ),
)


def _first(fields: Fields) -> Fields:
    first = next(iter(fields.values()), None)
    return first if isinstance(first, Mapping) else {}


_STATES = ("resolved_ids", "unresolved_ids", "error_ids", "empty_patch_ids")
"""Of the report of a whole run, that say something; an instance may be in several, of which the first counts."""


def _instances(fields: Fields) -> Iterator[Fields]:
    """A row for each instance: of one prediction, of an object with all by id, or of a run's report."""
    if "instance_id" in fields:
        yield fields
    elif "resolved_ids" in fields:
        seen: set[JsonValue] = set()
        for state in _STATES:
            for name in (each for each in field.strings(fields, state) if each not in seen):
                seen.add(name)
                yield {"instance_id": name, "resolved": state == "resolved_ids", "state": state.removesuffix("_ids")}
    else:
        for name, each in fields.items():
            yield {"instance_id": name, **(each if isinstance(each, Mapping) else {"resolved": each})}


def _is_resolved(instance: Fields) -> Recorded | None:
    passed = instance.get("resolved")
    return truth(passed, "resolved ") if isinstance(passed, bool) else None


SWE_BENCH = Format(
    name="swe_bench",
    title="SWE-bench: predictions with instance_id, model_patch; reports with resolved",
    rollouts=Rollouts(
        claim=any_of(
            claims("3: instance_id, model_patch; 3: resolved_ids:list, unresolved_ids:list, !results"),
            claims("3: (model_patch by instance)", lambda fields: "model_patch" in _first(fields)),
            claims("3: (resolved by instance)", lambda fields: {"resolved", "tests_status"} <= _first(fields).keys()),
        ),
        each=_instances,
        completion=lambda row: field.text(row, "model_patch"),
        task_id="instance_id",
        model="model_name_or_path",
        grade=_is_resolved,
        by="SWE-bench",
        left_out="model_patch, resolved",
    ),
)


def _instance(path: str) -> Fields:
    """A trajectory is named after its instance, which mini-swe-agent's has inside too."""
    return {"instance_id": re.sub(r"(?:\.traj)?(?:\.json)?$", "", PurePath(path).name)}


SWE_AGENT = Format(
    name="swe_agent",
    title="SWE-agent, mini-swe-agent: trajectories with history or messages, info",
    rollouts=Rollouts(
        claim=any_of(
            claims("3: messages:list, info:object, trajectory_format"),
            claims("3: history:list, (of messages)", lambda fields: chat.is_conversation(fields["history"])),
        ),
        said=lambda fields: _messages(fields, "history" if "history" in fields else "messages"),
        all_turns=True,
        prompt="",
        task_id="instance_id",
        sample_id="",
        left_out="history, messages, trajectory, trajectory_format",
    ),
    from_name=_instance,
)


def _last_outcome(fields: Fields) -> Recorded | None:
    """It passed if its last try did."""
    outcomes = fields.get("tests_outcomes")
    if not isinstance(outcomes, list) or not outcomes or not isinstance(outcomes[-1], bool):
        return None
    return truth(outcomes[-1], f"try {len(outcomes)}: ")


AIDER = Format(
    name="aider",
    title="aider: results with testcase, edit_format, tests_outcomes",
    rollouts=Rollouts(
        claim=claims("3: testcase, tests_outcomes:list"),
        completion=_nothing,
        prompt="",
        task_id="testcase",
        grade=_last_outcome,
        by="aider",
        left_out="tests_outcomes",
    ),
)
