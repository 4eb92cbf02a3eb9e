"""The file of the cache of grades: bounded, shared by processes, and never a reason for anything to fail."""

import logging
import os
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from evaluator.model import CaseResult, Grade, Verdict
from evaluator.runs.grade_cache import FILE, GradeCache

ROOT = Path(__file__).resolve().parents[2]
ROOMY = 2**30


def opened(folder: Path, most_bytes: int = ROOMY, run: str = "") -> GradeCache:
    return GradeCache(folder, most_bytes=most_bytes, run=run or f"{folder}")


def key(number: int) -> bytes:
    return random.Random(number).randbytes(24)


def grade(text: str = "") -> Grade:
    case = CaseResult(index=0, verdict=Verdict.PASSED, actual=text)
    return Grade(task_id="t", sample_id="t#0", verdict=Verdict.PASSED, reward=1.0, cases=(case,))


def noise(number: int, size: int) -> str:
    return random.Random(number).randbytes(size // 2).hex()


def test_what_was_put_is_there_for_the_next_process(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "c")) as cache:
        assert cache.get(key(0)) is None
        cache.put(key(0), grade("é" * 5_000))
        cache.put(key(1), grade("short"))
    with closing(opened(tmp_path / "c")) as cache:
        assert cache.get(key(0)) == grade("é" * 5_000)
        assert cache.get(key(1)) == grade("short")
        assert cache.get(key(2)) is None
        assert cache.get(key(1)[:8] + key(2)[8:]) is None


def test_the_folder_and_its_files_are_the_users_alone(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "c")) as cache:
        cache.put(key(0), grade())
        cache.close()
        assert cache.get(key(0)) == grade()
        assert (tmp_path / "c").stat().st_mode & 0o777 == 0o700
        assert {path.stat().st_mode & 0o777 for path in (tmp_path / "c").iterdir()} == {0o600}


def test_half_a_surrogate_pair_is_not_kept_and_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with closing(opened(tmp_path)) as cache:
        cache.put(key(0), grade("\ud800"))
        cache.put(key(1), grade("\U0001f600"))
    with closing(opened(tmp_path)) as cache:
        assert (cache.get(key(0)), cache.get(key(1))) == (None, grade("\U0001f600"))
    assert caplog.messages == []


def test_it_has_a_size_and_forgets_what_was_not_used_for_longest(tmp_path: Path) -> None:
    most = 2**18
    for batch in range(24):
        with closing(opened(tmp_path, most)) as cache:
            for number in range(batch * 50, batch * 50 + 50):
                cache.put(key(number), grade(noise(number, 1_000)))
        with closing(sqlite3.connect(tmp_path / FILE)) as connection, connection:
            connection.execute("UPDATE grades SET used = used - 1")
        with closing(opened(tmp_path, most)) as cache:
            assert cache.get(key(0)) is not None, "it is used every day"
    files = sum(path.stat().st_size for path in tmp_path.iterdir())
    with closing(opened(tmp_path, most)) as cache:
        kept = [number for number in range(1_200) if cache.get(key(number)) is not None]
    assert kept[0] == 0
    assert kept[1] > 600
    assert kept[-100:] == list(range(1_100, 1_200))
    assert files < 6 * most, "with the log of the last commits"


@pytest.mark.parametrize("content", [b"no database" * 1_000, b""], ids=["broken", "empty"])
def test_a_broken_file_costs_one_line_and_an_empty_one_none(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: bytes
) -> None:
    (tmp_path / FILE).write_bytes(content)
    found = []
    for cache in (opened(tmp_path), opened(tmp_path)):
        found.append(cache.get(key(0)))
        cache.put(key(0), grade())
        cache.close()
    assert found == [None, None if content else grade()]
    assert [record.levelno for record in caplog.records] == ([logging.WARNING] if content else [])
    assert all(f"{tmp_path / FILE}: file is not a database: remove it" in line for line in caplog.messages)
    assert all("\n" not in line for line in caplog.messages)


def test_a_file_that_breaks_while_it_is_used(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with closing(opened(tmp_path)) as cache:
        for number in range(400):
            cache.put(key(number), grade(noise(number, 4_000)))
    path = tmp_path / FILE
    with path.open("r+b") as file:
        file.seek(8_192)
        file.write(b"\xff" * (path.stat().st_size - 8_192))
    with closing(opened(tmp_path)) as cache:
        for number in range(400):
            assert cache.get(key(number)) in (None, grade(noise(number, 4_000)))
            cache.put(key(number), grade())
    assert len(caplog.messages) == 1


def assert_refused(folder: Path, caplog: pytest.LogCaptureFixture, reason: str) -> None:
    with closing(opened(folder)) as cache:
        assert cache.get(key(0)) is None
        cache.put(key(0), grade())
    assert [reason in line for line in caplog.messages] == [True]


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720])
def test_a_folder_in_which_others_may_write_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, mode: int
) -> None:
    with closing(opened(tmp_path / "c", run="first")) as cache:
        cache.put(key(0), grade())
    (tmp_path / "c").chmod(mode)
    assert_refused(tmp_path / "c", caplog, "others may write to its folder: chmod 700")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_the_folder_of_another_user_is_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tmp_path.chmod(0o700)
    os.chown(tmp_path, 12_345, 12_345)
    assert_refused(tmp_path, caplog, "belongs to another user")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_can_not_be_made_and_a_link_in_place_of_the_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    assert_refused(tmp_path / "file" / "c", caplog, "Not a directory")
    caplog.clear()
    (tmp_path / "c").mkdir(mode=0o700)
    (tmp_path / "c" / FILE).symlink_to(tmp_path / "elsewhere")
    assert_refused(tmp_path / "c", caplog, "")
    assert not (tmp_path / "elsewhere").exists()


WRITER = """
import sys
from pathlib import Path
from tests.runs.test_grade_cache import grade, key, noise, opened

cache = opened(Path(sys.argv[1]), run="writers")
first, last = map(int, sys.argv[2:])
for number in range(first, last):
    cache.put(key(number), grade(noise(number, 2_000)))
    if number == first + 500:
        print("halfway", flush=True)
cache.close()
"""


def writer(folder: Path, first: int, last: int, *limits: str) -> subprocess.Popen[str]:
    words = [*limits, sys.executable, "-c", WRITER, str(folder), str(first), str(last)]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(words, env=os.environ | {"PYTHONPATH": str(ROOT)}, text=True, **streams)


def test_a_file_that_another_process_keeps_busy_costs_little_and_no_grade(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(opened(tmp_path)) as cache:
        cache.put(key(-1), grade())
        cache.close()
        other = sqlite3.connect(tmp_path / FILE, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        for number in range(5_000):
            cache.put(key(number), grade())
            assert cache.get(key(-1)) == grade()
        other.execute("ROLLBACK")
        other.close()
    with closing(opened(tmp_path)) as cache:
        found = [cache.get(key(number)) for number in range(500)]
    assert found == [grade()] * 500
    assert caplog.messages == []


@pytest.mark.slow
def test_killed_writers_break_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    endless = [writer(folder, first, first + 10**6) for first in (0, 10**6)]
    for each in endless:
        assert each.stdout is not None
        assert each.stdout.readline() == "halfway\n"
        each.send_signal(signal.SIGKILL)
        each.communicate(timeout=300)
    with closing(opened(folder)) as cache:
        found = {number: cache.get(key(number)) for first in (0, 10**6) for number in range(first, first + 400)}
        cache.put(key(-1), grade())
    assert found == {number: grade(noise(number, 2_000)) for number in found}
    with closing(sqlite3.connect(folder / FILE)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.slow
def test_a_disk_that_is_full(tmp_path: Path) -> None:
    limited = ["/bin/sh", "-c", 'ulimit -S -f 400; exec "$@"', "sh"]
    done = writer(tmp_path / "c", 0, 1_000, *limited)
    told = done.communicate(timeout=300)[1]
    assert done.returncode == 0
    assert told.count("\n") == 1
    assert "the cache of grades is not used" in told
    with closing(opened(tmp_path / "c")) as cache:
        assert cache.get(key(0)) == grade(noise(0, 2_000))
