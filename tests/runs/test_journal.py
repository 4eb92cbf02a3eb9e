"""A run whose writer is killed before a part is written: what had arrived is there when the run is resumed."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evaluator.model import Grade, Rollout, Verdict
from evaluator.runs.reading import Manifest, Run
from evaluator.runs.schema import columns_of
from evaluator.runs.writing import RunWriter

ROOT = Path(__file__).resolve().parents[2]
KILLED = """
import os, signal, sys
from tests.runs.test_journal import batch, begun
writer = begun(sys.argv[1], resume=False)
writer.__class__.flush_when_due = lambda self: None
for number in range(3):
    writer.add_columns(*batch(number))
os.kill(os.getpid(), signal.SIGKILL)
"""


def begun(path: str | Path, *, resume: bool = True) -> RunWriter:
    return RunWriter.create(path, Manifest(dataset_hash="abc", evaluator_version="1"), resume=resume)


def batch(number: int) -> tuple[list[int], bytes, dict[str, int]]:
    rollout = Rollout(task_id="t", completion="x", sample_id=str(number))
    grade = Grade(task_id="t", sample_id=str(number), verdict=Verdict.PASSED, reward=1.0)
    return [number], columns_of([rollout], [grade]), {"passed": 1}


@pytest.fixture(scope="module")
def killed_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("killed") / "run"
    done = subprocess.run([sys.executable, "-c", KILLED, str(run)], cwd=ROOT, check=False, timeout=300)
    assert done.returncode == -signal.SIGKILL
    assert Run.open(run).parts == [], "the journal alone has them"
    return run


@pytest.fixture
def killed(killed_once: Path, tmp_path: Path) -> Path:
    return shutil.copytree(killed_once, tmp_path / "run")


def rows(run: Path) -> list[tuple[object, ...]]:
    sql = 'SELECT "row", sample_id, dataset_hash, evaluator_version FROM rollouts ORDER BY "row"'
    return Run.open(run).connect().sql(sql).fetchall()


def hidden(run: Path) -> list[str]:
    return sorted(path.name for path in run.iterdir() if path.name.startswith(".journal"))


def test_what_had_arrived_is_in_the_resumed_run(killed: Path) -> None:
    with begun(killed) as writer:
        assert len(writer.graded_samples()) == 3
        writer.add_columns(*batch(3))
    assert rows(killed) == [(number, str(number), "abc", "1") for number in range(4)]
    assert Run.open(killed).manifest.counts == {"rollouts": 4, "passed": 4}
    assert hidden(killed) == []


def test_a_batch_that_is_half_written_is_left_out(killed: Path) -> None:
    [name] = hidden(killed)
    os.truncate(killed / name, (killed / name).stat().st_size - 5)
    begun(killed).close()
    assert [row[0] for row in rows(killed)] == [0, 1]


def test_a_journal_whose_part_is_in_place_adds_nothing(killed: Path) -> None:
    """The writer was killed just before it removed it."""
    [name] = hidden(killed)
    journal = (killed / name).read_bytes()
    begun(killed).close()
    (killed / name).write_bytes(journal)
    begun(killed).close()
    assert [row[0] for row in rows(killed)] == [0, 1, 2]
    assert hidden(killed) == []


@pytest.mark.parametrize("content", [b"", b"\0" * 7, b"\xff" * 100], ids=["empty", "zeros", "ones"])
def test_a_spoilt_journal_is_removed(killed: Path, content: bytes) -> None:
    [name] = hidden(killed)
    (killed / name).write_bytes(content)
    begun(killed).close()
    assert rows(killed) == []
    assert hidden(killed) == []


def test_a_run_that_ends_well_keeps_no_journal(tmp_path: Path) -> None:
    with begun(tmp_path / "run", resume=False) as writer:
        writer.add_columns(*batch(0))
        assert len(hidden(tmp_path / "run")) == 1
    assert hidden(tmp_path / "run") == []
