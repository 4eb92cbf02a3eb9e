"""The dashboard as a process, and Debian's Chromium in front of it.

Run alone: .venv/bin/python -m pytest tests/browser; the environment variable CHROMIUM may name the browser."""

import json
import os
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Error, Page, Request, ViewportSize, expect, sync_playwright

from tests.dashboard import check_run, hostile_text, sample_run, waiting
from tests.waiting import HANG_S, wait_until

ROOT = Path(__file__).parents[2]

SIZE: ViewportSize = {"width": 1280, "height": 720}
APP = '[data-testid="stApp"]'
LOCAL = ("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:", "about:")

Visit = Callable[[str], Page]
PATIENCE_MS = 1000 * HANG_S
"""Other tests may keep all cores busy."""

expect.set_options(timeout=PATIENCE_MS)

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


def chromium() -> str:
    """Where Chromium is. Fails the tests with what to install when it is nowhere."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not found or not Path(found).exists():
        pytest.fail(
            "no Chromium for the page tests: run `apt-get install chromium`, or name one in CHROMIUM", pytrace=False
        )
    return found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What each open page says, beside a failure: "element not found" does not tell what was there instead."""
    report = yield
    browser = getattr(item, "funcargs", {}).get("browser")
    if report.when == "call" and report.failed and browser is not None:
        for tab in (tab for context in browser.browser.contexts for tab in context.pages):
            report.sections.append((tab.url, _text(tab)))
        report.sections.append(("errors of its scripts", "\n".join(_raised[-9:])))
    return report


_raised: list[str] = []


def _text(tab: Page) -> str:
    try:
        state = tab.locator(APP).get_attribute("data-test-script-state", timeout=5_000)
        return f"script {state}\n{tab.locator('body').inner_text(timeout=5_000)}"
    except Error as error:
        return str(error)


@pytest.fixture(scope="package")
def browser() -> Iterator[BrowserContext]:
    """One for all tests here: what it has loaded and compiled once serves every page."""
    path = chromium()
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=FLAGS)
        context = started.new_context(viewport=SIZE)
        context.set_default_timeout(PATIENCE_MS)
        yield context
        started.close()


@pytest.fixture(scope="package")
def opened(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What the dashboard is started with: runs (sample, empty, long outputs, checks, hostile) and files of rollouts."""
    folder = tmp_path_factory.mktemp("open")
    rollouts, dataset = waiting.write(folder, "waiting", quick=5, slow=60)
    recorded = folder / "recorded.jsonl"
    recorded.write_text("".join(recorded_row(number) for number in range(240)) + "{broken\n")
    return {
        "runs": [
            str(sample_run.write(folder / "sample")),
            str(sample_run.write_empty(folder / "empty")),
            str(sample_run.write_long(folder / "long")),
            str(check_run.write(folder / "checks")),
            str(hostile_text.write(folder / "hostile")),
        ],
        "rollouts": [str(rollouts), str(recorded)],
        "dataset": str(dataset),
    }


def recorded_row(number: int) -> str:
    """A line of `recorded.jsonl`, whose rollouts came with rewards: of 60 tasks, every third passed."""
    task, completion = f"task/{number % 60:02}", f"```python\nprint({number})\n```"
    given = {"task_id": task, "sample_id": f"s{number}", "completion": completion, "reward": float(number % 3 == 0)}
    return json.dumps(given | {"model": f"m{number % 2}"}) + "\n"


@pytest.fixture(scope="package")
def recorded(opened: dict[str, object]) -> Path:
    """The file `recorded.jsonl` that is open. A test that changes it puts it back."""
    rollouts = opened["rollouts"]
    assert isinstance(rollouts, list)
    return Path(rollouts[-1])


@pytest.fixture(scope="package")
def address(opened: dict[str, object], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the dashboard answers. Its working directory is a temporary one, so that runs land there."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    work = tmp_path_factory.mktemp("work")
    log = (work / "log").open("wb")
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", ROOT / "app.py", f"--server.port={port}",
         "--server.fileWatcherType=none"],  # as `rollscope view`
        cwd=work, env=os.environ | {"ROLLSCOPE_OPEN": json.dumps(opened)}, stdout=log, stderr=subprocess.STDOUT,
    )  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: process.poll() is not None or _answers(url), "the dashboard did not start")
        assert process.poll() is None, (work / "log").read_text()
        yield url
    finally:
        process.terminate()
        process.wait(HANG_S)
        log.close()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=HANG_S):
            return True
    except OSError:
        return False


@pytest.fixture
def page(browser: BrowserContext) -> Iterator[Page]:
    """The same tab for all tests: a page loads in it in two thirds of a new one's time.

    Whatever a test does: nothing is asked for outside this machine, and no page ends in an exception.
    """
    tab = _tab(browser)
    tab.set_viewport_size(SIZE)
    tab.emulate_media(color_scheme="light")
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    tab.on("request", note)
    yield tab
    tab.remove_listener("request", note)
    assert [url for url in asked if not url.startswith(LOCAL)] == []
    without_exception(tab)


def _tab(browser: BrowserContext) -> Page:
    """The one there is, else a new one: a tab remembers 50 steps, and tests count theirs."""
    for tab in browser.pages:
        tab.goto("about:blank")
        if tab.evaluate("history.length") <= 30:
            return tab
        tab.close()
    tab = browser.new_page()
    tab.on("pageerror", lambda error: _raised.append(f"{tab.url}: {error.stack or error}"))
    return tab


@pytest.fixture
def visit(page: Page, address: str) -> Visit:
    """Open a path and wait until the script has drawn all of it."""

    def go(path: str) -> Page:
        page.goto(f"{address}/{path}")
        page.get_by_role("link", name="Overview").wait_for()  # before the first run the script is not running either
        settled(page)
        return page

    return go


def settled(page: Page) -> None:
    """Wait until Streamlit is connected, its script is not running, and nothing is a grey box for what it will be.

    The code of each kind of element is loaded when the first one is drawn: until then there is no button behind a key.
    """
    page.wait_for_selector(f'{APP}[data-test-script-state="notRunning"]:not(:has([data-testid="stSkeleton"]))')


def press(page: Page, key: str, button: str) -> None:
    """Press the key of a button, once that is there: on a busy machine it may come after the page is settled."""
    expect(page.get_by_role("button", name=button).first).to_be_visible()
    settled(page)
    page.keyboard.press(key)


def without_exception(page: Page) -> None:
    """Fails with what the page says of an exception, if it shows one."""
    assert page.get_by_test_id("stException").all_inner_texts() == []
