"""`rollscope grade` on small files: its output, exit statuses and what it leaves."""

import json
import re
import sys
from pathlib import Path

import pytest

from evaluator.formats import dataset_hash
from evaluator.graders.grader import withheld
from evaluator.model import Grade, Rollout, Verdict
from evaluator.options import Unverified, by_name
from evaluator.runs.reading import Run
from evaluator.runs.writing import RunWriter
from tests.commands.command_line import (
    ANSWER,
    RIGHT,
    SLOW,
    WRONG,
    Done,
    one_line,
    rollscope,
    sample,
    write_rows,
)
from tests.manifests import manifest_of


def test_figures_over_several_models_say_so_and_stand_beside_those_of_each(tmp_path: Path) -> None:
    rows = [
        sample(f"{name}{n}", "42" if n <= m else "41", "answer", model=name)
        for m, name in enumerate("abc")
        for n in range(3)
    ]
    write_rows(tmp_path / "d.jsonl", ANSWER)
    write_rows(tmp_path / "r.jsonl", *rows)
    arguments = ("grade", "r.jsonl", "--dataset", "d.jsonl", "--output", "run")
    printed = rollscope(*arguments, cwd=tmp_path).stdout
    assert re.search(r"pass@1 +66\.7%.*, 3 models together\n", printed)
    assert re.search(r"\n +a: 33\.3%.*\n +b: 66\.7%.*\n +c: 100\.0%", printed)
    summary = json.loads(rollscope(*arguments, "--resume", "--json", cwd=tmp_path).stdout)
    assert [(each["model"], each["rollouts"], each["mean_reward"]) for each in summary["models"]] == [
        ("a", 3, pytest.approx(1 / 3)), ("b", 3, pytest.approx(2 / 3)), ("c", 3, 1.0),
    ]  # fmt: skip


def test_reasons_that_are_not_printed_are_all_counted(tmp_path: Path) -> None:
    write_rows(tmp_path / "d.jsonl", ANSWER)
    write_rows(tmp_path / "r.jsonl", *(sample(f"s{n}", "42", f"gone{n}") for n in range(120)))
    printed = rollscope("grade", "r.jsonl", "--dataset", "d.jsonl", "--output", "run", cwd=tmp_path).stdout
    assert "and 115 reasons more" in printed


def test_grading_gives_verdicts_figures_and_a_run(graded: tuple[Path, Done]) -> None:
    folder, done = graded
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["verdicts"] == {"passed": 3, "wrong_answer": 1, "runtime_error": 1, "unknown": 2}
    assert (summary["rollouts"], summary["graded"], summary["unknown"], summary["bad_lines"]) == (7, 5, 2, 2)
    assert sum(summary["ungraded_reasons"].values()) == 2
    assert any("is not in the dataset" in reason for reason in summary["ungraded_reasons"])
    assert summary["pass_at_1"]["value"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert summary["expected"] == {"agree": 2, "differ": 1, "only_ours": 0, "differing": ["b"]}
    assert summary["duplicates"] == 1
    assert summary["state"] == "finished"
    rows = Run.open(folder / "run").connect().sql(
        "SELECT sample_id, verdict, reward, row, source_line, first_failing_test FROM rollouts ORDER BY row"
    )  # fmt: skip
    assert rows.fetchall() == [
        ("a", "passed", 1.0, 0, 1, None), ("b", "wrong_answer", 0.0, 1, 2, 0), ("c", "passed", 1.0, 2, 3, None),
        ("e", "passed", 1.0, 3, 5, None), ("f", "runtime_error", 0.0, 4, 6, 0),
        ("g", "unknown", None, 5, 7, None), ("h", "unknown", None, 6, 8, None),
    ]  # fmt: skip


def test_bad_lines_are_told_with_file_and_line(graded: tuple[Path, Done]) -> None:
    folder, done = graded
    repeated, broken = (
        line for line in done.stderr.splitlines() if "r.rollouts.jsonl:" in line
    )  # progress is said, too
    assert repeated.startswith(f"{folder}/r.rollouts.jsonl:4: ")
    assert "'a'" in repeated
    assert broken.startswith(f"{folder}/r.rollouts.jsonl:9: ")
    stored = Run.open(folder / "run").manifest.problems
    assert [problem.line for problem in stored] == [4, 9]


def test_the_figures_end_with_what_to_type_next(tmp_path: Path) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", ANSWER)
    rollouts = write_rows(tmp_path / "r.jsonl", sample("a", "42", "answer"))
    done = rollscope("grade", rollouts, "--dataset", dataset, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    [run] = (tmp_path / "runs").iterdir()
    assert run.name.startswith("r-20")
    assert f"rollscope view runs/{run.name}" in done.stdout
    assert "100.0%" in done.stdout
    assert not any(line != line.rstrip() for line in done.stdout.splitlines())


@pytest.mark.slow
def test_tasks_are_kept_with_the_cases_that_were_run(tmp_path: Path) -> None:
    check = {
        "task_id": "neg", "mode": "assert", "entry_point": "neg", "prompt": "",
        "test": "def check(candidate):\n    assert candidate(1) == -1\n    assert candidate(2) == -2\n",
    }  # fmt: skip
    data = write_rows(tmp_path / "d.jsonl", check)
    rollouts = write_rows(tmp_path / "r.jsonl", sample("a", "def neg(x): return -x", "neg"))
    done = rollscope("grade", rollouts, "--dataset", data, "--output", "run", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["verdicts"] == {"passed": 1}
    [(cases, total)] = Run.open(tmp_path / "run").connect().sql("SELECT cases, tests_total FROM tasks").fetchall()
    assert total == 2
    assert "candidate(2)" in json.loads(cases)[1]["input"] or "neg(2)" in json.loads(cases)[1]["input"]


def test_options_reach_the_grades(tmp_path: Path, dataset: Path) -> None:
    rollouts = write_rows(tmp_path / "r.jsonl", sample("a", SLOW), sample("b", WRONG), sample("c", RIGHT))
    done = rollscope(
        "grade", rollouts, "--dataset", dataset, "--output", "run", "--timeout", "1", "--memory", "2000", "--limit", 2,
        "--fail-fast", "--workers", 1, "--time-factor", 3, "--json", cwd=tmp_path,
    )  # fmt: skip
    assert json.loads(done.stdout)["verdicts"] == {"wrong_answer": 1, "time_limit": 1}
    run = Run.open(tmp_path / "run")
    limits = run.manifest.options.limits
    assert run.manifest.options.time_factor == 3.0
    assert (limits.wall_s, limits.cpu_s, limits.memory_mb, limits.virtual_mb) == (1.0, 1.0, 2000.0, 8000.0)
    skipped = run.connect().sql("SELECT DISTINCT verdict FROM cases WHERE test_index = 1").fetchall()
    assert skipped == [("not_run",)]


# stopping and going on


def test_rewards_out_of_range_are_told_at_the_end(tmp_path: Path, dataset: Path) -> None:
    (tmp_path / "five.py").write_text("RUNS_CODE = False\ndef five(task, rollout, bench):\n    return 5.0\n")
    rollouts = write_rows(tmp_path / "r.jsonl", sample("a", RIGHT), sample("b", WRONG))
    done = rollscope(
        "grade", rollouts, "--dataset", dataset, "--output", tmp_path / "run", "--grader", "five.py:five", cwd=tmp_path
    )
    assert re.search(r"^flagged +2 clamped_reward$", done.stdout, re.M), done.stdout + done.stderr


@pytest.mark.parametrize("python", ["/nowhere/python", "/bin/false", "/", "r.jsonl"])
def test_a_path_of_no_python_ends_it_in_one_line(tmp_path: Path, dataset: Path, python: str) -> None:
    write_rows(tmp_path / "r.jsonl", sample("a", RIGHT))
    done = rollscope("grade", "r.jsonl", "--dataset", dataset, "--output", "run", "--python", python, cwd=tmp_path)
    assert done.returncode == 2
    assert f"Python {tmp_path / python}: " in one_line(done.stderr)
    assert not (tmp_path / "run").exists()


def stored(folder: Path, dataset: Path, unverified: Unverified) -> None:
    """A run of eight samples in `folder/run`, all but the first not verified for one of six reasons."""
    asked = manifest_of(dataset_hash=dataset_hash(dataset), rollouts="r.jsonl", unverified=unverified)
    with RunWriter.create(folder / "run", asked) as writer:
        for n in range(8):
            found = Grade(task_id="answer", sample_id=f"s{n}", verdict=Verdict.PASSED, reward=1.0)
            if n:
                found.verified, found.unverified_reason = False, f"reason \x1b[31m{n % 6 or 6}"
            rollout = Rollout(task_id="answer", sample_id=f"s{n}", completion="42")
            writer.add(rollout, withheld(found, unverified), n)
        writer.close()


@pytest.mark.parametrize("unverified", ["keep", "unknown"])
def test_the_figures_tell_what_is_not_verified_and_why(tmp_path: Path, unverified: Unverified) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", ANSWER)
    write_rows(tmp_path / "r.jsonl", *(sample(f"s{n}", "42", "answer") for n in range(8)))
    stored(tmp_path, dataset, unverified)
    arguments = ("grade", "r.jsonl", "--dataset", dataset, "--output", "run", "--unverified", unverified, "--resume")
    done = rollscope(*arguments, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    rewarded = 7 if unverified == "keep" else 0
    assert (summary["unverified"], summary["unverified_rewarded"]) == (7, rewarded)
    assert list(summary["unverified_reasons"].values()) == [2, 1, 1, 1, 1, 1]
    assert next(iter(summary["unverified_reasons"])) == "reason \x1b[31m1"
    assert summary["unknown"] == 7 - rewarded
    printed = rollscope(*arguments, cwd=tmp_path).stdout
    assert f"7 (7 {'with a reward' if rewarded else 'without'})" in printed
    assert "2: reason \N{REPLACEMENT CHARACTER}[31m1\n" in printed
    assert "and 1 reason more" in printed


@pytest.mark.parametrize(
    ("option", "value", "field", "told"),
    [
        ("--unverified", "unknown", "unverified", "unverified unknown, not keep"),
        ("--sandbox", "degraded", "sandbox", "degraded, not strict"),
        ("--python", sys.executable, "interpreter", sys.executable),
    ],
)
def test_how_a_run_was_graded_is_kept_and_asked_for_again(
    tmp_path: Path, option: str, value: str, field: str, told: str
) -> None:
    write_rows(tmp_path / "d.jsonl", ANSWER)
    write_rows(tmp_path / "r.jsonl", sample("a", "42", "answer"))
    asked = ("grade", "r.jsonl", "--dataset", "d.jsonl", "--output", "run")
    assert rollscope(*asked, option, value, cwd=tmp_path).returncode == 0
    assert by_name(Run.open(tmp_path / "run").manifest.options)[field] == value
    refused = rollscope(*asked, "--resume", cwd=tmp_path)
    assert refused.returncode == 2
    assert told in one_line(refused.stderr)
    assert rollscope(*asked, option, value, "--resume", cwd=tmp_path).returncode == 0
