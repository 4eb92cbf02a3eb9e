"""Many verify requests at once: `rollscope serve nemo-gym` against servers that start processes for each request.

The peers are a few lines of our own (`_nemo_gym_peer.py`), without isolation. For each request one starts a
`multiprocessing.Manager` and forks a `Process`, as NeMo Gym's code_gen does within a Ray task; the other starts a
Python. All servers run throughout, have one worker per CPU, and get the same requests in turns. All programs have
different texts; every fourth prints a wrong answer. A lost, wrong or swapped answer ends the benchmark.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import _report
import _workloads

_OURS = "Rollscope"
_PEER = Path(__file__).with_name("_nemo_gym_peer.py")
_SERVERS = {
    "Manager and Process": [sys.executable, str(_PEER), "manager"],
    "a Python each": [sys.executable, str(_PEER), "python"],
    _OURS: [sys.executable, "-m", "evaluator.cli", "serve", "nemo-gym", "--port", "0"],
}
_TESTS = (1, 20)
_WRONG_EACH = 4
_PATIENCE_S = 600

Body = dict[str, Any]


class Exchange(NamedTuple):
    """A request and the expected answer."""

    text: str
    code: str
    right: bool


class Round(NamedTuple):
    """Seconds for all requests together, and for each."""

    total: float
    each: list[float]


def requests(count: int, tests: int) -> list[Exchange]:
    tasks = {task.task_id: task for task in _workloads.stdin_tasks(tests)}
    made = []
    for number, rollout in enumerate(_workloads.completions(list(tasks.values()), count)):
        right = number % _WRONG_EACH != 0
        code = rollout.completion.strip() + ("" if right else "\nprint('wrong')")
        cases = tasks[rollout.task_id].cases
        unit_tests = {"inputs": [case.input for case in cases], "outputs": [case.expected for case in cases]}
        part = {"type": "output_text", "text": f"```python\n{code}\n```", "annotations": []}
        message = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
        body = {
            "responses_create_params": {"input": [{"role": "user", "content": rollout.task_id}]},
            "response": {"id": str(number), "object": "response", "model": "none", "output": [message]},
            "verifier_metadata": {"unit_tests": unit_tests},
        }
        made.append(Exchange(json.dumps(body), code, right))
    return made


@contextmanager
def running(words: list[str]) -> Iterator[str]:
    """The URL of a server that runs for the length of the `with`."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip().removeprefix("listening on ")
        finally:
            process.terminate()


def ask(url: str, exchange: Exchange, together: threading.Barrier) -> float:
    """Seconds until the answer arrived. Raises `SystemExit` if it is not the expected one."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=_PATIENCE_S)
    together.wait()
    began = time.perf_counter()
    connection.request("POST", "/verify", exchange.text, {"content-type": "application/json"})
    response = connection.getresponse()
    text = response.read()
    seconds = time.perf_counter() - began
    connection.close()
    answer: Body = json.loads(text) if response.status == http.client.OK else {}
    expected = (float(exchange.right), exchange.code, False)
    if (answer.get("reward"), answer.get("extracted_model_code"), answer.get("mask_sample", False)) != expected:
        raise SystemExit(f"{url}: status {response.status}, not the answer to its request: {text[:500]!r}")
    return seconds


def at_once(url: str, work: list[Exchange]) -> Round:
    together = threading.Barrier(len(work) + 1)
    with ThreadPoolExecutor(len(work)) as threads:
        answers = [threads.submit(ask, url, exchange, together) for exchange in work]
        together.wait()
        began = time.perf_counter()
        each = [answer.result() for answer in answers]
        return Round(time.perf_counter() - began, each)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=64, help="simultaneous requests")
    options = parser.parse_args()
    print(f"{_report.machine()}; {options.rounds} rounds, {options.requests} requests at once\n")
    with ExitStack() as servers:
        urls = {name: servers.enter_context(running(words)) for name, words in _SERVERS.items()}
        for url in urls.values():
            at_once(url, requests(2 * len(os.sched_getaffinity(0)), 1))
        rows = [row for tests in _TESTS for row in rows_of(tests, measured(urls, tests, options))]
    columns = ["server", "tests", "all, s", "per second", "p50, ms", "p99, ms", f"{_OURS}, ratio"]
    _report.table(columns, rows)


def measured(urls: dict[str, str], tests: int, options: argparse.Namespace) -> dict[str, list[Round]]:
    rounds: dict[str, list[Round]] = {name: [] for name in urls}
    for number in range(options.rounds):
        print(f"{tests} tests: round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
        work = requests(options.requests, tests)
        for name, url in urls.items():
            rounds[name].append(at_once(url, work))
    return rounds


def rows_of(tests: int, rounds: dict[str, list[Round]]) -> list[list[str]]:
    """Latencies over all rounds; for totals and our speed-up, the rounds' median."""
    rows = []
    for name, theirs in rounds.items():
        total = median(one.total for one in theirs)
        each = sorted(seconds for one in theirs for seconds in one.each)
        cuts = quantiles(each, n=100, method="inclusive")
        times = median(one.total / our.total for one, our in zip(theirs, rounds[_OURS], strict=True))
        figures = [
            f"{total:.2f}",
            f"{len(theirs[0].each) / total:.0f}",
            f"{1000 * cuts[49]:.0f}",
            f"{1000 * cuts[98]:.0f}",
        ]
        rows.append([name, str(tests), *figures, "" if name == _OURS else f"{times:.1f}"])
    return rows


if __name__ == "__main__":
    main()
