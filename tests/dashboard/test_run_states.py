"""Pages of runs that are stopped, degraded, empty or not there yet, and of rollouts that have no grades."""

from __future__ import annotations

import gzip
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
from evaluator.cli import main
from evaluator.model import CaseResult, Frame, Grade, Mode, Rollout, Task, TestCase, Traceback, Verdict
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


def test_the_rewards_that_rollouts_came_with_are_one_click_away(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, grades_go_to: Path
) -> None:
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"rollouts": [str(came_with(tmp_path, None, 0.25, 19.5))]}))
    app = visit("overview")
    assert [button.label for button in app.button if button.key != "keys"] == ["Show the rewards it came with"]
    assert "to grade it anew" in text(app)
    app.button(key="grade_stored").click().run()
    assert app.query_params["run"] in ("new.jsonl", ["new.jsonl"])  # else the run picker would come back to it
    opened = until_graded(app)
    no_exception(opened)
    (run,) = grades_go_to.iterdir()
    assert opened.query_params["run"] in (run.name, [run.name])
    overview = text(visit("overview", run=run.name))
    assert "<span>grader</span> <b>stored</b>" in overview
    assert "<span>checker</span>" not in overview
    rows = Run.open(run).connect()
    task, sample = rows.execute("SELECT task_id, sample_id FROM rollouts WHERE reward = 0.25").fetchall()[0]
    assert "the stored verdict: nothing ran here" in text(visit("completion", run=run.name, task=task, sample=sample))
    rewards = rows.execute("SELECT reward FROM rollouts ORDER BY row").fetchall()
    assert rewards == [(None,), (0.25,), (19.5,)]


def test_a_run_from_the_page_is_named_as_one_from_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, grades_go_to: Path
) -> None:
    packed = tmp_path / "r.json.gz"
    packed.write_bytes(gzip.compress(came_with(tmp_path, 0.5).read_bytes()))
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"rollouts": [str(packed)]}))
    app = visit("overview")
    assert "<b>runs/r-&lt;time&gt;</b>" in text(app)
    app.button(key="grade_stored").click().run()
    until_graded(app)
    with pytest.raises(SystemExit, match="0"):
        main(["grade", str(packed), "--grader", "stored"])
    names = [re.sub(r"\d{8}T\d{6}Z(-2)?", "TIME", run.name) for run in grades_go_to.iterdir()]
    assert names == ["r-TIME", "r-TIME"]


def test_rewards_come_first_and_grading_second_where_there_is_a_dataset(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    dataset = tmp_path / "d.jsonl"
    dataset.write_text("{}\n")
    for name, rewards, labels in (
        ("with", (1.0, 0.0), ["Show the rewards it came with", "Grade 2 rollouts"]),
        ("without", (None,), ["Grade 1 rollout"]),
    ):
        (tmp_path / name).mkdir()
        names = {"rollouts": [str(came_with(tmp_path / name, *rewards))], "dataset": str(dataset)}
        monkeypatch.setenv(workspace.VARIABLE, json.dumps(names))
        assert [button.label for button in visit("overview").button if button.key != "keys"] == labels


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
