"""Grades every attack and every honest program with two workers: `python -m tests.attacks.runner [--way landlock]`.

Writes a line of JSON for each, and a last one with what was left behind: processes, files, mounts, cgroups and shared
memory that were not there before. Needs `evaluator` and what the sandbox needs, and not pytest.
"""

import argparse
import itertools
import json
import queue
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evaluator.model import Grade, Kind, Limits, Rollout
from evaluator.options import Options
from evaluator.sandbox import Sandbox, Settings, Way
from evaluator.workers.locks import Gate
from evaluator.workers.worker import Worker
from tests.attacks.corpus import MARK, Attack, Honest, attacks, honest, tasks
from tests.attacks.left_behind import become_heir, new_since, what_is_there

Record = dict[str, Any]

_TASKS = tasks()


class TimedGate(Gate):
    """Takes the time of each try, without waits for other workers and without what was tried before a retry."""

    def __init__(self) -> None:
        super().__init__()
        self._own = threading.local()

    @contextmanager
    def shared(self) -> Iterator[None]:
        with super().shared():
            self._own.longest, self._own.began = 0.0, time.monotonic()
            yield

    @contextmanager
    def alone(self) -> Iterator[None]:
        self._own.longest = self.longest_try()
        with super().alone():
            self._own.began = time.monotonic()
            yield

    def longest_try(self) -> float:
        """Seconds, for the rollout that this thread graded last."""
        own = self._own
        return float(max(own.longest, time.monotonic() - own.began))


def run(settings: Settings, workers: int, only: set[str] | None = None) -> Iterator[Record]:
    """The records, each when it is done; an honest program is graded after every attack, on the same worker."""
    waiting: queue.SimpleQueue[Attack | Honest] = queue.SimpleQueue()
    everything: list[Attack | Honest] = [*attacks(), *honest()]
    programs = [program for program in everything if not only or program.name in only]
    for program in programs:
        waiting.put(program)
    done: queue.SimpleQueue[Record | BaseException] = queue.SimpleQueue()
    gate = TimedGate()
    threads = [threading.Thread(target=_work, args=(settings, gate, waiting, done)) for _ in range(workers)]
    for thread in threads:
        thread.start()
    try:
        for _ in programs:
            record = done.get()
            if isinstance(record, BaseException):
                raise record
            yield record
    finally:
        while not waiting.empty():
            waiting.get()
        for thread in threads:
            thread.join()


def _work(
    settings: Settings,
    gate: TimedGate,
    waiting: queue.SimpleQueue[Attack | Honest],
    done: queue.SimpleQueue[Record | BaseException],
) -> None:
    try:
        with Sandbox(settings) as sandbox:
            sandbox.warm_up()
            worker = Worker(Options(sandbox=settings), gate, sandbox)
            while not waiting.empty():
                try:
                    program = waiting.get_nowait()
                except queue.Empty:
                    return
                done.put(_record(program, worker, gate))
    except BaseException as error:
        done.put(error)


def _record(program: Attack | Honest, worker: Worker, gate: TimedGate) -> Record:
    with _marked(program.code) as (code, mark):
        grade = _graded(worker, program.task, code)
        if isinstance(program, Attack) and program.grades > 1:
            grade = _graded(worker, program.task, code + "\n# once more\n")
        wall_s = gate.longest_try()
        marked = mark.exists()
    task = _TASKS[program.task]
    limits = Limits().replaced(task.limits)
    return {
        "name": program.name,
        "group": program.group if isinstance(program, Attack) else "honest",
        "kind": "attack" if isinstance(program, Attack) else "honest",
        "verdict": grade.verdict,
        "reward": grade.reward,
        "verified": grade.verified,
        "wall_s": round(wall_s, 3),
        "counted_s": round(sum(case.wall_s or 0 for case in grade.cases), 3),
        "limit_s": limits.wall_s * len(task.cases),
        "marked": marked,
        "message": (grade.error_message or "")[:200],
        "flags": [flag.word for flag in grade.flags],
        "alive": isinstance(program, Honest) or _still_grades(worker),
    }


@contextmanager
def _marked(code: str) -> Iterator[tuple[str, Path]]:
    """The code, with a path that anybody outside could write to in the place of its mark."""
    if MARK not in code:
        yield code, Path("/nonexistent")
        return
    folder = Path(tempfile.mkdtemp(prefix="mark-"))
    try:
        folder.chmod(0o777)
        yield code.replace(MARK, str(folder / "mark")), folder / "mark"
    finally:
        shutil.rmtree(folder)


_numbers = itertools.count()


def _still_grades(worker: Worker) -> bool:
    return _graded(worker, "double", f"def f(x):\n    return x + x  # {next(_numbers)}\n").reward == 1.0


def _graded(worker: Worker, task: str, code: str) -> Grade:
    rollout = Rollout(task_id=task, completion=code, sample_id=task, kind=Kind.FULL)
    return worker.grade(_TASKS[task], rollout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--way", choices=list(Way), help="default: namespaces where they can be had, else Landlock")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("names", nargs="*", help="only these")
    options = parser.parse_args()
    become_heir()
    before = what_is_there()
    for record in run(Settings(way=Way(options.way) if options.way else None), options.workers, set(options.names)):
        print(json.dumps(record), flush=True)
    print(json.dumps({"left": new_since(before)}))


if __name__ == "__main__":
    main()
