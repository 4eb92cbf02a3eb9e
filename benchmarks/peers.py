"""Completions a second, side by side in one run: how graders of contest sets run code, bare Python, and Rollscope.

All take turns, round by round, on the same completions, whose texts are all different. Each competitor is a process of
its own, and its start-up is in its time. The table has the medians of the rounds; ratios are taken within a round.

- bare: the code in one long-lived process per worker: no isolation.
- pipeline: a process per completion, forked ahead, one message there and one back: what that much isolation costs.
- peer: a `multiprocessing.Manager` and a `Process` per completion, which runs the import header and the code inside;
  where a task has no header, that of LiveCodeBench, as its grader does.
- ours: `grade_all` in the strict sandbox.

Sets: `call` and `stdin` are synthetic, ten test cases each. With `--data DIR`, `contest_chat` (real programs that pass)
and `leetcode_small` (references, twelve test cases), those that take under 20 ms bare.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final

import _clock
import _peer_sets
import _report
from _cgroup import CpuGroup
from _competitors import Result, Sample, competed

_WAYS: Final = ("bare", "pipeline", "peer", "ours")
_TARGETS: Final = {
    "call": {"pipeline": 0.65, "peer": 10},
    "stdin": {"pipeline": 0.65, "peer": 13},
    "contest_chat": {"peer": 7},
    "leetcode_small": {"peer": 7},
}
"""How many times as fast as the others ours is to be."""

Round = dict[str, Result]
"""By way."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--completions", type=int, default=3000, help="per set, way and round")
    parser.add_argument(
        "--peer-completions", type=int, default=250, help="the peer's, whose rate is the same with fewer"
    )
    parser.add_argument("--data", type=Path, help="folder with contest_chat and leetcode_small")
    parser.add_argument("--sets", help="only these, with commas: call,stdin")
    options = parser.parse_args()
    print(
        f"{_report.machine()}; {options.workers} workers, {options.rounds} rounds, {options.completions} completions\n"
    )
    sets = _sets(options)
    rounds: dict[str, list[Round]] = {name: [] for name in sets}
    with _counted():
        for number in range(options.rounds):
            for name, samples in sets.items():
                print(f"round {number + 1} of {options.rounds}: {name}", file=sys.stderr, flush=True)
                rounds[name].append(_round(samples, options))
    _print_table(rounds)
    print(f"Load now: {os.getloadavg()[0]:.1f}.")


@contextmanager
def _counted() -> Iterator[None]:
    """Lets the competitors count CPU time, which takes root and a control group."""
    try:
        group = CpuGroup().__enter__()
    except OSError as error:
        print(f"CPU time: skipped, no control group available ({error})\n")
        yield
        return
    os.environ[_clock.GROUP] = str(group.path)
    try:
        yield
    finally:
        group.__exit__()


def _sets(options: argparse.Namespace) -> dict[str, list[Sample]]:
    """What each set's completions are copies of."""
    makers: dict[str, Callable[[], list[Sample]]] = {"call": _peer_sets.call, "stdin": _peer_sets.stdin}
    if options.data is not None:
        makers["contest_chat"] = lambda: _peer_sets.contest(options.data)
        makers["leetcode_small"] = lambda: _peer_sets.leetcode(options.data)
    else:
        print("contest_chat, leetcode_small: skipped, no folder given (--data)\n")
    chosen = makers if options.sets is None else options.sets.split(",")
    sets = {name: make() for name, make in makers.items() if name in chosen}
    for name, samples in sets.items():
        tests = sum(len(sample.task.cases) for sample in samples) / max(len(samples), 1)
        print(f"{name}: copies of {len(samples)} completions, {tests:.1f} test cases each")
    print(flush=True)
    return sets


def _round(samples: list[Sample], options: argparse.Namespace) -> Round:
    """Every way once, on the same completions; raises `SystemExit` if one of them gets one wrong."""
    copies = list(_peer_sets.copies(samples, options.completions))
    results: Round = {}
    for way in _WAYS:
        given = copies[: options.peer_completions] if way == "peer" else copies
        result = competed(way, options.workers, given)
        if result.right != len(given):
            raise SystemExit(f"{way}: {result.right} of {len(given)} are right")
        print(f"  {way}: {result.rate:.0f} a second", file=sys.stderr, flush=True)
        results[way] = result
    return results


def _print_table(rounds: dict[str, list[Round]]) -> None:
    rows = [
        *([f"{way}, completions/s", *(_middle(each, way, "rate", 0) for each in rounds.values())] for way in _WAYS),
        *([f"{way}, CPU ms each", *(_middle(each, way, "cpu_ms", 2) for each in rounds.values())] for way in _WAYS),
    ]
    for way in ("pipeline", "peer"):
        rows.append([f"**ours / {way}**", *(f"{_ratio(each, way):.2f}" for each in rounds.values())])
        rows.append(["by CPU time", *(f"{_cpu_ratio(each, way):.2f}" for each in rounds.values())])
        rows.append(["target, reached", *(_against(name, way, _ratio(each, way)) for name, each in rounds.items())])
    _report.table(["", *rounds], rows)


def _middle(rounds: list[Round], way: str, figure: str, digits: int) -> str:
    return f"{median(getattr(each[way], figure) for each in rounds):.{digits}f}"


def _ratio(rounds: list[Round], way: str) -> float:
    return median(each["ours"].rate / each[way].rate for each in rounds)


def _cpu_ratio(rounds: list[Round], way: str) -> float:
    """How many times as much work ours does in the same CPU time; 0 if that is not known."""
    return median(each[way].cpu_ms / (each["ours"].cpu_ms or math.inf) for each in rounds)


def _against(name: str, way: str, ratio: float) -> str:
    target = _TARGETS[name].get(way)
    return "" if target is None else f"{target:g}: {_report.against(ratio, target, at_most=False)}"


if __name__ == "__main__":
    main()
