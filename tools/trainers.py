"""Tests our rewards in real trainers, and compares them to the trainers' own graders.

    make test-trainers                          # every client of tests/trainers, each in .trainers/<client>, made once
    TRAINERS="trl verl" make test-trainers      # only these
    TRAINERS_VENVS=/folder make test-trainers   # /folder/<client> is used as it is, if it is there

A client is a script, `tests/trainers/<client>.py`, with constants that are read and not run: `PACKAGES`, what pip
installs, the client's own first; and if needed `NO_DEPS`, installed before them without their dependencies, `EXTRAS`
of this package, `PYTHON`, such as `(3, 12)`, and `CHECKOUTS`, the environment variables that say where a client is that
pip can't install: without them it is not tried. It prints what `comparing.compared` prints, and fails if a check does.

Exit status 1 if a script failed. One whose packages can't be installed is reported, and is no failure.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import venvs
from environment import ROOT, Interpreter, StopError, probe, say

SCRIPTS = ROOT / "tests" / "trainers"
ENVIRONMENTS = ROOT / ".trainers"
ONLY = "TRAINERS"
READY = "TRAINERS_VENVS"
RUN = """
import runpy, sys
sys.argv = sys.argv[1:]
sys.path.append(sys.argv[0].rpartition("/")[0])
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs a script with its folder last on the path: a script has its client's name, and must not be imported for it."""
CONSTANTS = ("PACKAGES", "NO_DEPS", "EXTRAS", "PYTHON", "CHECKOUTS")
HEADINGS = ("client", "what", "rows", "equal", "ours s", "theirs s", "times as fast")


@dataclass(frozen=True)
class Client:
    """A script, and what it needs."""

    name: str
    script: Path
    packages: tuple[str, ...]
    no_deps: tuple[str, ...]
    extras: tuple[str, ...]
    python: tuple[int, int] | None
    checkouts: tuple[str, ...]

    @property
    def title(self) -> str:
        """Its package and version, as it is pinned."""
        return self.packages[0].partition(" @ ")[0].replace("==", " ") if self.packages else self.name


def main(arguments: Sequence[str]) -> int:
    """Two arguments stand for the folders of the scripts and of the environments."""
    scripts, environments = (Path(one).resolve() for one in arguments) if arguments else (SCRIPTS, ENVIRONMENTS)
    try:
        clients = chosen(scripts)
    except StopError as stop:
        say(str(stop))
        return 2
    table: list[list[str]] = []
    differ: list[str] = []
    failed = False
    for client in clients:
        missing = [name for name in client.checkouts if not os.environ.get(name)]
        if missing:
            say(f"{client.name} is not tried: set {' and '.join(f'{name}=/path/to/checkout' for name in missing)}")
            continue
        try:
            python = python_for(client, environments / client.name)
        except StopError as stop:
            say(f"{client.title} can't be installed: {stop}")
            continue
        if python is None:
            continue
        say(f"running {client.name}.py with {client.title}")
        passed, found = results(client, python, environments / f"{client.name}.log")
        failed = failed or not passed
        table += [cells(client, one) for one in found]
        differ += [line for one in found for line in differences(client, one)]
    if table:
        show([list(HEADINGS), *table])
    for line in differ:
        print(line)
    return int(failed)


# --- clients


def chosen(scripts: Path) -> list[Client]:
    """The clients to test. Raises `StopError` for one that does not exist."""
    known = {path.stem: path for path in sorted(scripts.glob("*.py")) if path.name != "comparing.py"}
    wanted = os.environ.get(ONLY, "").split() or list(known)
    for name in wanted:
        if name not in known:
            raise StopError(f"there is no client {name!r}: {ONLY} takes names of {', '.join(known) or 'none'}")
    return [read(known[name]) for name in wanted]


def read(script: Path) -> Client:
    """Raises `StopError` if the constants can't be read without running the script."""
    constants: dict[str, Any] = {}
    for node in ast.parse(script.read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in CONSTANTS:
                try:
                    constants[name] = tuple(ast.literal_eval(value))
                except (ValueError, TypeError):
                    raise StopError(f"{script}:{node.lineno}: {name} must be a tuple of literals") from None
    if "PACKAGES" not in constants:
        raise StopError(f"{script} has no PACKAGES: give a tuple of what pip must install")
    return Client(
        script.stem,
        script,
        constants["PACKAGES"],
        constants.get("NO_DEPS", ()),
        constants.get("EXTRAS", ()),
        constants.get("PYTHON"),
        constants.get("CHECKOUTS", ()),
    )


def python_for(client: Client, environment: Path) -> str | None:
    """The Python of the client's environment, which is made if needed; None, and a line, if its version is missing.

    Raises `StopError` if the packages can't be installed.
    """
    folder = os.environ.get(READY)
    ready = venvs.python_of(Path(folder).absolute() / client.name) if folder else None
    if ready and probe(ready):
        return ready
    interpreter = venvs.newest(client.title, client.python[1]) if client.python else probe(sys.executable)
    if interpreter is None:
        return None
    wanted = [*client.packages, *client.no_deps, *client.extras]
    venvs.keep(environment, interpreter, wanted, lambda: make(client, interpreter, environment))
    return venvs.python_of(environment)


def make(client: Client, interpreter: Interpreter, environment: Path) -> None:
    """A fresh environment with the client's packages and this checkout. Raises `StopError`."""
    say(f"installing {client.title} into {environment}, once: minutes")
    venvs.call([interpreter.executable, "-I", "-m", "venv", str(environment)])
    if client.no_deps:
        venvs.install(environment, "--no-deps", *client.no_deps)
    extras = f"[{','.join(client.extras)}]" if client.extras else ""
    venvs.install(environment, *client.packages, "--editable", f"{ROOT}{extras}")


def results(client: Client, python: str, log: Path) -> tuple[bool, list[dict[str, Any]]]:
    """Whether the script passed, and what it compared. Prints a line if it failed."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [python, "-c", RUN, str(client.script)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": ""},  # else each worker compiles all sources
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(done.stdout + done.stderr, encoding="utf-8")
        last = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]
        say(f"{client.name}.py failed: {last}: its output is in {log}")
    elif not any(line.startswith('{"client": ') for line in done.stdout.splitlines()):
        said = done.stdout.strip() or done.stderr.strip() or "it compared nothing"
        say(f"{client.name}.py: {said.splitlines()[-1]}")
    lines = (decoded(line) for line in done.stdout.splitlines() if line.startswith('{"client": '))
    return done.returncode == 0, [line for line in lines if line is not None]


def decoded(line: str) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(line)
    except ValueError:
        return None
    return found


# --- the table


def cells(client: Client, found: dict[str, Any]) -> list[str]:
    ours, theirs = found["ours_s"], found["theirs_s"]
    times = f"{theirs / ours:.1f}" if ours and theirs else ""
    is_pinned = client.title.startswith(found["client"])  # not one that pip does not install
    name = client.title if is_pinned else found["client"]
    return [name, found["what"], str(found["rows"]), str(found["equal"]), f"{ours:.2f}", f"{theirs:.2f}", times]


def differences(client: Client, found: dict[str, Any]) -> list[str]:
    return [
        f"{client.name}: {found['what']}: {row['id']}: ours {row['ours']}, theirs {row['theirs']}, "
        f"expected {'to pass' if row['expected'] else 'to fail'}"
        for row in found["differ"]
    ]


def show(table: list[list[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        texts, numbers = zip(row[:2], widths[:2], strict=True), zip(row[2:], widths[2:], strict=True)
        print("  ".join([t.ljust(width) for t, width in texts] + [n.rjust(width) for n, width in numbers]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
