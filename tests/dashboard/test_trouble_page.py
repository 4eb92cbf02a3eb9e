"""The Trouble page: what could not be used of the input files."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import msgspec
import pytest

from dashboard import workspace
from evaluator.runs.files import read_manifest, write_manifest
from evaluator.runs.reading import Manifest, RunWriter
from evaluator.runs.schema import MAX_PROBLEMS
from tests.dashboard import rows, sample_run
from tests.dashboard.test_pages import component, no_exception, text, visit


def opened(path: Path, monkeypatch: pytest.MonkeyPatch, *bad: tuple[object, ...]) -> None:
    """A run of one rollout, with these bad lines of its files."""
    manifest = Manifest(dataset="d.jsonl", rollouts="r.jsonl", folder="..", format="native")
    with RunWriter.create(path, manifest) as writer:
        for each in bad:
            writer.manifest.add_problem(*each)  # type: ignore[arg-type]
        writer.add(*rows.row("t", "s", reward=1.0), 0)
        writer.close()
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(path)]}))


NOT_JSON = ("r.jsonl", 7, "not JSON: column 3", "{'a", 5120, "not JSON")
TWICE = ("r.jsonl", 9, "sample_id 's' is already on line 2: this row is skipped", "", 7000, "duplicate")
JAVA = ("d.jsonl", 3, f"the language is {sample_run.HOSTILE!r}", sample_run.HOSTILE, 0, "language")


def reasons(**params: str) -> dict[str, str]:
    app = visit("trouble", **params)
    no_exception(app)
    return dict(row["cells"] for row in component(app, "reasons")["rows"])


def test_each_bad_line_has_its_place_its_reason_and_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(tmp_path / "run", monkeypatch, NOT_JSON, TWICE, JAVA)
    app = visit("trouble")
    no_exception(app)
    drawn = text(app)
    assert "3 lines could not be used" in drawn
    assert "<td>7</td><td>5,120</td><td>not JSON: column 3<code>{&#x27;a</code></td>" in drawn
    assert "<td>d.jsonl</td><td>3</td><td>0</td><td><b>language</b>" in drawn
    assert "<img" not in drawn
    assert sample_run.HOSTILE in unescape(drawn)
    assert f"formats {tmp_path}/r.jsonl --check --format native</code>" in drawn
    assert f"formats {tmp_path}/d.jsonl --check</code>" in drawn


def test_a_reason_in_the_address_chooses_its_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(tmp_path / "run", monkeypatch, NOT_JSON, NOT_JSON, TWICE)
    assert reasons() == {"all": "3", "not JSON": "2", "duplicate": "1"}
    drawn = text(visit("trouble", view="duplicate"))
    assert "<td>9</td>" in drawn
    assert "<td>7</td>" not in drawn
    assert "<td>7</td>" in text(visit("trouble", view="no such reason"))


def test_lines_that_are_not_kept_are_counted_by_reason_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(tmp_path / "run", monkeypatch, *[NOT_JSON] * MAX_PROBLEMS, *[TWICE] * 5)
    assert reasons() == {"all": "1,005", "not JSON": "1,000", "duplicate": "5"}
    assert "The first 1,000 are kept and listed here; 5 more are only counted." in text(visit("trouble"))
    assert "None of these is among the lines that are kept." in text(visit("trouble", view="duplicate"))
    assert text(visit("trouble", page="10")).count("<td>7</td>") == 100


def test_the_bad_lines_of_an_older_run_are_grouped_by_their_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [f"sample_id 'a, {n}' is already on line {n}: this row is skipped" for n in range(3)]
    opened(tmp_path / "run", monkeypatch, *(("r.jsonl", n, message) for n, message in enumerate(said)))
    manifest = read_manifest(tmp_path / "run")
    write_manifest(tmp_path / "run", msgspec.structs.replace(manifest, problem_reasons={}, problems_total=7))
    assert reasons() == {"all": "3", "repeated id": "3"}
    drawn = text(visit("trouble"))
    assert "7 lines could not be used" in drawn
    assert "The counts are of the 3 lines that are kept." in drawn


def test_very_many_reasons_stay_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(tmp_path / "run", monkeypatch, *(("r.jsonl", n, "m", "", None, f"reason {n}") for n in range(300)))
    found = reasons()
    assert (len(found), found["all"], found["other"]) == (102, "300", "200")
    assert text(visit("trouble", view="other")).count("<b>reason ") == 100


def test_a_run_without_bad_lines_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(tmp_path / "run", monkeypatch)
    assert "Every line could be used." in text(visit("trouble"))
    assert "Trouble" in [link.label for link in visit("overview").page_link]
    assert not any("bad input" in link.label for link in visit("overview").page_link)


def test_overview_and_a_run_without_rollouts_lead_to_the_bad_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(tmp_path / "run", monkeypatch, NOT_JSON)
    assert "1 bad input line left out" in [link.label for link in visit("overview").page_link]
    with RunWriter.create(tmp_path / "none", Manifest(rollouts="r.jsonl")) as writer:
        writer.manifest.add_problem(*NOT_JSON)
        writer.close()
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(tmp_path / "none")]}))
    assert "1 bad input line left out" in [link.label for link in visit("rollouts").page_link]
    assert "<td>7</td>" in text(visit("trouble"))
