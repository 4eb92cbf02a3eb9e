"""Weak tests are found and strengthened: what is added fails wrong programs and no right one, in every mode."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from evaluator import grade
from evaluator.cases import Bench
from evaluator.commands.strengthening import task_key
from evaluator.model import Mode, Task
from evaluator.sandbox import Sandbox
from evaluator.strengthening.bounds import bounds_in
from evaluator.strengthening.differences import Request, strengthen
from evaluator.strengthening.mutants import mutants_of
from evaluator.strengthening.profile import Profile
from evaluator.strengthening.report import Program
from evaluator.strengthening.stdin_layout import layout_of
from evaluator.strengthening.subjects import subject_of
from tests.commands.command_line import rollscope, write_rows

REFERENCE = "def f(items):\n    return max(items) if max(items) > 3 else 0\n"
ASSERTS = {
    "task_id": "asserts", "entry_point": "f", "reference": REFERENCE,
    "test": "def check(candidate):\n    assert candidate([1, 5]) == 5\n    assert candidate([-2, 7, 4]) == 7\n",
}  # fmt: skip
CALL = {
    "task_id": "call", "mode": "call", "entry_point": "f", "reference": REFERENCE,
    "in_outs": {"inputs": ["[1, 5]", "[-2, 7, 4]"], "outputs": ["5", "7"]},
}  # fmt: skip
STDIN = {
    "task_id": "stdin",
    "reference": "n = int(input())\nitems = list(map(int, input().split()))\nassert len(items) == n\n"
    "print(max(items) if max(items) > 3 else 0)\n",
    "in_outs": {"inputs": ["2\n1 5\n", "3\n-2 7 4\n"], "outputs": ["5\n", "7\n"]},
}
WRONG = {
    "asserts": "def f(items): return max(items)",
    "call": "def f(items): return max(items)",
    "stdin": "input()\nprint(max(map(int, input().split())))",
}


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Sandbox() as sandbox:
        yield Bench(sandbox)


def test_the_added_tests_fail_the_wrong_rollouts_and_no_right_one(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [ASSERTS, CALL, STDIN]
    dataset = write_rows(tmp_path / "tasks.jsonl", *rows)
    rollouts = [
        {"task_id": row["task_id"], "sample_id": f"{row['task_id']} {name}", "completion": code, "model": "m"}
        for row in rows
        for name, code in (("right", row["reference"]), ("wrong", WRONG[row["task_id"]]))
    ]
    samples = write_rows(tmp_path / "rollouts.jsonl", *rollouts)
    for more in ((), ("--rollouts", samples)):
        done = rollscope(
            "strengthen",
            dataset,
            *more,
            "--output",
            tmp_path / "stronger.jsonl",
            "--budget",
            "30s",
            "--json",
            cwd=tmp_path,
        )
        assert done.returncode == 1, done.stderr
        report = json.loads(done.stdout)
        assert report["status"] == {"finding" if more else "hole": 3}
        graded = rollscope(
            "grade", samples, "--dataset", "stronger.jsonl", "--output", f"run {len(more)}", "--json", cwd=tmp_path
        )
        assert graded.returncode == 0, graded.stderr
        exported = rollscope("export", f"run {len(more)}", cwd=tmp_path)
        verdicts = {row["sample_id"]: row["verdict"] for row in map(json.loads, exported.stdout.splitlines())}
        assert {name for name, verdict in verdicts.items() if verdict == "passed"} == {
            "asserts right", "call right", "stdin right",
        }  # fmt: skip
    assert report["wrong"] == {"m": 3}
    written = [json.loads(line) for line in (tmp_path / "stronger.jsonl").read_text().splitlines()]
    assert all(row["added_tests"][0]["added_by"] == "rollout" for row in written)
    assert all(len(found["findings"][0]["input"]) < 12 for found in report["by_task"])
    assert not (tmp_path / "stronger.jsonl.part").exists()


def test_what_a_stopped_command_has_done_is_not_done_again(tmp_path: Path) -> None:
    dataset = write_rows(tmp_path / "tasks.jsonl", CALL, {**CALL, "task_id": "other"})
    key = task_key(Task.from_row(CALL), (), Request(budget_s=1.0))
    lines = [{"key": key, "report": {"task_id": "call", "status": "hole"}, "row": {"task_id": "call", "kept": True}}]
    lines.append(lines[0] | {"key": "of another budget", "report": {"task_id": "other"}})
    (tmp_path / "stronger.jsonl.part").write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"key": "cut')
    done = rollscope("strengthen", dataset, "--output", "stronger.jsonl", "--budget", "1", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["tasks"] == 2
    kept, other = map(json.loads, (tmp_path / "stronger.jsonl").read_text().splitlines())
    assert kept == lines[0]["row"]
    assert other["task_id"] == "other"
    assert "in_outs" in other


@pytest.mark.parametrize(
    "reference",
    [
        "def f(items):\n    while len(items) != 2: pass\n    return 5\n",
        "import random\ndef f(items): return max(items) if len(items) > 1 else random.random()\n",
        "def f(items):\n    if len(items) < 2: print('a' * 10**9)\n    return [items.sort(), items.pop()][1]\n",
    ],
)
def test_a_hostile_reference_wastes_its_own_budget_alone(bench: Bench, reference: str) -> None:
    report, task = strengthen(bench, Task.from_row(CALL | {"reference": reference}), [], Request(budget_s=1.0))
    assert not any(each.input == "f([1])" for each in report.added)
    assert len(task.cases) == 2 + len(report.added)


def test_right_programs_that_disagree_are_no_finding(bench: Bench) -> None:
    row = CALL | {"prompt": "Return the numbers in any order."}
    report, _ = strengthen(bench, Task.from_row(row), [], Request(budget_s=1.0))
    assert (report.status, report.added) == ("several answers?", [])
    of_set = CALL | {
        "reference": "def f(words): return list(set(words))",
        "in_outs": {"inputs": ['["a"]'], "outputs": ['["a"]']},
    }
    report, _ = strengthen(bench, Task.from_row(of_set), [], Request(budget_s=1.0))
    assert not any(each.expected.count("'") > 2 for each in report.added)


def test_without_a_reference_most_rollouts_say_what_is_right(bench: Bench) -> None:
    row = {name: value for name, value in CALL.items() if name != "reference"}
    right = [Program(REFERENCE + f"# {n}", (f"right {n}",)) for n in range(3)]
    report, _ = strengthen(
        bench, Task.from_row(row), [Program(WRONG["call"], ("wrong",)), *right], Request(budget_s=60.0)
    )
    assert [group.samples for each in report.findings for group in each.wrong] == [["wrong"]]
    assert report.added[0].certainty == "all passing but 1"


@pytest.mark.parametrize(
    ("text", "changed", "written"),
    [
        ("3\n1 2 3\n", ([4, 5],), "2\n4 5\n"),
        ("2 7\n1 2\n3 4\n", (9, [(1, 2)]), "1 9\n1 2\n"),
        ("2 3\n.#.\n###\n", (["##"],), "1 2\n##\n"),
        ("2\n1\n5\n2\n6 7\n", ([([1, 2],)],), "1\n2\n1 2\n"),
    ],
)
def test_a_changed_input_keeps_its_counts(text: str, changed: Any, written: str) -> None:
    layout = layout_of([text])
    assert layout is not None
    assert layout.text(layout.arguments(text)) == text
    assert layout.text(changed) == written


def test_departures_name_what_no_own_input_has() -> None:
    profile = Profile([([1, 2, 4], 3), ([3, 5, 6, 9], 2), ([1, 7], 1)])
    assert profile.departures(([2, 3], 1)) == frozenset()
    assert profile.departures(([3, 2], 1)) == {"unsorted"}
    assert "beyond the length" in profile.departures(([2, 3], 3))
    assert "empty" in profile.departures(([], 1))


def test_the_prompt_says_what_is_allowed() -> None:
    found = bounds_in("Given a positive number, 1 <= n <= 10^5. All base numbers are less than 10.")
    assert found.ranges == (("n", 1, 100_000), ("base", -math.inf, 9))
    assert found.hold((5, 9), ("n", "base"))
    assert not found.hold((5, 10), ("n", "base"))
    assert "zero" in found.refused
    found = bounds_in("Precondition: n >= 1 and all(0 <= x < k for x in items)\nReturns 0 if n > 5.")
    assert [found.hold(given, ("n", "items")) for given in ((1, [0]), (0, [0]), (1, [0, -1]))] == [True, False, False]
    assert "unsorted" in bounds_in("").refused - found.refused


def test_mutants_are_the_same_for_a_seed_and_are_programs() -> None:
    found = list(mutants_of(REFERENCE, Random(1)))
    assert found == list(mutants_of(REFERENCE, Random(1)))
    assert len(set(found)) == len(found) > 8
    for source in found:
        compile(source, "mutant", "exec")


@pytest.mark.parametrize(
    "statement",
    [
        "assert math.isclose(candidate(4), 2.0, rel_tol=0.001)",
        "assert abs(candidate(4) - 2.0) < 1e-6",
        "assert sorted(candidate(4)) == sorted([2.0])",
        "assert candidate(4) == 2.0",
    ],
)
def test_an_added_assert_has_the_form_of_the_own_ones_and_leaves_them_as_they_are(statement: str) -> None:
    answer = "[n**0.5]" if "sorted" in statement else "n**0.5"
    test = f"import math\ndef check(candidate):\n    {statement}\n"
    task = Task(task_id="t", mode=Mode.ASSERT, entry_point="f", test=test)
    stronger = subject_of(task).with_cases([((9,), [3.0] if "sorted" in statement else 3.0)])
    right, wrong = (
        grade(stronger, f"def f(n):\n    return {code}\n") for code in (answer, answer.replace("n", "4", 1))
    )
    assert (right.verdict, right.tests_passed, wrong.verdict) == ("passed", 2, "wrong_answer")
