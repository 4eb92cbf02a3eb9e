"""Competitors in processes of their own, and the files from which all of them read the same completions."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from _plain_grading import Work

from evaluator import Task
from evaluator.tasks.import_headers import LIVECODEBENCH


class Sample(NamedTuple):
    """A task, and the code of a completion."""

    task: Task
    code: str


class Result(NamedTuple):
    """What a competitor did with a set."""

    completions: int
    right: int
    seconds: float
    cpu_s: float

    @property
    def rate(self) -> float:
        """Completions a second."""
        return self.completions / self.seconds

    @property
    def cpu_ms(self) -> float:
        """Milliseconds of CPU time a completion."""
        return 1000 * self.cpu_s / self.completions


def competed(way: str, workers: int, samples: Sequence[Sample]) -> Result:
    """Runs a way of `_plain_ways.py`, or `ours`, on these completions. Raises `SystemExit` if it fails.

    CPU time is that of the control group of `_clock.GROUP`.
    """
    with tempfile.TemporaryDirectory() as folder:
        if way == "ours":
            _write(Path(folder), samples)
            done = _printed("_our_way.py", str(workers), folder)
        else:
            header = LIVECODEBENCH if way == "peer" else ""
            done = _printed("_plain_ways.py", way, str(workers), _works(Path(folder), samples, header))
    return Result(len(samples), **done)


def bare_times(samples: Sequence[Sample]) -> list[float | None]:
    """The seconds that each takes, bare, for all its test cases; None if it is not right."""
    with tempfile.TemporaryDirectory() as folder:
        return list(_printed("_plain_ways.py", "times", "1", _works(Path(folder), samples)))


def _printed(script: str, *words: str) -> Any:
    command = [sys.executable, str(Path(__file__).with_name(script)), *words]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join((script, *words))}: exit status {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def _works(folder: Path, samples: Sequence[Sample], header: str = "") -> str:
    """The file with them. `header`: goes before completions whose task has none."""
    works = [
        Work(
            task.preamble or header,
            code,
            task.entry_point,
            [case.input for case in task.cases],
            [case.expected for case in task.cases],
        )
        for task, code in samples
    ]
    path = folder / "works.json"
    path.write_text(json.dumps(works))
    return str(path)


def _write(folder: Path, samples: Sequence[Sample]) -> None:
    """`tasks.jsonl` and `rollouts.jsonl`, in the native format."""
    rows = {task.task_id: _row(task) for task, _ in samples}
    rollouts = [
        {"task_id": task.task_id, "sample_id": str(place), "completion": code, "kind": "full"}
        for place, (task, code) in enumerate(samples)
    ]
    for name, lines in (("tasks", rows.values()), ("rollouts", rollouts)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def _row(task: Task) -> dict[str, object]:
    inputs, outputs = [case.input for case in task.cases], [case.expected for case in task.cases]
    return {
        "task_id": task.task_id,
        "mode": task.mode.value,
        "entry_point": task.entry_point,
        "in_outs": {"inputs": inputs, "outputs": outputs, "fn_name": task.entry_point},
        "preamble": task.preamble,
    }
