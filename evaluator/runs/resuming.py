"""Commands about a run, with the options of its last grading, and paths that work from any folder."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

from evaluator.options import Options, by_name
from evaluator.runs.schema import Manifest

_PROGRAM = "rollscope"


def folder_from(run: Path) -> str:
    """The working directory as `Manifest.folder` stores it: relative, so that both can move together."""
    return os.path.relpath(Path.cwd(), run.resolve())


def resume_command(run: Path, manifest: Manifest) -> str:
    """One line for a shell that grades the rest of a run in the same way."""
    words = [_program(), "grade"]
    rollouts = [manifest.rollouts or "ROLLOUTS", *manifest.more_rollouts]
    words += [_from_anywhere(run, manifest, name) for name in rollouts]
    given = {
        "dataset": input_path(run, manifest, manifest.dataset) if manifest.dataset else "DATASET",
        "workers": manifest.workers,
        "engine": None if manifest.engine == "local" else manifest.engine,
        "address": manifest.address,
        **_flags(manifest.options),
        "only": manifest.only,
        "format": manifest.format,
        "map": manifest.field_map,
        "dataset-format": manifest.dataset_format,
        "dataset-map": manifest.dataset_map,
        "limit": manifest.limit,
        "cache": manifest.cache,
    }
    for name, value in given.items():
        words += [] if value is None else [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return shlex.join([*words, "--resume", "--out", str(run.resolve())])


def _flags(options: Options) -> dict[str, object]:
    """Those that are not the usual ones. The preamble of a run holds without being named."""
    limits, usual = options.limits, by_name(Options())
    changed: dict[str, object] = {}
    if limits.wall_s != usual["limits"].wall_s:
        changed["timeout"] = _number(limits.wall_s)
    if limits.memory_mb != usual["limits"].memory_mb:
        changed["memory"] = _number(limits.memory_mb)
    for name, value in by_name(options).items():
        if value != usual[name] and name not in ("limits", "preamble"):
            changed["python" if name == "interpreter" else name.replace("_", "-")] = value
    return changed


def check_command(run: Path, manifest: Manifest, name: str) -> str:
    """One line for a shell that prints every bad line of an input file of the manifest."""
    words = [_program(), "formats", _from_anywhere(run, manifest, name), "--check"]
    if name != manifest.dataset:
        words += ["--format", manifest.format] if manifest.format else []
        words += ["--map", manifest.field_map] if manifest.field_map else []
    return shlex.join(words)


def input_path(run: Path, manifest: Manifest, name: str) -> Path:
    """The path of an input file of the manifest. Runs of older versions have no folder: then it is tried from here."""
    if manifest.folder is not None:
        return (run.resolve() / manifest.folder).resolve() / name
    return Path.cwd() / name if Path(name).exists() else Path(name)


def _from_anywhere(run: Path, manifest: Manifest, name: str) -> str:
    return name if _is_no_path(name) else str(input_path(run, manifest, name))


def _is_no_path(name: str) -> bool:
    return name in ("-", "ROLLOUTS") or name.startswith("s3://")


def _number(value: float) -> str:
    """All digits: a run can't be resumed with a different limit."""
    return repr(value).removesuffix(".0")


def _program() -> str:
    """The command's name if the shell finds this installation by it, else its path."""
    here = Path(sys.executable).with_name(_PROGRAM)
    found = shutil.which(_PROGRAM)
    by_name = not here.exists() or (found is not None and Path(found).resolve() == here.resolve())
    return _PROGRAM if by_name else str(here)
