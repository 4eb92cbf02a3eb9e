"""Tags and a note on a rollout: what is kept of what people type, and how it looks beside the title."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import notes
from dashboard.notes import tidied
from dashboard.text import tables_view
from evaluator.runs.notes import NOTES, note_rollout, read_notes
from tests.dashboard import hostile_text, sample_run
from tests.dashboard.test_pages import HANG_S, click, text, visit


def test_tags_are_one_line_each_and_listed_once() -> None:
    assert tidied([" a, b ", "a, b", "line\n feed", "", "  ", "<b>"]) == ("a, b", "line feed", "<b>")


@pytest.mark.parametrize("hostile", [*hostile_text.TEXTS, sample_run.HOSTILE, '"><script>', "x" * 10_000])
def test_chips_are_text(hostile: str) -> None:
    drawn = tables_view.chips([hostile], hostile)
    assert drawn.count("<span") - drawn.count("rs-unseen") == 2
    for start in ("<a ", "<b>", "<img", "<script", "<i>"):
        assert start not in drawn
    assert "\u202e" not in tables_view.chips(["a\u202eb"], "").replace('data-mark="U+202E">\u202e', "")
    assert len(drawn) < 12_000


def test_many_tags_are_counted() -> None:
    assert "+14" in tables_view.chips([f"t{n}" for n in range(20)], "")


def test_what_is_saved_is_read_again_and_filters(sample: Path) -> None:
    typed = ["a, b", sample_run.HOSTILE[:40], "half \ud800", "x"]
    assert notes.save(sample, "math/add", "add#0", typed, " two\nlines ") == ""
    kept = read_notes(sample).rollout("math/add", "add#0")
    assert kept is not None
    assert kept.tags == ("a, b", sample_run.HOSTILE[:40], "half \\ud800", "x")
    assert kept.note == "two\nlines"
    for tag in kept.tags:
        shown = text(visit("rollouts", tag=tag))
        assert "1 of 13 rollouts" in shown
        assert "<img" not in shown
    assert notes.save(sample, "math/add", "add#0", [], "  ") == ""
    assert read_notes(sample).rollouts == []


def test_a_tag_that_is_too_long_and_a_side_file_that_can_not_be_written_are_one_line(sample: Path) -> None:
    said = notes.save(sample, "math/add", "add#0", ["x" * 10_000], "")
    assert said.startswith("A tag has at most 60 characters, not 10,000: xxx")
    assert len(said) < 130
    assert not (sample / NOTES).exists()
    (sample / NOTES).write_text("{")
    said = notes.save(sample, "math/add", "add#0", ["x"], "")
    assert "move it away" in said
    assert "\n" not in said
    assert (sample / NOTES).read_text() == "{"
    shown = text(visit("overview"))
    assert "Shown without its notes, tags and saved filters." in shown
    assert "move it away" in shown
    assert "13 of 13 rollouts" in shown


def _page(path: str) -> None:
    from pathlib import Path

    from dashboard import notes, workspace
    from dashboard.controls import Screen
    from dashboard.queries import records
    from dashboard.state import View

    run = workspace.open_run(workspace.Entry("run", Path(path)))
    rollout = records.rollout(run, "math/add", "add#0")
    assert rollout is not None
    notes.offer(Screen(View(), run, 13, 13), rollout)


def test_the_editor_offers_the_tags_of_the_run_and_starts_from_what_is_noted(sample: Path) -> None:
    note_rollout(sample, "math/add", "add#0", tags=("mine",), note="why")
    note_rollout(sample, "math/add", "add#1", tags=("often", "mine"), note="")
    note_rollout(sample, "math/add", "add#2", tags=("often", "mine", "<b>"), note="")
    app = AppTest.from_function(_page, args=(str(sample),), default_timeout=HANG_S).run()
    assert "mine</span>" in text(app)
    assert "why</span>" in text(app)
    click(app, "note")
    [tags] = app.pills
    assert tags.options == ["mine", "often", r"\<b\>"]
    assert tags.value == ["mine"]
    assert app.text_area[0].value == "why"
