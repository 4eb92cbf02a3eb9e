"""`rollscope compare`, on runs written by hand."""

import json
from pathlib import Path

import pytest

from evaluator.model import Limits
from tests.commands.command_line import one_line, rollscope
from tests.runs.test_comparison import outcomes, task, write


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    a, b = outcomes(9, 1, 10)
    write(tmp_path / "a", a)
    write(tmp_path / "b", b)
    write(tmp_path / "slow", b, limits=Limits(wall_s=99))
    write(
        tmp_path / "models", {f"t{i} {model}": letter for i in range(8) for model, letter in (("x", "P"), ("y", "W"))}
    )
    return tmp_path


def test_a_better_run_is_done_and_a_worse_one_is_a_finding(runs: Path) -> None:
    better = rollscope("compare", "a", "b", cwd=runs)
    assert better.returncode == 0, better.stderr
    first, *lines = better.stdout.splitlines()
    assert first.startswith("B is better by 40.0 points (95%: ")
    assert first.endswith(" over 20 shared tasks; exact McNemar p = 0.021")
    assert [line.split() for line in lines if line.startswith(("fixed", "broken", "same", "t0 ", "t9 "))] == [
        ["fixed", "9"],
        ["broken", "1"],
        ["same", "10"],
        ["t0", "0/1", "1/1", "fixed"],
        ["t9", "1/1", "0/1", "broken"],
    ]
    worse = rollscope("compare", "b", "a", cwd=runs)
    assert worse.returncode == 1
    assert worse.stdout.startswith("B is worse by 40.0 points")


def test_no_difference_is_done(runs: Path) -> None:
    same = rollscope("compare", "a", "a", cwd=runs)
    assert same.returncode == 0
    assert same.stdout.startswith("No difference: the same pass rate on both sides in 20 shared tasks\n")


def test_other_limits_leave_the_lists_and_take_the_headline(runs: Path) -> None:
    done = rollscope("compare", "a", "slow", cwd=runs)
    assert done.returncode == 2
    assert one_line(done.stderr) == "rollscope: no headline: wall_s differs: 10 in A, 99 in B"
    assert "better" not in done.stdout
    assert ["fixed", "9"] in [line.split() for line in done.stdout.splitlines()]


def test_json_has_every_task_and_the_figures(runs: Path) -> None:
    done = rollscope("compare", "models", "--model-a", "x", "--model-b", "y", "--json", cwd=runs)
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    assert report["headline"].startswith("B is worse by 100.0 points over 8 shared tasks")
    assert (report["better"], report["compared"], report["mcnemar_p"]) == ("a", 8, pytest.approx(2 / 2**8))
    assert (report["a"]["model"], report["a"]["mean"], report["b"]["mean"]) == ("x", 1.0, 0.0)
    assert report["counts"]["broken"] == 8
    assert report["tasks"][0] == {"task_id": "t0", "change": "broken", "a": [1, 1], "b": [0, 1]}
    refused = rollscope("compare", "a", "slow", "--json", cwd=runs)
    assert refused.returncode == 2
    assert json.loads(refused.stdout)["headline"] is None


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["models"], "give a second run; or, for one run, --model-a and --model-b, or --step-a and --step-b"),
        (["models", "--model-a", "x", "--model-b", "z"], "--model-b: models has no rollouts of 'z'; its models: x, y"),
        (
            ["models", "--step-a", "1", "--step-b", "9"],
            "--step-a: models has no rollouts at step 1; none of its rollouts has a step",
        ),
    ],
)
def test_what_is_missing_is_one_line(runs: Path, arguments: list[str], told: str) -> None:
    done = rollscope("compare", *arguments, cwd=runs)
    assert done.returncode == 2
    assert one_line(done.stderr) == f"rollscope: {told}"


def test_the_same_rollouts_with_other_tests_are_compared_by_their_rewards(tmp_path: Path) -> None:
    write(tmp_path / "before", {"t0": "PP", "t1": "P"})
    stronger = {"t0": task("t0", expected="2\n")}
    write(tmp_path / "after", {"t0": "PW", "t1": "P"}, stronger)
    done = rollscope("compare", "before", "after", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["headline"] == "1 reward fell and 0 rose in B: the same rollouts, with other tests for 1 task"
    assert [(each["sample_id"], each["before"], each["after"]) for each in report["reward_changes"]] == [("t0#1", 1, 0)]
    write(tmp_path / "others", {"t0": "PW", "t1": "PP"}, stronger)
    assert rollscope("compare", "before", "others", cwd=tmp_path).returncode == 2


def test_what_has_no_grades_is_answered_with_the_command_that_makes_them(runs: Path) -> None:
    (runs / "x.jsonl").write_text("{}")
    said = "rollscope: x.jsonl: not a run, so it has no grades of ours: first rollscope grade x.jsonl --output runs/x"
    assert one_line(rollscope("compare", "a", "x.jsonl", cwd=runs).stderr) == said
    write(runs / "ungraded", {"t0": "?"})
    done = rollscope("compare", "a", "ungraded", cwd=runs)
    assert done.returncode == 2
    assert "  1 rollout has no grade: make it with `rollscope grade ROLLOUTS --dataset DATASET`" in done.stdout


def test_tasks_without_an_id_are_listed_by_their_prompts(tmp_path: Path) -> None:
    tasks = {name: task(name, prompt=f"Print the number {name[-1]}") for name in ("prompt-1", "prompt-2")}
    write(tmp_path / "c", {"prompt-1": "P", "prompt-2": "W"}, tasks)
    write(tmp_path / "d", {"prompt-1": "W", "prompt-2": "P"}, tasks)
    lines = rollscope("compare", "c", "d", cwd=tmp_path).stdout.splitlines()
    assert [line.split() for line in lines[-2:]] == [["2", "0/1", "1/1", "fixed"], ["1", "1/1", "0/1", "broken"]]
