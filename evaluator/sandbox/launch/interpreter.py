"""Which Python completions run on, and the paths that it needs inside the sandbox."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

import msgspec

from evaluator.sandbox.launch.interpreter_probe import Description, describe_interpreter, own_description
from evaluator.sandbox.launch.readable import PACKAGE_FOLDERS, readable
from evaluator.sandbox.launch.unavailable import SandboxUnavailable

PACKAGES = "/sandbox/packages"
"""Where third-party packages stand inside, when they can't stand at their own path."""

_OFFERED_PACKAGES = ("numpy",)
_SYSTEM_LIBRARIES = (
    "/lib64",
    "/usr/lib64",
    "/etc/ld.so.cache",
    "/usr/share/zoneinfo",
    "/etc/localtime",
    "/usr/lib/locale/C.utf8",  # what LANG names inside
    "/usr/lib/locale/C.UTF-8",
)
_LINKS_TO_LIBRARIES = "/etc/alternatives"
"""Debian's packages find some of theirs through it."""
_HIDDEN = ("/tmp", "/dev", "/proc", "/sandbox")  # noqa: S108
"""Inside these stands something else."""
_HOME = "/sandbox/python"
_MEND = "use a Python that every user can read, such as /usr/bin/python3"


class Interpreter(msgspec.Struct, frozen=True):
    """A Python with what it needs: `binds` are (outside, inside) paths, shown read-only in this order."""

    executable: str
    path: tuple[str, ...]
    """What `sys.path` is to be, after the completion's own folder."""
    binds: tuple[tuple[str, str], ...]
    packages: tuple[str, ...]
    """Names of the distributions that completions can import, with their versions."""
    version: str
    has_numpy: bool
    covered: tuple[str, ...]
    """Folders of packages that lie within what is shown, but are not offered: empty ones are put in their place."""
    library_folder: str
    """Where the loader finds libpython (`LD_LIBRARY_PATH`): a path within the executable may lead nowhere, or to what
    that user can't read. Empty where there is none."""

    def offers(self, path: str) -> bool:
        """Whether a path of this machine can be read inside because this Python needs or offers it."""
        if any(_is_below(path, folder) for folder in self.covered):
            return False
        return any(_is_below(path, each) for outside, inside in self.binds for each in (outside, inside))


class Outside(msgspec.Struct, frozen=True):
    """The same Python where nothing is mounted: the paths that it needs on the machine as it is."""

    executable: str
    path: tuple[str, ...]
    """What `sys.path` is to be, between the completion's own folder and that of the links."""
    readable: tuple[str, ...]
    """Files and folders that have to be readable, with all below them; the system's libraries are among them."""
    links: tuple[str, ...]
    """Packages that are offered without what stands beside them: by a folder on `sys.path` with links to them."""
    library_folder: str


@cache
def interpreter_for(user: int, python: str | None = None) -> Interpreter:
    """The Python at a path with all its packages, or this process's own with numpy alone, as `user` can read it.

    What that user can't read is copied once, if we are root. Raises `InterpreterError` for a path that names no Python
    to run on, `SandboxUnavailable` when it can't be read and not be copied.
    """
    told = own_description() if python is None else _described(python)
    try:
        packages = _numpy_alone(user) if python is None else _whole_folders(told.package_folders, user)
        return _made(told, user, packages)
    except OSError as error:
        raise SandboxUnavailable(str(error), _MEND) from None


def python_version(python: str | None = None) -> str:
    """Of the Python at a path, or of this process's own. Raises `InterpreterError`."""
    return own_description().version if python is None else _described(python).version


@cache
def _described(python: str) -> Description:
    return describe_interpreter(python)


def outside_of(interpreter: Interpreter) -> Outside:
    """Where its parts stand on this machine."""
    sources = {inside: outside for outside, inside in interpreter.binds}

    def source(inside: str) -> str:
        """By the innermost of the places that hold it."""
        holding = max((each for each in sources if _is_below(inside, each)), key=len, default=None)
        return inside if holding is None else sources[holding] + inside.removeprefix(holding)

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
    """The path; where it holds a folder that is not to be seen, all that stands beside that instead."""
    if path in covered:
        return []
    if not any(_is_below(folder, path) for folder in covered):
        return [path]
    return [each for entry in sorted(Path(path).iterdir()) for each in _without(str(entry), covered)]


class _Packages(msgspec.Struct, frozen=True):
    """What can be imported beside the standard library."""

    path: tuple[str, ...]
    binds: tuple[tuple[str, str], ...]
    names: tuple[str, ...]
    has_numpy: bool
    system: tuple[str, ...] = ()


def _numpy_alone(user: int) -> _Packages:
    """As this process imports it, and nothing that stands beside it."""
    folders = [folder for name in _OFFERED_PACKAGES for folder in _folders_of(name)]
    binds: list[tuple[str, str]] = []
    for root in dict.fromkeys(folder.parent for folder in folders):
        own = [folder for folder in folders if folder.parent == root]
        place = readable(root, own, user)
        binds += [(str(place / folder.name), f"{PACKAGES}/{folder.name}") for folder in own]
    names = tuple(_with_version(name) for name in _OFFERED_PACKAGES if _folders_of(name))
    return _Packages((PACKAGES,), tuple(binds), names, has_numpy=any(folder.name == "numpy" for folder in folders))


def _folders_of(package: str) -> list[Path]:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return []
    folder = Path(spec.origin).resolve().parent
    libraries = folder.with_name(f"{package}.libs")
    return [folder, libraries] if libraries.is_dir() else [folder]


def _with_version(package: str) -> str:
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return package


def _whole_folders(folders: Sequence[str], user: int) -> _Packages:
    """At their own paths where these can be had inside."""
    path = tuple(f"{PACKAGES}-{place}" if _is_hidden(folder) else folder for place, folder in enumerate(folders))
    sources = [str(readable(Path(folder), [Path(folder)], user)) for folder in folders]
    names = {f"{each.name} {each.version}" for each in metadata.distributions(path=list(folders))}
    has_numpy = any(Path(folder, "numpy").is_dir() for folder in folders)
    binds = tuple(zip(sources, path, strict=True))
    return _Packages(path, binds, tuple(sorted(names, key=str.lower)), has_numpy, (_LINKS_TO_LIBRARIES,))


def _made(told: Description, user: int, packages: _Packages) -> Interpreter:
    parts = [told.executable, *told.libraries, told.stdlib]
    parts += [] if _is_below(told.extensions, told.stdlib) else [told.extensions]
    moved = _is_hidden(told.prefix)

    def inside(path: str) -> str:
        return _HOME + path.removeprefix(told.prefix) if moved and _is_below(path, told.prefix) else path

    system = [path for path in (*_SYSTEM_LIBRARIES, *packages.system, *_multiarch(told.triplet)) if Path(path).exists()]
    binds = [(source, inside(part)) for part, source in _sources(told.prefix, parts, user)]
    search = [inside(path) for path in (told.archive, told.stdlib, told.extensions)]
    folders = [name for name in PACKAGE_FOLDERS if Path(told.stdlib, name).is_dir()]
    covered = [inside(f"{told.stdlib}/{name}") for name in folders]
    return Interpreter(
        executable=inside(told.executable),
        path=(*search, *packages.path),
        binds=(*((path, path) for path in system), *binds, *packages.binds),
        packages=packages.names,
        version=told.version,
        has_numpy=packages.has_numpy,
        covered=tuple(folder for folder in covered if folder not in packages.path),
        library_folder=str(Path(inside(told.libraries[0])).parent) if told.libraries else "",
    )


def _sources(prefix: str, parts: Sequence[str], user: int) -> list[tuple[str, str]]:
    """Each part, with where `user` can read it."""
    together = [part for part in parts if _is_below(part, prefix)]
    place = readable(Path(prefix), [Path(part) for part in together], user)
    sources = {part: str(place) + part.removeprefix(prefix) for part in together}
    for part in parts:
        folder, name = Path(part).parent, Path(part).name
        if part not in sources:
            sources[part] = str(readable(folder, [Path(part)], user) / name)
    return list(sources.items())


def _multiarch(triplet: str) -> list[str]:
    found = [path for path in (f"/lib/{triplet}", f"/usr/lib/{triplet}") if Path(path).exists()]
    return found or ["/lib", "/usr/lib"]


def _is_hidden(path: str) -> bool:
    return any(_is_below(path, folder) for folder in _HIDDEN)


def _is_below(path: str, folder: str) -> bool:
    """Whether it is the folder itself, or within it."""
    return f"{path}/".startswith(f"{folder.rstrip('/')}/")
