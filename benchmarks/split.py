"""CPU time of test code in a separate process beyond the same test code turned into calls with literal values.

The same asserts are graded in both ways, in turns: an import as the first statement prevents extraction and changes
nothing else. A least-squares line through the differences with 1, 10 and 100 asserts gives a completion and a call,
which is an assert and so a test case. A loop makes calls that are not test cases: the slope of these, minus the
function's own time in this process. Medians over the rounds. A control group counts all processes: needs root.
"""

from __future__ import annotations

import argparse
import sys
from statistics import median
from typing import NamedTuple

import _checks
import _report
from _cgroup import CpuGroup
from _functions import FUNCTIONS
from _graded_cpu import graded

_ASSERTS = (1, 10, 100)
_LOOPED = (100, 1000)
_MS, _US = 1e3, 1e6
_TARGET_COMPLETION_MS, _TARGET_CALL_US = 6.0, 60.0


class _Round(NamedTuple):
    """CPU seconds of a completion, by the number of its asserts, and of its loop's calls."""

    extracted: list[float]
    split: list[float]
    looped: list[float]

    def beyond(self) -> list[float]:
        return [mine - other for mine, other in zip(self.split, self.extracted, strict=True)]


class _Line(NamedTuple):
    """CPU seconds of a completion without its calls, and of a call."""

    completion: float
    call: float

    @classmethod
    def through(cls, calls: tuple[int, ...], seconds: list[float]) -> _Line:
        """By least squares."""
        middle, high = sum(calls) / len(calls), sum(seconds) / len(seconds)
        spread = sum((number - middle) ** 2 for number in calls)
        call = sum((n - middle) * (each - high) for n, each in zip(calls, seconds, strict=True)) / spread
        return cls(high - call * middle, call)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--completions", type=int, default=240, help="per round with one assert; fewer with more asserts"
    )
    options = parser.parse_args()
    print(f"{_report.machine()}; {options.workers} workers, {options.rounds} rounds\n")
    try:
        with CpuGroup() as group:
            rounds = _measure(group, options)
    except OSError as error:
        print(f"skipped: no control group available ({error}); run it as root on cgroup v1 or v2")
        return
    _print_asserts(rounds)
    _print_lines(rounds)


def _measure(group: CpuGroup, options: argparse.Namespace) -> list[_Round]:
    extracted = [_checks.assert_tasks(number, split=False) for number in _ASSERTS]
    split = [_checks.assert_tasks(number, split=True) for number in _ASSERTS]
    looped = [_checks.loop_tasks(number) for number in _LOOPED]
    rounds = []
    for number in range(options.rounds):
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
        made = _Round([], [], [])
        for place, asserts in enumerate(_ASSERTS):
            count = max(options.completions // {1: 1, 10: 2, 100: 8}[asserts], 1)
            made.extracted.append(graded(group, extracted[place], count, options.workers).total)
            made.split.append(graded(group, split[place], count, options.workers).total)
        for place, calls in enumerate(_LOOPED):
            count = max(options.completions // {100: 4, 1000: 8}[calls], 1)
            alone = _alone(group, calls)
            made.looped.append(graded(group, looped[place], count, options.workers).total - alone)
        rounds.append(made)
    return rounds


def _alone(group: CpuGroup, calls: int) -> float:
    """CPU seconds of that many calls of a function in this process: the mean over all functions."""
    run = _checks.run_alone(calls)
    before = group.used()
    run()
    return group.used().minus(before).total / len(FUNCTIONS)


def _print_asserts(rounds: list[_Round]) -> None:
    rows = []
    for place, asserts in enumerate(_ASSERTS):
        ours, others = ([getattr(each, kind)[place] for each in rounds] for kind in ("split", "extracted"))
        ratio = median(mine / other for mine, other in zip(ours, others, strict=True))
        rows.append(
            [
                f"{asserts} assert{'s' * (asserts > 1)}",
                f"{median(others) * _MS:.2f}",
                f"{median(ours) * _MS:.2f}",
                f"{median(each.beyond()[place] for each in rounds) * _MS:.2f}",
                f"{ratio:.2f}",
            ]
        )
    _report.table(["ms of CPU time per completion", "extracted", "split", "beyond", "ratio"], rows)


def _print_lines(rounds: list[_Round]) -> None:
    lines = [_Line.through(_ASSERTS, each.beyond()) for each in rounds]
    loops = [_Line.through(_LOOPED, each.looped) for each in rounds]
    completions, calls = [line.completion * _MS for line in lines], [line.call * _US for line in lines]
    within = [line.call * _US for line in loops]
    rows = [
        _row("a completion, ms", completions, _TARGET_COMPLETION_MS),
        _row("a call that is a test case, us", calls, _TARGET_CALL_US),
        _row("a call in a loop, us, all of it", within, _TARGET_CALL_US),
    ]
    _report.table(["CPU time beyond extraction", "median", "lowest round", "target", "reached"], rows)


def _row(what: str, values: list[float], target: float) -> list[str]:
    middle = median(values)
    return [what, f"{middle:.2f}", f"{min(values):.2f}", f"{target:g}", _report.against(middle, target, at_most=True)]


if __name__ == "__main__":
    main()
