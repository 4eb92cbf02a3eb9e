"""Attacks among honest completions in one run on two workers: with `--scale 1`, 1,000 among 10,000.

The programs are those of `tests/attacks`, repeated with different texts, so no grade is reused. The attacks get small
limits, because most of their time goes into time-outs. Shows whether every honest completion earned its reward, whether
an attack did, this process's memory along the way, and what was left behind. Exit status 1 if one of these is wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import _report
import msgspec

from evaluator.model import Grade, Kind, Rollout, Task
from evaluator.options import Options
from evaluator.sandbox import Settings, Way
from evaluator.workers import grade_stream
from tests.attacks.corpus import MARK, Attack, Honest, attacks, honest, tasks
from tests.attacks.left_behind import become_heir, new_since, what_is_there

_ATTACKS, _HONEST = 1000, 10000
_ATTACK_LIMITS = {"wall_s": 0.5, "cpu_s": 0.5, "total_s": 2, "memory_mb": 256, "virtual_mb": 1024}
_OF_ATTACKS = "attacked-"
_LOOKS = (0.1, 0.5, 1.0)
_GROWTH_MB = 8.0  # from a tenth of the run to its end, after the remembered grades are freed
_SHOWN = 20


class Tally(NamedTuple):
    """The result of a run."""

    verdicts: Counter[tuple[str, str]]
    """By kind (`attack`, `honest`) and verdict."""
    wrong: Counter[str]
    """Honest completions without a reward or with a flag, by program."""
    paid: Counter[str]
    resident_mb: list[float]
    seconds: float


def _every_task() -> dict[str, Task]:
    every = tasks()
    limited = (
        msgspec.structs.replace(task, task_id=_OF_ATTACKS + name, limits=_ATTACK_LIMITS) for name, task in every.items()
    )
    return every | {task.task_id: task for task in limited}


def _rollouts(scale: float, marks: Path) -> Iterator[Rollout]:
    """Generated on demand, in the same order in every run."""
    malicious, well_meant = attacks(), honest()
    order = [True] * round(_ATTACKS * scale) + [False] * round(_HONEST * scale)
    for each in (malicious, well_meant, order):
        Random(len(each)).shuffle(each)
    turns = Counter[bool]()
    for is_attack in order:
        turn = turns[is_attack]
        turns[is_attack] += 1
        if is_attack:
            yield _attack(malicious[turn % len(malicious)], turn, marks)
        else:
            yield _honest(well_meant[turn % len(well_meant)], turn)


def _attack(attack: Attack, turn: int, marks: Path) -> Rollout:
    code = attack.code.replace(MARK, str(marks / f"mark-{turn}"))
    return _rollout(_OF_ATTACKS + attack.task, f"attack:{attack.name}#{turn}", code, turn)


def _honest(program: Honest, turn: int) -> Rollout:
    return _rollout(program.task, f"honest:{program.name}#{turn}", program.code, turn)


def _rollout(task: str, name: str, code: str, turn: int) -> Rollout:
    return Rollout(task_id=task, sample_id=name, completion=f"{code}\n# sample {turn}\n", kind=Kind.FULL)


def _graded(scale: float, workers: int, settings: Settings, marks: Path) -> Tally:
    number = round(_ATTACKS * scale) + round(_HONEST * scale)
    looks = {max(1, round(share * number)) for share in _LOOKS}
    tally = Tally(Counter(), Counter(), Counter(), [], 0.0)
    began = time.perf_counter()
    graded = grade_stream.grade_all(_every_task(), _rollouts(scale, marks), Options(sandbox=settings), workers=workers)
    for done, (_, grade, _row) in enumerate(graded, 1):
        _count(grade, tally)
        if done in looks:
            tally.resident_mb.append(_resident_mb())
            print(f"{done} of {number}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    del graded
    tally.resident_mb.append(_resident_mb())
    return tally._replace(seconds=time.perf_counter() - began)


def _count(grade: Grade, tally: Tally) -> None:
    kind = grade.sample_id.partition(":")[0]
    tally.verdicts[kind, str(grade.verdict)] += 1
    paid = bool(grade.reward) and grade.verified
    if kind == "attack" and (paid or grade.duplicate_of is not None):
        tally.paid[_described(grade)] += 1
    if kind == "honest" and (not paid or grade.flags or grade.duplicate_of is not None):
        tally.wrong[_described(grade)] += 1


def _described(grade: Grade) -> str:
    flags = " ".join(flag.word for flag in grade.flags)
    return f"{grade.sample_id.partition('#')[0]}: {grade.verdict} {grade.error_message or ''} {flags}".strip()


def _resident_mb() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--scale", type=float, default=0.1, help="1: all of both; default: a tenth")
    parser.add_argument("--way", choices=list(Way), help="default: namespaces if available, else Landlock")
    options = parser.parse_args()
    print(f"{_report.machine()}; {options.workers} workers\n")
    settings = Settings(way=Way(options.way) if options.way else None)
    become_heir()
    before = what_is_there()
    with tempfile.TemporaryDirectory() as folder:
        marks = Path(folder)
        marks.chmod(0o777)
        tally = _graded(options.scale, options.workers, settings, marks)
        marked = sorted(path.name for path in marks.iterdir())
    left = [f"{kind}: {each}" for kind, found in new_since(before).items() for each in found]
    return _print(tally, [*marked, *left])


def _print(tally: Tally, left: list[str]) -> int:
    rows = [[kind, verdict, str(number)] for (kind, verdict), number in sorted(tally.verdicts.items())]
    _report.table(["completions", "verdict", "number"], rows)
    first, last = tally.resident_mb[0], tally.resident_mb[-1]
    looks = [*(f"at {share:.0%}" for share in _LOOKS), "at the end"]
    memory = ", ".join(f"{mb:.0f} MiB {look}" for mb, look in zip(tally.resident_mb, looks, strict=True))
    number = sum(tally.verdicts.values())
    rows = [
        ["honest completions that lost their reward or were flagged", str(tally.wrong.total()), _none(tally.wrong)],
        ["attacks that earned a reward", str(tally.paid.total()), _none(tally.paid)],
        ["left behind", str(len(left)), _none(left)],
        ["this process's memory", memory, _report.against(last - first, _GROWTH_MB, at_most=True)],
        ["wall time", f"{tally.seconds:.0f} s, {number / tally.seconds:.0f} completions/s", ""],
    ]
    _report.table(["", "found", "ok"], rows)
    for what, times in [*tally.wrong.most_common(_SHOWN), *tally.paid.most_common(_SHOWN)]:
        print(f"- {what} ({times} times)")
    for each in left[:_SHOWN]:
        print(f"- {each}")
    return int(any(row[2] == "no" for row in rows))


def _none(found: Collection[str]) -> str:
    return "no" if found else "yes"


if __name__ == "__main__":
    sys.exit(main())
