"""What `--profile` tells of a server's requests."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

from evaluator.interop.nemo_gym.profiling import VerifyProfile
from evaluator.stages import Spent


def spent(**seconds: float) -> Spent:
    one = Spent()
    one.seconds.update({name.replace("_", " "): value for name, value in seconds.items()})  # type: ignore[misc]
    return one


def test_each_stage_has_a_line_and_the_shares_are_of_the_whole() -> None:
    profile = VerifyProfile()
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


def test_the_json_has_the_same_figures() -> None:
    profile = VerifyProfile()
    profile.add(spent(queue=0.25), 0.5)
    told = json.loads(profile.json())
    assert told["requests"] == 1
    assert told["stages"][0] == {
        "stage": "queue",
        "total_s": 0.25,
        "share": 0.5,
        "mean_ms": 250.0,
        "p50_ms": 250.0,
        "p99_ms": 250.0,
        "n": 1,
    }
    assert [stage["stage"] for stage in told["stages"]] == ["queue", "rest", "total"]


def test_of_no_request_it_says_so() -> None:
    assert VerifyProfile().table() == "no request was verified"
    assert json.loads(VerifyProfile().json()) == {"requests": 0, "stages": []}


def test_no_request_of_many_threads_is_lost() -> None:
    profile = VerifyProfile()
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: profile.add(spent(run=0.5), 1.0), range(2000)))
    assert [(stage.stage, stage.n, stage.total_s) for stage in profile.stages()] == [
        ("run", 2000, 1000.0),
        ("rest", 2000, 1000.0),
        ("total", 2000, 2000.0),
    ]
