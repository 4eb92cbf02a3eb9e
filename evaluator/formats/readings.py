"""How rollouts and their dataset are read: which of the formats and field maps that were named is about which file.

`--format` and `--map` are about the rollouts; they are about the dataset too, or alone, where that is the only sense
that they make. `--dataset-format` and `--dataset-map` are about the dataset.
"""

from __future__ import annotations

from evaluator.formats.loader import sniff
from evaluator.formats.mapped import FieldMap, parse_field_map
from evaluator.formats.problems import FormatError
from evaluator.formats.registry import Role, format_named, known_formats
from evaluator.formats.source import FileLike


def map_of(text: str | None, option: str = "--map") -> dict[str, str] | None:
    """The field map in a text, as an option or a run's manifest has it. Raises `FormatError` that names the option."""
    try:
        return None if text is None else parse_field_map(text)
    except FormatError as error:
        raise FormatError(str(error).replace("--map", option)) from None


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
