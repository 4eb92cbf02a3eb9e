"""The wheel carries the dashboard and the example: all of it works far from any checkout."""

import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from dashboard import state
from tests.packaging.conftest import ROOT, built, empty_environment, pip, run
from tests.waiting import HANG_S


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment in which the wheel and what its dashboard and servers ask for were installed, and nothing else."""
    folder = empty_environment(tmp_path_factory.mktemp("full") / "venv")
    wanted = f"{wheel}[dashboard,serve]"
    run(*pip(folder), "install", "--no-compile", "--constraint", ROOT / "requirements.txt", wanted)
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
    content = contents(wheel)
    app = "evaluator/_app/"
    carried = {name.removeprefix(app): data for name, data in content.items() if name.startswith(app)}
    assert {"app.py", "pages/overview.py", "dashboard/__init__.py"} <= set(carried)
    assert {"data/example.rollouts.jsonl", "data/example.run/run.json"} <= set(carried)
    assert carried == {name: (ROOT / name).read_bytes() for name in carried}
    assert "evaluator/py.typed" in content
    assert [name for name in content if "__pycache__" in name] == []
    assert {name.split("/")[0].partition("-")[0] for name in content} == {"evaluator", "rollscope"}


@pytest.mark.slow
def test_the_sdist_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    sdist = built(ROOT, "sdist", tmp_path / "sdist")
    shutil.unpack_archive(sdist, tmp_path / "unpacked")
    (source,) = (tmp_path / "unpacked").iterdir()
    again = built(source, "wheel", tmp_path / "wheel")
    assert again.name == wheel.name
    assert contents(again) == contents(wheel)


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


EVERY_PAGE = """
import json, os, sys
from pathlib import Path

import evaluator
app = Path(evaluator.__file__).parent / "_app"
sys.path.insert(0, str(app))
os.environ["ROLLSCOPE_OPEN"] = json.dumps({"runs": [str(Path("run").resolve())]})

from streamlit.testing.v1 import AppTest
from dashboard import state

for page in state.PAGES:
    visitor = AppTest.from_file(str(app / "app.py"), default_timeout=240)
    if page != "overview":
        visitor.switch_page(state.path(page))
    visitor.run()
    print(page, [each.value for each in (*visitor.exception, *visitor.error)])
"""


@pytest.mark.slow
def test_it_grades_the_example_and_every_page_shows_the_run(environment: Path, tmp_path: Path) -> None:
    data = f"{next(environment.glob('lib/python3*/site-packages'))}/evaluator/_app/data/example"
    rollscope = environment / "bin" / "rollscope"
    run(
        rollscope, "grade", f"{data}.rollouts.jsonl", "--dataset", f"{data}.dataset.jsonl", "--out", "run", cwd=tmp_path
    )
    run(rollscope, "compare", f"{data}.run", "run", cwd=tmp_path)  # a reward that fell would be a finding
    lines = run(environment / "bin" / "python", "-I", "-c", EVERY_PAGE, cwd=tmp_path).splitlines()
    assert lines == [f"{page} []" for page in state.PAGES]


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
