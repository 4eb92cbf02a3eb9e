"""The competitors without a sandbox: `_plain_ways.py WAY WORKERS FILE`, a process of its own so that forks are cheap.

FILE is a JSON list of `Work`. Prints, as JSON, how many are right, and the seconds (`_clock.py`).

`peer`: what graders of contest sets do, a `multiprocessing.Manager` and a `Process` per completion, with a thread per
worker to wait for them. `bare`: one long-lived process per worker, and nothing between completions. `pipeline`: see
`_pipeline.py`. `times` prints the seconds that each completion takes, alone and bare; null if it is not right.
"""

from __future__ import annotations

import json
import marshal
import multiprocessing
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from _clock import Clock
from _plain_grading import Work, passes

_TEST_S = 6
_MODULES = """string re datetime collections heapq bisect copy math random statistics itertools functools operator io
sys json typing time fractions""".split()
"""What the import headers of contest sets import."""
_AT_ONCE = 16


def _in_process(work: Work, results: Any, details: Any) -> None:
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(_TEST_S * len(work.inputs))
    results.append(passes(work))
    details.append({})


def _by_manager(work: Work) -> bool:
    manager = multiprocessing.Manager()
    results, details = manager.list(), manager.list()
    process = multiprocessing.Process(target=_in_process, args=(work, results, details))
    process.start()
    process.join((_TEST_S + 1) * len(work.inputs) + 5)
    if process.is_alive():
        process.kill()
    return bool(results and results[0])


def peer(works: list[Work], workers: int) -> int:
    with ThreadPoolExecutor(workers) as threads:
        return sum(threads.map(_by_manager, works))


def bare(works: list[Work], workers: int) -> int:
    with ProcessPoolExecutor(workers, multiprocessing.get_context("fork")) as pool:
        return sum(pool.map(passes, works, chunksize=_AT_ONCE))


def pipeline(works: list[Work], workers: int) -> int:
    """Shares the completions out among processes, each of which forks one process per completion."""
    command = [sys.executable, str(Path(__file__).with_name("_pipeline.py"))]
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=False) for _ in range(workers)
    ]
    for place, process in enumerate(started):
        assert process.stdin is not None
        process.stdin.write(marshal.dumps((_MODULES, [tuple(work) for work in works[place::workers]])))
        process.stdin.close()
    return sum(int(process.stdout.read()) for process in started if process.stdout and not process.wait())


WAYS: dict[str, Callable[[list[Work], int], int]] = {"peer": peer, "bare": bare, "pipeline": pipeline}


def times(works: list[Work]) -> list[float | None]:
    threading.excepthook = lambda _: None  # a program that is not right is left out, and nothing else
    found: list[float | None] = []
    for work in works:
        began = time.perf_counter()
        right = passes(work)
        found.append(time.perf_counter() - began if right else None)
    return found


def main() -> None:
    way, workers, path = sys.argv[1:]
    works = [Work(*each) for each in json.loads(Path(path).read_text())]
    if way == "times":
        print(json.dumps(times(works)))
        return
    clock = Clock()
    right = WAYS[way](works, int(workers))
    print(json.dumps(clock.stopped(right)))


if __name__ == "__main__":
    main()
