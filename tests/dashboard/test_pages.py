"""The pages as Streamlit runs them, without a browser."""

from __future__ import annotations

import gzip
import json
import re
import tempfile
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import sandbox_state, state, workspace
from evaluator.cli import main
from evaluator.model import CaseResult, Frame, Grade, Mode, Rollout, Task, TestCase, Traceback, Verdict
from evaluator.runs.reading import Manifest, Run, RunWriter
from tests.dashboard import sample_run
from tests.dashboard.conftest import APP

PAGES = list(state.PAGES)


def visit(page: str, /, **params: str) -> AppTest:
    """A fresh visitor who opens the address of a page."""
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params.update(params)
    if page != "overview":
        app.switch_page(state.path(page))
    app.run()
    return app


def followed(app: AppTest) -> AppTest:
    """The page that the script asks the browser to open."""
    address = urlsplit(component(app, "go")["address"])
    return visit(address.path.strip("./") or "overview", **dict(parse_qsl(address.query)))


def text(app: AppTest) -> str:
    """All HTML and text of the page."""
    return "\n".join([e.proto.body for e in app.html] + [e.value for e in app.markdown] + [e.value for e in app.code])


def component(app: AppTest, key: str) -> dict[str, Any]:
    """What one of our own components was given to draw."""
    (found,) = [e for e in app.get("bidi_component") if f"-{key}" in e.proto.id]
    return json.loads(found.proto.json)


def no_exception(app: AppTest) -> None:
    assert not app.exception, [e.value for e in app.exception]
    assert not app.error, [e.value for e in app.error]


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(
    "params",
    [
        pytest.param({}, marks=pytest.mark.smoke),
        {"verdict": "failed"},
        {"q": "add", "model": "small", "view": "table"},
        {"view": "raw", "verdict": "runtime_error"},
        {"flag": "missing_package: pandas"},
        {"flag": "nothing: at all"},
        {"task": "math/add"},
        {"task": "math/add", "sample": "add#2", "test": "2"},
        {"task": f"text/{sample_run.HOSTILE}", "view": "prompt"},
        {"task": "math/untried"},
        {"task": "nowhere"},
        {"task": "math/add", "sample": "nobody", "test": "99"},
        {"run": "empty"},
        {"run": "not-open"},
        {"run": "checks", "verified": "no"},
        {"run": "checks", "verified": "no: nobody said this", "view": "table"},
        {"run": "checks", "task": "checks/top", "sample": "top#1", "test": "3"},
        {"run": "withheld", "task": "checks/stack", "sample": "stack#1", "test": "1"},
        {"q": "matches nothing"},
        {"sort": "slow", "page": "99"},
        {"verdict": "?", "page": "-1", "test": "x", "r_min": "nan"},
    ],
    ids=str,
)
def test_no_address_makes_a_page_fail_or_draws_markup_from_a_file(page: str, params: dict[str, str]) -> None:
    app = visit(page, **params)
    no_exception(app)
    assert "<img" not in text(app)
    labels = [e.label for e in (*app.button, *app.expander, *app.page_link)]
    assert not any("<img" in label.replace("\\<", "") or " **bold**" in label for label in labels)


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize("verdict", ["compile_error", "time_limit", "memory_limit", "output_limit", "rejected",
                                     "sandbox_error", "no_code", "unknown"])  # fmt: skip
def test_a_completion_without_traceback_says_why(verdict: str) -> None:
    app = visit("completion", task="text/all-kinds", sample=f"k/{verdict}")
    no_exception(app)
    shown = text(app)
    assert f"{verdict} ·" in shown
    assert "rs-error" in shown
    expected = {"no_code": "no code or answer was found", "unknown": "no test cases", "time_limit": "10 s wall"}
    assert expected.get(verdict, f"{verdict} happened after 1.5 s") in shown


@pytest.mark.usefixtures("opened")
def test_overview_counts_ungraded_rollouts_apart_from_failures() -> None:
    app = visit("overview")
    found = {card["name"]: card for card in component(app, "cards")["cards"]}
    assert found["rollouts"]["value"] == "13"
    assert found["unknown"]["value"] == "1"
    assert found["sandbox_error"]["value"] == "1"
    assert found["mean reward, 2 models"]["value"] == f"{2 / 11:.3f}"
    assert found["unknown"]["href"] == "rollouts?run=sample&verdict=unknown"


@pytest.mark.usefixtures("opened")
def test_overview_counts_flags_and_missing_packages_each_a_link_to_its_rollouts() -> None:
    app = visit("overview")
    rows = component(app, "flag_bars")["rows"]
    assert [(row["label"], row["count"], row["href"]) for row in rows] == [
        ("missing_package", "2", "rollouts?run=sample&flag=missing_package"),
        ("ctypes", "1", "rollouts?run=sample&flag=ctypes"),
        ("missing_package: pandas", "2", "rollouts?run=sample&flag=missing_package%3A+pandas"),
    ]
    assert "2 of 13 rollouts" in text(visit("rollouts", flag="missing_package: pandas"))


@pytest.mark.usefixtures("opened")
def test_a_run_without_flags_has_no_place_for_them() -> None:
    app = visit("overview", verdict="passed")
    assert "Flags" not in text(app)
    assert not [e for e in app.get("bidi_component") if "-flag_bars" in e.proto.id]


@pytest.mark.usefixtures("opened")
def test_a_completion_shows_each_flag_with_its_evidence_as_text() -> None:
    shown = text(visit("completion", task="math/add", sample="add#2"))
    assert "<b>ctypes</b>" in shown
    assert '<a href="#L159">line 159</a>: &lt;img src=x' in shown
    assert "<b>missing_package</b><span>pandas</span>" in shown
    assert 'class="rs-flags"' not in text(visit("completion", task="math/add", sample="add#0"))


@pytest.mark.usefixtures("opened")
def test_the_sidebar_filters_by_flag() -> None:
    app = visit("rollouts")
    assert app.selectbox(key="w_flag").options == ["missing_package", "ctypes", "missing_package: pandas"]
    app.selectbox(key="w_flag").select("ctypes").run()
    assert app.query_params["flag"] == "ctypes"
    assert "1 of 13 rollouts" in text(app)


@pytest.mark.usefixtures("opened")
def test_overview_lists_the_bad_lines_of_the_input() -> None:
    assert "sample.rollouts.jsonl:7: not JSON" in text(visit("overview"))


@pytest.mark.usefixtures("opened")
def test_pass_at_1_is_not_shown_for_rollouts_picked_by_outcome() -> None:
    found = {card["name"]: card for card in component(visit("overview", verdict="passed"), "cards")["cards"]}
    assert found["pass@1"]["note"] == "filtered by outcome"


@pytest.mark.usefixtures("opened")
def test_the_first_failure_opens_at_its_failing_line() -> None:
    app = visit("overview")
    app = followed(app.button(key="first_failure").click().run())
    no_exception(app)
    assert app.query_params["task"] == "math/add"
    shown = text(app)
    assert '<span class="ln fail" id="L4">' in shown
    assert '<span class="ln frame" id="L3">' in shown
    assert "AttributeError" in shown
    assert "1 of 9" in shown


@pytest.mark.usefixtures("opened")
def test_next_and_previous_stay_inside_the_filter() -> None:
    app = visit("completion", verdict="runtime_error")
    assert "1 of 2" in text(app)
    app.button(key="next").click().run()
    assert "2 of 2" in text(app)
    assert app.query_params["sample"] == "add#2"
    assert app.button(key="next").disabled
    app.button(key="previous").click().run()
    assert app.query_params["sample"] == "add#1"


@pytest.mark.usefixtures("opened")
def test_next_failing_test_case() -> None:
    app = visit("completion", task="math/add", sample="add#1", test="0")
    app.button(key="next_failing").click().run()
    assert app.query_params["test"] == "1"
    assert app.button(key="next_failing").disabled


@pytest.mark.usefixtures("opened")
def test_a_wrong_answer_shows_input_difference_and_the_extra_line() -> None:
    shown = text(visit("completion", verdict="wrong_answer"))
    assert "line 2" in shown
    assert '<td class="plus">two<i>·</i></td>' in shown
    assert "four" in shown


@pytest.mark.usefixtures("opened")
def test_the_raw_completion_shows_where_the_code_was_cut() -> None:
    shown = text(visit("completion", task="math/add", sample="add#1", test="1", view="raw"))
    assert '<span class="ln cut" id="R1">' in shown
    assert '<span class="ln took fail" id="R6">' in shown
    assert '<span class="ln took" id="R7">' in shown
    assert '<span class="ln cut" id="R8">' in shown  # the closing fence


@pytest.mark.usefixtures("opened")
def test_an_unknown_task_offers_the_nearest() -> None:
    app = visit("completion", task="math/ad")
    assert "not in this run" in text(app)
    assert any("Nearest" in link.label for link in app.page_link)


@pytest.mark.usefixtures("opened")
def test_a_filter_that_matches_nothing_says_which_part_took_the_rows_and_undoes_it() -> None:
    app = visit("rollouts", q="add#1", verdict="passed")
    assert "matches none of 13" in text(app)
    assert "2 rollouts" in app.button(key="undo_q").label
    app.button(key="undo_q").click().run()
    no_exception(app)
    assert "q" not in app.query_params
    assert "2 of 13 rollouts" in text(app)


@pytest.mark.usefixtures("opened")
def test_the_sidebar_writes_the_filter_into_the_address() -> None:
    app = visit("overview")
    app.text_input(key="w_q").set_value("add").run()
    app.multiselect(key="w_verdicts").set_value(["passed", "runtime_error"]).run()
    assert app.query_params["q"] == "add"
    assert app.query_params["verdict"] == "passed,runtime_error"
    assert "4 of 13 rollouts" in text(app)
    app.button(key="w_clear").click().run()
    assert "13 of 13 rollouts" in text(app)


@pytest.mark.usefixtures("opened")
def test_another_run_starts_with_an_empty_filter() -> None:
    app = visit("rollouts", q="add")
    app.selectbox(key="w_run").set_value("empty").run()
    no_exception(app)
    assert dict(app.query_params) == {"run": "empty"}
    assert "holds no rollouts" in text(app)


@pytest.mark.usefixtures("opened")
def test_a_page_beyond_the_last_shows_the_last() -> None:
    app = visit("rollouts", page="99")
    assert next(row["id"] for row in component(app, "task_grid")["rows"]) == "math/add"


@pytest.mark.usefixtures("opened")
def test_tasks_shows_test_cases_raw_and_parsed() -> None:
    shown = text(visit("tasks", task="math/add", test="1"))
    assert "2 of 4" not in shown
    assert "1\n2" in shown
    assert "add" in shown
    assert 'class="rs-code"' in shown


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
    charts = "".join(e.proto.spec for e in visit("rewards").get("plotly_chart"))
    assert "k (n = 1 task, 95% band)" in charts


def test_nothing_open_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(workspace.VARIABLE, "{}")
    for page in PAGES:
        app = visit(page)
        no_exception(app)
        assert "rollscope view" in text(app)


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
    assert not app.button
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


def until_opened(app: AppTest) -> AppTest:
    """The run that the end of a grading opens."""
    for _ in range(200):
        if component(app, "go")["address"]:
            return followed(app)
        app.run()
    pytest.fail("no run was opened")


def test_the_rewards_that_rollouts_came_with_are_one_click_away(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, grades_go_to: Path
) -> None:
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"rollouts": [str(came_with(tmp_path, None, 0.25, 19.5))]}))
    app = visit("overview")
    assert [button.label for button in app.button] == ["Show the rewards it came with"]
    assert "to grade it anew" in text(app)
    app.button(key="grade_stored").click().run()
    assert app.query_params["run"] in ("new.jsonl", ["new.jsonl"])  # else the run picker would come back to it
    opened = until_opened(app)
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
    until_opened(app)
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
        assert [button.label for button in visit("overview").button] == labels


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
    assert visit("tasks", task="math/add").button(key="trial_all").disabled
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


@pytest.mark.usefixtures("opened")
def test_what_the_browser_has_not_drawn_yet_does_not_undo_a_filter() -> None:
    """A visitor who is quicker than the page sends the values of the page before."""
    app = visit("overview")
    app.multiselect(key="w_verdicts").set_value([])  # which it is: now it is sent as that
    drawn = app._tree
    app.query_params["verdict"] = "wrong_answer"
    app.run()
    assert "1 of 13 rollouts" in text(app)
    app._tree = drawn
    app.run()
    no_exception(app)
    assert dict(app.query_params) == {"verdict": "wrong_answer"}
    assert "1 of 13 rollouts" in text(app)


@pytest.mark.usefixtures("opened")
def test_nothing_moves_on_the_page_when_the_address_says_what_is_shown() -> None:
    """Streamlit draws anew what has moved, and shows the old one beside it meanwhile."""
    app = visit("completion", verdict="runtime_error")
    drawn = len(app.main.children)
    app.query_params.update(dict(parse_qsl(urlsplit(component(app, "name")["address"]).query)))
    app.run()
    no_exception(app)
    assert component(app, "name")["address"] is None
    assert len(app.main.children) == drawn


@pytest.mark.usefixtures("opened")
def test_the_editor_starts_from_what_is_chosen_and_keeps_what_is_typed() -> None:
    app = visit("tasks", task="math/add", test="1")
    no_exception(app)
    editor = app.text_area[0]
    assert editor.value == "def add(a, b):\n    return a + b\n"
    editor.set_value("def add(a, b):\n    return 0\n").run()
    app.button(key="trial_all").click().run()
    assert app.text_area[0].value == "def add(a, b):\n    return 0\n"
    app.selectbox(key="trial_source").set_value("empty").run()
    no_exception(app)
    assert app.text_area[0].value == "def add():\n    ...\n"
    assert not app.warning
