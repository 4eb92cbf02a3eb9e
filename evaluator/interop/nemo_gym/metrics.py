"""The figures of `POST /aggregate_metrics`, as NeMo Gym 0.7.0 makes them for code_gen's server.

Sources: its `nemo_gym/reward_profile.py` and `resources_servers/code_gen/app.py`. The keys and values are equal, except
for W&B's histograms, which are not sent, and for these rollouts:

- Rollouts whose reward does not count are in no figure of quality, only in `coverage/masked_rollouts`: those with
  `mask_sample`, as in NeMo Gym, and also those with the verdict `unknown` or `sandbox_error` (NeMo Gym counts their
  reward) or a reward that is not finite (NeMo Gym answers an error).
- Rollouts without a task index are one task if their prompts are equal, and a missing or taken repeat gets the next
  free number. In NeMo Gym both are 0, and an equal pair is an error.
- Rollouts are sorted by task and repeat. In NeMo Gym the n-th of a task is the n-th that was sent.
- Values beyond floats (NaN, infinite, above 1e308) are ignored, and no figure is NaN or infinite.

Releases without `mask_sample` (such as 0.4.0) count masked rollouts as reward 0 in every figure, and average the mark
as `mean/mask_sample`. They have no coverage, no figures by or across repeats, no `perf_summary` and no `num_repeats`.
"""

from __future__ import annotations

import json
import math
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, count, filterfalse, groupby
from operator import attrgetter
from typing import Final, NamedTuple

from pydantic import JsonValue

from evaluator.interop.nemo_gym import spread
from evaluator.interop.nemo_gym.wire import AGENT_REF, ROLLOUT_INDEX, TASK_INDEX, AggregateMetrics, JsonObject
from evaluator.runs import metrics

Row = Mapping[str, JsonValue]

_SCORES: Final = ("accuracy", "no_answer")
"""The shares of right rollouts, whose reward is above 0, and of those without code. In percent."""
_WITHIN_TASKS: Final = "/avg_sample_std_dev"
"""The mean over tasks of the standard deviation of their first k rollouts; not in percent, and not of subsets."""
_CODE: Final = "extracted_model_code"
_HEADLINE: Final = re.compile(
    r"(?:(?P<subset>.+)/)?(?P<kind>pass@1\[avg-of-|pass@|majority@)(?P<k>\d+)\]?/accuracy", re.DOTALL
)
_TOKENS: Final = ("mean/input_tokens", "mean/output_tokens")
_PERFORMANCE_TOKENS: Final = ("prompt_tokens", "cached_prompt_tokens", "completion_tokens", "reasoning_tokens")
_NO_ESTIMATE: Final = (
    *"/max /min /median /p5 /p25 /p75 /p95 /ci_low_95 /ci_high_95 /ci_lower /ci_upper /_ng_attempt_index".split(),
    *"/std_dev_across_runs /std_err_across_runs /avg_sample_std_dev".split(),
    *"_ci_lower _ci_upper _ci95_lower _ci95_upper".split(),
)
"""Endings of fields whose means are not estimates, so there are no figures of them across repeats."""
_UNDECIDED: Final = ("unknown", "sandbox_error")
_FLAG: Final = "mask_sample"
_NOT_IN_AN_ACCOUNT: Final = ("reward", "response", _FLAG)


def aggregate(responses: Sequence[Mapping[str, JsonValue]]) -> AggregateMetrics:
    """The figures of verified rollouts: by task, over all, by repeat, and the most important ones.

    No row makes it raise. All numbers are Python's own, and finite.
    """
    if not responses:
        return AggregateMetrics()
    rollouts = _placed(responses)
    measured = [rollout for rollout in rollouts if _is_measured(rollout.row)]
    coverage = _coverage(rollouts, measured)
    performance = _perf_summary([rollout.row for rollout in rollouts])
    if not measured:
        return AggregateMetrics(agent_metrics={**coverage}, key_metrics={**coverage}, perf_summary=performance)
    tasks = [[*task] for _, task in groupby(measured, key=attrgetter("task"))]
    repeats = _repeat_level(measured)
    agent_metrics: JsonObject = {
        **_described(measured),
        **_across_repeats(repeats),
        **coverage,
        **compute_metrics([[rollout.row for rollout in task] for task in tasks]),
        "num_repeats": len({rollout.repeat for rollout in rollouts}),
    }
    return AggregateMetrics(
        group_level_metrics=[_group_level(task) for task in tasks],
        agent_metrics=agent_metrics,
        key_metrics={**key_metrics(agent_metrics), **coverage},
        perf_summary=performance,
        repeat_level_metrics=repeats,
    )


def compute_metrics(tasks: Sequence[Sequence[Row]]) -> JsonObject:
    """What code_gen's server adds to `agent_metrics`: pass@k, majority@k, `pass@1[avg-of-k]`, `no_answer` and their
    spread, over all tasks and by `difficulty`; in percent, but for the spread within a task.

    `tasks`: the verified rollouts of each; masked ones, which some releases pass on, are left out. A rollout is right
    if its reward is above 0.
    """
    measured = [kept for task in tasks if (kept := [row for row in task if _is_measured(row)])]
    if not measured:
        return {}
    return {**_of_tasks(measured), **_by_difficulty(measured)}


def key_metrics(agent_metrics: Mapping[str, JsonValue]) -> JsonObject:
    """The most important figures: mean tokens, and accuracy by pass@1, pass@k and majority@k at the largest k.

    For subsets, whose names begin with a lower-case letter, pass@1.
    """
    best: dict[tuple[str | None, str], tuple[int, str]] = {}
    for name in agent_metrics:
        match = _HEADLINE.fullmatch(name)
        if match and (match["subset"] is None or (name[0].islower() and match["kind"] == "pass@1[avg-of-")):
            key = match["subset"], match["kind"]
            best[key] = max(best.get(key, (0, "")), (int(match["k"]), name))
    names = (*_TOKENS, *(name for _, name in best.values()))
    return {name: agent_metrics[name] for name in names if name in agent_metrics}


def _coverage(rollouts: Sequence[Placed], measured: Sequence[Placed]) -> dict[str, int]:
    """How many rollouts and tasks count; empty if all do."""
    if len(measured) == len(rollouts):
        return {}
    tasks = len({rollout.task for rollout in measured})
    return {
        "coverage/measured_rollouts": len(measured),
        "coverage/masked_rollouts": len(rollouts) - len(measured),
        "coverage/measured_tasks": tasks,
        "coverage/fully_masked_tasks": len({rollout.task for rollout in rollouts}) - tasks,
    }


# --- rollouts


class Placed(NamedTuple):
    """A rollout with a unique task and repeat."""

    task: int
    repeat: int
    row: Row


def _placed(rows: Sequence[Row]) -> list[Placed]:
    """The rows with their indices, sorted by task, then repeat.

    Rows without an integer task index form tasks by equal values in its place, or by equal prompts if there is none;
    these tasks come last. A missing or taken repeat becomes the task's next free one: no row is dropped.
    """
    known = [_index(row.get(TASK_INDEX)) for row in rows]
    first_free = max((task + 1 for task in known if task is not None), default=0)
    others: dict[str, int] = {}
    taken: dict[int, set[int]] = defaultdict(set)
    found: list[tuple[int, int | None, Row]] = []
    for index, row in zip(known, rows, strict=True):
        task = others.setdefault(_without_index(row), first_free + len(others)) if index is None else index
        repeat = _index(row.get(ROLLOUT_INDEX))
        found.append((task, None if repeat in taken[task] else repeat, row))
        if repeat is not None:
            taken[task].add(repeat)
    free = {task: filterfalse(frozenset(used).__contains__, count()) for task, used in taken.items()}
    rollouts = [Placed(task, next(free[task]) if repeat is None else repeat, row) for task, repeat, row in found]
    return sorted(rollouts, key=lambda rollout: (rollout.task, rollout.repeat))


def _index(value: JsonValue) -> int | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _without_index(row: Row) -> str:
    instead = row.get(TASK_INDEX)
    if instead is None:
        asked = row.get("responses_create_params")
        instead = asked.get("input") if isinstance(asked, dict) else None
    return json.dumps(instead, sort_keys=True, default=repr)


def _is_measured(row: Row) -> bool:
    """Whether the reward counts: it is finite, the rollout not masked, and the verdict decided."""
    undecided = row.get(_FLAG) or row.get("verdict") in _UNDECIDED
    return not undecided and _finite(row.get("reward")) is not None


def _finite(value: JsonValue) -> float | None:
    """A number as a float, true and false as 1 and 0; None for NaN, for numbers beyond floats and for all else."""
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _columns(rollouts: Iterable[Placed]) -> dict[str, list[float]]:
    """The numbers at the top level of rows and in their responses' `usage`, except names that begin with `_`."""
    columns: dict[str, list[float]] = {}
    for rollout in rollouts:
        for name, value in {**rollout.row, **_usage(rollout.row)}.items():
            number = _finite(value)
            if number is not None and not name.startswith("_") and name != _FLAG:
                columns.setdefault(name, []).append(number)
    return columns


def _account(rollout: Placed) -> JsonObject:
    """A rollout's entry in its task's figures, with its numbers unchanged; true and false become 1 and 0."""
    row = rollout.row
    own = {name: value for name, value in row.items() if not name.startswith("_") and name not in _NOT_IN_AN_ACCOUNT}
    counted = {name: value for name, value in {**_usage(row), **own}.items() if _finite(value) is not None}
    return {
        "rollout_id": f"{rollout.task}:{rollout.repeat}",
        TASK_INDEX: rollout.task,
        ROLLOUT_INDEX: rollout.repeat,
        "reward": row.get("reward"),
        **{name: int(value) if isinstance(value, bool) else value for name, value in counted.items()},
    }


def _usage(row: Row) -> JsonObject:
    response = row.get("response")
    usage = response.get("usage") if isinstance(response, dict) else None
    return usage if isinstance(usage, dict) else {}


# --- by task and by repeat


def _group_level(task: Sequence[Placed]) -> JsonObject:
    """The figures of a task. No rollout counts as missing, since the request has all that exist."""
    return {
        TASK_INDEX: task[0].task,
        **_described(task),
        "sample": {AGENT_REF: {"name": "agent"}},
        "num_rollouts": len(task),
        "expected_num_rollouts": len(task),
        "missing_num_rollouts": 0,
        "reward_profile_completion_pct": 100.0,
        "rollout_infos": [_account(rollout) for rollout in task],
    }


def _described(rollouts: Sequence[Placed]) -> dict[str, float]:
    """The spread of each number; without `std` for one value in several rollouts."""
    return {
        figure: value
        for name, values in _columns(rollouts).items()
        for figure, value in spread.figures(values, spread.OF_SAMPLE, f"{{}}/{name}").items()
        if len(values) > 1 or len(rollouts) == 1 or figure != f"std/{name}"
    }


def _repeat_level(measured: Sequence[Placed]) -> list[JsonObject]:
    """The figures of each repeat over all tasks; empty for a single repeat."""
    tasks = len({rollout.task for rollout in measured})
    by_repeat: dict[int, list[Placed]] = {}
    for rollout in measured:
        by_repeat.setdefault(rollout.repeat, []).append(rollout)
    if len(by_repeat) == 1:
        return []
    levels: list[JsonObject] = []
    for repeat, rollouts in sorted(by_repeat.items()):
        level: JsonObject = {
            ROLLOUT_INDEX: repeat,
            "sample_count": len(rollouts),
            "missing_count": tasks - len(rollouts),
        }
        for name, values in _columns(rollouts).items():
            level |= spread.figures(values, spread.OF_A_REPEAT, f"{{}}/{name}")
        levels.append(level)
    return levels


def _across_repeats(levels: Sequence[JsonObject]) -> dict[str, float]:
    """The spread of the repeats' means."""
    means: dict[str, list[float]] = {}
    for level in levels:
        for name, value in level.items():
            if name.startswith("mean/") and not name.endswith(_NO_ESTIMATE) and isinstance(value, float):
                means.setdefault(name, []).append(value)
    return {
        figure: value
        for name, values in means.items()
        for figure, value in spread.figures(values, spread.OF_REPEATS, f"{{}}_across_repeats/{name}").items()
    }


def _perf_summary(rows: Sequence[Row]) -> JsonObject | None:
    """Tokens, turns and latency of the rollouts with `ng_perf`, masked ones included; None if no rollout has it."""
    records = [perf for row in rows if isinstance(perf := row.get("ng_perf"), dict)]
    if not records:
        return None

    def values(field: str) -> list[float]:
        return [value for record in records if (value := _finite(record.get(field))) is not None]

    with_tokens = sum(value > 0 for value in values("token_observability_coverage"))
    pairs = [(_finite(record.get("completion_tokens")), _finite(record.get("num_turns"))) for record in records]
    per_turn = [tokens / turns for tokens, turns in pairs if tokens is not None and turns is not None and turns > 0]
    summary = {
        "overall_observability_coverage": len(records) / len(rows),
        "token_observability_coverage": with_tokens / len(rows),
    }
    for field in _PERFORMANCE_TOKENS:
        summary |= spread.figures(values(field), spread.OF_TOKENS, f"{{}}_{field}")
    summary |= spread.figures(values("num_turns"), spread.OF_TURNS, "{}_num_turns")
    summary |= spread.figures(per_turn, spread.OF_RATIOS, "{}_tokens_per_turn")
    return {**summary, **spread.figures(values("total_latency_ms"), spread.OF_LATENCY, "total_latency_{}_ms")}


class _Scored:
    """One score (0 or 1) of each of a task's rollouts, in order, and their answers."""

    def __init__(self, task: Sequence[Row], name: str) -> None:
        codes = [row.get(_CODE) for row in task]
        self.answers = [code if code is None or isinstance(code, str) else json.dumps(code) for code in codes]
        if name == "no_answer":
            self.values = [int(answer is None) for answer in self.answers]
        else:
            self.values = [int((_finite(row.get("reward")) or 0.0) > 0) for row in task]
        self.sums = list(accumulate(self.values))
        """Of the first, of the first two, ..."""

    def average(self, k: int) -> float:
        """Of the first k, or of all if there are fewer."""
        n = min(k, len(self.values))
        return self.sums[n - 1] / n

    def deviation(self, k: int) -> float | None:
        """The standard deviation of the first k, or of all if there are fewer; None for one."""
        n = min(k, len(self.values))
        ones = self.sums[n - 1]
        return math.sqrt(ones * (n - ones) / (n * (n - 1))) if n > 1 else None

    @cached_property
    def majorities(self) -> list[float]:
        """For each k, the score of the most frequent answer among the first k; the mean of tied ones; 0 without any."""
        counts: Counter[tuple[str, int]] = Counter()
        most = tied = score = 0
        curve = []
        for answer, value in zip(self.answers, self.values, strict=True):
            if answer is not None:
                counts[answer, value] += 1
                count = counts[answer, value]
                if count > most:
                    most, tied, score = count, 1, value
                elif count == most:
                    tied, score = tied + 1, score + value
            curve.append(score / tied if tied else 0.0)
        return curve


def _of_tasks(tasks: Sequence[Sequence[Row]]) -> JsonObject:
    """All figures except those of subsets. `tasks`: the measured rollouts of each, at least one."""
    runs: dict[str, JsonValue] = {}
    figures: JsonObject = {}
    for name in _SCORES:
        scored = [_Scored(task, name) for task in tasks]
        longest = max(len(task.values) for task in scored)
        by_run = [_percent([task.values[n] for task in scored if n < len(task.values)]) for n in range(longest)]
        for k in range(1, longest + 1):
            figures |= _at_k(scored, by_run, k, name)
        runs[name] = [*by_run]
    return {**figures, "per_sample_aggregate": runs}


def _by_difficulty(tasks: Sequence[Sequence[Row]]) -> JsonObject:
    """The figures of the tasks of each `difficulty`, taken from the first rollout that has one."""
    subsets: dict[str, list[Sequence[Row]]] = {}
    for task in tasks:
        difficulty = next((value for row in task if (value := row.get("difficulty"))), None)
        if isinstance(difficulty, str | int | float):
            subsets.setdefault(str(difficulty), []).append(task)
    return {
        f"{subset}/{name}": value
        for subset, members in subsets.items()
        for name, value in _of_tasks(members).items()
        if name != "per_sample_aggregate" and not name.endswith(_WITHIN_TASKS)
    }


def _at_k(scored: Sequence[_Scored], by_run: Sequence[float], k: int, name: str) -> JsonObject:
    """`by_run`: for each n, the score of the n-th rollouts of all tasks."""
    by_task = metrics.pass_at_k([len(task.values) for task in scored], [task.sums[-1] for task in scored], k)
    average = f"pass@1[avg-of-{k}]/{name}"
    figures: JsonObject = {
        f"pass@{k}/{name}": _percent([value for value in by_task.tolist() if not math.isnan(value)]),
        average: _percent([task.average(k) for task in scored]),
        f"majority@{k}/{name}": _percent([task.majorities[min(k, len(task.values)) - 1] for task in scored]),
    }
    if k > 1:
        across = statistics.stdev(by_run[:k])
        within = [deviation for task in scored if (deviation := task.deviation(k)) is not None]
        figures |= {
            f"{average}/std_dev_across_runs": across,
            f"{average}/std_err_across_runs": across / math.sqrt(k),
            average + _WITHIN_TASKS: statistics.fmean(within),
        }
    return figures


def _percent(shares: Sequence[float]) -> float:
    return 100 * statistics.fmean(shares)
