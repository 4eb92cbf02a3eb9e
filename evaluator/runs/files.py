"""The files of a run, where they go, and how they stay complete: atomic writes, the manifest, the lock.

A part of `cases` is put in place before the part of `rollouts` with the same ordinal. So the `rollouts` parts show
what has been graded, and cases without them are left over from a process that was killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import shlex
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from evaluator.options import Options
from evaluator.runs.schema import SCHEMA_VERSION, Manifest, utc_now
from evaluator.user_files import TEMPORARY, replacing

MANIFEST: Final = "run.json"
TASKS: Final = "tasks.parquet"
LOCK: Final = ".lock"
UNUSED_DAYS: Final = 30


class RunError(ValueError):
    """A run that can't be read, created or resumed. The message is one line that says why and how to fix it."""


class QueryError(ValueError):
    """SQL that somebody typed and that can't be used. The message is one line."""


class ExportError(ValueError):
    """An export that can't be made. The message is one line that says why, and how to fix it."""


def is_run(path: Path | str) -> bool:
    """Whether the path is a run's directory."""
    return (Path(path) / MANIFEST).is_file()


def forget_unused(folder: Path) -> None:
    """Remove what nobody used for `UNUSED_DAYS` from a folder of the cache. Whoever uses something sets its time."""
    before = time.time() - UNUSED_DAYS * 86_400
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if path.stat().st_mtime < before:
                shutil.rmtree(path, ignore_errors=True)


def part_path(run: Path, table: str, ordinal: int) -> Path:
    """The file of one part. Ordinals have five digits, more from 100,000 on."""
    return run / table / f"part-{ordinal:05d}.parquet"


def part_ordinals(run: Path, table: str) -> list[int]:
    """The ordinals of the complete parts, ascending."""
    return sorted(int(path.stem.removeprefix("part-")) for path in (run / table).glob("part-*.parquet"))


def read_manifest(run: Path) -> Manifest:
    """The manifest of a run. Raises `RunError` if it is missing, broken or of a newer format."""
    path = run / MANIFEST
    try:
        manifest = msgspec.convert(_with_options(msgspec.json.decode(path.read_bytes())), type=Manifest)
    except (FileNotFoundError, NotADirectoryError):
        if not run.exists():
            raise RunError(f"{run}: no such run") from None
        command = f"rollscope grade {shlex.quote(str(run))} --output {shlex.quote(f'runs/{run.stem}')}"
        raise RunError(f"{run}: not a run, so it has no grades of ours: first {command}") from None
    except OSError as error:
        raise RunError(f"{path}: can't be read: {error.strerror}") from None
    except msgspec.MsgspecError as error:
        raise RunError(f"{path}: not a valid run manifest: {error}") from None
    if manifest.version > SCHEMA_VERSION:
        raise RunError(f"{path}: format {manifest.version}, written by a newer rollscope: upgrade this one")
    manifest.options = msgspec.structs.replace(manifest.options, cache=None)  # a run says nothing of this machine's
    return manifest


def _with_options(found: Any) -> Any:
    """Runs of older versions have the options beside everything else."""
    if not isinstance(found, dict) or "options" in found:
        return found
    names = set(Options.__struct_fields__) - {"sandbox", "cache"}
    own = {name: value for name, value in found.items() if name in names}
    sandbox = {"strictness": found.get("sandbox", "strict"), "python": found.get("interpreter")}
    return found | {"options": own | {"sandbox": sandbox}}


def write_manifest(run: Path, manifest: Manifest) -> None:
    """Put the manifest in place, with the time of writing."""
    manifest.updated = utc_now()
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
    with replacing(run / MANIFEST) as path, path.open("wb") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def remove_leftovers(run: Path) -> None:
    """Remove what a killed writer left behind: half-written files, and cases without their rollouts."""
    for path in [*run.glob(f"*{TEMPORARY}"), *run.glob(f"*/*{TEMPORARY}")]:
        path.unlink()
    whole = set(part_ordinals(run, "rollouts"))
    for ordinal in part_ordinals(run, "cases"):
        if ordinal not in whole:
            part_path(run, "cases", ordinal).unlink()


class RunLock:
    """Held by the one process that writes a run; the kernel releases it however that process ends."""

    def __init__(self, run: Path) -> None:
        """Take the lock. Raises `RunError` if another process has it."""
        self._descriptor = os.open(run / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(self._descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(self._descriptor)
            raise RunError(
                f"{run}: process {holder} is writing it: wait until it ends, or use another --output"
            ) from None
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        """Release the lock. The file stays: removing it would race with the next writer."""
        os.close(self._descriptor)


_SUFFIXES: Final = (
    ".gz", ".zst", ".bz2", ".xz", ".jsonl", ".ndjson", ".json", ".parquet", ".csv", ".tsv", ".eval", ".rollouts",
)  # fmt: skip


def default_run(rollouts: Path) -> Path:
    """`runs/<stem>-<UTC time>`, with a number at its end where there is one by that name."""
    base = run_stem(rollouts)
    base = base.with_name(f"{base.name}-{datetime.now(UTC).strftime('%Y%m%dT%H%M%SZ')}")
    names = itertools.chain([base], (base.with_name(f"{base.name}-{number}") for number in itertools.count(2)))
    return next(path for path in names if not path.exists())


def run_stem(rollouts: Path) -> Path:
    """`runs/<stem>`: the name of a run of these rollouts up to the time in it."""
    stem = rollouts.name
    for suffix in _SUFFIXES:
        stem = stem.removesuffix(suffix)
    if {*stem} & {*"*?["}:
        stem = rollouts.parent.name
    return Path("runs") / (stem.strip("*?[]-") or "rollouts")


_RESERVED: Final = ".reserved"
_RESERVED_BYTES: Final = 1 << 20
"""More than a manifest with its 1,000 bad lines takes."""


def reserve_space(run: Path) -> None:
    """Reserves disk space while a run grows, so that `run.json` can still say that a full disk stopped it.

    On a disk without even that much nothing is raised here: writing the first part will fail.
    """
    try:
        with (run / _RESERVED).open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, _RESERVED_BYTES)
    except OSError:
        release_space(run)


def release_space(run: Path) -> None:
    """Frees it."""
    with contextlib.suppress(OSError):
        (run / _RESERVED).unlink()
