"""`rollscope audit`: whose grader would have paid, on small runs."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from evaluator.checkers import known_checkers
from evaluator.runs.reading import Run
from tests.commands.command_line import one_line, rollscope, write_rows

PRINTS = {"task_id": "prints", "in_outs": {"inputs": [""], "outputs": ["1 2\n"]}}
CALLS = {
    "task_id": "calls", "mode": "call", "entry_point": "f", "checker": "value",
    "in_outs": {"inputs": ["1", "2"], "outputs": ["[1, 2, 3]", "[1, 2, 3]"]},
}  # fmt: skip
ASSERTS = {"task_id": "asserts", "entry_point": "f", "test": "def check(f):\n    assert f(1) == 1\n"}
ANSWERS = {"task_id": "answers", "prompt": "6 * 7?", "answer": 42}
ROLLOUTS = [
    {"task_id": "answers", "sample_id": "answers", "completion": "42"},
    {"task_id": "prints", "sample_id": "lines", "completion": "print('1\\n2')"},
    {"task_id": "prints", "sample_id": "right", "completion": "print('1 2')", "expected_pass": True},
    {"task_id": "prints", "sample_id": "raises", "completion": "print('1 2')\nraise ValueError('no')"},
    {"task_id": "calls", "sample_id": "first", "completion": "def f(n): return 1"},
    {"task_id": "calls", "sample_id": "all", "completion": "def f(n): return [1, 2, 3]"},
    {"task_id": "asserts", "sample_id": "asserts", "completion": "def f(n): return n"},
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audit")
    dataset = write_rows(folder / "dataset.jsonl", PRINTS, CALLS, ASSERTS, ANSWERS)
    rollouts = write_rows(folder / "r.jsonl", *ROLLOUTS)
    options = ["--dataset", dataset, "--output", folder / "run", "--fail-fast"]
    graded = rollscope("grade", rollouts, *options, cwd=folder)
    assert graded.returncode == 0, graded.stderr
    return folder / "run"


def audited(run: Path, checkers: str) -> dict[str, Any]:
    done = rollscope("audit", run, "--checkers", checkers, "--json", cwd=run.parent)
    report: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (1 if report["differ"] else 0), done.stderr
    return report


def test_what_depends_on_the_checker_is_listed_with_each_reason(run: Path) -> None:
    report = audited(run, "floats,tokens,colossalai")
    [lines] = report["differing"]
    assert (lines["task_id"], lines["sample_id"]) == ("prints", "lines")
    assert lines["rewards"] == {"floats": 0.0, "tokens": 1.0, "colossalai": 0.0}
    assert lines["reasons"]["floats"] == "test 0: line 1, column 2: expected '2', got the end of the line"
    assert set(lines["reasons"]) == {"floats", "colossalai"}
    assert (report["rollouts"], report["compared"]) == (7, 5)
    assert report["not_compared"] == {
        "no checker decides a task of mode assert": 1,
        "graded by exact_match, which uses no checker": 1,
    }
    assert [list(payer.values()) for payer in report["checkers"]] == [
        ["floats", 3, 1],
        ["tokens", 3, 2],
        ["colossalai", 5, 3],
    ]


@pytest.mark.slow
def test_the_table_says_who_pays_and_why_not(run: Path) -> None:
    done = rollscope("audit", run, "--checkers", "floats,tokens", cwd=run.parent)
    assert done.returncode == 1
    header, row = done.stdout.splitlines()[:2]
    assert header.split() == ["task", "sample", "floats", "tokens", "expected", "why", "not"]
    assert re.fullmatch(r"prints +lines +W +P +floats: test 0: line 1, column 2: expected '2', .*", row)
    assert "1 of 5 rollouts depends on the checker" in done.stdout


@pytest.mark.slow
def test_checkers_that_agree_are_no_finding(run: Path) -> None:
    done = rollscope("audit", run, "--checkers", "floats,lines", cwd=run.parent)
    assert done.returncode == 0
    assert "0 of 5 rollouts depend on the checker" in done.stdout.splitlines()


COIN = "print('1 2' if open('/dev/urandom', 'rb').read(1)[0] % 2 else '1\\n2')"
"""Another answer in every other run."""


def test_code_in_thoughts_that_counted_in_the_run_counts_here(tmp_path: Path) -> None:
    thought = "<think>\n```python\ndef f(n): return [1, 2, 3]\n```"
    rollouts = write_rows(tmp_path / "r.jsonl", {"task_id": "calls", "sample_id": "a", "completion": thought})
    options = ["--dataset", write_rows(tmp_path / "d.jsonl", CALLS), "--output", tmp_path / "run"]
    done = rollscope("grade", rollouts, *options, "--unfinished-thinking", "grade", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    report = audited(tmp_path / "run", "value,python")
    assert [payer["passed"] for payer in report["checkers"]] == [1, 1]


@pytest.mark.slow
def test_what_the_run_kept_whole_is_not_run_again(tmp_path: Path) -> None:
    """2,080 characters are as many as their excerpt has, with what it says is left out."""
    sizes = 2_000, 2_079, 9_000
    long = [{"task_id": f"y{n}", "in_outs": {"inputs": [""], "outputs": ["y" * n + "\n"]}} for n in sizes]
    twice = {"task_id": "twice", "in_outs": {"inputs": ["1", "2"], "outputs": ["1 2", "1 2"]}}
    programs = {
        **{f"coin {number}": ("prints", f"{COIN}  # {number}") for number in range(20)},
        "raises at once": ("twice", "raise ValueError('no')"),
        "no text": ("prints", "import sys\nsys.stdout.buffer.write(b'1\\xff')"),
        "much": ("prints", "print('x' * 70_000)"),
        "stopped": ("twice", "print('1\\n2')"),
        **{f"y{n}": (f"y{n}", f"print('y' * {n})") for n in sizes},
    }
    rows = [{"task_id": task, "sample_id": name, "completion": code} for name, (task, code) in programs.items()]
    dataset = write_rows(tmp_path / "dataset.jsonl", PRINTS, twice, *long)
    options = ["--dataset", dataset, "--output", tmp_path / "run", "--fail-fast"]
    assert rollscope("grade", write_rows(tmp_path / "r.jsonl", *rows), *options, cwd=tmp_path).returncode == 0
    connection = Run.open(tmp_path / "run").connect()
    wrong = connection.sql("SELECT sample_id FROM rollouts WHERE verdict = 'wrong_answer'").fetchall()
    report = audited(tmp_path / "run", "exact,tokens,value")
    assert (report["kept"], report["compared"]) == (22, 27)
    differing = [each["sample_id"] for each in report["differing"]]
    assert sorted(differing) == sorted(name for (name,) in wrong if name not in ("no text", "much"))
    assert [(payer["compared"], payer["passed"]) for payer in report["checkers"]] == [
        (27, 23 - len(differing) + 1), (27, 24), (0, 0),
    ]  # fmt: skip
    table = rollscope("audit", tmp_path / "run", "--checkers", "exact,tokens", cwd=tmp_path).stdout
    assert "22 of them by stored answers; the others ran once more" in table


@pytest.mark.parametrize(
    ("checkers", "told"),
    [
        ("floats", "--checkers: give two or more, such as floats,livecodebench,colossalai"),
        ("floats,fuzzy", f"checker 'fuzzy' is unknown: use one of {', '.join(known_checkers())}"),
    ],
)
def test_checkers_that_can_not_be_compared_are_told_in_one_line(run: Path, checkers: str, told: str) -> None:
    done = rollscope("audit", run, "--checkers", checkers, cwd=run.parent)
    assert done.returncode == 2
    assert one_line(done.stderr) == f"rollscope: {told}"
