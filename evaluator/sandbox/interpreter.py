"""Which Python completions run on, and the paths that it needs inside the sandbox."""

from __future__ import annotations

import importlib.util
import os
import shutil
import stat
import sys
import sysconfig
from functools import cache
from pathlib import Path

import msgspec

PACKAGES = "/sandbox/packages"
"""Where third-party packages stand inside."""

_OFFERED_PACKAGES = ("numpy",)
_SYSTEM_LIBRARIES = ("/lib64", "/usr/lib64", "/etc/ld.so.cache", "/usr/share/zoneinfo", "/etc/localtime")
_READABLE_COPIES = Path("/var/tmp")  # noqa: S108 - every user can reach it


class Interpreter(msgspec.Struct, frozen=True):
    """A Python with what it needs: `binds` are (outside, inside) paths, shown read-only."""

    executable: str
    path: tuple[str, ...]
    binds: tuple[tuple[str, str], ...]
    packages: tuple[str, ...]


def readable_by(path: Path, user: int) -> bool:
    """Whether a user who owns nothing of it could read `path`: each folder on the way open to all."""
    resolved = path.resolve()
    if user == os.geteuid() and user != 0:
        return os.access(resolved, os.R_OK)
    wanted = stat.S_IROTH | (stat.S_IXOTH if resolved.is_dir() else 0)
    if resolved.stat().st_mode & wanted != wanted:
        return False
    return all(parent.stat().st_mode & stat.S_IXOTH for parent in resolved.parents)


@cache
def interpreter_for(user: int) -> Interpreter:
    """This process's own Python, as `user` can read it. What that user can't read is copied once, if we are root.

    Raises `OSError` when it can't be read and not be copied.
    """
    base = Path(sys._base_executable or sys.executable).resolve()  # type: ignore[attr-defined]
    stdlib = Path(sysconfig.get_path("stdlib", vars={"base": sys.base_prefix, "installed_base": sys.base_prefix}))
    shared = _shared_libraries()
    places = [(base, str(base)), (stdlib, str(stdlib)), *((library, str(library)) for library in shared)]
    packages = _packages()
    places += [(package, f"{PACKAGES}/{package.name}") for package in packages]
    binds = tuple((str(_readable(source, user)), inside) for source, inside in places)
    system = tuple((path, path) for path in (*_SYSTEM_LIBRARIES, *_multiarch()) if Path(path).exists())
    search = (f"{stdlib.parent}/python{sys.version_info.major}{sys.version_info.minor}.zip", str(stdlib))
    return Interpreter(
        executable=str(base),
        path=("/tmp", *search, f"{stdlib}/lib-dynload", PACKAGES),  # noqa: S108 - the sandbox's own
        binds=(*system, *binds),
        packages=tuple(package.name for package in packages),
    )


def _packages() -> list[Path]:
    folders: list[Path] = []
    for name in _OFFERED_PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            continue
        folder = Path(spec.origin).parent
        folders.append(folder)
        libraries = folder.with_name(f"{name}.libs")
        if libraries.is_dir():
            folders.append(libraries)
    return folders


def _multiarch() -> list[str]:
    triplet = sysconfig.get_config_var("MULTIARCH") or f"{os.uname().machine}-linux-gnu"
    found = [path for path in (f"/lib/{triplet}", f"/usr/lib/{triplet}") if Path(path).exists()]
    return found or ["/lib", "/usr/lib"]


def _shared_libraries() -> list[Path]:
    """libpython, where the interpreter is linked against one that stands beside it."""
    name = sysconfig.get_config_var("INSTSONAME") if sysconfig.get_config_var("Py_ENABLE_SHARED") else None
    if not name:
        return []
    library = Path(sysconfig.get_config_var("LIBDIR") or "/usr/lib") / str(name)
    return [library] if library.exists() and not str(library).startswith("/usr/lib/") else []


def _readable(path: Path, user: int) -> Path:
    if readable_by(path, user):
        return path
    if os.geteuid() != 0:
        raise OSError(f"{path} can't be read by user {user}")
    return _copy(path)


def _copy(path: Path) -> Path:
    """A copy under /var/tmp that every user can read, made once for each state of the original."""
    told = path.stat()
    name = f"{path.name}-{told.st_ino:x}-{told.st_mtime_ns:x}"
    folder = _READABLE_COPIES / "rollscope-readable-0"
    folder.mkdir(mode=0o755, exist_ok=True)
    owner = folder.stat()
    if owner.st_uid != 0 or owner.st_mode & 0o022:
        raise OSError(f"{folder} is not root's own: remove it")
    target = folder / name
    if not target.exists():
        partial = folder / f"{name}.{os.getpid()}.partial"
        if path.is_dir():
            skipped = shutil.ignore_patterns("test", "idlelib", "site-packages", "dist-packages")
            shutil.copytree(path, partial, ignore=skipped, symlinks=True)
        else:
            shutil.copy2(path, partial)
        _open_to_all(partial)
        try:
            partial.rename(target)
        except OSError:  # somebody else was faster
            shutil.rmtree(partial, ignore_errors=True)
    return target


def _open_to_all(path: Path) -> None:
    for each in (path, *path.rglob("*")) if path.is_dir() else (path,):
        if not each.is_symlink():
            each.chmod(each.stat().st_mode | 0o444 | (0o111 if each.is_dir() else 0))
