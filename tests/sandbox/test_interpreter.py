"""`--python PATH`: the packages that completions see, and the errors for a path that is not a usable Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import venv
from pathlib import Path

import pytest

from evaluator.model import Limits
from evaluator.sandbox import InterpreterError, Outcome, Program, Sandbox, Settings, Status, Way, encoded_call
from evaluator.sandbox.launch.interpreter import interpreter_for
from evaluator.sandbox.launch.interpreter_probe import describe_interpreter, own_description
from evaluator.sandbox.launch.readable import readable
from evaluator.sandbox.launch.spawn import target_user

PATIENT = Limits(wall_s=30, cpu_s=30, total_s=60)
SYSTEM = Path("/usr/bin/python3")
WAYS = [pytest.param(way, id=way.value) for way in Way]

SOMEBODY = 65533 if os.geteuid() == 65534 else 65534
"""Another user."""

IMPORTS_GREETING = "def f():\n    import greeting\n    return greeting.WORDS\n"
IMPORTS_NUMPY = "def f():\n    import numpy\n    return int(numpy.arange(4).sum())\n"


IMPORTS_ALL = "def f():\n    import ctypes, decimal, json, os, zlib\n    return 'all there'\n"


def open_to_all(folder: Path) -> Path:
    """As root, completions run as another user; without this a copy would be used."""
    for each in (folder, *folder.parents):
        if each.stat().st_uid == os.geteuid():
            each.chmod(each.stat().st_mode | 0o011)
    folder.chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment of the Python that runs the tests, with one package of its own and no numpy."""
    folder = open_to_all(tmp_path_factory.mktemp("environment"))
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    [packages] = (folder / "venv").glob("lib/python*/site-packages")
    (packages / "greeting.py").write_text("WORDS = 'hello from the environment'\n")
    about = packages / "greeting-1.5.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: greeting\nVersion: 1.5\n")
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "secret.py").write_text("WORDS = 'somebody works here'\n")
    (packages / "editable.pth").write_text(f"{folder / 'elsewhere'}\n")
    return folder / "venv"


@pytest.fixture(scope="module")
def python(environment: Path) -> str:
    return str(environment / "bin" / "python")


def called(settings: Settings, source: str) -> Outcome:
    with Sandbox(settings) as sandbox:
        sandbox.warm_up()
        with sandbox.execute(Program(source, "f"), PATIENT) as execution:
            return execution.run(encoded_call([], {}), wall_s=PATIENT.wall_s)


# What completions see


@pytest.mark.parametrize("way", WAYS)
def test_completions_import_the_packages_of_the_given_environment(python: str, way: Way) -> None:
    outcome = called(Settings(python=python, way=way), IMPORTS_GREETING)
    assert outcome.value == "hello from the environment", outcome.failure


@pytest.mark.parametrize("way", WAYS)
def test_by_default_they_import_numpy_and_none_of_our_packages(way: Way) -> None:
    source = (
        "def f():\n    import numpy, importlib.util, os\n"
        "    beside = os.path.dirname(os.path.dirname(numpy.__file__))\n"
        "    return sorted(os.listdir(beside)), importlib.util.find_spec('pytest') is None\n"
    )
    outcome = called(Settings(way=way), source)
    names, pytest_is_missing = outcome.value
    assert set(names) <= {"numpy", "numpy.libs"}
    assert pytest_is_missing


def test_an_environment_without_numpy_has_none_though_ours_has(python: str) -> None:
    outcome = called(Settings(python=python), IMPORTS_NUMPY)
    assert outcome.status is Status.RAISED
    assert outcome.failure is not None
    assert outcome.failure.type == "ModuleNotFoundError"


def test_a_folder_that_a_pth_file_adds_is_not_shown(python: str) -> None:
    outcome = called(Settings(python=python), "def f():\n    import secret\n")
    assert outcome.failure is not None
    assert outcome.failure.type == "ModuleNotFoundError"


@pytest.mark.parametrize("way", WAYS)
def test_packages_can_only_be_read(python: str, way: Way) -> None:
    source = "def f():\n    import greeting\n    open(greeting.__file__, 'a').close()\n"
    outcome = called(Settings(python=python, way=way), source)
    assert outcome.failure is not None
    assert outcome.failure.type in ("OSError", "PermissionError")


def test_stdin_programs_see_them_too(python: str) -> None:
    program = Program("import greeting\nprint(greeting.WORDS, input())\n")
    with Sandbox(Settings(python=python)) as sandbox, sandbox.execute(program, PATIENT) as execution:
        outcomes = [execution.run(given, wall_s=30) for given in (b"1\n", b"2\n")]
    assert [each.stdout.data for each in outcomes] == [
        b"hello from the environment 1\n",
        b"hello from the environment 2\n",
    ]


def test_an_environment_may_see_the_packages_of_the_system(environment: Path, tmp_path: Path) -> None:
    """With `--system-site-packages` both folders are offered, the environment's first."""
    venv.create(tmp_path / "both", with_pip=False, symlinks=True, system_site_packages=True)
    described = describe_interpreter(str(tmp_path / "both" / "bin" / "python"))
    alone = describe_interpreter(str(environment / "bin" / "python"))
    base = describe_interpreter(alone.executable)
    assert described.package_folders[0].startswith(str(tmp_path))
    assert set(described.package_folders[1:]) == set(base.package_folders)
    assert len(alone.package_folders) == 1


@pytest.mark.skipif(not SYSTEM.exists(), reason="there is no /usr/bin/python3")
@pytest.mark.parametrize("way", WAYS)
def test_the_systems_python_runs_with_its_packages(way: Way) -> None:
    described = describe_interpreter(str(SYSTEM))
    outcome = called(Settings(python=str(SYSTEM), way=way), "def f():\n    import platform, sys\n    "
                     "return platform.python_version(), sys.path\n")  # fmt: skip
    version, path = outcome.value
    assert version == described.version
    assert set(described.package_folders) <= set(path)


def test_its_packages_are_listed(python: str) -> None:
    interpreter = interpreter_for(target_user(), python)
    assert interpreter.packages == ("greeting 1.5",)
    assert not interpreter.has_numpy
    ours = interpreter_for(target_user())
    assert [name.split()[0] for name in ours.packages] == ["numpy"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A separate Python, as if unpacked somewhere, with a module next to its standard library."""
    described = own_description()
    folder = open_to_all(tmp_path_factory.mktemp("home"))
    stdlib = folder / "lib" / Path(described.stdlib).name
    left_out = shutil.ignore_patterns("test", "idlelib", "site-packages", "dist-packages", "config-*", "__pycache__")
    shutil.copytree(described.stdlib, stdlib, ignore=left_out)
    for name in ("site-packages", "dist-packages"):
        (stdlib / name).mkdir()
        (stdlib / name / "beside.py").write_text("")
    (folder / "bin").mkdir()
    shutil.copy(described.executable, folder / "bin" / "python3")
    for library in described.libraries:
        shutil.copy(library, folder / "lib")
    return folder


@pytest.mark.parametrize("way", WAYS)
def test_a_python_may_be_anywhere(home: Path, way: Way) -> None:
    """Also in a folder that the sandbox has itself, such as /tmp."""
    outcome = called(Settings(python=str(home / "bin" / "python3"), way=way), IMPORTS_ALL)
    assert outcome.value == "all there", outcome.failure


@pytest.mark.parametrize("way", WAYS)
def test_packages_next_to_the_standard_library_are_hidden_unless_they_are_offered(
    home: Path, tmp_path: Path, way: Way
) -> None:
    """As in a container without a virtual environment, where Rollscope itself is there."""
    open_to_all(tmp_path)
    command = [home / "bin" / "python3", "-I", "-m", "venv", "--without-pip", tmp_path / "venv"]
    subprocess.run(command, check=True, timeout=60)
    source = (
        "def f():\n    import os\n    found = []\n    for name in ('site-packages', 'dist-packages'):\n"
        "        try:\n            found += os.listdir(os.path.dirname(os.__file__) + '/' + name)\n"
        "        except OSError:\n            pass\n    return found\n"
    )
    outcome = called(Settings(python=str(tmp_path / "venv" / "bin" / "python"), way=way), source)
    assert outcome.value == [], outcome.failure


# Paths that are not a Python


def refusal(path: str, **more: float) -> str:
    with pytest.raises(InterpreterError) as refused:
        describe_interpreter(path, **more)
    line = str(refused.value)
    assert len(line.splitlines()) == 1
    assert path in line
    assert "; name " in line or "; make " in line, "it does not say how to fix it"
    return line


def script(path: Path, text: str, mode: int = 0o755) -> str:
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def test_a_path_that_does_not_exist(tmp_path: Path) -> None:
    assert "no such file" in refusal(str(tmp_path / "python"))


def test_a_broken_link_is_reported_with_its_target(tmp_path: Path) -> None:
    (tmp_path / "python").symlink_to("/nowhere/python3.11")
    assert "/nowhere/python3.11" in refusal(str(tmp_path / "python"))


def test_a_folder_is_refused_with_the_interpreter_in_it(environment: Path) -> None:
    assert f"{environment}/bin/python" in refusal(str(environment))


def test_a_file_that_can_not_be_executed(tmp_path: Path) -> None:
    assert "executed" in refusal(script(tmp_path / "python", "", 0o644))


def test_a_program_that_is_not_python(tmp_path: Path) -> None:
    assert "'hello'" in refusal(script(tmp_path / "python", "#!/bin/sh\necho hello\n"))


def test_a_file_that_is_not_a_program(tmp_path: Path) -> None:
    assert "does not start" in refusal(script(tmp_path / "python", "\x7fELF, but not really"))


def fake_python(path: Path, being: str) -> str:
    """Runs code like a Python after this statement."""
    start = "boot, source = sys.argv[3:]\nsys.argv = ['-c', source]\nexec(boot)\n"
    return script(path, f"#!{sys.executable}\nimport sys\n{being}\n{start}")


def test_a_python_that_is_too_old_is_reported_with_its_version(tmp_path: Path) -> None:
    line = refusal(fake_python(tmp_path / "python", "sys.version_info = (3, 9, 18)"))
    assert "3.9.18" in line
    assert "3.11" in line


def test_a_python_other_than_cpython(tmp_path: Path) -> None:
    assert "pypy" in refusal(fake_python(tmp_path / "python", "sys.implementation.name = 'pypy'"))


@pytest.mark.parametrize("text", ["sleep 1000 & echo $! > {mark}; wait", "exec yes"], ids=["hangs", "talks"])
def test_a_python_that_does_not_answer_is_killed_with_its_children(tmp_path: Path, text: str) -> None:
    mark = tmp_path / "started"
    began = time.monotonic()
    refusal(script(tmp_path / "python", f"#!/bin/sh\n{text.format(mark=mark)}\n"), patience_s=1.0)
    assert time.monotonic() - began < 15
    while mark.exists() and is_running(int(mark.read_text())):
        assert time.monotonic() - began < 15, "it still runs"


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_sandbox_reports_it_before_anything_runs(tmp_path: Path) -> None:
    with Sandbox(Settings(python=str(tmp_path / "python"))) as sandbox, pytest.raises(InterpreterError):
        sandbox.warm_up()


# What the sandbox's user can't read


def test_root_copies_once_what_the_sandboxs_user_can_not_read(tmp_path: Path) -> None:
    hidden = tmp_path / "site-packages"
    hidden.mkdir(mode=0o700)
    (hidden / "module.py").write_text("x = 1\n")
    if os.geteuid() != 0:
        with pytest.raises(OSError, match=f"can't be read by user {SOMEBODY}"):
            readable(hidden, [hidden], SOMEBODY)
        return
    copy = readable(hidden, [hidden], SOMEBODY)
    assert copy != hidden
    assert readable(hidden, [hidden], SOMEBODY) == copy
    command = ["/bin/cat", str(copy / "module.py")]
    assert subprocess.run(command, user=SOMEBODY, capture_output=True, text=True, check=True).stdout == "x = 1\n"
    (hidden / "module.py").write_text("x = 2  # changed\n")
    assert (readable(hidden, [hidden], SOMEBODY) / "module.py").read_text() == "x = 2  # changed\n"


def test_a_folder_that_is_too_large_to_copy_is_refused(tmp_path: Path) -> None:
    hidden = tmp_path / "site-packages"
    hidden.mkdir(mode=0o700)
    with (hidden / "large.bin").open("wb") as file:
        file.truncate(2 << 30)
    with pytest.raises(OSError, match="too large to copy" if os.geteuid() == 0 else "can't be read"):
        readable(hidden, [hidden], SOMEBODY)


def test_a_private_environment_works_as_well(environment: Path, python: str) -> None:
    """By a copy, if we are root."""
    environment.chmod(0o700)
    try:
        interpreter_for.cache_clear()
        outcome = called(Settings(python=python), IMPORTS_GREETING)
    finally:
        environment.chmod(0o755)
        interpreter_for.cache_clear()
    assert outcome.value == "hello from the environment", outcome.failure
