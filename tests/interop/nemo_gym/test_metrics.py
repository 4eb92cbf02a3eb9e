"""The figures of `/aggregate_metrics`: those of NeMo Gym's own code on the same rollouts, and what it can't be asked;
and what `--profile` tells of a server's requests.

`aggregate_metrics_0.7.0.json` holds rollouts and what release 0.7.0 answered for them (`made_by` says how).
"""

import json
import math
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from evaluator.interop.nemo_gym.metrics import aggregate, compute_metrics, key_metrics
from evaluator.interop.nemo_gym.spread import t95
from evaluator.interop.nemo_gym.verification import VerifyProfile
from evaluator.stages import Spent

ANSWERED = json.loads((Path(__file__).parent / "aggregate_metrics_0.7.0.json").read_text())["cases"]

Row = dict[str, Any]


def rollout(task: int, repeat: int, reward: object = 1.0, **more: Any) -> Row:
    return {"_ng_task_index": task, "_ng_rollout_index": repeat, "reward": reward, "extracted_model_code": "a", **more}


def rounded(value: Any) -> Any:
    """The last digits depend on the order of a sum."""
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [*map(rounded, value)]
    return round(value, 9) if isinstance(value, float) else value


@pytest.mark.parametrize("case", ANSWERED, ids=lambda case: case["name"])
def test_the_figures_are_those_of_release_0_7_0(case: Row) -> None:
    assert rounded(aggregate(case["verify_responses"]).model_dump()) == rounded(case["answer"])


def test_the_order_in_which_rollouts_arrive_changes_nothing() -> None:
    rows = ANSWERED[2]["verify_responses"]
    shuffled = random.Random(3).sample(rows, len(rows))
    assert shuffled != rows
    assert aggregate(shuffled) == aggregate(rows)


def test_what_measures_nothing_is_no_zero() -> None:
    unmeasured: list[Row] = [{"mask_sample": True}, {"verdict": "unknown"}, {"verdict": "sandbox_error"}]
    unmeasured += [{"reward": reward} for reward in (None, "1.0", math.nan, 10**400, [1.0])]
    for fields in unmeasured:
        figures = aggregate([rollout(0, 0), rollout(0, 1) | {"reward": 0.0} | fields, rollout(1, 0, 0.0)])
        assert figures.key_metrics["pass@1[avg-of-1]/accuracy"] == 50.0, fields
        assert figures.agent_metrics["mean/reward"] == 0.5
        assert figures.key_metrics["coverage/masked_rollouts"] == 1
        assert figures.key_metrics["coverage/measured_rollouts"] == 2
        assert [task["num_rollouts"] for task in figures.group_level_metrics] == [1, 1]


def test_a_run_in_which_nothing_was_measured_has_no_score() -> None:
    empty = aggregate([])
    assert (empty.agent_metrics, empty.group_level_metrics, empty.perf_summary) == ({}, [], None)
    assert compute_metrics([]) == {}
    figures = aggregate([rollout(0, 0, 0.0, verdict="unknown"), {"_ng_task_index": 4}])
    expected = {"measured_rollouts": 0, "masked_rollouts": 2, "measured_tasks": 0, "fully_masked_tasks": 2}
    assert figures.key_metrics == {f"coverage/{name}": n for name, n in expected.items()}
    assert figures.group_level_metrics == []


def test_releases_that_hand_masked_rollouts_over_get_the_same_figures() -> None:
    tasks = [[rollout(0, 0), rollout(0, 1, 0.0, mask_sample=True)], [rollout(1, 0, 0.0, verdict="sandbox_error")]]
    assert compute_metrics(tasks) == compute_metrics([[rollout(0, 0)]])


def test_rollouts_without_indices_are_grouped_by_their_prompt() -> None:
    first, second = {"input": "add two numbers"}, {"input": [{"role": "user", "content": "sort a list"}]}
    rows = [
        {"reward": 1.0, "responses_create_params": first},
        {"reward": 0.0, "responses_create_params": second},
        {"reward": 0.0, "responses_create_params": first},
        rollout(7, 0),
    ]
    figures = aggregate(rows)
    placed = [(task["_ng_task_index"], task["num_rollouts"]) for task in figures.group_level_metrics]
    assert placed == [(7, 1), (8, 2), (9, 1)]
    assert [info["rollout_id"] for info in figures.group_level_metrics[1]["rollout_infos"]] == ["8:0", "8:1"]


def test_indices_that_are_no_number_still_group() -> None:
    rows = [{"reward": 1.0, "_ng_task_index": name, "_ng_rollout_index": "x"} for name in ("a", "b", "a")]
    assert [task["num_rollouts"] for task in aggregate(rows).group_level_metrics] == [2, 1]


def test_a_repeat_that_is_taken_becomes_the_next_free_one() -> None:
    rows = [rollout(0, 0), rollout(0, 0, 0.0), rollout(0, 1), rollout(0, 3), {"_ng_task_index": 0, "reward": 1.0}]
    infos = aggregate(rows).group_level_metrics[0]["rollout_infos"]
    assert [(info["_ng_rollout_index"], info["reward"]) for info in infos] == [*enumerate([1.0, 1.0, 0.0, 1.0, 1.0])]


def test_every_answer_is_json_whatever_the_rows_hold() -> None:
    odd = {"usage": {"input_tokens": math.inf, "output_tokens": 1e308, "huge": 10**400}}
    rows = [
        rollout(0, 0, 1e308, response=odd, difficulty=["easy"], extracted_model_code=["a", {"b": 1}]),
        rollout(0, 1, 1e308, response="no object", difficulty=3, ng_perf={"num_turns": 1e308, "prompt_tokens": "7"}),
        rollout(1, 0, True, response={"usage": [1]}, ng_perf={"num_turns": 1e308, "total_latency_ms": math.nan}),
        rollout(1, 1, -1e308, verdict=["passed"], ng_perf=5, extracted_model_code=7),
    ]
    figures = aggregate(rows)
    text = json.dumps(figures.model_dump(), allow_nan=False)
    assert json.loads(text) == json.loads(figures.model_dump_json())
    assert figures.agent_metrics["max/output_tokens"] == 1e308
    assert "mean/num_turns" not in (figures.perf_summary or {})


def test_the_headlines_are_at_the_largest_k() -> None:
    figures: Row = {f"pass@{k}/accuracy": float(k) for k in (1, 9, 10)}
    figures |= {"easy/pass@1[avg-of-2]/accuracy": 5.0, "easy/pass@1[avg-of-11]/accuracy": 6.0, "mean/reward": 0.5}
    figures |= {"pass@10/accuracy/std_dev_across_runs": 1.0, "pass@10/no_answer": 2.0, "mean/input_tokens": 3.0}
    expected = {"pass@10/accuracy": 10.0, "easy/pass@1[avg-of-11]/accuracy": 6.0, "mean/input_tokens": 3.0}
    assert key_metrics(figures) == expected


def test_student_t_is_that_of_scipy() -> None:
    expected = {
        1: 12.706204736174694, 2: 4.302652729749462, 3: 3.1824463052837078, 10: 2.228138851986274,
        299: 1.9679296690656698, 300: 1.9679030112610865, 301: 1.9678765312856952, 10_000: 1.960201239890626,
    }  # fmt: skip
    assert {degrees: t95(degrees) for degrees in expected} == pytest.approx(expected, rel=1e-11)


def spent(**seconds: float) -> Spent:
    one = Spent()
    one.seconds.update({name.replace("_", " "): value for name, value in seconds.items()})  # type: ignore[misc]
    return one


def test_each_stage_has_a_line_and_the_shares_are_of_the_whole() -> None:
    profile = VerifyProfile()
    assert profile.table() == "no request was verified"
    assert json.loads(profile.json()) == {"requests": 0, "stages": []}
    profile.add(spent(run=0.010, compare=0.002, sandbox_start=0.001), 0.020)
    profile.add(spent(run=0.030), 0.030)
    assert profile.table().splitlines() == [
        "stage          total s   share  mean ms  p50 ms  p99 ms  n",
        "sandbox start    0.001    2.0%     1.00    1.00    1.00  1",
        "run              0.040   80.0%    20.00   20.00   29.80  2",
        "compare          0.002    4.0%     2.00    2.00    2.00  1",
        "rest             0.007   14.0%     3.50    3.50    6.93  2",
        "total            0.050  100.0%    25.00   25.00   29.90  2",
    ]

    told = json.loads(profile.json())
    assert (told["requests"], [stage["stage"] for stage in told["stages"]]) == (
        2, ["sandbox start", "run", "compare", "rest", "total"],
    )  # fmt: skip
    first = {"stage": "sandbox start", "total_s": 0.001, "share": 0.02, "n": 1}
    assert told["stages"][0] == first | dict.fromkeys(("mean_ms", "p50_ms", "p99_ms"), 1.0)


def test_no_request_of_many_threads_is_lost() -> None:
    profile = VerifyProfile()
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: profile.add(spent(run=0.5), 1.0), range(2000)))
    found = [(stage["stage"], stage["n"], stage["total_s"]) for stage in profile.stages()]
    assert found == [("run", 2000, 1000.0), ("rest", 2000, 1000.0), ("total", 2000, 2000.0)]
