"""Runs of answers and of rewards that are made of several parts, as the pages show them."""

import json
import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.completion import trial_run
from evaluator.model import Mode, Rollout, Task
from evaluator.options import Options
from evaluator.runs.reading import Manifest
from evaluator.workers.grade_stream import grade_all
from tests.dashboard import rows
from tests.dashboard.rows import Show
from tests.dashboard.sample_run import HOSTILE
from tests.dashboard.test_pages import text, visit
from tests.runs.older_run import forget_columns

GRADER = json.dumps(
    {
        "name": "weighted",
        "graders": [
            {"grader": "exact_match", "weight": 2, "name": f"right {HOSTILE}"},
            {"grader": {"name": "structured", "required": ["a"]}, "weight": 0.5},
        ],
    }
)
TASKS = (
    Task(task_id="capital", mode=Mode.ANSWER, prompt="Capital of France?", answer=["Paris", "paris"]),
    Task(task_id="parts", mode=Mode.ANSWER, prompt="Which?", answer="x", grader=GRADER),
    Task(task_id="shape", mode=Mode.ANSWER, prompt="JSON?", answer={"ranges": {"n": [0, 9]}}, grader="structured"),
)
ROLLOUTS = (
    Rollout(task_id="capital", sample_id="c0", completion="Paris"),
    Rollout(task_id="capital", sample_id="c1", completion=f"Rome {HOSTILE}"),
    Rollout(task_id="capital", sample_id="c2", completion="<think>well"),
    Rollout(task_id="parts", sample_id="p0", completion="x"),
    Rollout(task_id="parts", sample_id="p1", completion=json.dumps({"b": HOSTILE})),
    Rollout(task_id="shape", sample_id="s0", completion='{"n": 10}'),
    Rollout(task_id="shape", sample_id="s1", completion='{"n": NaN}'),
)


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = sorted(grade_all(TASKS, ROLLOUTS, Options(), workers=1), key=lambda each: each[2])
    manifest = Manifest(dataset="d.jsonl", dataset_hash="sha256:0", rollouts="r.jsonl")
    path = tmp_path_factory.mktemp("runs") / "answers"
    return rows.write(path, [(rollout, grade) for rollout, grade, _ in found], *TASKS, manifest=manifest)


@pytest.fixture(autouse=True)
def opened(graded: Path, show: Show) -> None:
    show(graded)


@pytest.fixture
def answers(graded: Path, opened: None, tmp_path: Path, show: Show) -> Path:
    """A copy of the run, which a test may change."""
    run = Path(shutil.copytree(graded, tmp_path / "answers"))
    show(run)
    return run


def of_sample(task: str, sample: str) -> tuple[AppTest, str]:
    app = visit("completion", task=task, sample=sample)
    shown = text(app)
    assert HOSTILE not in shown, "markup of a completion's or a config's is text"
    return app, shown


def test_a_wrong_answer_is_shown_beside_what_is_accepted() -> None:
    app, shown = of_sample("capital", "c1")
    assert "expected one of &#x27;Paris&#x27;, &#x27;paris&#x27;, got &#x27;Rome" in shown
    assert "the answer differs from what is expected" in shown
    assert "what the grader checks" in shown
    assert "exact match: the whole text" in [code.value for code in app.code]
    assert "stdout" not in shown, "nothing ran"
    panes = next(group for group in app.get("button_group") if group.proto.label == "Pane")
    assert [option.content for option in panes.proto.options] == ["Completion", "Prompt", "Transcript", "JSON"]


@pytest.mark.parametrize(
    ("task", "sample", "said"),
    [
        ("capital", "c2", ["no code or answer was found in the completion",
                           "no answer was found: the completion has no text"]),
        ("shape", "s0", ["range: n in 0 to 9: 10 is not in 0 to 9"]),
        ("shape", "s1", ['<div class="what">NaN is not JSON</div>', "{&quot;n&quot;: NaN}"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_answer_is_said(task: str, sample: str, said: list[str]) -> None:
    _, shown = of_sample(task, sample)
    assert all(each in shown for each in said)
    assert "components" not in shown, "a reward of one part has no table"


def test_the_parts_of_a_reward_are_a_table() -> None:
    _, shown = of_sample("parts", "p1")
    table = shown.partition('aria-label="components"')[2].partition("</table>")[0]
    cells = [cell.partition("</td>")[0].partition(">")[2] for cell in table.split("<td")[1:]]
    assert cells[0].startswith("right &lt;img")
    assert cells[1:4] == ["0", "2", "0"]
    assert "wrong_answer" in cells[4]
    assert cells[5].startswith("expected &#x27;x&#x27;, got")
    assert cells[6:10] == ["structured", "0.5", "0.5", "0.25"]
    assert cells[11] == "required: a: it is missing"


def test_a_run_of_an_older_version_has_no_table(answers: Path) -> None:
    forget_columns(answers, "components")
    _, shown = of_sample("parts", "p1")
    assert 'aria-label="components"' not in shown


def test_any_answer_can_be_tried() -> None:
    app = visit("tasks", task="capital", tab="code")
    assert "Grade any answer to the task" in text(app)
    assert not app.button(key="trial_all").disabled
    for answer, reward in (("paris", 1.0), ("PARIS", 0.0)):
        assert trial_run.trial_grade(TASKS[0], None, answer, None).reward == reward
    assert trial_run.trial_grade(TASKS[0], "exact_match:case=ignore", "PARIS", 0).reward == 1.0


def test_a_page_loads_no_grader_of_a_run_and_calls_no_service(answers: Path, tmp_path: Path) -> None:
    left = tmp_path / "loaded"
    (tmp_path / "own.py").write_text(f"open({str(left)!r}, 'w')\nRUNS_CODE = False\ndef f(t, r, b): return 0.5\n")
    inner = {"name": "weighted", "graders": [{"grader": f"{tmp_path}/own.py:f"}]}
    service = {"name": "similarity", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
    manifest = json.loads((answers / "run.json").read_text())
    for named in (f"{tmp_path}/own.py:f", json.dumps(inner), "{", json.dumps(service)):
        assert (trial_run.trial_grader(named) is None) == (named != json.dumps(service))
    for grader in (inner, service):
        (answers / "run.json").write_text(json.dumps(manifest | {"options": {"grader": json.dumps(grader)}}))
        shown = text(visit("tasks", task="capital", tab="code"))
    assert "grader calls another service" in shown
    assert not left.exists()
