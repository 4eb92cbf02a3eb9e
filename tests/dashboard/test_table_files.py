"""The database file of a large run's tables: what a new server shows from it, and when it is made anew."""

import itertools
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import duckdb
import pytest

from dashboard.queries import aggregates, dataset, listing, query, records, tables
from dashboard.queries.orders import COLUMNS
from dashboard.state import Filter
from dashboard.workspace import OpenRun
from evaluator.model import CaseResult, Component, Difference, Verdict
from evaluator.runs.files import part_path
from evaluator.runs.notes import Notes
from evaluator.runs.reading import Manifest, Run
from evaluator.runs.writing import RunWriter
from tests.dashboard.rows import Row, row
from tests.dashboard.test_pages import mostly_slow

PARTS = 3
A_PART = 4
_OPENED = itertools.count()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Every run of these tests is a large one; its files come here."""
    monkeypatch.setattr(tables, "_LARGE", 1)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "rollscope" / "tables"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write(tmp_path / "run", range(PARTS))
    return tmp_path / "run"


def write(path: Path, parts: range, *, resume: bool = False, passes: bool = False) -> None:
    """Some rollouts in each part: one passes, the others have a wrong answer to the second of two test cases."""
    with RunWriter.create(path, Manifest(dataset="d", rollouts="r"), resume=resume) as writer:
        if passes:
            writer.regrade()
        for part in parts:
            for place in range(part * A_PART, (part + 1) * A_PART):
                writer.add(*graded(place, passes=passes or place % A_PART == 0), place)
            writer.flush()
        writer.close()


def graded(place: int, *, passes: bool) -> Row:
    verdict = Verdict.PASSED if passes else Verdict.WRONG_ANSWER
    difference = Difference("8, not 7", 1, 1)
    cases = (
        CaseResult(index=0, verdict=Verdict.PASSED),
        CaseResult(index=1, verdict=verdict, expected="7", actual="8", difference=difference),
    )
    more = {"cases": cases, "code": f"x = {place}", "components": (Component(name="style", reward=0.5),)}
    name, model = f"t{place // 3}", f"m{place % 2}"
    return row(name, f"s{place}", reward=float(passes), model=model, completion="x" * place, **more)


def opened(path: Path) -> OpenRun:
    """The run as a new server opens it."""
    run = Run.open(path)
    return OpenRun("run", path, (next(_OPENED), 0), run, tables.connected(run), Notes())


def shown(run: OpenRun) -> object:
    """What pages show of it."""
    everything = listing.table(run, Filter(), "-length", 1, list(COLUMNS))
    figures = (made(run, Filter()) for made in (aggregates.totals, aggregates.clusters, query.case_count))
    return everything, *figures, run.rows("SELECT * FROM parts ORDER BY ALL"), listing.case_grid(run, Filter(), "t0")


def in_memory(path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    with monkeypatch.context() as patch:
        patch.setattr(tables, "_LARGE", 1_000_000)
        return shown(opened(path))


def spoil(path: Path) -> None:
    """Make a file unreadable, unseen from outside."""
    before = path.stat()
    path.write_bytes(b"x" * before.st_size)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_new_server_shows_what_is_in_the_file_without_reading_the_run(
    path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = opened(path)
    assert shown(first) == in_memory(path, monkeypatch)
    assert [file.suffix for file in cache.iterdir()] == [".duckdb"], "nothing else is left there"
    spoil(part_path(path, "rollouts", 1))
    second = opened(path)
    assert aggregates.totals(second, Filter()).rollouts == PARTS * A_PART
    assert listing.table(first, Filter(q="s3"), "", 1, ["verdict"]) == [("t1", "s3", "wrong_answer")], "both are open"


def test_of_a_run_that_has_grown_only_the_new_part_is_read(
    path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = opened(path)
    write(path, range(PARTS, PARTS + 2), resume=True)
    whole = in_memory(path, monkeypatch)
    spoil(part_path(path, "rollouts", 1))
    spoil(part_path(path, "cases", 1))
    grown = opened(path)
    assert shown(grown) == whole
    assert aggregates.totals(before, Filter()).rollouts == PARTS * A_PART, "what is open stays as it was"
    assert len(list(cache.iterdir())) == 1


def test_a_run_that_was_graded_again_is_read_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(path)
    write(path, range(2), resume=True, passes=True)
    again = opened(path)
    assert shown(again) == in_memory(path, monkeypatch)
    counts = {each.verdict: each.rollouts for each in aggregates.verdict_counts(again, Filter())}
    assert counts == {"passed": 2 * A_PART + PARTS - 2, "wrong_answer": (PARTS - 2) * (A_PART - 1)}
    assert records.verdicts_of(again, "t0", "s1") == [(0, "passed"), (1, "passed")], "of the newest grade"


def test_another_run_in_the_same_place_is_not_taken_for_the_first(path: Path, tmp_path: Path) -> None:
    opened(path)
    path.rename(tmp_path / "older")
    write(path, range(1))
    assert aggregates.totals(opened(path), Filter()).rollouts == A_PART


HARM = ("no directory", "no home", "a damaged file", "a file of something else")


@pytest.mark.parametrize("harm", mostly_slow(HARM, "a damaged file"))
def test_a_cache_that_cannot_be_used_is_done_without(
    harm: str, path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = shown(opened(path))
    [file] = cache.iterdir()
    if harm == "no directory":
        monkeypatch.setenv("XDG_CACHE_HOME", str(file))
    elif harm == "no home":
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setenv("HOME", str(file))
    elif harm == "a damaged file":
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 3])
    else:
        file.unlink()
        with duckdb.connect(file) as other:
            other.execute("CREATE TABLE sources AS SELECT 1 AS a, 2 AS b, 3 AS c")
    assert shown(opened(path)) == whole
    assert shown(opened(path)) == whole


def test_a_disk_that_is_full_leaves_no_half_file(path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "replace", Mock(side_effect=OSError(28, "No space left on device")))
    assert aggregates.totals(opened(path), Filter()).rollouts == PARTS * A_PART
    assert list(cache.iterdir()) == []


@pytest.mark.slow
def test_files_of_runs_that_nobody_opens_any_more_go(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_KEPT", 2)
    for number in range(3):
        write(tmp_path / f"run{number}", range(1))
        opened(tmp_path / f"run{number}")
        for file in cache.iterdir():
            os.utime(file, ns=(0, file.stat().st_mtime_ns - 10**9))
    abandoned = cache / "x.tmp"
    abandoned.write_bytes(b"")
    os.utime(abandoned, (0, 0))
    write(tmp_path / "last", range(1))
    opened(tmp_path / "last")
    assert len(list(cache.iterdir())) == 2
    assert not abandoned.exists()


def test_every_page_of_every_order_lists_each_rollout_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "ROLLOUTS_PER_PAGE", 5)
    run = opened(path)
    for sort in ("", "worst", "sample_id", "-error_message", "model"):
        pages = [
            listing.table(run, Filter(), sort, page, [sort.strip("-")] if sort in COLUMNS else []) for page in (1, 2, 3)
        ]
        assert [len(page) for page in pages] == [5, 5, 2]
        listed = [row[1] for page in pages for row in page]
        assert len(set(listed)) == PARTS * A_PART
        assert sort != "sample_id" or listed == sorted(listed)


def test_rollouts_alone_open_without_test_cases(path: Path) -> None:
    """As an index of a file has them."""
    shutil.rmtree(path / "cases")
    run = opened(path)
    assert aggregates.totals(run, Filter()).rollouts == PARTS * A_PART
    assert records.verdicts_of(run, "t0", "s1") == []
    dataset.prepare(run)
    assert dataset.suspects_of(run, "t0") == []
