"""`--python PATH`: the packages that completions see, and the errors for a path that is not a usable Python."""

import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluator.sandbox import InterpreterError, Sandbox, Settings, Status, Way, fingerprint
from evaluator.sandbox.host.launch.interpreter import interpreter_for
from evaluator.sandbox.host.launch.interpreter_probe import describe_interpreter, own_description
from evaluator.sandbox.host.launch.readable import readable
from evaluator.sandbox.host.launch.spawn import target_user
from tests.sandbox.conftest import called, ran
from tests.waiting import wait_until

WAYS = [Way.NAMESPACES, pytest.param(Way.LANDLOCK, marks=pytest.mark.attacks)]

SOMEBODY = 65533 if os.geteuid() == 65534 else 65534
"""Another user."""

IMPORTS_GREETING = "def f():\n    import greeting\n    return greeting.WORDS\n"


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


def value_of(settings: Settings, source: str) -> Any:
    with Sandbox(settings) as sandbox:
        sandbox.warm_up()
        (outcome,) = called(sandbox, source)
    assert outcome.status is Status.ANSWERED, outcome
    return outcome.value


# What completions see


@pytest.fixture(scope="module", params=WAYS)
def own(request: pytest.FixtureRequest, python: str) -> Iterator[Sandbox]:
    """A sandbox with the environment's Python."""
    with Sandbox(Settings(python=python, way=request.param)) as sandbox:
        sandbox.warm_up()
        yield sandbox


def test_completions_import_the_packages_of_the_given_environment(own: Sandbox) -> None:
    assert called(own, IMPORTS_GREETING)[0].value == "hello from the environment"
    outcomes = ran(own, "import greeting\nprint(greeting.WORDS, input())\n", b"1\n", b"2\n")
    assert [each.stdout.data for each in outcomes] == [
        b"hello from the environment 1\n",
        b"hello from the environment 2\n",
    ]


@pytest.mark.parametrize("module", ["numpy", "secret"], ids=["one of our packages", "one that a .pth file adds"])
def test_they_import_no_others(own: Sandbox, module: str) -> None:
    (outcome,) = called(own, f"def f():\n    import {module}\n")
    assert outcome.failure.type == "ModuleNotFoundError"


def test_packages_can_only_be_read(own: Sandbox) -> None:
    (outcome,) = called(own, "def f():\n    import greeting\n    open(greeting.__file__, 'a').close()\n")
    assert outcome.failure.type in ("OSError", "PermissionError")


def test_by_default_they_import_numpy_and_none_of_our_packages(sandbox: Sandbox) -> None:
    source = (
        "def f():\n    import numpy, importlib.util, os\n"
        "    beside = os.path.dirname(os.path.dirname(numpy.__file__))\n"
        "    return sorted(os.listdir(beside)), importlib.util.find_spec('pytest') is None\n"
    )
    names, pytest_is_missing = called(sandbox, source)[0].value
    assert set(names) <= {"numpy", "numpy.libs"}
    assert pytest_is_missing


def test_an_environment_may_see_the_packages_of_the_system(environment: Path, tmp_path: Path) -> None:
    """With `--system-site-packages` both folders are offered, the environment's first."""
    venv.create(tmp_path / "both", with_pip=False, symlinks=True, system_site_packages=True)
    described = describe_interpreter(str(tmp_path / "both" / "bin" / "python"))
    alone = describe_interpreter(str(environment / "bin" / "python"))
    base = describe_interpreter(alone.executable)
    assert described.package_folders[0].startswith(str(tmp_path))
    assert set(described.package_folders[1:]) == set(base.package_folders)
    assert len(alone.package_folders) == 1


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


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_python_may_be_anywhere(home: Path, way: Way) -> None:
    """Also in a folder that the sandbox has itself, such as /tmp."""
    source = "def f():\n    import ctypes, decimal, json, os, zlib\n    return 'all there'\n"
    assert value_of(Settings(python=str(home / "bin" / "python3"), way=way), source) == "all there"


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_packages_next_to_the_standard_library_are_hidden_unless_they_are_offered(
    home: Path, tmp_path: Path, way: Way
) -> None:
    """As in a container without a virtual environment, where Rollscope itself is there."""
    open_to_all(tmp_path)
    command = [home / "bin" / "python3", "-I", "-m", "venv", "--without-pip", tmp_path / "venv"]
    subprocess.run(command, check=True, timeout=240)
    source = (
        "def f():\n    import os\n    found = []\n    for name in ('site-packages', 'dist-packages'):\n"
        "        try:\n            found += os.listdir(os.path.dirname(os.__file__) + '/' + name)\n"
        "        except OSError:\n            pass\n    return found\n"
    )
    assert value_of(Settings(python=str(tmp_path / "venv" / "bin" / "python"), way=way), source) == []


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


def test_a_path_that_is_no_program(environment: Path, tmp_path: Path) -> None:
    assert "no such file" in refusal(str(tmp_path / "python"))
    (tmp_path / "broken").symlink_to("/nowhere/python3.11")
    assert "/nowhere/python3.11" in refusal(str(tmp_path / "broken"))
    assert f"{environment}/bin/python" in refusal(str(environment))


@pytest.mark.parametrize(
    ("text", "mode", "reason"),
    [
        ("", 0o644, "executed"),
        ("#!/bin/sh\necho hello\n", 0o755, "'hello'"),
        ("\x7fELF, but not really", 0o755, "does not start"),
    ],
)
def test_a_file_that_is_not_python(tmp_path: Path, text: str, mode: int, reason: str) -> None:
    assert reason in refusal(script(tmp_path / "python", text, mode))


def fake_python(path: Path, being: str) -> str:
    """Runs code like a Python after this statement."""
    start = "boot, source = sys.argv[3:]\nsys.argv = ['-c', source]\nexec(boot)\n"
    return script(path, f"#!{sys.executable}\nimport sys\n{being}\n{start}")


@pytest.mark.parametrize(
    ("being", "reason"),
    [("sys.version_info = (3, 9, 18)", r"3\.9\.18.*3\.11"), ("sys.implementation.name = 'pypy'", "pypy")],
)
def test_another_python_is_reported(tmp_path: Path, being: str, reason: str) -> None:
    assert re.search(reason, refusal(fake_python(tmp_path / "python", being)))


@pytest.mark.parametrize("text", ["sleep 600 & echo $! > {mark}; wait", "exec yes"], ids=["hangs", "talks"])
def test_a_python_that_does_not_answer_is_killed_with_its_children(tmp_path: Path, text: str) -> None:
    mark = tmp_path / "started"
    refusal(script(tmp_path / "python", f"#!/bin/sh\n{text.format(mark=mark)}\n"), patience_s=1.0)
    wait_until(lambda: not mark.exists() or not is_running(int(mark.read_text())), "it still runs")


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


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


@pytest.mark.slow
def test_a_private_environment_works_as_well(environment: Path, python: str) -> None:
    """By a copy, if we are root."""
    environment.chmod(0o700)
    try:
        interpreter_for.cache_clear()
        assert value_of(Settings(python=python), IMPORTS_GREETING) == "hello from the environment"
    finally:
        environment.chmod(0o755)
        interpreter_for.cache_clear()


# Its fingerprint changes with what completions could import from it


def anew(python: Path | None) -> object:
    fingerprint.cache_clear()
    return fingerprint(str(python) if python is not None else None)


@pytest.fixture
def bare(tmp_path: Path) -> tuple[Path, Path]:
    """A Python without packages, and the folder for them."""
    venv.create(tmp_path / "env", symlinks=True, with_pip=False)
    [packages] = (tmp_path / "env" / "lib").glob("python3.*/site-packages")
    return tmp_path / "env" / "bin" / "python", packages


CHANGES: dict[str, Callable[[Path], object]] = {
    "a package is installed": lambda packages: (packages / "other-1.0.dist-info").mkdir(),
    "the same version is installed again": lambda packages: os.utime(packages / "some-1.0.dist-info", (1, 1)),
    "a module is added": lambda packages: (packages / "own.py").write_text(""),
    "a module is changed": lambda packages: (packages / "single.py").write_text("x = 2"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_it_changes_with_the_packages(bare: tuple[Path, Path], change: str) -> None:
    python, packages = bare
    (packages / "some-1.0.dist-info").mkdir()
    (packages / "single.py").write_text("x = 1 ")
    before = anew(python)
    assert anew(python) == before
    CHANGES[change](packages)
    assert anew(python) != before


def test_an_import_that_leaves_compiled_code_changes_nothing(bare: tuple[Path, Path]) -> None:
    python, packages = bare
    (packages / "some").mkdir()
    before = anew(python)
    for folder in (packages, packages / "some"):
        (folder / "__pycache__").mkdir()
    os.utime(packages / "some", (1, 1))
    assert anew(python) == before


def test_two_interpreters_differ(bare: tuple[Path, Path]) -> None:
    assert anew(bare[0]) != anew(None)
    assert anew(None) == anew(None)
    with pytest.raises(InterpreterError):
        anew(Path("/no/python"))
