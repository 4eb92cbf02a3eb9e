"""The report: text is never markup, and lists say what they leave out."""

import io
import re
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from evaluator import invisible
from evaluator.cli import main
from evaluator.model import Grade, Rollout, Verdict
from evaluator.report import write_report
from evaluator.runs.notes import note_rollout, note_task
from evaluator.runs.reading import Manifest, QueryError, Run
from evaluator.runs.schema import columns_of
from evaluator.runs.writing import RunWriter
from tests.dashboard import hostile_text, sample_run

OURS = {
    "html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "code", "dl", "div", "dt", "dd", "table",
    "thead", "tbody", "tr", "th", "td", "span", "i", "b", "pre", "article",
}  # fmt: skip


class Seen(HTMLParser):
    """The elements, attributes and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def page_of(run: Path, **options: object) -> str:
    stream = io.BytesIO()
    write_report(Run.open(run), stream, **options)
    return stream.getvalue().decode()


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A hostile run with hostile notes and bad lines."""
    run = hostile_text.write(tmp_path / "hostile<b>")
    for row, text in enumerate(hostile_text.TEXTS):
        note_rollout(run, hostile_text.TEXTS[6], f"{2 * row} {text}", tags=(text,), note=text)
    note_task(run, hostile_text.TEXTS[6], judgement="bad", note=hostile_text.TEXTS[7])
    manifest = Run.open(run).manifest
    manifest.add_problem(hostile_text.TEXTS[0], 3, hostile_text.TEXTS[1])
    manifest.dataset = hostile_text.TEXTS[2]
    (run / "run.json").write_bytes(msgspec.json.encode(manifest))
    return run


def test_no_text_of_a_run_is_markup_or_invisible(hostile: Path) -> None:
    page = page_of(hostile, chosen_by=hostile_text.TEXTS[0])
    seen = Seen(page)
    assert seen.tags <= OURS
    assert seen.attributes <= {"lang", "charset", "http-equiv", "content", "name", "class", "style"}
    for text in hostile_text.TEXTS:
        assert invisible.marked(text) in seen.text
    assert not invisible.UNSEEN.search(page)
    assert "http" not in re.sub(r"http-equiv|http://e\.example", "", page)


def test_it_shows_where_a_rollout_fails(tmp_path: Path) -> None:
    page = page_of(sample_run.write(tmp_path / "run"))
    assert re.search(r"<b><i> +4</i> +total = total\.plus\(1\)</b>", page)
    seen = Seen(page)
    for part in ("13", "pass@1", "math/add", "Failures that look alike", "no test cases", "small", "large"):
        assert part in seen.text


def made(path: Path, tasks: int, samples: int, verdict: Verdict = Verdict.WRONG_ANSWER) -> Path:
    with RunWriter.create(path, Manifest(dataset_hash="abc")) as writer:
        for first in range(0, tasks * samples, samples):
            task, names = f"task {first // samples}", [f"s{sample}" for sample in range(samples)]
            grades = [
                Grade(task_id=task, sample_id=name, verdict=verdict, reward=0.0, code="x = 1\n" * 50) for name in names
            ]
            rollouts = [Rollout(task_id=task, sample_id=name, completion="c") for name in names]
            columns = columns_of(rollouts, grades)
            writer.add_columns(range(first, first + samples), columns, {verdict.value: samples})
        writer.close("finished")
    return path


def test_it_stays_small_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    page = page_of(made(tmp_path / "run", tasks=210, samples=70))
    text = Seen(page).text
    assert "the first 200 of 210 tasks" in text
    assert "Of each task, the first 64 samples." in text
    assert "the first 50 of 14,700 failures" in text
    assert len(page) < 2_000_000


def by_model(path: Path, models: dict[str, int]) -> Path:
    """So many failing samples of each model on one task, the rows of a model one after the other."""
    names = [name for name, samples in models.items() for _ in range(samples)]
    with RunWriter.create(path, Manifest(dataset_hash="abc")) as writer:
        for row, name in enumerate(names):
            grade = Grade(task_id="t", sample_id=f"{name}#{row}", verdict=Verdict.WRONG_ANSWER, reward=0.0)
            writer.add(Rollout(task_id="t", sample_id=grade.sample_id, completion="c", model=name), grade, row)
        writer.close("finished")
    return path


def test_the_first_failures_are_of_each_model_in_turn(tmp_path: Path) -> None:
    page = page_of(by_model(tmp_path / "run", {"z": 60, "a": 2, "m": 60}))
    assert "the first 50 of 122 failures" in Seen(page).text
    assert "Of each model in turn" in Seen(page).text
    shown = re.findall(r'<span class="soft">(\w)#(\d+) ', page)
    assert shown[:8] == [
        ("z", "0"), ("a", "60"), ("m", "62"), ("z", "1"), ("a", "61"), ("m", "63"), ("z", "2"), ("m", "64"),
    ]  # fmt: skip
    assert len(shown) == 50


def test_the_grid_has_a_column_of_samples_for_each_model(tmp_path: Path) -> None:
    page = page_of(by_model(tmp_path / "run", {"z<b>": 3, "a": 2}))
    head, row = re.findall(r"<tr>.*?</tr>", page.partition('<table class="grid">')[2])[:2]
    assert head.endswith("<th>z&lt;b&gt;</th><th>a</th></tr>")
    assert [cell.count("v-wrong_answer") for cell in row.split("</td>")[2:4]] == [3, 2]
    assert "Of each model in turn" not in page  # all of them are shown
    page = page_of(by_model(tmp_path / "many", {f"m{n:02}": 3 for n in range(60)}))
    assert "Of each task and model, the first 1 sample." in Seen(page).text
    assert "The first 50 of 60 models." in Seen(page).text


def test_notes_list_what_is_said_of_a_test_case(tmp_path: Path) -> None:
    run = sample_run.write(tmp_path / "run")
    note_task(run, "math/add", 2, judgement="bad", note="not in the prompt")
    note_task(run, "math/add", judgement="unsure")
    note_rollout(run, "math/add", "add#0", tags=("look",), note="")
    notes = Seen(page_of(run)).text.partition("3 notes")[2]
    assert re.findall(r"the task|test 2|add#0|bad|unsure|look|not in the prompt", notes.partition("Bad input")[0]) == [
        "the task", "unsure", "test 2", "bad", "not in the prompt", "add#0", "look",
    ]  # fmt: skip
    assert "test 2" not in Seen(page_of(run, where="task_id <> 'math/add'")).text.partition("Notes")[2]


def test_the_condition_applies_and_is_shown(tmp_path: Path) -> None:
    run = sample_run.write(tmp_path / "run")
    note_rollout(run, "math/add", "add#0", tags=("look",), note="")
    by_tag = "list_contains(tags, 'look')"
    text = Seen(page_of(run, where=by_tag)).text
    assert "1 of 13 rollouts" in text
    assert by_tag in text
    with pytest.raises(QueryError, match="verdct"):
        page_of(run, where="verdct = 'passed'")
    assert "none: chosen by outcome" in Seen(page_of(run, rows=[0, 1], by_outcome=True)).text


def test_an_empty_run_has_a_report(tmp_path: Path) -> None:
    assert "rollouts" in page_of(sample_run.write_empty(tmp_path / "run"))


def command(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["export", *map(str, arguments)])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_the_command_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, target = sample_run.write(tmp_path / "run"), tmp_path / "report.html"
    assert command(run, "--to", target, "--where", "verdict = 'passed'") == 0
    assert "report.html: 2 rollouts" in capsys.readouterr().err
    assert target.read_text().startswith("<!doctype html>")
    assert command(run, "--to", target, "--columns", "code") == 2
    assert "leave out --columns" in capsys.readouterr().err
    assert command(run, "--to", tmp_path / "absent" / "r.html") == 2
    assert "can't be written" in capsys.readouterr().err
    (run / "notes.json").write_text("not notes")
    assert command(run, "--to", target) == 2
    assert "move it away" in capsys.readouterr().err
