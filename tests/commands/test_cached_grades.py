"""`rollscope grade` twice: what comes from the cache of grades, what it says, and how to do without."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.runs.grade_cache import FILE
from evaluator.runs.reading import Run
from evaluator.runs.resuming import resume_command
from tests.commands.command_line import ECHO, Done, rollscope, sample, write_rows

DRAWS = "print(open('/dev/urandom', 'rb').read(8).hex())"
"""Prints something else whenever it is run."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_rows(tmp_path / "d.jsonl", ECHO)
    rows = [sample(name, f"{DRAWS}  # {name[0]}", "echo") for name in ("a", "b", "a again")]
    write_rows(tmp_path / "r.jsonl", *rows)
    return tmp_path


def graded(folder: Path, out: str, *more: object) -> Done:
    done = rollscope("grade", "r.jsonl", "--dataset", "d.jsonl", "--output", out, *more, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done


def drawn(folder: Path, out: str) -> list[Any]:
    """What the run's completions printed, by sample."""
    return Run.open(folder / out).connect().sql("SELECT actual FROM cases ORDER BY sample_id").fetchall()


def test_the_same_file_again_is_a_read(folder: Path) -> None:
    assert "from the cache" not in graded(folder, "one").stdout
    write_rows(
        folder / "r.jsonl", *map(json.loads, (folder / "r.jsonl").read_text().splitlines()), sample("n", DRAWS, "echo")
    )
    summary = json.loads(graded(folder, "two", "--json").stdout)
    assert (summary["graded_now"], summary["cached"], summary["duplicates"]) == (4, 3, 1)
    assert drawn(folder, "two")[:3] == drawn(folder, "one")
    assert [Run.open(folder / name).manifest.cached for name in ("one", "two")] == [0, 3]


@pytest.mark.slow
def test_without_a_cache_or_with_another_everything_runs(folder: Path) -> None:
    graded(folder, "one")
    graded(folder, "none", "--cache", "none")
    graded(folder, "other", "--cache", "c")
    graded(folder, "again", "--cache", "c")
    one, none, other, again = (drawn(folder, name) for name in ("one", "none", "other", "again"))
    assert one != none
    assert other not in (one, none)
    assert again == other
    assert (folder / "c" / FILE).exists()
    for name, words in (("one", ""), ("none", " --cache none "), ("other", f" --cache {folder}/c ")):
        command = resume_command(folder / name, Run.open(folder / name).manifest)
        assert ("--cache" in command, words in command) == (bool(words), True)


@pytest.mark.slow
def test_what_is_asked_for_again_runs_again_and_is_kept(folder: Path) -> None:
    graded(folder, "one")
    before = drawn(folder, "one")
    assert "from the cache" not in graded(folder, "one", "--only", "wrong_answer").stdout
    assert drawn(folder, "one") != before
    assert "3 graded, 3 from the cache" in graded(folder, "two").stdout
    assert drawn(folder, "two") == drawn(folder, "one")
