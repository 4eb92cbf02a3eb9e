"""The Python that completions run on, and the paths that it needs inside the sandbox."""

from __future__ import annotations

import importlib.util
import os
import platform
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import msgspec

from evaluator.sandbox.host.launch.interpreter_probe import Description, describe_interpreter, own_description
from evaluator.sandbox.host.launch.readable import PACKAGE_FOLDERS, readable
from evaluator.sandbox.host.launch.settings import SandboxUnavailable

PACKAGES = "/sandbox/packages"
"""Where third-party packages are inside, if they can't be at their own path."""

_OFFERED_PACKAGES = ("numpy",)
_SYSTEM_LIBRARIES = (
    "/lib64",
    "/usr/lib64",
    "/etc/ld.so.cache",
    "/usr/share/zoneinfo",
    "/etc/localtime",
    "/usr/lib/locale/C.utf8",  # for LANG inside
    "/usr/lib/locale/C.UTF-8",
)
_LINKS_TO_LIBRARIES = "/etc/alternatives"
"""Debian's packages find some libraries through it."""
_HIDDEN = ("/tmp", "/dev", "/proc", "/sandbox")  # noqa: S108
"""The sandbox has its own folders of these names."""
_HOME = "/sandbox/python"
_FIX = "use a Python that every user can read, such as /usr/bin/python3"


class Interpreter(msgspec.Struct, frozen=True):
    """A Python and the paths it needs: `binds` are (outside, inside) pairs, mounted read-only in this order."""

    executable: str
    path: tuple[str, ...]
    """Entries of `sys.path` after the completion's own folder."""
    binds: tuple[tuple[str, str], ...]
    packages: tuple[str, ...]
    """Names of the distributions that completions can import, with their versions."""
    version: str
    has_numpy: bool
    covered: tuple[str, ...]
    """Package folders below a mounted path that are not offered: empty folders hide them."""
    library_folder: str
    """Where the loader finds libpython (`LD_LIBRARY_PATH`), because a path in the executable may be missing or
    unreadable. Empty if there is no libpython."""

    def offers(self, path: str) -> bool:
        """Whether a path of this machine is readable inside because this Python needs or offers it."""
        if any(_is_below(path, folder) for folder in self.covered):
            return False
        return any(_is_below(path, each) for outside, inside in self.binds for each in (outside, inside))


class Outside(msgspec.Struct, frozen=True):
    """The same Python without mounts: the paths that it needs on this machine."""

    executable: str
    path: tuple[str, ...]
    """Entries of `sys.path` between the completion's own folder and the folder of links."""
    readable: tuple[str, ...]
    """Files and folders that must be readable with all below them, including the system's libraries."""
    links: tuple[str, ...]
    """Packages that are offered without their neighbours, by links in a folder on `sys.path`."""
    library_folder: str


@cache
def interpreter_for(user: int, python: str | None = None) -> Interpreter:
    """The Python at a path with all its packages, or this process's own with only numpy, as `user` can read it.

    Copies once what that user can't read, if we are root. Raises `InterpreterError` if the path is not a usable
    Python, `SandboxUnavailable` if it can be neither read nor copied.
    """
    description = description_of(python)
    try:
        packages = _numpy_alone(user) if python is None else _whole_folders(description.package_folders, user)
        return _made(description, user, packages)
    except OSError as error:
        raise SandboxUnavailable(str(error), _FIX) from None


def python_version(python: str | None = None) -> str:
    """The version of the Python at a path, or of this process's own. Raises `InterpreterError`."""
    return description_of(python).version


@cache
def description_of(python: str | None) -> Description:
    """Of the Python at a path, or of this process's own. Raises `InterpreterError`."""
    return own_description() if python is None else describe_interpreter(python)


def outside_of(interpreter: Interpreter) -> Outside:
    """Where its parts are on this machine."""
    sources = {inside: outside for outside, inside in interpreter.binds}

    def source(inside: str) -> str:
        """By the innermost mount that contains it."""
        mount = max((each for each in sources if _is_below(inside, each)), key=len, default=None)
        return inside if mount is None else sources[mount] + inside.removeprefix(mount)

    libraries = [sources[each] for each in sources if Path(each).name.startswith("libpython")]
    covered = {source(folder) for folder in interpreter.covered if any(Path(source(folder)).iterdir())}
    return Outside(
        executable=source(interpreter.executable),
        path=tuple(source(entry) for entry in interpreter.path if entry != PACKAGES),
        readable=tuple(dict.fromkeys(each for part in sources.values() for each in _without(part, covered))),
        links=tuple(outside for inside, outside in sources.items() if inside.startswith(f"{PACKAGES}/")),
        library_folder=str(Path(libraries[0]).parent) if libraries else "",
    )


def _without(path: str, covered: Iterable[str]) -> list[str]:
    """The path; if a covered folder is below it, the entries around that folder instead."""
    if path in covered:
        return []
    if not any(_is_below(folder, path) for folder in covered):
        return [path]
    return [each for entry in sorted(Path(path).iterdir()) for each in _without(str(entry), covered)]


class _Packages(msgspec.Struct, frozen=True):
    """What can be imported besides the standard library."""

    path: tuple[str, ...]
    binds: tuple[tuple[str, str], ...]
    names: tuple[str, ...]
    has_numpy: bool
    system: tuple[str, ...] = ()


def _numpy_alone(user: int) -> _Packages:
    """numpy as this process imports it, without the packages next to it."""
    folders = offered_folders()
    binds: list[tuple[str, str]] = []
    for root in dict.fromkeys(folder.parent for folder in folders):
        own = [folder for folder in folders if folder.parent == root]
        place = readable(root, own, user)
        binds += [(str(place / folder.name), f"{PACKAGES}/{folder.name}") for folder in own]
    names = tuple(_with_version(name) for name in _OFFERED_PACKAGES if _folders_of(name))
    return _Packages((PACKAGES,), tuple(binds), names, has_numpy=any(folder.name == "numpy" for folder in folders))


def offered_folders() -> list[Path]:
    """The folders of the packages that completions can import without a Python of their own."""
    return [folder for name in _OFFERED_PACKAGES for folder in _folders_of(name)]


def _folders_of(package: str) -> list[Path]:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return []
    folder = Path(spec.origin).resolve().parent
    libraries = folder.with_name(f"{package}.libs")
    return [folder, libraries] if libraries.is_dir() else [folder]


def _with_version(package: str) -> str:
    from importlib import metadata  # a seventh of what importing this library would take

    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return package


def _whole_folders(folders: Sequence[str], user: int) -> _Packages:
    """At their own paths, unless the sandbox has its own folders there."""
    from importlib import metadata

    path = tuple(f"{PACKAGES}-{place}" if _is_hidden(folder) else folder for place, folder in enumerate(folders))
    sources = [str(readable(Path(folder), [Path(folder)], user)) for folder in folders]
    names = {f"{each.name} {each.version}" for each in metadata.distributions(path=list(folders))}
    has_numpy = any(Path(folder, "numpy").is_dir() for folder in folders)
    binds = tuple(zip(sources, path, strict=True))
    return _Packages(path, binds, tuple(sorted(names, key=str.lower)), has_numpy, (_LINKS_TO_LIBRARIES,))


def _made(description: Description, user: int, packages: _Packages) -> Interpreter:
    parts = [description.executable, *description.libraries, description.stdlib]
    parts += [] if _is_below(description.extensions, description.stdlib) else [description.extensions]
    moved = _is_hidden(description.prefix)

    def inside(path: str) -> str:
        return _HOME + path.removeprefix(description.prefix) if moved and _is_below(path, description.prefix) else path

    system = [
        path for path in (*_SYSTEM_LIBRARIES, *packages.system, *_multiarch(description.triplet)) if Path(path).exists()
    ]
    binds = [(source, inside(part)) for part, source in _sources(description.prefix, parts, user)]
    search = [inside(path) for path in (description.archive, description.stdlib, description.extensions)]
    folders = [name for name in PACKAGE_FOLDERS if Path(description.stdlib, name).is_dir()]
    covered = [inside(f"{description.stdlib}/{name}") for name in folders]
    return Interpreter(
        executable=inside(description.executable),
        path=(*search, *packages.path),
        binds=(*((path, path) for path in system), *binds, *packages.binds),
        packages=packages.names,
        version=description.version,
        has_numpy=packages.has_numpy,
        covered=tuple(folder for folder in covered if folder not in packages.path),
        library_folder=str(Path(inside(description.libraries[0])).parent) if description.libraries else "",
    )


def _sources(prefix: str, parts: Sequence[str], user: int) -> list[tuple[str, str]]:
    """Each part, with a path at which `user` can read it."""
    together = [part for part in parts if _is_below(part, prefix)]
    place = readable(Path(prefix), [Path(part) for part in together], user)
    sources = {part: str(place) + part.removeprefix(prefix) for part in together}
    for part in parts:
        folder, name = Path(part).parent, Path(part).name
        if part not in sources:
            sources[part] = str(readable(folder, [Path(part)], user) / name)
    return list(sources.items())


def _multiarch(triplet: str) -> list[str]:
    folders = [path for path in (f"/lib/{triplet}", f"/usr/lib/{triplet}") if Path(path).exists()]
    return folders or ["/lib", "/usr/lib"]


def _is_hidden(path: str) -> bool:
    return any(_is_below(path, folder) for folder in _HIDDEN)


def _is_below(path: str, folder: str) -> bool:
    """Whether it is the folder itself or in it."""
    return f"{path}/".startswith(f"{folder.rstrip('/')}/")


_OF_A_DISTRIBUTION = (".dist-info", ".egg-info")

Entry = tuple[str, int, int]
"""A name, its time of change in nanoseconds, and its size; both 0 for a folder whose time says nothing."""


@cache
def fingerprint(python: str | None) -> list[object]:
    """As JSON, of the Python at a path with all its packages, or of this process's own with numpy; once a process.

    A distribution is known by its name and version, and by when it was installed. Raises `InterpreterError`, `OSError`.
    """
    description = description_of(python)
    files = [_entry(path, Path(path).stat()) for path in (description.executable, *description.libraries)]
    if python is None:
        beside = {folder.parent for folder in offered_folders()}
        packages = [entry for folder in sorted(beside) for entry in _entries(folder) if entry[0].startswith("numpy")]
    else:
        packages = [entry for folder in description.package_folders for entry in _entries(Path(folder))]
    return [platform.machine(), msgspec.to_builtins(description), files, packages]


def _entries(folder: Path) -> Iterator[Entry]:
    """What is in a folder of packages, by name."""
    with os.scandir(folder) as found:
        for entry in sorted(found, key=lambda each: each.name):
            if entry.name == "__pycache__":
                continue
            if entry.is_dir() and not entry.name.endswith(_OF_A_DISTRIBUTION):
                yield entry.name, 0, 0  # importing a package changes the time of its folder
            else:
                yield _entry(entry.name, entry.stat())


def _entry(name: str, found: os.stat_result) -> Entry:
    return name, found.st_mtime_ns, found.st_size
