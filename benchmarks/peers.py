"""Completions a second, side by side in one run: how graders of contest sets run code, bare Python, and Rollscope.

All take turns, round by round, on the same completions, whose texts are all different; ratios are taken within a round,
and the tables show their median. Each competitor is a process of its own, and its start-up is in its time.

- peer: a `multiprocessing.Manager` and a `Process` per completion, which runs the import header and the code inside;
  where a task has no header, that of LiveCodeBench, as its grader does.
- bare: the same code in one long-lived process per worker: no isolation.
- pipeline: a process per completion, forked ahead, one message there and one back: what that much isolation costs.
- floor: one worker; fork of a warm Python, run the code, exit, wait.
- ours: `grade_all` in the strict sandbox; and `grade_file` into a run.

Sets: `stdin` and `call` are synthetic, ten test cases each, also under the import header of contest graders. With
`--data DIR`, `contest_chat` (real programs that pass) and `leetcode_small` (references, twelve test cases), those that
take under 20 ms bare. `hostile`: 5% endless loops and 5% crashes, against what their time limit alone would take.
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
from typing import NamedTuple

import _clock
import _peer_sets
import _report
from _cgroup import CpuGroup
from _competitors import Result, Sample, competed

_HOSTILE_SHARE, _HOSTILE_TARGET = 0.05, 1.2

Round = dict[tuple[str, int], Result]
"""By way and workers; 0 workers stands for the number that was asked for."""

_ALL = 0
_WAYS = (
    ("peer", _ALL),
    ("bare", _ALL),
    ("pipeline", 1),
    ("pipeline", _ALL),
    ("floor", 1),
    ("ours", 1),
    ("ours", _ALL),
    ("run", _ALL),
)
_NAMES = {"run": "ours, into a run"}


class _Target(NamedTuple):
    """The ratio of one rate to another that a set is to reach."""

    set: str
    of: tuple[str, int]
    to: tuple[str, int]
    value: float
    at_most: bool = False


_TARGETS = (
    _Target("stdin", ("ours", _ALL), ("peer", _ALL), 10),
    _Target("stdin", ("ours", _ALL), ("pipeline", _ALL), 0.6),
    _Target("call", ("ours", _ALL), ("peer", _ALL), 7),
    _Target("call", ("ours", _ALL), ("pipeline", _ALL), 0.6),
    _Target("contest_chat", ("ours", _ALL), ("peer", _ALL), 4),
    _Target("leetcode_small", ("ours", _ALL), ("peer", _ALL), 6),
    _Target("call", ("floor", 1), ("ours", 1), 2.2, at_most=True),
    _Target("call", ("ours", _ALL), ("ours", 1), 1.5),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--completions", type=int, default=1000, help="per set, way and round")
    parser.add_argument(
        "--peer-completions", type=int, default=250, help="the peer's, whose rate is the same with fewer"
    )
    parser.add_argument("--data", type=Path, help="folder with contest_chat and leetcode_small")
    parser.add_argument("--sets", help="only these, with commas: stdin,call,hostile")
    options = parser.parse_args()
    print(
        f"{_report.machine()}; {options.workers} workers, {options.rounds} rounds, {options.completions} completions\n"
    )
    sets = _sets(options)
    rounds: dict[str, list[Round]] = {name: [] for name in sets}
    loops: list[tuple[Result, Result]] = []
    with _counted():
        for number in range(options.rounds):
            for name, samples in sets.items():
                print(f"round {number + 1} of {options.rounds}: {name}", file=sys.stderr, flush=True)
                rounds[name].append(_round(samples, options))
            if _chosen("hostile", options):
                print(f"round {number + 1} of {options.rounds}: hostile", file=sys.stderr, flush=True)
                loops.append(_hostile_round(options))
    for name, measured in rounds.items():
        _print_set(name, measured, options.workers)
    _print_targets(rounds, options.workers)
    _print_hostile(loops, options)
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


def _chosen(name: str, options: argparse.Namespace) -> bool:
    return options.sets is None or name in options.sets.split(",")


def _sets(options: argparse.Namespace) -> dict[str, list[Sample]]:
    """What each set's completions are copies of."""
    makers: dict[str, Callable[[], list[Sample]]] = {
        "stdin": _peer_sets.stdin,
        "stdin under a header": lambda: _peer_sets.under_header(_peer_sets.stdin()),
        "call": _peer_sets.call,
        "call under a header": lambda: _peer_sets.under_header(_peer_sets.call()),
    }
    if options.data is not None:
        makers["contest_chat"] = lambda: _peer_sets.contest(options.data)
        makers["leetcode_small"] = lambda: _peer_sets.leetcode(options.data)
    else:
        print("contest_chat, leetcode_small: skipped, no folder given (--data)\n")
    sets = {name: make() for name, make in makers.items() if _chosen(name, options)}
    for name, samples in sets.items():
        tests = sum(len(sample.task.cases) for sample in samples) / max(len(samples), 1)
        print(f"{name}: copies of {len(samples)} completions, {tests:.1f} test cases each")
    print(flush=True)
    return sets


def _round(samples: list[Sample], options: argparse.Namespace) -> Round:
    """Every way once, on the same completions; raises `SystemExit` if one of them gets one wrong."""
    copies = list(_peer_sets.copies(samples, options.completions))
    results: Round = {}
    for way, workers in _WAYS:
        given = copies[: options.peer_completions] if way == "peer" else copies
        result = competed(way, workers or options.workers, given)
        if result.right != len(given):
            raise SystemExit(f"{way}: {result.right} of {len(given)} are right")
        print(f"  {way} ({workers or options.workers}): {result.rate:.0f} a second", file=sys.stderr, flush=True)
        results[way, workers] = result
    return results


def _hostile_round(options: argparse.Namespace) -> tuple[Result, Result]:
    """The honest ones alone, and with the hostile ones among them."""
    samples = _peer_sets.limited(_peer_sets.stdin() + _peer_sets.call())
    each = round(options.completions * _HOSTILE_SHARE)
    number = options.completions - 2 * each
    honest = competed("ours", options.workers, list(_peer_sets.copies(samples, number)))
    mixed = competed("ours", options.workers, _peer_sets.with_hostile(samples, number, each))
    if not honest.right == mixed.right == number:
        raise SystemExit(
            f"hostile: of {number} honest ones {honest.right} pass alone, {mixed.right} among hostile ones"
        )
    return honest, mixed


def _ratio(rounds: list[Round], of: tuple[str, int], to: tuple[str, int]) -> float:
    return median(each[of].rate / each[to].rate for each in rounds)


def _cpu_ratio(rounds: list[Round], of: tuple[str, int], to: tuple[str, int]) -> float:
    """How many times as much work `of` does in the same CPU time; 0 if that is not known."""
    return median(each[to].cpu_ms / (each[of].cpu_ms or math.inf) for each in rounds)


def _print_set(name: str, rounds: list[Round], workers: int) -> None:
    rows = []
    for way, number in _WAYS:
        rates = [each[way, number].rate for each in rounds]
        ours = ("ours", number)
        rows.append(
            [
                _NAMES.get(way, way),
                str(number or workers),
                f"{median(rates):.0f}",
                f"{min(rates):.0f} to {max(rates):.0f}",
                f"{median(each[way, number].cpu_ms for each in rounds):.2f}",
                "" if way == "ours" else f"{_ratio(rounds, ours, (way, number)):.2f}",
                "" if way == "ours" else f"{_cpu_ratio(rounds, ours, (way, number)):.2f}",
            ]
        )
    columns = [name, "workers", "completions/s", "lowest to highest", "CPU ms each", "ours, ratio", "by CPU time"]
    _report.table(columns, rows)


def _print_targets(rounds: dict[str, list[Round]], workers: int) -> None:
    rows = []
    for set_, of, to, value, at_most in _TARGETS:
        if set_ not in rounds:
            continue
        ratio = _ratio(rounds[set_], of, to)
        of_name, to_name = (f"{way} ({number or workers})" for way, number in (of, to))
        rows.append(
            [
                f"{set_}: {of_name} to {to_name}",
                f"{ratio:.2f}",
                f"{_cpu_ratio(rounds[set_], of, to):.2f}",
                f"{'at most' if at_most else 'at least'} {value:g}",
                _report.against(ratio, value, at_most=at_most),
            ]
        )
    if rows:
        _report.table(["rate of one to another (workers)", "ratio", "by CPU time", "target", "reached"], rows)
    scale = [
        [name, *(f"{_ratio(measured, (way, _ALL), (way, 1)):.2f}" for way in ("pipeline", "ours"))]
        for name, measured in rounds.items()
    ]
    if scale:
        _report.table([f"{workers} workers to one", "pipeline", "ours"], scale)


def _print_hostile(rounds: list[tuple[Result, Result]], options: argparse.Namespace) -> None:
    if not rounds:
        return
    loops = round(options.completions * _HOSTILE_SHARE)
    waits = loops * _peer_sets.LOOP_S / options.workers
    ratio = median(mixed.seconds / (honest.seconds + waits) for honest, mixed in rounds)
    row = [
        f"{loops} loops, {loops} crashes, limit {_peer_sets.LOOP_S:g} s",
        f"{median(honest.seconds for honest, _ in rounds):.1f}",
        f"{median(mixed.seconds for _, mixed in rounds):.1f}",
        f"{waits:.1f}",
        f"{ratio:.2f}",
        f"at most {_HOSTILE_TARGET:g}",
        _report.against(ratio, _HOSTILE_TARGET, at_most=True),
    ]
    columns = ["hostile", "honest alone, s", "all, s", "loops x limit / workers, s", "ratio", "target", "reached"]
    _report.table(columns, [row])


if __name__ == "__main__":
    main()
