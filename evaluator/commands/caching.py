"""`rollscope cache`: what is kept in the user's cache directory, and how it is cleared."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from evaluator.commands.output import CommandError, Exit, print_json, print_table
from evaluator.package_modules import near
from evaluator.user_files import cache_folder

_HELD: Final = {
    "grades": "grades, by completion and task",
    "index": "rollouts opened without grading",
    "judge.sqlite": "scores of judges",
    "s3": "objects read from s3://",
    "tables": "tables of large runs",
    "tasks": "tasks opened without grading",
}
_MIB: Final = 2**20


def show_caches(names: Sequence[str], *, clear: bool, as_json: bool) -> int:
    """Print the sizes of the caches; with `clear` remove them. A cache in use elsewhere is made anew."""
    folder = cache_folder("")
    found = {path.name: path for path in sorted(folder.iterdir())} if folder.is_dir() else {}
    for name in names:
        if name not in found:
            raise CommandError(f"{folder}: has no cache {name}{near(name, found)}")
    chosen = {name: path for name, path in found.items() if not names or name in names}
    rows = [
        (name, _size(path), _HELD.get(name, "the example's run" if "example" in name else ""))
        for name, path in chosen.items()
    ]
    if clear:
        for path in chosen.values():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    if as_json:
        caches = [{"name": name, "bytes": size} for name, size, _ in rows]
        print_json({"folder": str(folder), "cleared": clear, "caches": caches})
        return Exit.DONE
    table = [(name, f"{size / _MIB:,.1f}", what) for name, size, what in rows]
    print_table(("cache", "MiB", "holds"), table, numbers=("MiB",))
    total = sum(size for _, size, _ in rows) / _MIB
    print(f"{folder}: {total:,.1f} MiB{' cleared' if clear else '; --clear removes it'}")
    return Exit.DONE


def _size(path: Path) -> int:
    """Bytes of the files."""
    return sum(each.lstat().st_size for each in (path, *path.rglob("*")) if not each.is_dir())
