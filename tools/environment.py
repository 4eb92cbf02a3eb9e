"""Makes `.venv`: picks the interpreter, installs the pinned requirements, finds the browser for the tests.

Runs before anything is installed, on any Python from 3.11 with the standard library only. `environment.sh` calls it
after a change, with the interpreters that run on stdin, one per line, best first.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
MADE_FOR = ".made-for"
"""A file in an environment that says what it was made for; in `.venv` a folder and an interpreter, a line each."""
COPIES = Path("/var/cache/rollscope")
"""Where root puts a copy of an interpreter that other users can't read."""
TRIED_UP_TO = (3, 13)
NOBODY = 65534
"""The uid of the user who owns nothing, on every Linux."""

_PROBE = """
import importlib.util, json, os, sys
print(json.dumps({
    "executable": getattr(sys, "_base_executable", sys.executable) or sys.executable,
    "prefix": sys.base_prefix,
    "library": os.path.dirname(os.__file__),
    "version": list(sys.version_info[:3]),
    "ensurepip": importlib.util.find_spec("ensurepip") is not None,
    "pip": importlib.util.find_spec("pip") is not None,
    "virtualenv": importlib.util.find_spec("virtualenv") is not None,
}))
"""


class StopError(Exception):
    """The work can't continue. The message is one line that says what to type."""


@dataclass(frozen=True)
class Interpreter:
    """A Python that runs."""

    executable: str
    prefix: str
    library: str
    version: list[int]
    ensurepip: bool
    pip: bool
    virtualenv: bool

    @property
    def number(self) -> str:
        return ".".join(map(str, self.version))

    @property
    def readable_by_others(self) -> bool:
        return all(others_can_read(Path(p)) for p in (self.executable, self.library, f"{self.library}/os.py"))


def main(arguments: Sequence[str]) -> int:
    try:
        if arguments[:1] == ["browser"]:
            print(browser())
        else:
            wanted, stamp, state = arguments
            install(sys.stdin.read().splitlines(), wanted, ROOT / stamp, state)
    except StopError as stop:
        say(str(stop))
        return 2
    return 0


# --- the environment


def install(candidates: Iterable[str], wanted: str, stamp: Path, state: str) -> None:
    """Installs the pinned requirements into `.venv` and notes that in `stamp`. Raises `StopError`."""
    os.umask(0o022)  # under root's 077 nobody else could read what is installed
    os.environ.update(PIP_USER="0", PIP_DISABLE_PIP_VERSION_CHECK="1")
    try:
        lock = (ROOT / ".venv.lock").open("w")
    except PermissionError:
        raise StopError(f"{ROOT} is not writable: clone the repository into your own folder") from None
    with lock:  # `make run` beside `make test` in a fresh clone
        fcntl.flock(lock, fcntl.LOCK_EX)
        named = probe(os.environ["PYTHON"]) if os.environ.get("PYTHON") else None
        if not venv_works(named):
            make_venv([probed for path in candidates if (probed := probe(path))], named)
        requirements = "requirements-dev.txt" if wanted == "dev" else "requirements.txt"
        say(f"installing {requirements} into .venv (once, about a minute)")
        pip("install", "--no-compile", "--requirement", requirements)
        compile_installed()
        pip("install", "--no-deps", "--no-build-isolation", "--editable", ".")
        for name in {stamp.name, ".installed-run"}:  # the tests' requirements include the command's
            (VENV / name).write_text(state + "\n")


def venv_works(named: Interpreter | None = None) -> bool:
    """Whether `.venv` was made for this folder (and the named interpreter, if any), runs, and has pip."""
    try:
        folder, interpreter = (VENV / MADE_FOR).read_text().splitlines()
    except (OSError, ValueError):
        folder, interpreter = str(VENV), ""  # not made here: kept if it runs
    if folder != str(VENV) or (named and named.executable != interpreter):
        return False
    check = "import sys, pip; sys.exit(sys.version_info < (3, 11))"
    return VENV_PYTHON.exists() and runs([str(VENV_PYTHON), "-I", "-c", check])


def make_venv(interpreters: Sequence[Interpreter], named: Interpreter | None) -> None:
    """Makes a new `.venv` with the named interpreter, else the best. Raises `StopError`."""
    if not interpreters:
        raise StopError("no Python 3.11 or newer was found: name one with 'make PYTHON=/path/to/python3'")
    wanted = named or preferred(interpreters)
    unreadable = os.geteuid() == 0 and not wanted.readable_by_others
    chosen = copied(wanted) if unreadable else wanted
    say(f"making .venv with Python {chosen.number} ({chosen.executable})")
    if not (
        made_by_venv(chosen)
        or made_by_virtualenv(chosen, interpreters)
        or made_with_pip_of_another(chosen, interpreters)
        or made_after_apt(chosen)
    ):
        raise StopError(
            f"{chosen.executable} can't make a virtual environment: "
            "type 'sudo apt-get install python3-venv' (or your system's equivalent), then try again"
        )
    (VENV / MADE_FOR).write_text(f"{VENV}\n{wanted.executable}\n")


def preferred(interpreters: Sequence[Interpreter]) -> Interpreter:
    """The best one; as root one that other users can read, since graded code runs as another user."""
    ranked = sorted(interpreters, key=lambda one: tuple(one.version[:2]) > TRIED_UP_TO)
    readable = [one for one in ranked if one.readable_by_others] if os.geteuid() == 0 else []
    return (readable or ranked)[0]


def copied(interpreter: Interpreter) -> Interpreter:
    """A copy that other users can read; the interpreter itself, with a warning, if a copy doesn't run."""
    target = COPIES / f"python-{interpreter.number}"
    source = Path(interpreter.prefix)
    inside = Path(interpreter.executable).resolve()
    if inside.is_relative_to(source.resolve()):
        say(f"copying {source} to {target}: graded code runs as another user, who can't read it")
        try:
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(
                source, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", "test", "share")
            )
            opened_to_others(target)
            executable = target / inside.relative_to(source.resolve())
            look_for_libraries_beside(executable, source)
            copy = probe(str(executable))
        except OSError as error:
            say(f"the copy failed: {error}")
        else:
            if copy and copy.readable_by_others and runs_for_others(copy.executable):
                return copy
    say(f"warning: other users can't read {interpreter.executable}; 'rollscope doctor' shows the consequences")
    return interpreter


def opened_to_others(folder: Path) -> None:
    """Lets everybody read and enter what the owner can."""
    for path in (COPIES, folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o055 if path.is_dir() or os.access(path, os.X_OK) else 0o044))


def look_for_libraries_beside(executable: Path, built_for: Path) -> None:
    """Makes the copy of an executable load the copied libpython, not the one in its old folder.

    The file holds that folder, ended by a zero byte; the replacement must not be longer.
    """
    content = executable.read_bytes()
    old, new = f"{built_for}/lib".encode() + b"\0", b"$ORIGIN/../lib\0"
    if content.count(old) == 1 and len(new) <= len(old):
        executable.write_bytes(content.replace(old, new.ljust(len(old), b"\0")))


def others_can_read(path: Path) -> bool:
    """Whether the permission bits let every user reach and read it."""
    real = path.resolve()
    try:
        reachable = all(folder.stat().st_mode & 0o001 for folder in real.parents)
        return reachable and bool(real.stat().st_mode & 0o004)
    except OSError:
        return False


# --- ways to make a virtual environment


def made_by_venv(interpreter: Interpreter | None) -> bool:
    if interpreter is None or not interpreter.ensurepip:
        return False
    return fresh() and runs([interpreter.executable, "-I", "-m", "venv", str(VENV)]) and venv_works()


def made_by_virtualenv(chosen: Interpreter, interpreters: Sequence[Interpreter]) -> bool:
    makers = [[one.executable, "-m", "virtualenv"] for one in interpreters if one.virtualenv]
    if command := shutil.which("virtualenv"):
        makers.append([command])
    return any(
        fresh() and runs([*maker, "--python", chosen.executable, str(VENV)]) and venv_works() for maker in makers
    )


def made_with_pip_of_another(chosen: Interpreter, interpreters: Sequence[Interpreter]) -> bool:
    """Debian splits ensurepip from venv, but any other pip can install pip into an environment."""
    for one in interpreters:
        if one.pip and fresh() and runs([chosen.executable, "-I", "-m", "venv", "--without-pip", str(VENV)]):
            into = [one.executable, "-m", "pip", "--python", str(VENV_PYTHON), "install", "--quiet", "pip"]
            if runs(into) and venv_works():
                return True
    return False


def made_after_apt(chosen: Interpreter) -> bool:
    """Debian's own interpreter lacks ensurepip until its -venv package is installed."""
    package = f"python{chosen.version[0]}.{chosen.version[1]}-venv"
    return (
        chosen.executable.startswith("/usr/bin/")
        and installed_by_apt(package)
        and made_by_venv(probe(chosen.executable))
    )


def fresh() -> bool:
    """Removes a broken environment, or one made for another folder."""
    if VENV.is_symlink():
        VENV.unlink()
    shutil.rmtree(VENV, ignore_errors=True)
    return not VENV.exists()


def installed_by_apt(package: str) -> bool:
    """Installs a Debian package if possible: as root, with apt-get."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    say(f"installing {package} with apt-get")
    apt = ["apt-get", "-qq", "-y", "-o", "DPkg::Lock::Timeout=120"]
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install_it = [*apt, "install", "--no-install-recommends", package]
    return runs(install_it, quiet) or (runs([*apt, "update"], quiet) and runs(install_it, quiet))


# --- the browser


def browser() -> str:
    """The path of a Chromium that runs; as root installs a missing one. Raises `StopError`."""
    found = chromium()
    if found is None and installed_by_apt("chromium"):
        found = chromium()
    if found is None:
        raise StopError(
            "no Chromium for the tests of the pages: type 'sudo apt-get install chromium' (or your system's "
            "equivalent), name one with CHROMIUM=/path, or leave these tests out with 'make test PAGES=no'"
        )
    return found


def chromium() -> str | None:
    named = os.environ.get("CHROMIUM")
    names = [named] if named else ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"]
    paths = [path for name in names if (path := shutil.which(name))]
    if not named:
        downloads = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
        paths += [str(path) for path in sorted(downloads.glob("chromium-*/chrome-linux*/chrome"), reverse=True)]
    return next(
        (path for path in paths if runs([path, "--version"])), None
    )  # Ubuntu's may be a stub that asks for snap


# --- running things


def probe(path: str) -> Interpreter | None:
    """The interpreter at a path; None if it doesn't run."""
    try:
        done = subprocess.run([path, "-I", "-c", _PROBE], capture_output=True, text=True, timeout=60, check=True)
        return Interpreter(**json.loads(done.stdout))
    except (OSError, subprocess.SubprocessError, ValueError, TypeError):
        return None


def pip(*arguments: str) -> None:
    """Runs the environment's pip with the machine's own pip configuration. Raises `StopError`."""
    command = [str(VENV_PYTHON), "-I", "-m", "pip", "-qq", *arguments]
    if subprocess.run(command, cwd=ROOT, check=False).returncode:
        raise StopError(f"'pip {' '.join(arguments)}' failed: see its own message above")


def compile_installed() -> None:
    """Compiles the packages with all cores, without their tests. What does not compile is left as it is."""
    options = ["-qq", "-j", "0", "-x", "site-packages/.*/tests?/"]
    subprocess.run([str(VENV_PYTHON), "-I", "-m", "compileall", *options, str(VENV / "lib")], cwd=ROOT, check=False)


def runs(command: Sequence[str], environment: dict[str, str] | None = None) -> bool:
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=900, check=False)
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def runs_for_others(executable: str) -> bool:
    """Whether a user who owns nothing can start this Python with its shared libraries. Only root can try."""
    command = [executable, "-I", "-c", ""]
    try:
        done = subprocess.run(
            command, cwd="/", user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True, timeout=60, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def say(line: str) -> None:
    print(f"rollscope: {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
