"""The Audit page: other checkers on the same answers, given rewards against ours, flags of what passed."""

from pathlib import Path

import msgspec
import pytest

from dashboard import audit, background, sandbox_state, workspace
from dashboard.background import Job
from dashboard.queries import audits
from dashboard.state import Filter
from dashboard.workspace import Entry, OpenRun
from evaluator.auditing import Audit
from evaluator.model import Flag, Kind, Mode, Task, TestCase
from tests.dashboard import rows, sample_run
from tests.dashboard.rows import Row, Show
from tests.dashboard.test_pages import cards, component, text, visit

HOSTILE = sample_run.HOSTILE
PRINTS = Task(task_id=f"prints {HOSTILE}", mode=Mode.STDIN, prompt="Print.", cases=(TestCase(0, "", "1 2\n"),))
ASSERTS = Task(task_id="asserts", mode=Mode.ASSERT, prompt="Write f.", entry_point="f", test="assert f(1) == 1")


def program(sample: str, code: str, given: float) -> Row:
    reward = float(sample == "right")
    rollout, grade = rows.row(
        PRINTS.task_id, sample, reward=reward, completion=code, code=code, grader="tests", checker="floats"
    )
    return msgspec.structs.replace(rollout, kind=Kind.FULL, given_reward=given), grade


def flagged(place: int, reward: float, word: str) -> Row:
    fields = {"code": "def f(n): return n", "grader": "tests", "flags": (Flag(word, "line 1"),)}
    return rows.row("asserts", f"asserts#{place}", reward=reward, completion="", **fields)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three programs, whose given rewards are 1, 1 and 0.25; and rollouts with flags."""
    found = [
        program("lines", "print('1\\n2')", 1.0), program("right", "print('1 2')", 1.0),
        program("wrong", "print('3')", 0.25),
        flagged(3, 1.0, "ctypes"), flagged(4, 0.0, "ctypes"), flagged(5, 1.0, "missing_package"),
    ]  # fmt: skip
    return rows.write(tmp_path_factory.mktemp("runs") / "audited", found, PRINTS, ASSERTS)


@pytest.fixture
def opened(stored: Path, show: Show) -> OpenRun:
    show(stored)
    return workspace.open_run(Entry("audited", stored))


def begun(run: OpenRun, *names: str) -> Job[None]:
    audit.start(run, names)
    job = background.find(*audit.key(run, names))
    assert job is not None
    return job


def test_an_audit_lists_what_depends_on_the_checker(opened: OpenRun) -> None:
    app = visit("audit", graders=f"floats,{HOSTILE},tokens")
    assert app.multiselect(key="w_checkers").value == ["floats", "tokens"], "others are left out"
    assert app.button(key="audit").label == "Audit 3 rollouts"
    job = begun(opened, "floats", "tokens")
    job.wait()
    assert job.failure is None
    app = visit("audit", graders="floats,tokens")
    assert "pays 1 of 3 (33.3%)" in text(app)
    assert "pays 2 of 3 (66.7%)" in text(app)
    assert "Not compared: 3: no checker decides a task of mode assert" in text(app)
    drawn = component(app, "audit_rows")
    assert drawn["head"] == ["rollout", "run", "floats", "tokens", "why not"]
    [row] = drawn["rows"]
    assert row["label"] == f"{PRINTS.task_id} lines"
    assert row["cells"] == [[["W", ""]], [["W", ""]], [["P", ""]]]
    assert row["note"].startswith("floats: test 0: line 1, column 2: expected '2'")
    [control] = app.get("button_group")
    assert [option.content for option in control.proto.options] == [
        "depend on the checker: 1 of 3",
        "paid by tokens: 1",
    ]


def test_a_stopped_audit_says_how_far_it_came(opened: OpenRun) -> None:
    job = begun(opened, "floats", "lines")
    job.stop()
    job.wait()
    assert isinstance(job.outcome, Audit)
    app = visit("audit", graders="floats,lines")
    assert f"Stopped at {job.outcome.rollouts} of 6 rollouts." in text(app)
    assert app.button(key="audit").label == "Audit again"


@pytest.mark.usefixtures("opened")
def test_a_refused_audit_or_one_of_one_checker_says_why_and_has_no_button_to_press(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = visit("audit", graders="floats")
    assert app.button(key="audit").disabled
    assert "Choose two checkers or more." in text(app)
    monkeypatch.setattr(workspace, "may_run_code", lambda: False)
    app = visit("audit")
    assert app.button(key="audit").disabled
    assert str(sandbox_state.refusal()) in text(app)


def test_given_rewards_are_counted_against_ours_and_flags_of_passed_rollouts_lead_to_them(opened: OpenRun) -> None:
    found = audits.given_counts(opened, Filter())
    assert (found.given, found.same, found.higher, found.lower, found.without_own) == (3, 1, 2, 0, 0)
    assert audits.given_by_verdict(opened, Filter()) == {
        (audits.BINS.index("1"), "passed"): 1,
        (audits.BINS.index("1"), "wrong_answer"): 1,
        (audits.BINS.index("0 to 0.5"), "wrong_answer"): 1,
    }
    app = visit("audit")
    assert {name: (card["value"], card["href"]) for name, card in cards(app).items()} == {
        "same": ("1", "rollouts?run=audited&given=same"),
        "higher": ("2", "rollouts?run=audited&given=higher"),
        "lower": ("0", None),
    }
    drawn = component(app, "audit_flags")["rows"]
    assert [(row["label"], row["note"], row["href"]) for row in drawn] == [
        ("ctypes", "1 passed (33.3%) of 2 · 1 task", "rollouts?run=audited&flag=ctypes&verdict=passed")
    ]


def test_a_run_without_given_rewards_or_checkers_says_so(checks: OpenRun, show: Show) -> None:
    show(checks.path)
    body = text(visit("audit"))
    assert "No rollout in the filter came with a reward" in body
    assert "Nothing to compare: no task of this run has inputs and expected outputs" in body
