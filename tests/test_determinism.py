"""The same file gives the same grades: again, with other workers, in another order, in both isolations."""

import json
import random
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from evaluator.formats import load_rollouts, load_tasks
from evaluator.options import Isolation, Options
from evaluator.runs.export import export
from evaluator.runs.reading import Manifest, Run
from evaluator.runs.writing import RunWriter
from evaluator.workers.grade_stream import grade_all
from tests.sandbox.programs_that_leave_something import PUT_RIGHT, SEEN

pytestmark = pytest.mark.slow
DATA = Path(__file__).resolve().parent.parent / "data"
EXAMPLE = (DATA / "example.dataset.jsonl", DATA / "example.rollouts.jsonl")

PROGRAMS = {name: code for name, code in (PUT_RIGHT | SEEN).items() if "/proc/self/stat" not in code}
"""Without those that print when their process was started."""
MEASURED = {"wall_s", "cpu_s", "memory_mb"}
HANGS_ON_THE_MOMENT = {"time_limit", "memory_limit"}


@pytest.fixture(scope="module")
def leftovers(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The programs that leave something behind, as tasks whose expected output is that of their first run."""
    folder = tmp_path_factory.mktemp("leftovers")
    dataset, rollouts = folder / "dataset.jsonl", folder / "rollouts.jsonl"
    words = ["first\n", "second\n", "third\n"]
    in_outs = {"inputs": words, "outputs": words}
    tasks = [{"task_id": name, "mode": "stdin", "in_outs": in_outs, "checker": "tokens"} for name in PROGRAMS]
    samples = [
        {"task_id": name, "sample_id": f"{name}/0", "kind": "full", "completion": source}
        for name, source in PROGRAMS.items()
    ]
    dataset.write_text("".join(json.dumps(task) + "\n" for task in tasks))
    rollouts.write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    return dataset, rollouts


def exported(
    files: tuple[Path, Path], folder: Path, *, workers: int = 2, isolation: Isolation = "completion", shuffle: int = 0
) -> Sequence[str]:
    """The run's JSONL export without what is measured, a line a rollout."""
    tasks = {task.task_id: task for task in load_tasks(files[0])}
    rollouts = list(load_rollouts(files[1]))
    if shuffle:
        random.Random(shuffle).shuffle(rollouts)
    with RunWriter.create(folder / "run", Manifest()) as writer:
        for rollout, grade, row in grade_all(tasks, rollouts, Options(isolation=isolation), workers=workers):
            writer.add(rollout, grade, row)
        writer.close()
    export(Run.open(folder / "run"), folder / "run.jsonl")
    return [comparable(line) for line in (folder / "run.jsonl").read_text().splitlines()]


def comparable(line: str) -> str:
    row = {name: value for name, value in json.loads(line).items() if name not in MEASURED}
    if row["verdict"] in HANGS_ON_THE_MOMENT:
        row["error_message"] = row["error_line"] = None
    return re.sub(r"0x[0-9a-f]{4,16}", "0x0", json.dumps(row))


VARIATIONS = {"one worker": {"workers": 1}, "shuffled": {"shuffle": 3}, "a process a test": {"isolation": "test"}}


@pytest.fixture(scope="module")
def first_of_leftovers(leftovers: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Sequence[str]:
    return exported(leftovers, tmp_path_factory.mktemp("first"))


@pytest.mark.parametrize("variation", VARIATIONS)
def test_programs_that_leave_something_get_the_same_grades(leftovers, first_of_leftovers, tmp_path, variation):
    assert len(first_of_leftovers) == len(PROGRAMS)
    assert exported(leftovers, tmp_path, **VARIATIONS[variation]) == first_of_leftovers


@pytest.mark.attacks
def test_the_example_gets_the_same_grades_by_one_worker_in_another_order_and_isolation(tmp_path):
    (tmp_path / "other").mkdir()
    other = exported(EXAMPLE, tmp_path / "other", workers=1, shuffle=3, isolation="test")
    assert other == exported(EXAMPLE, tmp_path)
