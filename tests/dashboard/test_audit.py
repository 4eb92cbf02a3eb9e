"""The Audit page: other checkers on the same answers, given rewards against ours, flags of what passed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import sandbox_state, workspace
from dashboard.audit import audit_job
from dashboard.queries import audits
from dashboard.state import Filter
from dashboard.workspace import Entry, OpenRun
from evaluator.model import Flag, Grade, Kind, Mode, Rollout, Task, TestCase, Verdict
from evaluator.runs.reading import Manifest, RunWriter
from tests.dashboard import sample_run
from tests.dashboard.test_pages import component, no_exception, text, visit

HOSTILE = sample_run.HOSTILE
PRINTS = Task(task_id=f"prints {HOSTILE}", mode=Mode.STDIN, prompt="Print.", cases=(TestCase(0, "", "1 2\n"),))
ASSERTS = Task(task_id="asserts", mode=Mode.ASSERT, prompt="Write f.", entry_point="f", test="assert f(1) == 1")
CODES = {"lines": "print('1\\n2')", "right": "print('1 2')", "wrong": "print('3')"}


def write(path: Path) -> Path:
    """Three programs, whose given rewards are 1, 1 and 0.25; and rollouts with flags."""
    row = 0
    with RunWriter.create(path, Manifest()) as writer:
        for task in (PRINTS, ASSERTS):
            writer.add_task(task, task.cases)
        given = {"lines": 1.0, "right": 1.0, "wrong": 0.25}
        for sample, code in CODES.items():
            verdict = Verdict.PASSED if sample == "right" else Verdict.WRONG_ANSWER
            grade = Grade(
                task_id=PRINTS.task_id, sample_id=sample, verdict=verdict, reward=float(sample == "right"),
                code=code, grader="tests", checker="floats",
            )  # fmt: skip
            rollout = Rollout(
                task_id=PRINTS.task_id, sample_id=sample, completion=code, kind=Kind.FULL, given_reward=given[sample]
            )
            writer.add(rollout, grade, row)
            row += 1
        flagged = [(Verdict.PASSED, "ctypes"), (Verdict.WRONG_ANSWER, "ctypes"), (Verdict.PASSED, "missing_package")]
        for verdict, word in flagged:
            sample = f"asserts#{row}"
            grade = Grade(
                task_id="asserts", sample_id=sample, verdict=verdict, reward=float(verdict is Verdict.PASSED),
                code="def f(n): return n", grader="tests", flags=(Flag(word, "line 1"),),
            )  # fmt: skip
            writer.add(Rollout(task_id="asserts", sample_id=sample, completion=""), grade, row)
            row += 1
        writer.close()
    return path


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OpenRun:
    path = write(tmp_path / "audited")
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(path)]}))
    return workspace.open_run(Entry("audited", path))


def audited(**params: str) -> AppTest:
    app = visit("audit", **params)
    no_exception(app)
    return app


def test_an_audit_lists_what_depends_on_the_checker(opened: OpenRun) -> None:
    names = ("floats", "tokens")
    app = audited(graders="floats,tokens")
    assert app.button(key="audit").label == "Audit 3 rollouts"
    audit_job.start(opened, names)
    job = audit_job.find(opened, names)
    assert job is not None
    job.wait()
    assert job.failure is None
    app = audited(graders="floats,tokens")
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
    names = ("floats", "lines")
    audit_job.start(opened, names)
    job = audit_job.find(opened, names)
    assert job is not None
    job.stop()
    job.wait()
    assert job.report is not None
    app = audited(graders="floats,lines")
    assert f"Stopped at {job.report.rollouts} of 6 rollouts." in text(app)
    assert app.button(key="audit").label == "Audit again"


def test_a_refused_audit_says_why_and_has_no_button_to_press(opened: OpenRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "may_run_code", lambda: False)
    app = audited()
    assert app.button(key="audit").disabled
    assert str(sandbox_state.refusal()) in text(app)


@pytest.mark.usefixtures("opened")
def test_one_checker_is_not_enough() -> None:
    app = audited(graders="floats")
    assert app.button(key="audit").disabled
    assert "Choose two checkers or more." in text(app)


@pytest.mark.usefixtures("opened")
def test_unknown_checkers_in_the_address_are_left_out() -> None:
    assert audited(graders=f"floats,{HOSTILE},tokens").multiselect(key="w_checkers").value == ["floats", "tokens"]


def test_given_rewards_are_counted_against_ours(opened: OpenRun) -> None:
    found = audits.given_counts(opened, Filter())
    assert (found.given, found.same, found.higher, found.lower, found.without_own) == (3, 1, 2, 0, 0)
    assert audits.given_by_verdict(opened, Filter()) == {
        (audits.BINS.index("1"), "passed"): 1,
        (audits.BINS.index("1"), "wrong_answer"): 1,
        (audits.BINS.index("0 to 0.5"), "wrong_answer"): 1,
    }
    app = audited()
    cards = {card["name"]: (card["value"], card["href"]) for card in component(app, "cards")["cards"]}
    assert cards == {
        "same": ("1", "rollouts?run=audited&given=same"),
        "higher": ("2", "rollouts?run=audited&given=higher"),
        "lower": ("0", None),
    }


@pytest.mark.usefixtures("opened")
def test_flags_of_passed_rollouts_lead_to_them() -> None:
    drawn = component(audited(), "audit_flags")["rows"]
    assert [(row["label"], row["note"], row["href"]) for row in drawn] == [
        ("ctypes", "1 passed (33.3%) of 2 · 1 task", "rollouts?run=audited&flag=ctypes&verdict=passed")
    ]


def test_a_run_without_given_rewards_or_checkers_says_so(
    tmp_path: Path, checks: OpenRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(checks.path)]}))
    body = text(audited())
    assert "No rollout in the filter came with a reward" in body
    assert "Nothing to compare: no task of this run has inputs and expected outputs" in body
