"""`rollscope check`: problems in a dataset's tests, found by reading them and by grading its references."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from evaluator.commands.given_files import preamble_text
from evaluator.commands.output import CommandError, Exit, counted, print_json, print_table
from evaluator.formats import Problem, load_tasks
from evaluator.model import Task
from evaluator.references import fault_of, lint, reference_grades


class Finding(NamedTuple):
    """Something a dataset's author would want to know about a task."""

    task_id: str
    line: int
    what: str


def check(dataset: Path, *, format_name: str | None, preamble: str | None, workers: int | None, as_json: bool) -> int:
    """Print the findings; exit status 1 if there are any."""
    problems: list[Problem] = []
    before = preamble_text(preamble)
    tasks = list(load_tasks(dataset, format_name, on_problem=problems.append))
    if before is not None:
        for task in tasks:
            task.preamble = before
    if not tasks:
        raise CommandError(f"{dataset}: no readable tasks (see rollscope formats {dataset} --check)")
    found = [Finding(task.task_id, task.line, what) for task in tasks for what in lint(task)]
    found += _reference_findings(tasks, workers)
    found += [Finding("", problem.line, problem.message) for problem in problems]
    found.sort(key=lambda finding: (finding.line, finding.what))
    references = sum(task.reference is not None for task in tasks)
    if as_json:
        report = {"tasks": len(tasks), "references": references, "findings": [each._asdict() for each in found]}
        print_json(report)
    else:
        if found:
            print_table(("line", "task", "finding"), [(str(each.line), each.task_id, each.what) for each in found])
        print(f"{counted(len(tasks), 'task')}, {references:,} with a reference, {counted(len(found), 'finding')}")
    return Exit.FINDING if found else Exit.DONE


def _reference_findings(tasks: Sequence[Task], workers: int | None) -> Iterator[Finding]:
    """Tasks whose reference does not pass their tests, or passes in only one of the two ways of running them."""
    lines = {task.task_id: task.line for task in tasks}
    for grade in reference_grades(tasks, workers=workers):
        if (fault := fault_of(grade)) is not None:
            yield Finding(grade.task_id, lines[grade.task_id], fault)
