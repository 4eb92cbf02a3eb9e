"""Grading from the page: its settings, progress, stopping and resuming, and runs that others write."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from functools import partial
from html import unescape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import evaluator
from dashboard import workspace
from dashboard.grading import resuming
from dashboard.grading.grading_jobs import Job, Jobs, Pace, Progress, jobs
from dashboard.workspace import Entry
from evaluator.model import Limits
from evaluator.runs.files import RunLock, read_manifest
from evaluator.runs.reading import Manifest, Run, RunWriter
from tests.dashboard import sample_run, waiting
from tests.dashboard.test_pages import component, followed, no_exception, text, visit

PATIENCE_S = 60


@pytest.fixture(autouse=True)
def work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A folder for what is graded from the page; afterwards nothing runs any more."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for run in list(workspace.graded_here()):
        job = jobs().of_run(run)
        if job is not None:
            job.stop()
            until(lambda job=job: not job.running)
    workspace.graded_here().clear()


def until(condition: object) -> None:
    """Wait for a condition that a thread will meet."""
    assert callable(condition)
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)


def opened(monkeypatch: pytest.MonkeyPatch, rollouts: Path, dataset: Path | None = None, **more: object) -> None:
    names = {"rollouts": [str(rollouts)], "dataset": str(dataset) if dataset else None, "allow_rerun": True} | more
    monkeypatch.setenv(workspace.VARIABLE, json.dumps(names))


def started(app: AppTest) -> AppTest:
    """The page of the run after a click on Grade."""
    app.button(key="grade").click().run()
    no_exception(app)
    return followed(app)


def the_job(rollouts: Path) -> Job:
    job = jobs().of_rollouts(rollouts)
    assert job is not None
    return job


def test_a_run_is_read_while_it_grows_stopped_and_resumed(monkeypatch: pytest.MonkeyPatch, work: Path) -> None:
    rollouts, dataset = waiting.write(work, "slow", quick=3, slow=40)
    opened(monkeypatch, rollouts, dataset)
    app = started(visit("overview"))
    job = the_job(rollouts)
    until(lambda: job.progress.graded >= 3)
    until(lambda: "of 43" in text(app.run()) and "no rollout is graded yet" not in text(app))
    cards = {card["name"]: card["value"] for card in component(app, "cards")["cards"]}
    assert int(cards["rollouts"]) >= 1
    for page in ("rollouts", "completion", "tasks", "rewards"):
        no_exception(visit(page, run=job.run.name))

    pressed = time.monotonic()
    app.button(key="stop").click().run()
    until(lambda: not job.running)
    assert time.monotonic() - pressed < 10  # far less than the sleepers' time limits, one after the other
    assert read_manifest(job.run).state == "stopped"

    app = visit("overview", run=job.run.name)
    graded = Run.open(job.run).graded_samples()
    assert f"Stopped at {len(graded)} of 43 rollouts" in text(app)
    assert "--resume --out" in text(app)
    app.button(key="resume").click().run()
    no_exception(app)
    again = the_job(rollouts)
    assert again is not job
    until(lambda: again.progress.total is not None)
    assert again.progress.graded >= len(graded)
    assert again.progress.total == 43
    app.run()
    assert app.button(key="stop")
    assert read_manifest(again.run).limits == Limits()


def test_the_settings_of_the_form_are_those_of_the_run(monkeypatch: pytest.MonkeyPatch, work: Path) -> None:
    rollouts, dataset = waiting.write(work, "few", quick=9, slow=0)
    opened(monkeypatch, rollouts, dataset)
    app = visit("overview")
    assert [b.label for b in app.button if b.key == "grade"] == ["Grade 9 rollouts"]
    app.selectbox(key="grade_checker").set_value("exact")
    app.number_input(key="grade_timeout").set_value(2.5)
    app.number_input(key="grade_memory").set_value(256)
    app.number_input(key="grade_workers").set_value(1)
    app.number_input(key="grade_limit").set_value(4).run()
    no_exception(app)
    assert "2.5 s per test" in text(app)
    assert [b.label for b in app.button if b.key == "grade"] == ["Grade 4 rollouts"]
    started(app)
    job = the_job(rollouts)
    until(lambda: not job.running)
    manifest = read_manifest(job.run)
    assert (manifest.checker, manifest.workers, manifest.limit) == ("exact", 1, 4)
    assert (manifest.limits.wall_s, manifest.limits.cpu_s, manifest.limits.memory_mb) == (2.5, 2.5, 256)
    assert manifest.state == "finished"
    assert len(Run.open(job.run).graded_samples()) == 4


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("timeout", -1, "limits.wall_s is -1.0: give a number above 0"),
        ("memory", 0, "limits.memory_mb is 0.0: give a number above 0"),
        ("workers", 0, "Workers is 0: give a whole number from 1"),
        ("limit", 1.5, "Only the first rollouts is 1.5: give a whole number from 1"),
    ],
)  # fmt: skip
def test_a_setting_that_can_not_be_used_is_one_line_and_nothing_starts(
    setting: str, value: float, said: str, monkeypatch: pytest.MonkeyPatch, work: Path
) -> None:
    rollouts, dataset = waiting.write(work, "few", quick=1, slow=0)
    opened(monkeypatch, rollouts, dataset)
    app = visit("overview")
    app.number_input(key=f"grade_{setting}").set_value(value).run()
    no_exception(app)
    assert said in unescape(text(app))
    assert app.button(key="grade").disabled


@pytest.mark.parametrize(
    ("grader", "said"),
    [
        ("nobody", "grader 'nobody' is unknown"),
        ("/tmp/mine.py:grade", "it loads code from a file"),
        ("similarity:model=m,base_url=http://127.0.0.1:1/v1", "it calls another service"),
        ("weighted", 'give "graders"'),
    ],
)
def test_a_grader_that_a_page_may_not_use_is_one_line(grader: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    def script() -> None:
        import streamlit as st

        from dashboard.grading import grading_form

        try:
            st.text(str(grading_form.chosen()))
        except grading_form.SettingsError as error:
            st.text(f"refused: {error}")

    app = AppTest.from_function(script)
    app.session_state["grade_grader"] = grader
    app.run()
    assert not app.exception
    assert app.text[0].value.startswith("refused: ")
    assert said in app.text[0].value


def test_two_visitors_who_press_grade_at_once_start_one_job(monkeypatch: pytest.MonkeyPatch, work: Path) -> None:
    rollouts, dataset = waiting.write(work, "shared", quick=1, slow=20)
    opened(monkeypatch, rollouts, dataset)
    first, second = visit("overview"), visit("overview")
    started(first)
    second.button(key="grade").click().run()  # the page was drawn before the other one's click
    assert workspace.graded_here() == [the_job(rollouts).run]
    assert followed(second).query_params["run"] == followed(first).query_params["run"]
    third = visit("overview", run=rollouts.name)
    assert "It is being graded into" in text(third)
    assert "grade" not in [button.key for button in third.button]
    assert third.button(key="stop")


def test_threads_that_start_the_same_grading_get_one_job(work: Path) -> None:
    rollouts, dataset = waiting.write(work, "raced", quick=0, slow=20)
    known, found, begin = Jobs(), list[Job](), threading.Barrier(8)

    def press() -> None:
        begin.wait()
        found.append(known.grade(rollouts, partial(evaluator.grade_file, rollouts, dataset)))

    threads = [threading.Thread(target=press) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(job) for job in found}) == 1
    found[0].stop()
    until(lambda: not found[0].running)
    assert len(list((work / "runs").iterdir())) == 1


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (b"", "is empty"),
        (b'{"question": "no"}\n', "no known format has these fields"),
        (b"\xff\xfe\x00", "d.jsonl"),
    ],
)
def test_a_dataset_that_can_not_be_read_is_one_line_on_the_page_of_the_file(
    broken: bytes, said: str, monkeypatch: pytest.MonkeyPatch, work: Path
) -> None:
    rollouts, _ = waiting.write(work, "few", quick=1, slow=0)
    dataset = work / "d.jsonl"
    dataset.write_bytes(broken)
    opened(monkeypatch, rollouts, dataset)
    app = visit("overview", run=rollouts.name)
    app.button(key="grade").click().run()
    job = the_job(rollouts)
    until(lambda: not job.running)
    assert workspace.graded_here() == []
    assert not job.run.exists()
    lost = visit("overview", run=job.run.name)  # who watched it begin
    assert component(lost, "name")["address"].endswith(f"run={rollouts.name}")
    shown = visit("overview", run=rollouts.name)
    no_exception(shown)
    assert "The last grading failed: " in text(shown)
    assert said in text(shown)
    assert not shown.button(key="grade").disabled


def stored(work: Path, **changes: object) -> workspace.OpenRun:
    """A stopped run of two of nine rollouts, whose manifest says these things."""
    rollouts, dataset = waiting.write(work, "few", quick=9, slow=0)
    done = evaluator.grade_file(rollouts, dataset, out=work / "part", limit=2)
    manifest = read_manifest(done.run)
    manifest.state, manifest.limit = "stopped", None
    for name, value in changes.items():
        setattr(manifest, name, value)
    (done.run / "run.json").write_bytes(evaluator_json(manifest))
    return workspace.open_run(Entry("part", done.run))


def evaluator_json(manifest: Manifest) -> bytes:
    import msgspec

    return msgspec.json.encode(manifest)


def test_resuming_goes_on_with_what_has_no_grade(monkeypatch: pytest.MonkeyPatch, work: Path) -> None:
    run = stored(work)
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"allow_rerun": True}))
    assert resuming.refusal(run) is None
    resuming.resume(run, 2)
    job = jobs().of_run(run.path)
    assert job is not None
    until(lambda: not job.running)
    assert job.failure is None
    assert job.progress[:2] == (9, 9)
    assert read_manifest(run.path).state == "finished"


@pytest.mark.parametrize(("cache", "read"), [(None, 7), ("folder", 7), ("none", 0)])
def test_a_run_from_elsewhere_does_not_choose_the_folder_of_cached_grades(
    monkeypatch: pytest.MonkeyPatch, work: Path, cache: str | None, read: int
) -> None:
    run = stored(work, cache=str(work / cache) if cache == "folder" else cache)
    evaluator.grade_file(work / "few.jsonl", work / "few.dataset.jsonl", out=work / "whole")
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"allow_rerun": True}))
    resuming.resume(run, 2)
    job = jobs().of_run(run.path)
    assert job is not None
    until(lambda: not job.running)
    assert read_manifest(run.path).cached == read
    assert not (work / "folder").exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rollouts": "gone.jsonl"}, "The file of its rollouts is missing: "),
        ({"dataset": ""}, "The file of its dataset is missing: the run does not name it"),
        ({"grader": "own.py:grade"}, "it loads code from a file"),
        ({"grader": "similarity:model=m,base_url=http://127.0.0.1:1/v1"}, "it calls another service"),
        ({"interpreter": "/bin/sh"}, "a Python or a sandbox of its own"),
        ({"sandbox": "degraded"}, "a Python or a sandbox of its own"),
    ],
)
def test_a_run_that_can_not_be_resumed_from_the_page_says_why(
    changes: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch, work: Path
) -> None:
    run = stored(work, **changes)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(run.path)], "allow_rerun": True}))
    app = visit("overview")
    no_exception(app)
    assert said in text(app)
    assert app.button(key="resume").disabled
    assert "--resume --out" in text(app)


def test_a_run_that_another_process_writes_has_no_buttons_and_no_remains_of_a_failed_resume(
    monkeypatch: pytest.MonkeyPatch, work: Path
) -> None:
    run = stored(work)
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(run.path)], "allow_rerun": True}))
    lock = RunLock(run.path)
    resuming.resume(run, 2)  # a click on a page that was drawn before the other process began
    job = jobs().of_run(run.path)
    assert job is not None
    until(lambda: not job.running)
    lock.release()
    assert "is writing it" in text(visit("overview"))


def test_a_run_from_the_shell_shows_how_far_it_is(monkeypatch: pytest.MonkeyPatch, work: Path) -> None:
    (work / "r.jsonl").write_text('{"task_id": "t", "completion": "x"}\n' * 870)
    with RunWriter.create(work / "shell", Manifest(rollouts="r.jsonl", folder="..")) as writer:
        task = evaluator.Task.from_row({"task_id": "t", "mode": "stdin", "in_outs": {"inputs": [""], "outputs": ["a"]}})
        writer.add_task(task, task.cases)
        graded = sample_run.grade("t", "s0", (sample_run.passed(0, "a"),), "x")
        writer.add(evaluator.Rollout(task_id="t", sample_id="s0", completion="x"), graded, 0)
        writer.flush()
        monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(work / "shell")]}))
        app = visit("overview")
        no_exception(app)
        assert "Graded 1 of 870" in text(app)
        assert "stop" not in [button.key for button in app.button]
    assert "Stopped at 1 of 870" in text(visit("overview"))


def test_the_picker_has_runs_that_appear_in_a_folder(monkeypatch: pytest.MonkeyPatch, work: Path) -> None:
    folder = work / "many"
    sample_run.write_empty(folder / "one")
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"folders": [str(folder)]}))
    assert [entry.name for entry in workspace.entries()] == ["one"]
    sample_run.write_empty(folder / "two")
    (folder / "other").mkdir()
    assert [entry.name for entry in workspace.entries()] == ["one", "two"]


def test_only_the_newest_state_of_a_growing_run_stays_in_memory(work: Path) -> None:
    run = stored(work)
    first = workspace.open_run(Entry("part", run.path))
    resuming.resume(run, 2)
    job = jobs().of_run(run.path)
    assert job is not None
    until(lambda: not job.running)
    second = workspace.open_run(Entry("part", run.path))
    assert second.rows("SELECT count(*) FROM rollouts") == [(9,)]
    assert first.rows("SELECT count(*) FROM rollouts") == [(2,)]  # a page that is being drawn
    assert second.connection is workspace.open_run(Entry("part", run.path)).connection


def grows_while_it_is_drawn() -> None:
    """A page whose run gets its last rollouts after the sidebar was drawn, once."""
    from types import SimpleNamespace

    import streamlit as st

    from dashboard import controls, navigation, state, workspace
    from dashboard.grading import resuming
    from dashboard.grading.grading_jobs import jobs

    with navigation.entered(SimpleNamespace(url_path="rewards")):  # type: ignore[arg-type]
        controls.sidebar()
        chosen = workspace.entry(state.read())
        assert chosen is not None
        if jobs().of_run(chosen.path) is None:
            resuming.resume(workspace.open_run(chosen), 2)
            job = jobs().of_run(chosen.path)
            assert job is not None
            job.wait()
        st.text(f"the page counts {controls.screen().total}")


def test_the_sidebar_and_the_page_count_the_same_rollouts(monkeypatch: pytest.MonkeyPatch, work: Path) -> None:
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(stored(work).path)]}))
    app = AppTest.from_function(grows_while_it_is_drawn, default_timeout=60).run()
    no_exception(app)
    assert [each.value for each in app.text] == ["the page counts 9"]
    assert "9 of 9 rollouts" in text(app)


def test_a_pace_is_of_the_last_seconds() -> None:
    pace = Pace()
    assert pace.rate(0, 0.0) is None
    pace.note(0, 100.0)
    assert pace.rate(5, 101.0) is None  # too little to say
    for second in range(1, 31):
        pace.note(second, 100.0 + second)  # one a second
    for second in range(1, 31):
        pace.note(30 + 10 * second, 130.0 + second)  # ten a second
    assert pace.rate(330, 160.0) == pytest.approx(10)
    assert pace.rate(330, 176.0) == 0  # nothing came any more


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        (Progress(0, None, None), "graded 0, starting"),
        (Progress(312, 870, 41.0), "graded 312 of 870, 41 a second, about 14 s left"),
        (Progress(312, None, 41.0), "graded 312, 41 a second"),
        (Progress(1, 200, 0.2), "graded 1 of 200, 12 a minute, about 17 min left"),
        (Progress(1, 2_000_000, 41.0), "graded 1 of 2,000,000, 41 a second, about 13.6 h left"),
        (Progress(7, 5, 3.0), "graded 7 of 7, finishing"),
        (Progress(3, 5, 0.0), "graded 3 of 5, none in the last 15 s"),
    ],
)
def test_progress_in_words(progress: Progress, words: str) -> None:
    assert progress.words() == words
