"""Pages of runs that are stopped, degraded, empty or not there yet, and of rollouts that have no grades."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import sandbox_state, workspace
from evaluator.model import CaseResult, Frame, Grade, Mode, Rollout, Task, TestCase, Traceback, Verdict
from evaluator.runs.files import is_run
from evaluator.runs.reading import Manifest, Run, RunWriter
from tests.dashboard import sample_run
from tests.dashboard.test_pages import PAGES, followed, no_exception, text, visit


def open_alone(monkeypatch: pytest.MonkeyPatch, path: Path, task: Task, *grades: Grade, **asked: Any) -> Path:
    """Writes a run of one task, and opens it as the only one."""
    with RunWriter.create(path, Manifest(**asked)) as writer:
        writer.add_task(task, task.cases)
        for row, one in enumerate(grades):
            writer.add(Rollout(task_id=task.task_id, sample_id=one.sample_id, completion="x"), one, row)
        writer.close()
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(path)]}))
    return path


ONE_CASE = Task(task_id="t", mode=Mode.STDIN, prompt="p", cases=(TestCase(0, "1", "a\n"),))


def passed(sample: str = "s") -> Grade:
    return sample_run.grade("t", sample, (sample_run.passed(0, "a"),), "x")


def test_a_task_without_test_cases_offers_nothing_to_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ungraded = Grade(task_id="t", sample_id="s", verdict=Verdict.UNKNOWN, reward=None)
    open_alone(monkeypatch, tmp_path / "bare", Task(task_id="t", mode=Mode.STDIN, prompt="p"), ungraded)
    app = visit("tasks", task="t")
    no_exception(app)
    assert "no test case that can run" in text(app)
    assert "None" not in " ".join(button.label for button in app.button)


def stopped_run(path: Path, *, state: str) -> Path:
    """A run of one of the first two of three rollouts, whose process is gone."""
    rollouts = path.with_suffix(".jsonl")
    rollouts.write_text('{"task_id": "t", "completion": "x"}\n' * 3)
    manifest = Manifest(rollouts=rollouts.name, dataset="a b.jsonl", folder="..", checker="exact", limit=2)
    writer = RunWriter.create(path, manifest)
    frames = (Frame(1, "<module>", "spin()"), Frame(3, "spin", "while True:"))
    late = CaseResult(
        index=0,
        verdict=Verdict.TIME_LIMIT,
        expected="1",
        error_message="10 s of CPU time used",
        traceback=Traceback("", "", frames),
    )
    cases = (TestCase(0, "", "1"),)
    writer.add_task(Task(task_id="t", mode=Mode.STDIN, prompt="p", cases=cases), cases)
    code = "import os\ndef spin():\n    while True:\n        pass\n"
    graded = Grade(task_id="t", sample_id="s", verdict=Verdict.TIME_LIMIT, reward=0.0, cases=(late,), code=code)
    writer.add(Rollout(task_id="t", sample_id="s", completion=code, given_reward=1.0), graded, 0)
    writer.close("stopped")
    stored = path / "run.json"
    stored.write_text(stored.read_text().replace('"stopped"', f'"{state}"'))
    return path


@pytest.mark.parametrize("state", ["stopped", "running"])
def test_a_stopped_run_says_so_and_how_to_resume_it(
    state: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run = stopped_run(tmp_path / "late", state=state)
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(run)]}))
    paths = f"grade {tmp_path}/late.jsonl --dataset '{tmp_path}/a b.jsonl'"
    for page in PAGES if state == "stopped" else PAGES[:1]:
        shown = unescape(text(visit(page)))
        assert "Stopped at 1 of 2 rollouts: figures are partial." in shown
        assert f"rollscope {paths} --checker exact --limit 2 --resume --out {run}</code>" in shown
    shown = text(visit("completion"))
    assert '<span class="ln fail" id="L3">' in shown
    assert "stopped here" in shown
    assert "where it was at its time limit (limit: 10 s CPU time)" in shown
    assert "given reward" in shown


def test_a_run_that_a_full_disk_stopped_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run = stopped_run(tmp_path / "late", state="stopped")
    stored = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(stored | {"stopped_by": "No space left on device"}))
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(run)]}))
    assert "figures are partial (No space left on device)." in unescape(text(visit("overview")))


ONE_OF_MANY = re.compile(
    r"(?<![\d.,])1 (rollouts|lines|tasks|tests|samples|frames|characters|carriage returns|groups|test cases)\b"
)


def test_one_of_a_kind_is_said_in_the_singular(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wrong = sample_run.wrong(0, "a\n", "b\r\n", "line 1")
    open_alone(monkeypatch, tmp_path / "one", ONE_CASE, sample_run.grade("t", "s", (wrong,), "x"))
    for page in PAGES:
        app = visit(page)
        no_exception(app)
        charts = [e.proto.spec for e in app.get("plotly_chart")]
        components = [e.proto.json for e in app.get("bidi_component")]
        shown = "\n".join([unescape(re.sub("<.*?>", " ", text(app))), *charts, *components])
        assert "1 rollout" in shown
        assert not ONE_OF_MANY.findall(shown)


@pytest.mark.parametrize(
    ("preamble", "message"),
    [
        (None, ""),
        ("", "none"),
        ("import math\nimport re\n", "2 lines instead of the task's, starting with 'import math'"),
    ],
)
def test_overview_says_which_preamble_took_the_place_of_the_tasks_own(
    preamble: str | None, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    open_alone(monkeypatch, tmp_path / "run", ONE_CASE, passed(), preamble=preamble)
    app = visit("overview")
    no_exception(app)
    shown = re.findall("<span>preamble</span> <b>(.*?)</b>", unescape(text(app)))
    assert shown == ([message] if message else [])


def test_a_curve_over_one_task_counts_tasks_not_its_rollouts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    open_alone(monkeypatch, tmp_path / "one", ONE_CASE, *(passed(f"s{n}") for n in range(4)))
    charts = "".join(e.proto.spec for e in visit("rewards", view="all").get("plotly_chart"))
    assert "k (n = 1 task, 95% band)" in charts


def test_nothing_open_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(workspace.VARIABLE, "{}")
    for page in PAGES:
        app = visit(page)
        no_exception(app)
        assert "rollscope view" in text(app)


@pytest.mark.parametrize("filter_", [{"q": "add"}, {"find": "return"}, {"verdict": "passed", "model": "m"}])
def test_an_address_with_a_filter_opens_a_run_without_rollouts(
    filter_: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A copied address may be opened when its run has just started."""
    open_alone(monkeypatch, tmp_path / "none", ONE_CASE)
    for page in PAGES:
        app = visit(page, **filter_)
        no_exception(app)
        assert "This run holds no rollouts" in text(app)


def test_a_run_that_can_not_be_read_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.json").write_text("{")
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(tmp_path / "broken")]}))
    app = visit("overview")
    assert not app.exception
    assert len(app.error) == 1
    assert "can" in app.error[0].value


def test_rollouts_without_a_dataset_say_how_to_open_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "new.jsonl"
    file.write_text('{"task_id": "a", "completion": "x"}\n')
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"rollouts": [str(file)]}))
    app = visit("overview")
    no_exception(app)
    assert "--dataset" in text(app)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"row": {}, "rollout": {}}\n', "no known format has these fields (row, rollout)"),
        ("not JSON\n", "has no usable row"),
        ("", "is empty"),
    ],
)
def test_rollouts_that_can_not_be_read_say_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str, message: str
) -> None:
    file = tmp_path / "new.jsonl"
    file.write_text(content)
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"rollouts": [str(file)]}))
    app = visit("overview")
    no_exception(app)
    assert message in text(app)
    assert [button.key for button in app.button] == ["keys"]
    assert "--dataset" not in text(app)


def came_with(folder: Path, *rewards: float | None) -> Path:
    """A file of NeMo Gym's rollouts that were verified."""
    said = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "An answer."}]}]
    row = {"responses_create_params": {"input": "How far?"}, "response": {"object": "response", "output": said}}
    file = folder / "new.jsonl"
    file.write_text("".join(json.dumps(row | {"reward": reward}) + "\n" for reward in rewards))
    return file


@pytest.fixture
def grades_go_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A folder for what is graded from the page, which no other test has open."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "runs"
    workspace.graded_here().clear()


def until_graded(app: AppTest) -> AppTest:
    """The page of the run that a click on Grade opened, once it is complete."""
    opened = followed(app)
    for _ in range(500):
        if not any("stop" in (button.key or "") for button in opened.button):
            return opened
        opened.run()
    pytest.fail("the grading did not end")


def test_a_file_opens_with_the_grades_that_its_rollouts_came_with(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"rollouts": [str(came_with(tmp_path, None, 0.25, 19.5))]}))
    app = visit("overview")
    no_exception(app)
    assert "3 rollouts, not graded here. Outlined: the grades that 2 came with." in text(app)
    assert "To grade them here, a dataset with the test cases is needed." in text(app)
    run = workspace.open_run(workspace.entries()[0])
    rows = run.rows('SELECT task_id, sample_id, verdict, reward FROM rollouts ORDER BY "row"')
    assert [row[2:] for row in rows] == [("unknown", None), ("wrong_answer", 0.25), ("passed", 19.5)]
    task, sample, *_ = rows[1]
    assert "An answer." in text(visit("completion", task=task, sample=sample))
    for page in ("rollouts", "tasks", "rewards", "audit", "trouble"):
        no_exception(visit(page))


def test_a_file_without_grades_says_so_and_can_be_graded_where_there_is_a_dataset(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, grades_go_to: Path
) -> None:
    dataset, rollouts = tmp_path / "d.jsonl", tmp_path / "new.jsonl"
    dataset.write_text(json.dumps({"task_id": "a", "prompt": "P?", "in_outs": {"inputs": ["1"], "outputs": ["1"]}}))
    rollouts.write_text("".join(json.dumps({"task_id": "a", "completion": code}) + "\n" for code in ("print(1)", "0")))
    names = {"rollouts": [str(rollouts)], "dataset": str(dataset), "allow_rerun": True}
    monkeypatch.setenv(workspace.VARIABLE, json.dumps(names))
    app = visit("overview")
    assert "2 rollouts, not graded yet." in text(app)
    assert "<b>runs/new-&lt;time&gt;</b>" in text(app)
    app.button(key="grade").click().run()
    assert app.query_params["run"] in ("new.jsonl", ["new.jsonl"])  # else the run picker would come back to it
    opened = followed(app)
    (run,) = grades_go_to.iterdir()
    for _ in range(500):
        if is_run(run) and Run.open(run).manifest.state == "finished":
            break
        opened.run()
    assert Run.open(run).connect().sql('SELECT verdict FROM rollouts ORDER BY "row"').fetchall() == [
        ("passed",),
        ("wrong_answer",),
    ]


def test_new_lines_are_shown_when_the_page_is_drawn_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = came_with(tmp_path, 1.0)
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"rollouts": [str(file)]}))
    app = visit("overview")
    assert "1 rollout, not graded here" in text(app)
    file.write_text(file.read_text() * 3)
    for _ in range(500):
        if "3 rollouts, not graded here" in text(app.run()):
            return
    pytest.fail("the new lines were not shown")


def test_new_lines_are_graded_into_one_run_while_the_switch_is_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, grades_go_to: Path
) -> None:
    dataset, rollouts = tmp_path / "d.jsonl", tmp_path / "grows.jsonl"
    dataset.write_text(json.dumps({"task_id": "a", "prompt": "P?", "in_outs": {"inputs": ["1"], "outputs": ["1"]}}))
    rollouts.write_text(json.dumps({"task_id": "a", "completion": "print(1)"}) + "\n")
    names = {"rollouts": [str(rollouts)], "dataset": str(dataset), "allow_rerun": True}
    monkeypatch.setenv(workspace.VARIABLE, json.dumps(names))
    app = visit("overview", run="grows.jsonl")
    app.toggle(key="grade_new").set_value(True).run()
    assert verdicts_of_the_run(app, grades_go_to, 1) == ["passed"]
    with rollouts.open("a") as file:
        file.write(json.dumps({"task_id": "a", "completion": "print(2)"}) + "\n")
    assert verdicts_of_the_run(app, grades_go_to, 2) == ["passed", "wrong_answer"]
    app.toggle(key="grade_new").set_value(False).run()
    no_exception(app)
    assert not app.toggle(key="grade_new").value


def verdicts_of_the_run(app: AppTest, runs: Path, count: int) -> list[str]:
    """Those of the only run, once it is complete with so many."""
    for _ in range(500):
        app.run()
        found = [Run.open(run) for run in runs.glob("*") if (run / "run.json").exists()]
        if [(run.manifest.state, run.manifest.counts.get("rollouts")) for run in found] == [("finished", count)]:
            return [
                verdict
                for (verdict,) in found[0].connect().sql('SELECT verdict FROM rollouts ORDER BY "row"').fetchall()
            ]
    pytest.fail(f"the run did not get {count} grades")


def test_a_degraded_run_says_so_on_every_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grade = Grade(task_id="t", sample_id="s", verdict=Verdict.PASSED, reward=1.0, code="x",
                  layers=("rlimits", "degraded", "unproved: files"))  # fmt: skip
    open_alone(monkeypatch, tmp_path / "one", ONE_CASE, grade, sandbox="degraded")
    for page in ("overview", "rollouts", "rewards"):
        assert "Graded in a degraded sandbox, not proved: files." in text(visit(page))
    shown = text(visit("completion", task="t", sample="s"))
    assert "not proved: files" in shown
    assert "degraded" in shown.replace("not proved", "", 1)


@pytest.fixture
def no_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine with nowhere to put a temporary file, which both ways need."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    sandbox_state.fix.clear()
    yield
    sandbox_state.fix.clear()


@pytest.mark.usefixtures("no_sandbox")
def test_without_a_sandbox_grades_are_shown_the_fix_is_named_and_nothing_can_be_run(
    opened: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    dataset, rollouts = tmp_path / "d.jsonl", tmp_path / "new.jsonl"
    dataset.write_text("{}\n")
    rollouts.write_text('{"task_id": "a", "completion": "x"}\n')
    names = {"runs": [str(opened)], "rollouts": [str(rollouts)], "dataset": str(dataset)}
    monkeypatch.setenv(workspace.VARIABLE, json.dumps(names))
    app = visit("completion", task="math/add", sample="add#1")
    no_exception(app)
    assert "No sandbox here" in text(app)
    assert '<span class="ln fail" id="L4">' in text(app)
    assert visit("tasks", task="math/add", tab="code").button(key="trial_all").disabled
    assert visit("overview", run="new.jsonl").button(key="grade").disabled


def test_two_runs_of_one_name_can_be_told_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    runs = [sample_run.write_empty(tmp_path / parent / "run") for parent in ("a", "b")]
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(run) for run in runs]}))
    assert [e.name for e in workspace.entries()] == ["run", "b/run"]


def test_code_can_not_be_run_where_others_reach_the_page(opened: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamlit.get_option", {"server.address": "0.0.0.0"}.get)
    assert not workspace.may_run_code()
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(opened)], "allow_rerun": True}))
    assert workspace.may_run_code()
