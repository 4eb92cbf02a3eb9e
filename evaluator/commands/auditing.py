"""`rollscope audit`: the rollouts whose reward depends on the checker, or on what is taken for the code."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from evaluator.auditing import Audit, Differing, audit_extractors, audit_run, audited_count
from evaluator.commands.output import CommandError, Exit, counted, one_line, print_json, print_more, print_table
from evaluator.commands.progress import Meter
from evaluator.runs.reading import Run

_PRINTED: Final = 50
_REASONS_PRINTED: Final = 5
_WIDEST: Final = 120
_LETTERS: Final = {1.0: "P", 0.0: "W", None: "?"}
_EXPECTED: Final = {True: "pass", False: "fail", None: ""}


def audit(run: Path, checkers: str, *, extractors: bool, workers: int | None, limit: int | None, as_json: bool) -> int:
    """Print the rollouts whose reward depends on the checker, or extractor; exit status 1 if there are any."""
    if extractors == bool(checkers):
        raise CommandError("give --checkers, such as floats,livecodebench, or --extractors")
    names = list(dict.fromkeys(name.strip() for name in checkers.split(",") if name.strip()))
    if len(names) < 2 and not extractors:
        raise CommandError("--checkers: give two or more, such as floats,livecodebench,colossalai")
    opened = Run.open(run)
    with Meter(audited_count(opened, limit)) as progress:
        start = audit_extractors if extractors else partial(audit_run, checkers=names)
        report = start(opened, workers=workers, limit=limit, on_grade=lambda grade: progress.count(grade.passed))
    if as_json:
        print_json(report, in_one_line=True)
    else:
        _print(report, "extractor" if extractors else "checker")
    return Exit.FINDING if report.differ else Exit.DONE


def _print(report: Audit, what: str) -> None:
    if report.differing:
        columns = ("task", "sample", *(payer.checker for payer in report.checkers), "expected", "why not")
        print_table(columns, map(_row, report.differing[:_PRINTED]))
        print_more(report.differ, _PRINTED)
        print()
    shares = [
        (payer.checker, f"{payer.passed:,}", f"{payer.compared:,}",
         f"{payer.passed / payer.compared:.1%}" if payer.compared else "none")
        for payer in report.checkers
    ]  # fmt: skip
    print_table((what, "passed", "of", "share"), shares, numbers=("passed", "of", "share"))
    print()
    depend = "depends" if report.differ == 1 else "depend"
    print(f"{report.differ:,} of {counted(report.compared, 'rollout')} {depend} on the {what}")
    if report.kept:
        print(f"{report.kept:,} of them by stored answers; the others ran once more")
    reasons = sorted(report.not_compared.items(), key=lambda item: -item[1])
    for why, count in reasons[:_REASONS_PRINTED]:
        print(f"not compared: {count:,}: {one_line(why, _WIDEST)}")
    if others := sum(count for _, count in reasons[_REASONS_PRINTED:]):
        print(f"not compared: {others:,} for other reasons: --json lists all")


def _row(each: Differing) -> list[str]:
    letters = map(_LETTERS.__getitem__, each.rewards.values())
    return [each.task_id, each.sample_id, *letters, _EXPECTED[each.expected_pass], _reason(each)]


def _reason(each: Differing) -> str:
    """The first rejection, with the names of all checkers that give the same reason."""
    rejecting = {name: why for name, why in each.reasons.items() if each.rewards[name] == 0.0}
    why = next(iter(rejecting.values()))
    names = [name for name, same in rejecting.items() if same == why]
    return one_line(f"{', '.join(names)}: {' '.join(why.split())}", _WIDEST)
