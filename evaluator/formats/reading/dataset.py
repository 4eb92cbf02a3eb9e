"""Reads rollouts and their dataset: which format and field map is about which file, which task is a rollout's.

`--format` and `--map` are about the rollouts; they are about the dataset too, or alone, where that is the only sense
that they make. `--dataset-format` and `--dataset-map` are about the dataset.

Rollouts without a task's id have an id made from its prompt. If a task of the dataset has an id made from its prompt
too, and a name in its own `task_id`, both get that name here; if it has an id of its own, the rollout gets that. If two
tasks have the same prompt but different tests, both are dropped, because a rollout could belong to either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property

from evaluator.formats.reading.fields import id_from_prompt
from evaluator.formats.reading.loader import Files, OnProblem, load_prompts, load_tasks, require_rows, sniff
from evaluator.formats.reading.mapping import FieldMap, parse_field_map
from evaluator.formats.reading.problems import FormatError, Problem, TaskClash
from evaluator.formats.reading.registry import Role, format_named, known_formats
from evaluator.formats.reading.sources import FileLike
from evaluator.model import Rollout, Task
from evaluator.tasks.parts import MADE_ID


class Dataset:
    """The tasks of a file, in memory, by the names under which they are graded."""

    def __init__(self, tasks: Iterable[Task], clashes: Iterable[str] = ()) -> None:
        left_out = set(clashes)
        self.tasks = [task for task in tasks if task.task_id not in left_out]
        self._names = _own_names(self.tasks)
        for task in self.tasks:
            task.task_id = self._names.get(task.task_id, task.task_id)

    def named(self, rollouts: Iterable[Rollout]) -> Iterator[Rollout]:
        """The rollouts, with the dataset's names for their tasks."""
        for rollout in rollouts:
            name = self._names.get(rollout.task_id)
            if name is None and rollout.task_id.startswith(MADE_ID):
                name = self._by_prompt.get(rollout.task_id)
            if name is not None:
                if rollout.sample_id.startswith(f"{rollout.task_id}#"):
                    rollout.sample_id = name + rollout.sample_id[len(rollout.task_id) :]
                rollout.task_id = name
            yield rollout

    @cached_property
    def _by_prompt(self) -> dict[str, str]:
        return _by_prompt(self.tasks)


def load_dataset(
    path: Files,
    format: str | None = None,  # noqa: A002 - as in `load_tasks`
    *,
    field_map: Mapping[str, str] | None = None,
    on_problem: OnProblem,
) -> Dataset:
    """All tasks of a file. Arguments and errors as in `load_tasks`; a file without tasks raises `FormatError`."""
    return Dataset(*_read(path, format, field_map, on_problem))


def load_with_prompts(
    rollouts: Files,
    dataset: Files | None,
    *,
    rollouts_format: str | None = None,
    dataset_format: str | None = None,
    field_map: Mapping[str, str] | None = None,
    dataset_map: Mapping[str, str] | None = None,
) -> Dataset:
    """The tasks of a dataset, and one without test cases for each task of the rollouts that is not in it.

    For graders that need no test cases: a dataset or rows that can't be read are not reported. Raises `FormatError` if
    the rollouts can't be read.
    """
    tasks: list[Task] = []
    if dataset is not None:
        with suppress(FormatError):
            found, clashes = _read(dataset, dataset_format, dataset_map, lambda _: None)
            tasks = [task for task in found if task.task_id not in clashes]
    known = {task.task_id for task in tasks} | _by_prompt(tasks).keys()
    prompts = load_prompts(rollouts, rollouts_format, field_map=field_map)
    return Dataset([*tasks, *(task for task in prompts if task.task_id not in known)])


def _read(
    path: Files, format_name: str | None, field_map: Mapping[str, str] | None, on_problem: OnProblem
) -> tuple[list[Task], set[str]]:
    """The tasks of a file, at least one, and the ids that two different tasks share."""
    clashes: set[str] = set()

    def report(problem: Problem) -> None:
        if isinstance(problem, TaskClash):
            clashes.add(problem.task_id)
            why = "it is unclear which of them a rollout belongs to, so neither is graded"
            problem = Problem(problem.path, problem.line, f"{problem.message}; {why}")
        on_problem(problem)

    return list(require_rows(load_tasks(path, format_name, field_map=field_map, on_problem=report), path)), clashes


def _by_prompt(tasks: list[Task]) -> dict[str, str]:
    """The tasks' ids by those that would be made from their prompts, as far as a prompt belongs to one task alone."""
    made = [(id_from_prompt(task.prompt), task.task_id) for task in tasks if task.prompt]
    alike = Counter(from_prompt for from_prompt, _ in made)
    return {from_prompt: task_id for from_prompt, task_id in made if alike[from_prompt] == 1}


def _own_names(tasks: list[Task]) -> dict[str, str]:
    """The dataset's own names by the ids made from prompts, as far as a name belongs to one task alone."""
    named = {task.task_id: task.metadata.get("task_id") for task in tasks if task.task_id.startswith(MADE_ID)}
    names = {made: str(name) for made, name in named.items() if isinstance(name, str | int) and str(name)}
    taken = Counter([*names.values(), *(task.task_id for task in tasks)])
    return {made: name for made, name in names.items() if taken[name] == 1}


def map_of(text: str | None, option: str = "--map") -> dict[str, str] | None:
    """The field map in a text, as an option or a run's manifest has it. Raises `FormatError` that names the option."""
    return None if text is None else parse_field_map(text, option)


def map_text(field_map: FieldMap | None) -> str | None:
    """The text of a field map for a run's manifest."""
    return ",".join(f"{ours}={theirs}" for ours, theirs in field_map.items()) if field_map else None


def rollouts_format(name: str | None, dataset_format: str | None) -> str | None:
    """The format to read the rollouts in; None where it is detected, also where the one named is the dataset's."""
    named = known_formats().get(name or "")
    is_datasets = named is not None and Role.ROLLOUTS not in named.roles and dataset_format is None
    return None if is_datasets else name


def dataset_reading(
    dataset: FileLike, own: tuple[str | None, FieldMap | None], rollouts: tuple[str | None, FieldMap | None]
) -> tuple[str | None, FieldMap | None]:
    """The format and the field map to read the dataset with: its own ones, else those named for the rollouts.

    Raises `FormatError` if its own format has no tasks.
    """
    if any(own):
        format_named(own[0] or "mapped", Role.TASKS)
        return own
    name = _format_for_both(dataset, *rollouts)
    return name, rollouts[1] if name == "mapped" else None


def _format_for_both(dataset: FileLike, name: str | None, field_map: FieldMap | None) -> str | None:
    """None where the dataset's format is detected: the format and the field map are about the rollouts then."""
    name = name or ("mapped" if field_map else None)
    named = known_formats().get(name or "")
    if named is None or Role.TASKS not in named.roles:
        return None  # an unknown name is refused when the rollouts are read
    if Role.ROLLOUTS not in named.roles:
        return name
    try:
        found = sniff(dataset)
    except FormatError:
        return name
    return None if Role.TASKS in {found.role, *(other.role for other in found.others)} else name
