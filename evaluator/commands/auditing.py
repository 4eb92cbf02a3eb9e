"""`rollscope audit`: the rollouts whose reward depends on the checker, or on what is taken for the code."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from evaluator.auditing import Audit, Differing, audit_extractors, audit_run, audited_count
from evaluator.commands.failure import CommandError, Exit
from evaluator.commands.progress import Meter
from evaluator.commands.tables import counted, new_table, one_line, print_more, print_table
from evaluator.runs.reading import Run

_PRINTED: Final = 50
_REASONS_PRINTED: Final = 5
_WIDEST: Final = 120
_LETTERS: Final = {1.0: "P", 0.0: "W", None: "?"}
_EXPECTED: Final = {True: "pass", False: "fail", None: ""}


def audit(path: Path, checkers: str, *, extractors: bool, workers: int | None, limit: int | None, as_json: bool) -> int:
    """Print the rollouts whose reward depends on the checker, or extractor; exit status 1 if there are any."""
    if extractors == bool(checkers):
        raise CommandError("give --checkers, such as floats,livecodebench, or --extractors")
    names = list(dict.fromkeys(name.strip() for name in checkers.split(",") if name.strip()))
    if len(names) < 2 and not extractors:
        raise CommandError("--checkers: give two or more, such as floats,livecodebench,colossalai")
    run = Run.open(path)
    with Meter(audited_count(run, limit)) as progress:
        start = audit_extractors if extractors else partial(audit_run, checkers=names)
        report = start(run, workers=workers, limit=limit, on_grade=lambda grade: progress.count(grade.passed))
    if as_json:
        print(msgspec.json.encode(report).decode())
    else:
        _print(report, "extractor" if extractors else "checker")
    return Exit.FINDING if report.differ else Exit.DONE


def _print(report: Audit, what: str) -> None:
    if report.differing:
        table = new_table("task", "sample", *(payer.checker for payer in report.checkers), "expected", "why not")
        for each in report.differing[:_PRINTED]:
            letters = map(_LETTERS.__getitem__, each.rewards.values())
            table.add_row(each.task_id, each.sample_id, *letters, _EXPECTED[each.expected_pass], _reason(each))
        print_table(table)
        print_more(report.differ, _PRINTED)
        print()
    passed = new_table(what, "passed", "of", "share", numbers=("passed", "of", "share"))
    for payer in report.checkers:
        share = f"{payer.passed / payer.compared:.1%}" if payer.compared else "none"
        passed.add_row(payer.checker, f"{payer.passed:,}", f"{payer.compared:,}", share)
    print_table(passed)
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


def _reason(each: Differing) -> str:
    """The first rejection, with the names of all checkers that give the same reason."""
    rejecting = {name: why for name, why in each.reasons.items() if each.rewards[name] == 0.0}
    why = next(iter(rejecting.values()))
    names = [name for name, same in rejecting.items() if same == why]
    return one_line(f"{', '.join(names)}: {' '.join(why.split())}", _WIDEST)
