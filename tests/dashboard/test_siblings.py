"""The Siblings tab: the nearest passing sample, where the runs part, and what the group answered."""

from __future__ import annotations

import pytest

from dashboard import workspace
from dashboard.why import parting
from dashboard.workspace import Entry, OpenRun
from evaluator.model import CaseResult, Grade, Kind, Limits, Mode, Rollout, Task, TestCase, Verdict
from evaluator.runs.reading import Manifest, RunWriter
from evaluator.tracing import Trace, replay
from tests.dashboard import sample_run
from tests.dashboard.test_pages import component, no_exception, text, visit

HOSTILE = sample_run.HOSTILE
HEAD = "def largest(xs):\n    best = 0\n"
BODY = "    for x in xs:\n        if x > best:\n            best = x\n    return best\n"
RIGHT = f"{HEAD.replace('0', 'xs[0]')}{BODY}"
OTHER = "def largest(xs):\n    return sorted(xs)[-1]\n"
CODES = {
    "big/wrong": HEAD + BODY,
    "big/sorted": OTHER,
    "big/near": RIGHT,
    f"big/{HOSTILE}": "def largest(xs):\n    return HOSTILE\n",
    "big/wrong-too": HEAD + BODY.replace("x > best", "x >= best"),
}
ANSWERS = {"big/wrong": "0", "big/sorted": "-1", "big/near": "-1", "big/wrong-too": "0"}
TASK = Task(
    task_id="big",
    mode=Mode.CALL,
    entry_point="largest",
    cases=(TestCase(0, "[-3, -1, -2]", "-1"),),
    reference=RIGHT,
)
ALONE = Task(task_id="alone", mode=Mode.CALL, entry_point="largest", cases=TASK.cases, reference=RIGHT)
LOST = Task(task_id="lost", mode=Mode.CALL, entry_point="largest", cases=TASK.cases)


def graded(task: str, sample: str, code: str, answer: str | None) -> Grade:
    passed = answer == "-1"
    verdict = Verdict.PASSED if passed else Verdict.WRONG_ANSWER if answer is not None else Verdict.RUNTIME_ERROR
    error = None if answer is not None else f"NameError {HOSTILE}"
    one = CaseResult(index=0, verdict=verdict, expected="-1", actual=answer, error_type=error, wall_s=0.01)
    return Grade(
        task_id=task, sample_id=sample, verdict=verdict, reward=float(passed), cases=(one,), code=code, kind=Kind.FULL
    )


@pytest.fixture(scope="session")
def groups(tmp_path_factory: pytest.TempPathFactory) -> OpenRun:
    path = tmp_path_factory.mktemp("runs") / "groups"
    grades = [graded("big", sample, code, ANSWERS.get(sample)) for sample, code in CODES.items()]
    grades += [graded("alone", "alone/0", HEAD + BODY, "0"), graded("lost", "lost/0", HEAD + BODY, "0")]
    with RunWriter.create(path, Manifest(dataset="d.jsonl", rollouts="r.jsonl")) as writer:
        for task in (TASK, ALONE, LOST):
            writer.add_task(task, task.cases)
        for row, one in enumerate(grades):
            made = Rollout(task_id=one.task_id, sample_id=one.sample_id, completion=one.code or "", model=f"m{row}")
            writer.add(made, one, row)
        writer.close()
    return workspace.open_run(Entry("groups", path))


@pytest.fixture
def opened_groups(groups: OpenRun, monkeypatch: pytest.MonkeyPatch) -> OpenRun:
    monkeypatch.setenv(workspace.VARIABLE, f'{{"runs": ["{groups.path}"]}}')
    return groups


def trace_of(code: str, *numbers: int) -> Trace:
    task = Task(task_id="t", mode=Mode.CALL, entry_point="largest", cases=(TestCase(0, str([*numbers]), "0"),))
    return replay(task, code, 0, limits=Limits()).trace


@pytest.mark.usefixtures("opened_groups")
def test_the_nearest_passing_sample_is_shown_with_its_diff_and_a_link() -> None:
    app = visit("completion", task="big", sample="big/wrong", tab="siblings")
    no_exception(app)
    (link,) = [e for e in app.get("page_link") if e.proto.label == "near"]
    assert "sample=big%2Fnear" in link.proto.query_string
    shown = text(app)
    assert "xs<i>[</i>" in shown or "<i>xs[" in shown
    assert "The runs part at step 1, line 2" in shown
    assert "best = -3" in shown
    assert 'href="#L2"' in shown


@pytest.mark.usefixtures("opened_groups")
def test_the_answers_are_grouped_with_marks_and_links() -> None:
    app = visit("completion", task="big", sample="big/wrong", tab="siblings")
    rows = component(app, "answers")["rows"]
    assert [(row["letter"], row["text"], row["count"], row["mark"]) for row in rows[:2]] == [
        ("W", "0", "2 of 5", ""),
        ("P", "-1", "2 of 5", "expected"),
    ]
    assert [row["here"] for row in rows] == [True, False, False]
    assert "NameError" in rows[2]["text"]
    assert [sample["label"] for sample in rows[0]["samples"]] == ["wrong", "wrong-too"]
    assert "sample=big%2Fwrong-too" in rows[0]["samples"][1]["href"]


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
    no_exception(app)
    assert said in text(app)
    assert "<img src=x" not in text(app)


@pytest.mark.usefixtures("opened_groups")
def test_an_expected_answer_that_nobody_gave_is_listed_with_none() -> None:
    app = visit("completion", task="lost", sample="lost/0", tab="siblings")
    rows = component(app, "answers")["rows"]
    assert [(row["text"], row["count"], row["mark"]) for row in rows] == [
        ("0", "1 of 1", ""),
        ("-1", "0 of 1", "expected"),
    ]


@pytest.mark.usefixtures("opened_groups")
def test_without_permission_nothing_runs_and_the_rest_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "may_run_code", lambda: False)
    app = visit("completion", task="big", sample="big/wrong", tab="siblings")
    no_exception(app)
    assert "--allow-rerun" in text(app)
    assert "The runs part" not in text(app)
    assert component(app, "answers")["rows"]


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize("task", ["math/add", f"text/{HOSTILE}", "text/all-kinds"])
def test_the_tab_draws_every_kind_of_rollout(task: str) -> None:
    app = visit("completion", task=task, tab="siblings")
    no_exception(app)
    assert "<img src=x" not in text(app)


# --- Where runs part ----------------------------------------------------------------------------


def test_runs_part_at_the_condition_that_goes_another_way() -> None:
    ours, theirs = RIGHT.replace("x > best", "x < best"), RIGHT.replace("best", "most")
    found = parting.part(trace_of(ours, 4, 7), trace_of(theirs, 4, 7), parting.same_lines(ours, theirs))
    assert found is not None
    assert found.before is not None
    assert (found.before.number, found.before.line) == (5, 4)
    assert (found.ours and found.ours.line, found.theirs and found.theirs.line) == (3, 5)


def test_the_steps_after_the_parting_are_those_that_followed_at_once() -> None:
    ours = (
        "def largest(xs):\n    best = xs[0]\n    for x in xs:\n        if x < best:\n            best = x\n"
        "        else:\n            print('not larger', x, 'than the others')\n    return best\n"
    )
    theirs = ours.replace("x < best", "x <= best").replace("print('not larger', x, 'than the others')", "pass")
    lines = parting.same_lines(ours, theirs)
    assert 7 not in lines
    found = parting.part(trace_of(theirs, 4, 7), trace_of(ours, 4, 7), parting.same_lines(theirs, ours))
    assert found is not None
    assert (found.before and found.before.line, found.ours and found.ours.line) == (4, 5)
    assert found.theirs is not None
    assert (found.theirs.number, found.theirs.line) == (4, 7), "not line 3, which comes after it"


def test_other_names_and_lines_that_only_one_has_do_not_part_runs() -> None:
    ours = RIGHT.replace("best = xs[0]", "unused = len(xs)\n    best = xs[0]")
    theirs = RIGHT.replace("best", "most")
    lines = parting.same_lines(ours, theirs)
    assert parting.part(trace_of(ours, 4, 7), trace_of(theirs, 4, 7), lines) is None


def test_a_run_that_ends_before_the_other_parts_there() -> None:
    ours, theirs = RIGHT.replace("    return best\n", ""), RIGHT
    found = parting.part(trace_of(ours, 4), trace_of(theirs, 4), parting.same_lines(ours, theirs))
    assert found is not None
    assert found.ours is not None
    assert (found.ours.line, found.ours.said) == (3, "returned None")


def test_indentation_widths_are_no_difference_but_levels_are() -> None:
    narrow = "def f(a):\n  if a:\n    return 1\n\n  return 2\n"
    wide = narrow.replace("  ", "\t")
    assert parting.levelled(narrow) == parting.levelled(wide)
    assert parting.levelled("if a:\n  x = 1\n  y = 2\n") != parting.levelled("if a:\n  x = 1\ny = 2\n")
