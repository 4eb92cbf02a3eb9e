"""Finds what the sandbox's user can read, and copies the rest to /var/tmp."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

_MOST_BYTES = 1 << 30
_KEPT_UNUSED_S = 30 * 86_400
_COPIES = ("/var/tmp", tempfile.gettempdir())  # noqa: S108 - every user can reach them
PACKAGE_FOLDERS = ("site-packages", "dist-packages")
_LEFT_OUT = frozenset(("test", "idlelib", "ensurepip", "turtledemo"))
"""Parts of the standard library that are not copied."""


def readable_by(path: Path, user: int) -> bool:
    """Whether a user who does not own `path` can read it and its entries: each folder above must be open to all."""
    resolved = path.resolve()
    if user == os.geteuid() and user != 0:
        return os.access(resolved, os.R_OK)
    inner = resolved.iterdir() if resolved.is_dir() else ()
    if not all(_is_open(each) for each in (resolved, *inner)):
        return False
    return all(parent.stat().st_mode & stat.S_IXOTH for parent in resolved.parents)


def _is_open(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:  # a broken link
        return path.is_symlink()
    needed = stat.S_IROTH | (stat.S_IXOTH if stat.S_ISDIR(mode) else 0)
    return mode & needed == needed


def readable(root: Path, parts: Sequence[Path], user: int) -> Path:
    """A folder in which `user` can read `parts` (`root` itself or paths below it) by the same names: `root`, or a copy.

    As root, we make one copy for each state of the original. It has at most 1 GiB, and is removed after 30 days without
    use. In the copy of a standard library, package folders are empty. Raises `OSError`.
    """
    if all(readable_by(part, user) for part in parts):
        return root
    if os.geteuid() != 0:
        raise OSError(f"{root} can't be read by user {user}")
    return _copy(root, parts)


def _own_folder() -> Path:
    """A folder that nobody else can write to. Raises `OSError`."""
    refused = OSError("there is no folder for copies")
    for base in _COPIES:
        folder = Path(base) / f"rollscope-readable-{os.geteuid()}"
        try:
            with contextlib.suppress(FileExistsError):
                folder.mkdir()
                folder.chmod(0o755)
            state = folder.lstat()
        except OSError as error:
            refused = error
            continue
        if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.geteuid() or state.st_mode & 0o022:
            raise OSError(f"{folder} is not ours alone: remove it")
        return folder
    raise refused


def _copy(root: Path, parts: Sequence[Path]) -> Path:
    files = dict.fromkeys(file for part in parts for file in _files(part))
    states = [(path, path.lstat()) for path in files]
    size = sum(state.st_size for _, state in states)
    if size > _MOST_BYTES:
        raise OSError(f"{root} can't be read by other users, and its {size >> 20} MiB are too large to copy")
    lines = [f"{path} {state.st_size} {state.st_mtime_ns}" for path, state in states if path.suffix != ".pyc"]
    target = _own_folder() / f"{root.name}-{_digest([*map(str, parts), *lines])}"
    if not target.is_dir():
        _remove_unused(target.parent)
        partial = Path(tempfile.mkdtemp(prefix=f"{target.name}.", suffix=".partial", dir=target.parent))
        try:
            for part in parts:
                _copy_part(part, partial / part.relative_to(root))
            for part in parts:
                _make_empty_folders(part, partial / part.relative_to(root))
            _open_to_all(partial)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
        _put_in_place(partial, target)
    os.utime(target)
    return target


def _files(part: Path) -> Iterator[Path]:
    if not part.is_dir():
        yield part
        return
    for folder, folders, names in os.walk(part):
        ignored = _ignored(folder, folders)
        folders[:] = sorted(name for name in folders if name not in ignored)
        yield from (Path(folder, name) for name in sorted(names))


def _ignored(folder: str, names: Sequence[str]) -> set[str]:
    """The entries of a folder that are not copied: a standard library's tests, tools and files for C compilers."""
    if not Path(folder, "os.py").exists():
        return set()
    return {name for name in names if name in _LEFT_OUT | set(PACKAGE_FOLDERS) or name.startswith("config-")}


def _copy_part(part: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if not part.is_dir():
        shutil.copy2(part, target)
        return
    if not (target / "os.py").exists():  # it is not within a part that has been copied
        shutil.copytree(part, target, ignore=_ignored, symlinks=True, dirs_exist_ok=True)


def _make_empty_folders(part: Path, target: Path) -> None:
    """For packages: other folders can be mounted on them."""
    for name in PACKAGE_FOLDERS:
        if (part / "os.py").exists() and (part / name).is_dir():
            (target / name).mkdir()


def _put_in_place(partial: Path, target: Path) -> None:
    try:
        partial.rename(target)
    except OSError:  # another process was faster
        shutil.rmtree(partial, ignore_errors=True)


def _remove_unused(folder: Path) -> None:
    for entry in folder.iterdir():
        with contextlib.suppress(OSError):
            if entry.lstat().st_mtime < time.time() - _KEPT_UNUSED_S:
                shutil.rmtree(entry)


def _open_to_all(path: Path) -> None:
    for each in (path, *path.rglob("*")):
        if not each.is_symlink():
            mode = each.stat().st_mode
            runs = each.is_dir() or mode & 0o100
            each.chmod(mode | 0o444 | (0o111 if runs else 0))


def _digest(texts: Sequence[str]) -> str:
    return hashlib.blake2b("\n".join(texts).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
