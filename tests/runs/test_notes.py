"""Notes beside a run: kept by everybody who writes at once, and never in the run's own files."""

import threading
from pathlib import Path

import pytest

from evaluator.runs.notes import NOTES, NotesError, note_rollout, note_task, notes_stamp, read_notes, save_filter


def test_a_run_without_notes_has_none(tmp_path: Path) -> None:
    assert read_notes(tmp_path).rollouts == []
    assert notes_stamp(tmp_path) == 0


def test_a_note_is_read_back_replaced_and_removed(tmp_path: Path) -> None:
    note_rollout(tmp_path, "t", "s#0", tags=("hack", "hack", "look"), note="<b>\ud800")
    found = read_notes(tmp_path).rollout("t", "s#0")
    assert found is not None
    assert (found.tags, found.note) == (("hack", "look"), "<b>\\ud800")
    note_rollout(tmp_path, "t", "s#0", tags=(), note="other")
    assert [n.note for n in read_notes(tmp_path).rollouts] == ["other"]
    note_rollout(tmp_path, "t", "s#0", tags=(), note="")
    assert read_notes(tmp_path).rollouts == []


def test_a_task_and_its_test_case_are_judged_apart(tmp_path: Path) -> None:
    note_task(tmp_path, "t", judgement="unsure")
    note_task(tmp_path, "t", 3, judgement="bad", note="expects 8 for 7")
    notes = read_notes(tmp_path)
    task, test = notes.task("t"), notes.task("t", 3)
    assert task is not None
    assert test is not None
    assert (task.judgement, test.judgement, test.note) == ("unsure", "bad", "expects 8 for 7")
    note_task(tmp_path, "t", 3, judgement=None)
    assert read_notes(tmp_path).task("t", 3) is None


def test_filters_are_saved_by_name(tmp_path: Path) -> None:
    save_filter(tmp_path, "time-outs", "verdict=time_limit")
    save_filter(tmp_path, "mine", "q=x")
    save_filter(tmp_path, "time-outs", None)
    assert read_notes(tmp_path).filters == {"mine": "q=x"}


def test_of_notes_written_at_once_none_is_lost(tmp_path: Path) -> None:
    def write(number: int) -> None:
        for each in range(5):
            note_rollout(tmp_path, "t", f"s#{number}.{each}", tags=("a",), note="")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read_notes(tmp_path).rollouts) == 40


_HUGE = b'{"tasks": [{"task_id": "t", "test": 99999999999999}]}'


@pytest.mark.parametrize("text", [b"{", b"[]", b"\xff", b'{"rollouts": 3}', _HUGE])
def test_a_broken_file_is_reported_in_one_line_and_kept(tmp_path: Path, text: bytes) -> None:
    (tmp_path / NOTES).write_bytes(text)
    with pytest.raises(NotesError, match="move it away") as caught:
        note_task(tmp_path, "t", judgement="good")
    assert "\n" not in str(caught.value)
    assert (tmp_path / NOTES).read_bytes() == text
