"""The page Bad lines: what could not be used of the input files."""

from collections.abc import Callable
from html import unescape
from pathlib import Path

import msgspec
import pytest

from evaluator.runs.files import read_manifest, write_manifest
from evaluator.runs.reading import Manifest
from evaluator.runs.schema import MAX_PROBLEMS
from tests.dashboard import rows, sample_run
from tests.dashboard.rows import Show
from tests.dashboard.test_pages import component, text, visit

NOT_JSON = ("r.jsonl", 7, "not JSON: column 3", "{'a", 5120, "not JSON")
TWICE = ("r.jsonl", 9, "sample_id 's' is already on line 2: this row is skipped", "", 7000, "duplicate")
JAVA = ("d.jsonl", 3, f"the language is {sample_run.HOSTILE!r}", sample_run.HOSTILE, 0, "language")

Opened = Callable[..., Path]


@pytest.fixture
def opened(tmp_path: Path, show: Show) -> Opened:
    """Opens a run of one rollout, or of none, with these bad lines of its files."""

    def write(*bad: tuple[object, ...], rollouts: int = 1) -> Path:
        manifest = Manifest(dataset="d.jsonl", rollouts="r.jsonl", folder="..", format="native")
        for each in bad:
            manifest.add_problem(*each)  # type: ignore[arg-type]
        run = rows.write(tmp_path / "run", [rows.row("t", "s", reward=1.0)] * rollouts, manifest=manifest)
        show(run)
        return run

    return write


def reasons(**params: str) -> dict[str, str]:
    return dict(row["cells"] for row in component(visit("bad_lines", **params), "reasons")["rows"])


def test_each_bad_line_has_its_place_its_reason_and_its_beginning(opened: Opened, tmp_path: Path) -> None:
    opened(NOT_JSON, TWICE, JAVA)
    drawn = text(visit("bad_lines"))
    assert "3 lines could not be used" in drawn
    assert "<td>7</td><td>5,120</td><td>not JSON: column 3<code>{&#x27;a</code></td>" in drawn
    assert "<td>d.jsonl</td><td>3</td><td>0</td><td><b>language</b>" in drawn
    assert "<img" not in drawn
    assert sample_run.HOSTILE in unescape(drawn)
    assert f"formats {tmp_path}/r.jsonl --check --format native</code>" in drawn
    assert f"formats {tmp_path}/d.jsonl --check</code>" in drawn


def test_a_reason_in_the_address_chooses_its_lines(opened: Opened) -> None:
    opened(NOT_JSON, NOT_JSON, TWICE)
    assert reasons() == {"all": "3", "not JSON": "2", "duplicate": "1"}
    drawn = text(visit("bad_lines", view="duplicate"))
    assert "<td>9</td>" in drawn
    assert "<td>7</td>" not in drawn
    assert "<td>7</td>" in text(visit("bad_lines", view="no such reason"))


def test_lines_that_are_not_kept_are_counted_by_reason_too(opened: Opened) -> None:
    opened(*[NOT_JSON] * MAX_PROBLEMS, *[TWICE] * 5)
    assert reasons() == {"all": "1,005", "not JSON": "1,000", "duplicate": "5"}
    assert "None of these is among the lines that are kept." in text(visit("bad_lines", view="duplicate"))
    last = text(visit("bad_lines", page="10"))
    assert last.count("<td>7</td>") == 100
    assert "The first 1,000 are kept and listed here; 5 more are only counted." in last


def test_the_bad_lines_of_an_older_run_are_grouped_by_their_messages(opened: Opened) -> None:
    said = [f"sample_id 'a, {n}' is already on line {n}: this row is skipped" for n in range(3)]
    run = opened(*(("r.jsonl", n, message) for n, message in enumerate(said)))
    write_manifest(run, msgspec.structs.replace(read_manifest(run), problem_reasons={}, problems_total=7))
    assert reasons() == {"all": "3", "repeated id": "3"}
    drawn = text(visit("bad_lines"))
    assert "7 lines could not be used" in drawn
    assert "The counts are of the 3 lines that are kept." in drawn


def test_very_many_reasons_stay_few(opened: Opened) -> None:
    opened(*(("r.jsonl", n, "m", "", None, f"reason {n}") for n in range(300)))
    found = reasons()
    assert (len(found), found["all"], found["other"]) == (102, "300", "200")
    assert text(visit("bad_lines", view="other")).count("<b>reason ") == 100


def test_a_run_without_bad_lines_says_so(opened: Opened) -> None:
    opened()
    assert "Every line could be used." in text(visit("bad_lines"))
    links = [link.label for link in visit("overview").page_link]
    assert "Bad lines" in links
    assert not any("bad input" in label for label in links)


@pytest.mark.parametrize(("rollouts", "page"), [(1, "overview"), (0, "rollouts")])
def test_overview_and_a_run_without_rollouts_lead_to_the_bad_lines(opened: Opened, rollouts: int, page: str) -> None:
    opened(NOT_JSON, rollouts=rollouts)
    assert "1 bad input line left out" in [link.label for link in visit(page).page_link]
    assert "<td>7</td>" in text(visit("bad_lines"))
