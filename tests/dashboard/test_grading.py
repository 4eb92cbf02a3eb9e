"""Grading from the page: its settings, progress, stopping and resuming, and runs that others write."""

import shutil
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec
import pytest
from streamlit.testing.v1 import AppTest

import evaluator
from dashboard import workspace
from dashboard.grading import grading_start
from dashboard.grading.grading_jobs import Job, Jobs, Pace, Progress, jobs
from dashboard.workspace import Entry, OpenRun
from evaluator.model import Limits
from evaluator.options import Options, Settings
from evaluator.runs.files import RunLock, read_manifest, write_manifest
from evaluator.runs.reading import Manifest, Run
from evaluator.runs.writing import RunWriter
from tests.dashboard import rows, sample_run, waiting
from tests.dashboard.rows import Show
from tests.dashboard.test_pages import HANG_S, cards, click, component, followed, no_exception, text, visit
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A folder for what is graded from the page; afterwards nothing runs any more."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for run in list(workspace.graded_here()):
        job = jobs().of_run(run)
        if job is not None:
            job.stop()
            ended(job)
    workspace.graded_here().clear()


def ended(job: Job | None) -> Job:
    """The job, once it has."""
    assert job is not None
    job.wait(HANG_S)
    assert not job.running
    return job


def the_job(rollouts: Path) -> Job:
    job = jobs().of_rollouts(rollouts)
    assert job is not None
    return job


def buttons(app: AppTest) -> list[str | None]:
    return [button.key for button in app.button]


@pytest.fixture
def offered(work: Path, show: Show) -> Path:
    """Nine right rollouts that can be graded from the page."""
    rollouts, dataset = waiting.write(work, "few", quick=9, slow=0)
    show(rollouts=[rollouts], dataset=dataset, allow_rerun=True)
    return rollouts


@pytest.mark.slow
def test_a_run_is_read_while_it_grows_stopped_and_resumed(show: Show, work: Path) -> None:
    rollouts, dataset = waiting.write(work, "slow", quick=3, slow=40)
    show(rollouts=[rollouts], dataset=dataset, allow_rerun=True)
    app = followed(click(visit("overview"), "grade"))
    job = the_job(rollouts)
    wait_until(lambda: job.progress.graded >= 3, "the quick ones' grades")
    wait_until(
        lambda: "of 43" in text(app.run()) and "no rollout is graded yet" not in text(app), "the first of them shown"
    )
    assert int(cards(app)["rollouts"]["value"]) >= 1
    for page in ("rollouts", "completion", "tasks", "rewards"):
        visit(page, run=job.run.name)
    other = visit("overview", run=rollouts.name)
    assert "It is being graded into" in text(other)
    assert "grade" not in buttons(other)
    assert "stop" in buttons(other)

    click(app, "stop")
    ended(job)  # though the sleepers never end, and their limits are 10 s each
    assert read_manifest(job.run).state == "stopped"

    app = visit("overview", run=job.run.name)
    graded = Run.open(job.run).connect().sql("SELECT sample_id FROM rollouts").fetchall()
    assert len(graded) < 43
    assert f"Stopped at {len(graded)} of 43 rollouts" in text(app)
    assert "--resume --output" in text(app)
    click(app, "resume")
    again = the_job(rollouts)
    assert again is not job
    wait_until(lambda: again.progress.total is not None, "the number of all")
    assert again.progress.graded >= len(graded)
    assert again.progress.total == 43
    assert "stop" in buttons(app.run())
    assert read_manifest(again.run).options.limits == Limits()


def test_the_settings_of_the_form_are_those_of_the_run(offered: Path, work: Path) -> None:
    app = visit("overview")
    assert app.button(key="grade").label == "Grade 9 rollouts"
    assert "9 rollouts, not graded yet." in text(app)
    assert "<b>runs/few-&lt;time&gt;</b>" in text(app)
    app.number_input(key="grade_timeout").set_value(-1).run()
    no_exception(app)
    assert "limits.wall_s is -1.0: give a number above 0" in text(app)
    assert app.button(key="grade").disabled
    app.selectbox(key="grade_checker").set_value("exact")
    app.number_input(key="grade_timeout").set_value(20.5)
    app.number_input(key="grade_memory").set_value(256)
    app.number_input(key="grade_workers").set_value(1)
    app.number_input(key="grade_limit").set_value(4).run()
    assert "20.5 s per test" in text(app)
    assert app.button(key="grade").label == "Grade 4 rollouts"
    followed(click(app, "grade"))
    assert app.query_params["run"] in ("few.jsonl", ["few.jsonl"])  # else the run picker would come back to it
    job = ended(the_job(offered))
    manifest = read_manifest(job.run)
    assert (manifest.options.checker, manifest.workers, manifest.limit) == ("exact", 1, 4)
    limits = manifest.options.limits
    assert (limits.wall_s, limits.cpu_s, limits.memory_mb) == (20.5, 20.5, 256)
    assert manifest.state == "finished"
    assert job.run.parent == work / "runs"
    assert Run.open(job.run).connect().sql("SELECT verdict FROM rollouts").fetchall() == [("passed",)] * 4


def chosen() -> None:
    """A page that says what the form's settings are."""
    import streamlit as st

    from dashboard.grading import grading_form

    try:
        st.text(str(grading_form.chosen()))
    except grading_form.SettingsError as error:
        st.text(f"refused: {error}")


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("memory", 0, "limits.memory_mb is 0.0: give a number above 0"),
        ("workers", 0, "Workers is 0: give a whole number from 1"),
        ("limit", 1.5, "Only the first rollouts is 1.5: give a whole number from 1"),
        ("grader", "nobody", "grader 'nobody' is unknown"),
        ("grader", "/tmp/mine.py:grade", "it loads code from a file"),
        ("grader", "weighted", 'give "graders"'),
    ],
)
def test_a_setting_that_can_not_be_used_is_one_line(setting: str, value: object, said: str) -> None:
    app = AppTest.from_function(chosen)
    app.session_state[f"grade_{setting}"] = value
    app.run()
    assert not app.exception
    assert app.text[0].value.startswith("refused: ")
    assert said in app.text[0].value


def test_threads_that_start_the_same_grading_get_one_job(work: Path) -> None:
    rollouts, dataset = waiting.write(work, "raced", quick=0, slow=20)
    known, found, begin = Jobs(), list[Job](), threading.Barrier(8)

    def press() -> None:
        begin.wait()
        found.append(known.grade(rollouts, partial(evaluator.grade_file, rollouts, dataset, workers=1)))

    threads = [threading.Thread(target=press) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(job) for job in found}) == 1
    found[0].stop()
    ended(found[0])
    assert len(list((work / "runs").iterdir())) == 1


def test_a_dataset_that_can_not_be_read_is_one_line_on_the_page_of_the_file(offered: Path) -> None:
    offered.with_name("few.dataset.jsonl").write_text('{"question": "no"}\n')
    click(visit("overview", run=offered.name), "grade")
    job = ended(the_job(offered))
    assert workspace.graded_here() == []
    assert not job.run.exists()
    lost = visit("overview", run=job.run.name)  # who watched it begin
    assert component(lost, "name")["address"].endswith(f"run={offered.name}")
    shown = visit("overview", run=offered.name)
    assert "The last grading failed: " in text(shown)
    assert "no known format has these fields" in text(shown)
    assert not shown.button(key="grade").disabled


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run `part` of two of nine rollouts."""
    folder = tmp_path_factory.mktemp("stopped")
    rollouts, dataset = waiting.write(folder, "few", quick=9, slow=0)
    evaluator.grade_file(rollouts, dataset, out=folder / "part", limit=2, workers=1)
    return folder


@pytest.fixture
def stored(stopped: Path, work: Path, show: Show) -> OpenRun:
    """A copy of the stopped run, which is open and can be resumed from the page."""
    shutil.copytree(stopped, work, dirs_exist_ok=True)
    show(work / "part", allow_rerun=True)
    return changed(work / "part", state="stopped", limit=None)


def changed(run: Path, **changes: object) -> OpenRun:
    """The run, once its manifest says these things."""
    write_manifest(run, msgspec.structs.replace(read_manifest(run), **changes))
    return workspace.open_run(Entry("part", run))


def test_resuming_goes_on_with_what_has_no_grade_and_only_the_newest_state_stays_in_memory(stored: OpenRun) -> None:
    assert grading_start.refusal(stored) is None
    grading_start.resume(stored, 2)
    job = ended(jobs().of_run(stored.path))
    assert job.failure is None
    assert job.progress[:2] == (9, 9)
    assert read_manifest(stored.path).state == "finished"
    second = workspace.open_run(Entry("part", stored.path))
    assert second.rows("SELECT count(*) FROM rollouts") == [(9,)]
    assert stored.rows("SELECT count(*) FROM rollouts") == [(2,)]  # a page that is being drawn
    assert second.connection is workspace.open_run(Entry("part", stored.path)).connection


def test_a_run_from_elsewhere_does_not_choose_the_folder_of_cached_grades(stored: OpenRun, work: Path) -> None:
    for cache, used in ((None, True), (str(work / "folder"), True), ("none", False)):
        assert grading_start._work(changed(stored.path, cache=cache)).keywords["cache"] is used
    assert grading_start._work(stored).keywords["options"] == stored.run.manifest.options


NOT_RESUMED = [
    ({"rollouts": "gone.jsonl"}, "The file of its rollouts is missing: "),
    ({"dataset": ""}, "The file of its dataset is missing: the run does not name it"),
    ({"options": Options(grader="own.py:grade")}, "it loads code from a file"),
    ({"options": Options(grader="similarity:model=m,base_url=http://127.0.0.1:1/v1")}, "it calls another service"),
    ({"options": Options(sandbox=Settings(python="/bin/sh"))}, "a Python or a sandbox of its own"),
    ({"options": Options(sandbox=Settings(strictness="degraded"))}, "a Python or a sandbox of its own"),
]


def test_a_run_that_can_not_be_resumed_from_the_page_says_why(monkeypatch: pytest.MonkeyPatch, stored: OpenRun) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    before = read_manifest(stored.path)
    for changes, said in NOT_RESUMED:
        write_manifest(stored.path, before)
        assert said in (grading_start.refusal(changed(stored.path, **changes)) or "")
    app = visit("overview")
    assert said in text(app)
    assert app.button(key="resume").disabled
    assert "--resume --output" in text(app)


def test_a_run_that_another_process_writes_has_no_buttons_and_no_remains_of_a_failed_resume(stored: OpenRun) -> None:
    lock = RunLock(stored.path)
    grading_start.resume(stored, 2)  # a click on a page that was drawn before the other process began
    ended(jobs().of_run(stored.path))
    lock.release()
    assert "is writing it" in text(visit("overview"))


def test_a_run_from_the_shell_shows_how_far_it_is(show: Show, work: Path) -> None:
    (work / "r.jsonl").write_text('{"task_id": "t", "completion": "x"}\n' * 870)
    with RunWriter.create(work / "shell", Manifest(rollouts="r.jsonl", folder="..")) as writer:
        writer.add(*rows.row("t", "s0", reward=1.0), 0)
        writer.flush()
        show(work / "shell")
        app = visit("overview")
        assert "Graded 1 of 870" in text(app)
        assert "stop" not in buttons(app)
    assert "Stopped at 1 of 870" in text(visit("overview"))


def test_the_picker_has_runs_that_appear_in_a_folder(show: Show, work: Path) -> None:
    folder = work / "many"
    sample_run.write_empty(folder / "one")
    show(folders=[folder])
    assert [entry.name for entry in workspace.entries()] == ["one"]
    sample_run.write_empty(folder / "two")
    (folder / "other").mkdir()
    assert [entry.name for entry in workspace.entries()] == ["one", "two"]


def grows_while_it_is_drawn() -> None:
    """A page whose run gets its last rollouts after the sidebar was drawn, once."""
    from types import SimpleNamespace

    import streamlit as st

    from dashboard import controls, navigation, state, workspace
    from dashboard.grading import grading_start
    from dashboard.grading.grading_jobs import jobs

    with navigation.entered(SimpleNamespace(url_path="rewards")):  # type: ignore[arg-type]
        controls.sidebar()
        chosen = workspace.entry(state.read())
        assert chosen is not None
        if jobs().of_run(chosen.path) is None:
            grading_start.resume(workspace.open_run(chosen), 2)
            job = jobs().of_run(chosen.path)
            assert job is not None
            job.wait()
        st.text(f"the page counts {controls.screen().total}")


@pytest.mark.slow
@pytest.mark.usefixtures("stored")
def test_the_sidebar_and_the_page_count_the_same_rollouts() -> None:
    app = AppTest.from_function(grows_while_it_is_drawn, default_timeout=HANG_S).run()
    no_exception(app)
    assert [each.value for each in app.text] == ["the page counts 9"]
    assert "9 of 9 rollouts" in text(app)


def test_a_pace_is_of_the_last_seconds() -> None:
    pace = Pace()
    assert pace.rate(0.0) is None
    pace.note(0, 100.0)
    assert pace.rate(101.0) is None  # too little to say
    for second in range(1, 31):
        pace.note(second, 100.0 + second)  # one a second
    for second in range(1, 31):
        pace.note(30 + 10 * second, 130.0 + second)  # ten a second
    assert pace.rate(160.0) == pytest.approx(10)
    assert pace.average(160.0) == pytest.approx(5.5)
    pace.note(330, 170.0)
    assert pace.rate(170.0) == pytest.approx(10)  # the next part is not written yet
    pace.note(330, 176.0)
    assert pace.rate(176.0) == 0  # nothing came any more


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        (Progress(0, None, None), "graded 0, starting"),
        (Progress(312, 870, 41.0), "graded 312 of 870, 41 a second, about 14 s left"),
        (Progress(500, 1000, 4.0, 10.0), "graded 500 of 1,000, 4 a second, about 2 min left"),
        (Progress(500, 1000, 1.0, 10.0), "graded 500 of 1,000, 60 a minute"),
        (Progress(312, None, 41.0), "graded 312, 41 a second"),
        (Progress(1, 200, 0.2), "graded 1 of 200, 12 a minute, about 17 min left"),
        (Progress(1, 2_000_000, 41.0), "graded 1 of 2,000,000, 41 a second, about 13.6 h left"),
        (Progress(7, 5, 3.0), "graded 7 of 7, finishing"),
        (Progress(3, 5, 0.0), "graded 3 of 5, none in the last 15 s"),
    ],
)
def test_progress_in_words(progress: Progress, words: str) -> None:
    assert progress.words() == words
