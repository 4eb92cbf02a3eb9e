"""The two files of a grading, and how they are read: rollouts, and the tasks that decide about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from evaluator.formats import (
    FileLike,
    FormatError,
    OnProblem,
    Source,
    dataset_hash,
    load_rollouts,
    require_rows,
)
from evaluator.formats.nemo_gym_files import tasks_file
from evaluator.formats.reading.dataset import Dataset, dataset_reading, load_dataset, load_with_prompts, rollouts_format
from evaluator.formats.reading.sources import Extent, extent_after, resolve, same_files
from evaluator.graders import needs_tasks
from evaluator.model import Rollout
from evaluator.runs.schema import Manifest


class Reading(NamedTuple):
    """How a file is read; see `load_rollouts`."""

    format: str | None
    field_map: Mapping[str, str] | None


class Inputs:
    """Of one grading."""

    def __init__(
        self,
        rollouts: list[Source],
        dataset: FileLike | None,
        how: Reading,
        how_dataset: Reading,
        grader: str | None,
    ) -> None:
        """Raises `FormatError` if there are no tasks for the rollouts."""
        self.rollouts = rollouts
        self.how = how
        self.how_dataset = how_dataset
        self._needs_tasks = needs_tasks(grader)
        self.tasks = self._dataset_files(dataset)

    def extent(self, earlier: Manifest | None) -> tuple[Extent | None, bool]:
        """What there is of rollouts that are the dataset too; and whether the run's tasks may be more than before.

        Raises `FormatError` if the rollouts are the dataset, and are not those of before with perhaps more at their
        end.
        """
        if not same_files(self.tasks, self.rollouts):
            is_same = earlier is not None and dataset_hash(self.tasks) == earlier.dataset_hash
            return None, is_same and not self._needs_tasks
        size = earlier.dataset_bytes if earlier is not None else None
        before = Extent(size, earlier.dataset_hash) if earlier is not None and size else Extent(0, "")
        return extent_after(self.rollouts, before), size is not None

    def read_tasks(self, on_problem: OnProblem) -> Dataset:
        name, names = dataset_reading(self.tasks[0], self.how_dataset, self.how)
        if self._needs_tasks:
            return load_dataset(self.tasks, name, field_map=names, on_problem=on_problem)
        return load_with_prompts(
            self.rollouts,
            self.tasks,
            rollouts_format=self._rollouts_format,
            dataset_format=name,
            field_map=self.how.field_map,
            dataset_map=names,
        )

    def read_rollouts(self, data: Dataset, limit: int | None, on_problem: OnProblem) -> Iterator[Rollout]:
        """The first so many. Raises `FormatError` if there is no usable row."""
        found = load_rollouts(self.rollouts, self._rollouts_format, field_map=self.how.field_map, on_problem=on_problem)
        return islice(data.named(require_rows(found, self.rollouts)), limit)

    @property
    def _rollouts_format(self) -> str | None:
        return rollouts_format(self.how.format, self.how_dataset.format)

    def _dataset_files(self, dataset: FileLike | None) -> list[Source]:
        """The rollouts again where these alone are graded, by what they came with."""
        if dataset is not None:
            return resolve(dataset)
        files = self.rollouts
        found = tasks_file(files[0].path, self.how.format) if len(files) == 1 else None
        if found is None and self._needs_tasks:
            raise FormatError(f"{files[0]}: has no tests: name the dataset with its tasks as well")
        return files if found is None or found == files[0].path else resolve(found)
