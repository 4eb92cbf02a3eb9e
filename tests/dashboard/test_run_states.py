"""Pages of runs that are stopped, degraded, empty or not there yet, and of rollouts that have no grades."""

import json
import re
import tempfile
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import sandbox_state, workspace
from evaluator.model import CaseResult, Frame, Grade, Mode, Rollout, Task, TestCase, Traceback, Verdict
from evaluator.runs.reading import Run
from evaluator.runs.writing import RunWriter
from tests.dashboard import rows, sample_run
from tests.dashboard.rows import Show, Written, row
from tests.dashboard.test_pages import PAGES, address, mostly_slow, no_exception, text, visit
from tests.manifests import manifest_of
from tests.waiting import wait_until

OF_RUNS = [page for page in PAGES if page != "docs"]

ONE_CASE = Task(task_id="t", mode=Mode.STDIN, prompt="p", cases=(TestCase(0, "1", "a\n"),))


def test_a_task_without_test_cases_offers_nothing_to_run(written: Written) -> None:
    written([row("t", "s", reward=None)], Task(task_id="t", mode=Mode.STDIN, prompt="p"))
    app = visit("tasks", task="t")
    assert "no test case that can run" in text(app)
    assert "None" not in " ".join(button.label for button in app.button)


def stopped_run(path: Path, *, state: str = "stopped", why: str | None = None) -> Path:
    """A run of one of the first two of three rollouts, whose process is gone."""
    rollouts = path.with_suffix(".jsonl")
    rollouts.write_text('{"task_id": "t", "completion": "x"}\n' * 3)
    manifest = manifest_of(rollouts=rollouts.name, dataset="a b.jsonl", folder="..", checker="exact", limit=2)
    writer = RunWriter.create(path, manifest)
    frames = (Frame(1, "<module>", "spin()"), Frame(3, "spin", "while True:"))
    trace, message = Traceback("", "", frames), "10 s of CPU time used"
    late = CaseResult(index=0, verdict=Verdict.TIME_LIMIT, expected="1", error_message=message, traceback=trace)
    writer.add_task(ONE_CASE, ONE_CASE.cases)
    code = "import os\ndef spin():\n    while True:\n        pass\n"
    graded = Grade(task_id="t", sample_id="s", verdict=Verdict.TIME_LIMIT, reward=0.0, cases=(late,), code=code)
    writer.add(Rollout(task_id="t", sample_id="s", completion=code, given_reward=1.0), graded, 0)
    writer.close("stopped")
    stored = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps(stored | {"state": state, "stopped_by": why}))
    return path


@pytest.mark.parametrize("page", mostly_slow(OF_RUNS, "completion"))
def test_a_stopped_run_says_so_and_how_to_resume_it_on_every_page(page: str, show: Show, tmp_path: Path) -> None:
    run = stopped_run(tmp_path / "late")
    show(run)
    shown = unescape(text(visit(page)))
    assert "Stopped at 1 of 2 rollouts: figures are partial." in shown
    paths = f"grade {run}.jsonl --dataset '{run.parent}/a b.jsonl'"
    assert f"rollscope {paths} --checker exact --limit 2 --resume --output {run}</code>" in shown
    if page == "completion":
        assert '<span class="ln fail" id="L3">' in shown
        assert "stopped here" in shown
        assert "where it was at its time limit (limit: 10 s CPU time)" in shown
        assert "given reward" in shown


def test_a_run_whose_process_is_gone_or_that_a_full_disk_stopped_says_so(show: Show, tmp_path: Path) -> None:
    show(stopped_run(tmp_path / "late", state="running", why="No space left on device"))
    shown = unescape(text(visit("overview")))
    assert "Stopped at 1 of 2 rollouts: figures are partial (No space left on device)." in shown
    assert "--limit 2 --resume --output" in shown


ONE_OF_MANY = re.compile(
    r"(?<![\d.,])1 (rollouts|lines|tasks|tests|samples|frames|characters|carriage returns|groups|test cases)\b"
)


@pytest.mark.parametrize("page", mostly_slow(OF_RUNS, "overview", "completion"))
def test_one_of_a_kind_is_said_in_the_singular(page: str, written: Written) -> None:
    wrong = sample_run.wrong(0, "a\n", "b\r\n", "line 1")
    written([row("t", "s", reward=0.0, code="x", cases=(wrong,))], ONE_CASE)
    app = visit(page)
    charts = [e.proto.spec for e in app.get("plotly_chart")]
    components = [e.proto.json for e in app.get("bidi_component")]
    shown = "\n".join([unescape(re.sub("<.*?>", " ", text(app))), *charts, *components])
    assert "1 rollout" in shown
    assert not ONE_OF_MANY.findall(shown)


@pytest.mark.parametrize("page", mostly_slow(OF_RUNS, "overview", "compare"))
def test_nothing_open_says_what_to_type(page: str, show: Show) -> None:
    show()
    assert "rollscope view" in text(visit(page))


@pytest.mark.parametrize("page", mostly_slow(OF_RUNS, "overview"))
def test_an_address_with_a_filter_opens_a_run_without_rollouts(page: str, written: Written) -> None:
    """A copied address may be opened when its run has just started."""
    written([], ONE_CASE)
    app = visit(page, q="add", find="return", verdict="passed", model="m")
    assert "This run holds no rollouts" in text(app)


def test_a_run_that_can_not_be_read_is_one_line(show: Show, tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.json").write_text("{")
    show(tmp_path / "broken")
    app = address("overview")
    assert not app.exception
    assert len(app.error) == 1
    assert "can" in app.error[0].value


def test_rollouts_that_can_not_be_read_say_why(show: Show, tmp_path: Path) -> None:
    file = tmp_path / "new.jsonl"
    file.write_text('{"row": {}, "rollout": {}}\n')
    show(rollouts=[file])
    app = visit("overview")
    assert "no known format has these fields (row, rollout)" in text(app)
    assert [button.key for button in app.button] == ["keys"]
    assert "--dataset" not in text(app)


def came_with(folder: Path, *rewards: float | None) -> Path:
    """A file of NeMo Gym's rollouts that were verified."""
    said = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "An answer."}]}]
    row = {"responses_create_params": {"input": "How far?"}, "response": {"object": "response", "output": said}}
    file = folder / "new.jsonl"
    file.write_text("".join(json.dumps(row | {"reward": reward}) + "\n" for reward in rewards))
    return file


def test_a_file_opens_with_the_grades_that_its_rollouts_came_with(show: Show, tmp_path: Path) -> None:
    show(rollouts=[came_with(tmp_path, None, 0.25, 19.5)])
    app = visit("overview")
    assert "3 rollouts, not graded here. Outlined: the grades that 2 came with." in text(app)
    assert "To grade them here, a dataset with the test cases is needed." in text(app)
    assert "--dataset" in text(app)
    run = workspace.open_run(workspace.entries()[0])
    found = run.rows('SELECT task_id, sample_id, verdict, reward FROM rollouts ORDER BY "row"')
    assert [each[2:] for each in found] == [("unknown", None), ("wrong_answer", 0.25), ("passed", 19.5)]
    task, sample, *_ = found[1]
    assert "An answer." in text(visit("completion", task=task, sample=sample))


def test_new_lines_are_shown_when_the_page_is_drawn_again(show: Show, tmp_path: Path) -> None:
    file = came_with(tmp_path, 1.0)
    show(rollouts=[file])
    app = visit("overview")
    assert "1 rollout, not graded here" in text(app)
    file.write_text(file.read_text() * 3)
    wait_until(lambda: "3 rollouts, not graded here" in text(app.run()), "the new lines")


@pytest.mark.slow
def test_new_lines_are_graded_into_one_run_while_the_switch_is_on(
    show: Show, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)  # so that what is graded here goes to a folder which no other test has open
    dataset, rollouts = tmp_path / "d.jsonl", tmp_path / "grows.jsonl"
    dataset.write_text(json.dumps({"task_id": "a", "prompt": "P?", "in_outs": {"inputs": ["1"], "outputs": ["1"]}}))
    rollouts.write_text(json.dumps({"task_id": "a", "completion": "print(1)"}) + "\n")
    show(rollouts=[rollouts], dataset=dataset, allow_rerun=True)
    app = visit("overview", run="grows.jsonl")
    app.toggle(key="grade_new").set_value(True).run()
    assert verdicts_of_the_run(app, tmp_path / "runs", 1) == ["passed"]
    with rollouts.open("a") as file:
        file.write(json.dumps({"task_id": "a", "completion": "print(2)"}) + "\n")
    assert verdicts_of_the_run(app, tmp_path / "runs", 2) == ["passed", "wrong_answer"]
    app.toggle(key="grade_new").set_value(False).run()
    no_exception(app)
    assert not app.toggle(key="grade_new").value
    workspace.graded_here().clear()


def verdicts_of_the_run(app: AppTest, runs: Path, count: int) -> list[str]:
    """Those of the only run, once it is complete with so many."""

    def finished() -> Run | None:
        app.run()
        found = [Run.open(run) for run in runs.glob("*") if (run / "run.json").exists()]
        states = [(run.manifest.state, run.manifest.counts.get("rollouts")) for run in found]
        return found[0] if states == [("finished", count)] else None

    run = wait_until(finished, f"a run of {count} grades")
    assert run is not None
    return [verdict for (verdict,) in run.connect().sql('SELECT verdict FROM rollouts ORDER BY "row"').fetchall()]


def test_a_degraded_run_and_one_with_a_preamble_of_its_own_say_so(tmp_path: Path, show: Show) -> None:
    layers = ("rlimits", "degraded", "unproved: files")
    manifest = manifest_of(sandbox="degraded", preamble="import math\nimport re\n")
    one = row("t", "s", reward=1.0, code="x", layers=layers)
    show(rows.write(tmp_path / "one", [one], ONE_CASE, manifest=manifest))
    overview = unescape(text(visit("overview")))
    assert "Graded in a degraded sandbox, not proved: files." in overview
    said = "2 lines instead of the task's, starting with 'import math'"
    assert re.findall("<span>preamble</span> <b>(.*?)</b>", overview) == [said]
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
    opened: Path, show: Show, tmp_path: Path
) -> None:
    dataset, rollouts = tmp_path / "d.jsonl", tmp_path / "new.jsonl"
    dataset.write_text("{}\n")
    rollouts.write_text('{"task_id": "a", "completion": "x"}\n')
    show(opened, rollouts=[rollouts], dataset=dataset)
    app = visit("completion", task="math/add", sample="add#1")
    assert "No sandbox here" in text(app)
    assert '<span class="ln fail" id="L4">' in text(app)
    assert visit("tasks", task="math/add", tab="code").button(key="trial_all").disabled
    assert visit("overview", run="new.jsonl").button(key="grade").disabled


def test_two_runs_of_one_name_can_be_told_apart(show: Show, tmp_path: Path) -> None:
    show(*(sample_run.write_empty(tmp_path / parent / "run") for parent in ("a", "b")))
    assert [e.name for e in workspace.entries()] == ["run", "b/run"]


def test_code_can_not_be_run_where_others_reach_the_page(
    opened: Path, show: Show, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamlit.get_option", {"server.address": "0.0.0.0"}.get)
    assert not workspace.may_run_code()
    show(opened, allow_rerun=True)
    assert workspace.may_run_code()
