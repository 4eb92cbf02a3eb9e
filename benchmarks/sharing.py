"""Which share of a dataset's stdin programs runs all its test cases in one process, and why the others do not.

Each program runs at least three times in each `--isolation`; both must give the same output each time.
"""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import cycle, islice
from pathlib import Path

from _warm import compiled

from evaluator import Limits, Mode, Task, load_rollouts, load_tasks
from evaluator.extraction import extract
from evaluator.sandbox import Outcome, Program, Sandbox, Status
from evaluator.sandbox.guest import header, reusable
from evaluator.sandbox.host.program import header_of
from evaluator.tasks.import_headers import LIVECODEBENCH

_WALL_S = 6.0
_FEWEST = 3
_ENDED = (Status.ANSWERED, Status.RAISED)


def outcomes(sandbox: Sandbox, program: Program, task: Task, *, reuse: bool) -> tuple[list[Outcome], bool]:
    """Up to the first one over a limit; whether all were in one process."""
    inputs = islice(cycle(case.input for case in task.cases), max(_FEWEST, len(task.cases)))
    found, shared = [], True
    with sandbox.execute(program, Limits(wall_s=_WALL_S, cpu_s=_WALL_S), reuse=reuse) as execution:
        for given in inputs:
            found.append(execution.run(given.encode(), wall_s=_WALL_S))
            shared = shared and execution.begun
            if found[-1].status not in _ENDED:
                break
    return found, shared


def reason(program: Program) -> str:
    steps = header_of(program.preamble)
    if steps is None:
        return "the preamble is more than a header"
    why = reusable.examine(compiled(program.source), list(steps))
    return why if isinstance(why, str) else "it loads a module, or leaves something"


def same(first: list[Outcome], second: list[Outcome]) -> bool:
    pairs = zip(first, second, strict=False)
    return all((a.status, a.exit_status, a.stdout.data) == (b.status, b.exit_status, b.stdout.data) for a, b in pairs)


def count(sandbox: Sandbox, dataset: Path, preamble: str | None) -> None:
    tasks = {task.task_id: task for task in load_tasks(dataset) if task.mode is Mode.STDIN}
    alone: Counter[str] = Counter()
    ended = over = different = 0
    for rollout in load_rollouts(dataset.with_name(dataset.name.replace(".dataset.", ".rollouts."))):
        task = tasks.get(rollout.task_id)
        code = task and extract(rollout.completion, task=task, kind=rollout.kind).code
        if not task or not code:
            continue
        program = Program(code, None, task.preamble if preamble is None else preamble)
        found, shared = outcomes(sandbox, program, task, reuse=True)
        if found[-1].status not in _ENDED:
            over += 1
            continue
        ended += 1
        different += not same(found, outcomes(sandbox, program, task, reuse=False)[0])
        if not shared:
            alone[reason(program)] += 1
    share = 100 * (1 - alone.total() / ended) if ended else 100.0
    print(f"{dataset.name}: {share:.1f}% of {ended} share a process; {over} did not compile or passed a limit")
    print(f"  different with --isolation test: {different}")
    for why, number in alone.most_common():
        print(f"  {number}: {why}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="N.dataset.jsonl, beside N.rollouts.jsonl")
    parser.add_argument("--preamble", choices=("none", "lcb"), help="instead of each task's own")
    arguments = parser.parse_args()
    if not arguments.files:  # as in `make bench`: the repository holds no dataset of contests
        print("skipped: no dataset given")
    reusable.keep()
    header.keep(reusable.HARMLESS)
    with Sandbox() as sandbox:
        for dataset in arguments.files:
            count(sandbox, dataset, {"none": "", "lcb": LIVECODEBENCH, None: None}[arguments.preamble])


if __name__ == "__main__":
    main()
