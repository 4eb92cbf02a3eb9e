"""The wheel carries the dashboard and the example: `rollscope view` works far from any checkout."""

import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from sysconfig import get_path

import pytest
from playwright.sync_api import sync_playwright

from tests.packaging.conftest import ROOT, empty_environment, pip, run
from tests.waiting import HANG_S


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel, which sees the packages that the tests run with, but not this checkout."""
    folder = empty_environment(tmp_path_factory.mktemp("full") / "venv")
    run(*pip(folder), "install", "--no-deps", "--no-compile", wheel)
    (packages,) = folder.glob("lib/python3*/site-packages")
    (packages / "theirs.pth").write_text(f"{get_path('purelib')}\n{get_path('platlib')}\n")
    return folder


@pytest.fixture(scope="module")
def address(environment: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where `rollscope view`, started in a folder that has none of its files, says that it listens."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "click.py").write_text("raise SystemExit('imported from the folder')\n")
    settings = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "STREAMLIT"))}
    process = subprocess.Popen(
        [environment / "bin" / "rollscope", "view"], cwd=folder, text=True,
        env=settings | {"ROLLSCOPE_NO_BROWSER": "1", "XDG_CACHE_HOME": str(folder / "cache")},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        yield url_printed_by(process)
        process.terminate()
        assert process.wait(HANG_S) == 0
    finally:
        process.kill()
        process.communicate()


def url_printed_by(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if found := re.fullmatch(r"listening on (http://127\.0\.0\.1:\d+)\n", line):
            return found[1]
    raise AssertionError("view ended before it said where it listens:\n" + "".join(said))


def test_it_carries_the_dashboard_the_example_and_types_but_no_tests_and_no_leftovers(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    app = "evaluator/_app/"
    carried = {name.removeprefix(app): data for name, data in content.items() if name.startswith(app)}
    assert {"app.py", "pages/overview.py", "dashboard/__init__.py"} <= set(carried)
    assert {"data/example.rollouts.jsonl", "data/example.run/run.json"} <= set(carried)
    assert carried == {name: (ROOT / name).read_bytes() for name in carried}
    assert "evaluator/py.typed" in content
    assert [name for name in content if "__pycache__" in name] == []
    assert {name.split("/")[0].partition("-")[0] for name in content} == {"evaluator", "rollscope"}


@pytest.mark.slow
def test_a_new_server_is_written_and_passes_where_the_wheel_is_installed(environment: Path, tmp_path: Path) -> None:
    run(environment / "bin" / "rollscope", "init-server", "my_task", cwd=tmp_path)
    assert (tmp_path / "my_task" / "requirements.txt").read_text().startswith("rollscope[serve]==")
    run(environment / "bin" / "rollscope", "test-server", "my_task", "--validate-data", cwd=tmp_path)


@pytest.mark.slow
def test_its_first_page_shows_the_example(address: str) -> None:
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        pytest.skip("no Chromium: type 'sudo apt-get install chromium'")
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=chromium) as browser:
        page = browser.new_page()
        page.goto(address)
        page.get_by_text("pass@1").first.wait_for(timeout=1000 * HANG_S)
        assert page.locator("[data-testid=stException]").count() == 0
