"""The Siblings tab: the nearest passing sample, where the runs part, and what the group answered."""

from pathlib import Path

import pytest

from dashboard import workspace
from dashboard.why import siblings
from evaluator.model import CaseResult, Kind, Limits, Mode, Task, TestCase, Verdict
from evaluator.tracing import Trace, replay
from tests.dashboard import rows, sample_run
from tests.dashboard.rows import Row, Show
from tests.dashboard.test_pages import component, text, visit

HOSTILE = sample_run.HOSTILE
HEAD = "def largest(xs):\n    best = 0\n"
BODY = "    for x in xs:\n        if x > best:\n            best = x\n    return best\n"
RIGHT = f"{HEAD.replace('0', 'xs[0]')}{BODY}"
BIG = [
    ("wrong", HEAD + BODY, "0"),
    ("sorted", "def largest(xs):\n    return sorted(xs)[-1]\n", "-1"),
    ("near", RIGHT, "-1"),
    (HOSTILE, "def largest(xs):\n    return HOSTILE\n", None),
    ("wrong-too", HEAD + BODY.replace("x > best", "x >= best"), "0"),
]
"""Name, code and answer of each sample of one task."""


def task(name: str, reference: str | None) -> Task:
    cases = (TestCase(0, "[-3, -1, -2]", "-1"),)
    return Task(task_id=name, mode=Mode.CALL, entry_point="largest", cases=cases, reference=reference)


def graded(task: str, sample: str, code: str, answer: str | None) -> Row:
    passed = answer == "-1"
    verdict = Verdict.PASSED if passed else Verdict.WRONG_ANSWER if answer is not None else Verdict.RUNTIME_ERROR
    error = None if answer is not None else f"NameError {HOSTILE}"
    one = CaseResult(index=0, verdict=verdict, expected="-1", actual=answer, error_type=error, wall_s=0.01)
    fields = {"verdict": verdict, "cases": (one,), "code": code, "kind": Kind.FULL}
    return rows.row(task, f"{task}/{sample}", reward=float(passed), completion=code, **fields)


@pytest.fixture(scope="module")
def groups(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = [graded("big", *each) for each in BIG]
    found += [graded(name, "0", HEAD + BODY, "0") for name in ("alone", "lost")]
    tasks = [task("big", RIGHT), task("alone", RIGHT), task("lost", None)]
    return rows.write(tmp_path_factory.mktemp("runs") / "groups", found, *tasks)


@pytest.fixture
def opened_groups(groups: Path, show: Show) -> None:
    show(groups)


def trace_of(code: str, *numbers: int) -> Trace:
    task = Task(task_id="t", mode=Mode.CALL, entry_point="largest", cases=(TestCase(0, str([*numbers]), "0"),))
    return replay(task, code, 0, limits=Limits()).trace


@pytest.mark.usefixtures("opened_groups")
def test_the_nearest_passing_sample_is_shown_with_its_diff_and_the_answers_are_grouped() -> None:
    app = visit("completion", task="big", sample="big/wrong", tab="siblings")
    (link,) = [e for e in app.get("page_link") if e.proto.label == "near"]
    assert "sample=big%2Fnear" in link.proto.query_string
    shown = text(app)
    assert "xs<i>[</i>" in shown or "<i>xs[" in shown
    assert "The runs part at step 1, line 2" in shown
    assert "best = -3" in shown
    assert 'href="#L2"' in shown
    found = component(app, "answers")["rows"]
    assert [(row["letter"], row["text"], row["count"], row["mark"]) for row in found[:2]] == [
        ("W", "0", "2 of 5", ""),
        ("P", "-1", "2 of 5", "expected"),
    ]
    assert [row["here"] for row in found] == [True, False, False]
    assert "NameError" in found[2]["text"]
    assert [sample["label"] for sample in found[0]["samples"]] == ["wrong", "wrong-too"]
    assert "sample=big%2Fwrong-too" in found[0]["samples"][1]["href"]


@pytest.mark.usefixtures("opened_groups")
@pytest.mark.parametrize(
    ("task", "sample", "said"),
    [
        ("alone", "alone/0", "reference solution"),
        ("lost", "lost/0", "No passing sibling"),
        ("big", "big/near", "This sample passed"),
        ("big", f"big/{HOSTILE}", "nearest passing sample"),
    ],
)
def test_without_a_passing_sibling_it_says_so(task: str, sample: str, said: str) -> None:
    app = visit("completion", task=task, sample=sample, tab="siblings")
    assert said in text(app)
    assert "<img src=x" not in text(app)
    if task == "lost":  # an expected answer that nobody gave is listed with none
        found = component(app, "answers")["rows"]
        assert [(row["text"], row["count"], row["mark"]) for row in found] == [
            ("0", "1 of 1", ""),
            ("-1", "0 of 1", "expected"),
        ]


@pytest.mark.usefixtures("opened_groups")
def test_without_permission_nothing_runs_and_the_rest_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "may_run_code", lambda: False)
    app = visit("completion", task="big", sample="big/wrong", tab="siblings")
    assert "--allow-rerun" in text(app)
    assert "The runs part" not in text(app)
    assert component(app, "answers")["rows"]


@pytest.mark.usefixtures("opened")
def test_the_tab_draws_a_rollout_without_code() -> None:
    visit("completion", task="text/all-kinds", tab="siblings")


# --- Where runs part ----------------------------------------------------------------------------


def parted(ours: str, theirs: str, *numbers: int) -> siblings.Parting:
    found = siblings.part(trace_of(ours, *numbers), trace_of(theirs, *numbers), siblings.same_lines(ours, theirs))
    assert found is not None
    return found


def test_runs_part_at_the_condition_that_goes_another_way() -> None:
    found = parted(RIGHT.replace("x > best", "x < best"), RIGHT.replace("best", "most"), 4, 7)
    assert found.before is not None
    assert (found.before.number, found.before.line) == (5, 4)
    assert (found.ours and found.ours.line, found.theirs and found.theirs.line) == (3, 5)


def test_the_steps_after_the_parting_are_those_that_followed_at_once() -> None:
    theirs = (
        "def largest(xs):\n    best = xs[0]\n    for x in xs:\n        if x < best:\n            best = x\n"
        "        else:\n            print('not larger', x, 'than the others')\n    return best\n"
    )
    ours = theirs.replace("x < best", "x <= best").replace("print('not larger', x, 'than the others')", "pass")
    assert 7 not in siblings.same_lines(theirs, ours)
    found = parted(ours, theirs, 4, 7)
    assert (found.before and found.before.line, found.ours and found.ours.line) == (4, 5)
    assert found.theirs is not None
    assert (found.theirs.number, found.theirs.line) == (4, 7), "not line 3, which comes after it"


def test_other_names_and_lines_that_only_one_has_do_not_part_runs() -> None:
    ours = RIGHT.replace("best = xs[0]", "unused = len(xs)\n    best = xs[0]")
    theirs = RIGHT.replace("best", "most")
    lines = siblings.same_lines(ours, theirs)
    assert siblings.part(trace_of(ours, 4, 7), trace_of(theirs, 4, 7), lines) is None


def test_a_run_that_ends_before_the_other_parts_there() -> None:
    found = parted(RIGHT.replace("    return best\n", ""), RIGHT, 4)
    assert found.ours is not None
    assert (found.ours.line, found.ours.said) == (3, "returned None")


def test_indentation_widths_are_no_difference_but_levels_are() -> None:
    narrow = "def f(a):\n  if a:\n    return 1\n\n  return 2\n"
    wide = narrow.replace("  ", "\t")
    assert siblings.levelled(narrow) == siblings.levelled(wide)
    assert siblings.levelled("if a:\n  x = 1\n  y = 2\n") != siblings.levelled("if a:\n  x = 1\ny = 2\n")
