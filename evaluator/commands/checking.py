"""`rollscope check`: problems in a dataset's tests, found by reading them and by grading its references."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evaluator.commands.given_files import preamble_text
from evaluator.commands.output import CommandError, Exit, counted, print_json, print_table
from evaluator.formats import Problem, load_tasks
from evaluator.formats.reading.dataset import map_of
from evaluator.formats.reading.file_layout import no_rows
from evaluator.formats.reading.sources import resolve
from evaluator.model import Task
from evaluator.references import fault_of, lint, reference_grades
from evaluator.sandbox import Settings


class Finding(NamedTuple):
    """Something a dataset's author would want to know about a task."""

    task_id: str
    line: int
    what: str


def check(
    dataset: str,
    *,
    format_name: str | None,
    field_map: str | None,
    preamble: str | None,
    python: str | None,
    workers: int | None,
    as_json: bool,
) -> int:
    """Print the findings; exit status 1 if there are any. `dataset`: as ROLLOUTS of `rollscope grade`."""
    problems: list[Problem] = []
    before = preamble_text(preamble)
    files = resolve(dataset, remote=True)
    tasks = list(load_tasks(files, format_name, field_map=map_of(field_map), on_problem=problems.append))
    if before is not None:
        for task in tasks:
            task.preamble = before
    if not tasks:
        raise CommandError(f"no readable tasks: {problems[0]}" if problems else str(no_rows(*files)))
    found = [Finding(task.task_id, task.line, what) for task in tasks for what in lint(task)]
    found += _reference_findings(tasks, workers, Settings(python=python))
    alone = len(files) == 1
    found += [Finding("", each.line, each.message if alone else f"{each.path}: {each.message}") for each in problems]
    found.sort(key=lambda finding: (finding.line, finding.what))
    references = sum(task.reference is not None for task in tasks)
    if as_json:
        report = {"tasks": len(tasks), "references": references, "findings": [each._asdict() for each in found]}
        print_json(report)
    else:
        if found:
            print_table(("line", "task", "finding"), [(str(each.line), each.task_id, each.what) for each in found])
        ran = "" if references else ": no test was run"
        print(f"{counted(len(tasks), 'task')}, {references:,} with a reference, {counted(len(found), 'finding')}{ran}")
    return Exit.FINDING if found else Exit.DONE


def _reference_findings(tasks: Sequence[Task], workers: int | None, sandbox: Settings) -> Iterator[Finding]:
    """Tasks whose reference does not pass their tests, or passes in only one of the two ways of running them."""
    lines = {task.task_id: task.line for task in tasks}
    for grade in reference_grades(tasks, workers=workers, sandbox=sandbox):
        if (fault := fault_of(grade)) is not None:
            yield Finding(grade.task_id, lines[grade.task_id], fault)
