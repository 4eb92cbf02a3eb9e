"""How long a person waits for the dashboard on a run of a million rollouts, and how much memory it and an export take.

A synthetic run (`_big_run.py`) of ten test cases a rollout is opened by a new server, and again by a second one, which
finds what the first has kept. One browser clicks through every page, two more keep a page open. A wait ends when the
page has drawn what the click asked for. Needs Chromium (CHROMIUM names it).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import _big_run
import numpy as np
from _report import machine
from _report import table as report_table
from playwright.sync_api import Browser, Page, sync_playwright

_READY = '[data-testid="stApp"][data-test-script-state="notRunning"]:not(:has([data-testid="stSkeleton"]))'
_FIRST_PAGE_S, _CLICK_S, _MEMORY_MB, _EXPORT_MB = 3.0, 0.5, 500, 400
"""The targets."""

Click = Callable[[Page], None]


def link(name: str) -> Click:
    return lambda page: page.get_by_role("link", name=name, exact=True).click()


def button(name: str) -> Click:
    return lambda page: page.get_by_role("button", name=name).first.click()


def key(name: str) -> Click:
    return lambda page: page.keyboard.press(name)


def cell(page: Page) -> None:
    page.locator(".scroller").click(position={"x": 400, "y": 100})


def table(page: Page) -> None:
    page.get_by_text("Table", exact=True).first.click()


def last_page(page: Page) -> None:
    page.locator('[data-testid="stPaginationPage"]').last.click()


def chosen(field: str) -> Click:
    """Choose the first option of a field of the filter."""

    def choose(page: Page) -> None:
        page.get_by_role("combobox", name=field).click()
        page.get_by_role("option").first.click()

    return choose


def typed(text: str) -> Click:
    """Filter by a text."""

    def type_(page: Page) -> None:
        page.get_by_label("Text", exact=True).fill(text)
        page.keyboard.press("Enter")

    return type_


CLICKS: list[tuple[str, Click, str]] = [
    ("Overview: first failure", button("Open the first failure"), ".rs-code .ln"),
    ("Completion: next", key("j"), ".rs-code .ln"),
    ("Completion: next", key("j"), ".rs-code .ln"),
    ("Completion: previous", key("k"), ".rs-code .ln"),
    ("Completion: up", key("u"), ".scroller"),
    ("Rollouts: cell", cell, ".scroller"),
    ("Tasks", link("Tasks"), "text=/Answers to test/"),
    ("Rewards", link("Rewards"), ".js-plotly-plot"),
    ("Compare", link("Compare"), ".rs-title, .rs-section"),
    ("Audit", link("Audit"), ".rs-title, .rs-section"),
    ("SQL", link("SQL"), "textarea"),
    ("Rollouts", link("Rollouts"), ".scroller"),
    ("Rollouts: table", table, "th button"),
    ("Rollouts: the table's last page", last_page, "th button"),
    ("Rollouts: sorted by message", button("message"), "th button"),
    ("Rollouts: the last page, sorted", last_page, "th button"),
    ("Overview", link("Overview"), ".cards .card"),
    ("Overview: one kind of error", chosen("Error"), ".cards .card"),
    ("Overview: one kind of error, a text", typed("e"), ".cards .card"),
    ("Overview: no text", typed(""), ".cards .card"),
    ("Overview: no filter", button("Clear"), ".cards .card"),
]
"""Name of a click, how to do it, and what its page shows when it is drawn."""


def wait_for(page: Page, shown: str) -> None:
    page.locator(shown).first.wait_for()
    page.wait_for_selector(_READY)


def timed(page: Page, click: Click, shown: str) -> float:
    """Seconds from the click until the page is drawn. Every click changes the address."""
    before = page.url
    started = time.perf_counter()
    click(page)
    page.wait_for_function("before => location.href !== before", arg=before)
    wait_for(page, shown)
    return time.perf_counter() - started


@contextmanager
def served(run: Path, cache: Path) -> Iterator[tuple[str, int]]:
    """A new server; gives its address and the process of Streamlit."""
    process = subprocess.Popen(
        [sys.executable, "-m", "evaluator.cli", "view", str(run), "--port", "8611"],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"ROLLSCOPE_NO_BROWSER": "1", "XDG_CACHE_HOME": str(cache)},
    )
    try:
        line = process.stdout.readline() if process.stdout else ""
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        yield line.removeprefix("listening on ").strip(), int(children[0])
    finally:
        process.terminate()
        process.wait()


def peak_mb(pid: int) -> float:
    """The highest resident memory that a process had, in MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rollouts", type=int, default=1_000_000)
    parser.add_argument("--run", type=Path, help="an existing run instead of a new one")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    chromium = os.environ.get("CHROMIUM") or "/usr/bin/chromium"
    if not Path(chromium).exists():
        print("skipped: no Chromium; name one in CHROMIUM")
        return
    print(machine())
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        cache = Path(folder) / "cache"
        run = options.run or _big_run.write(Path(folder) / "run", options.rollouts)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        with served(run, cache) as (address, _):
            first = opened(new_page(browser), address)
        with served(run, cache) as (address, pid):
            page = new_page(browser)
            again = opened(page, address)
            report(first, again, clicked(browser, page, address, options.rounds), peak_mb(pid))
        browser.close()
        exports(run, Path(folder))


def new_page(browser: Browser) -> Page:
    return browser.new_context(viewport={"width": 1280, "height": 720}).new_page()


def opened(page: Page, address: str) -> float:
    """Seconds until the Overview is drawn."""
    started = time.perf_counter()
    page.goto(address)
    wait_for(page, ".cards .card")
    return time.perf_counter() - started


def clicked(browser: Browser, page: Page, address: str, rounds: int) -> dict[str, list[float]]:
    """Seconds of each of `CLICKS` in each round."""
    for idle in (new_page(browser), new_page(browser)):
        idle.goto(f"{address}/rollouts")
        wait_for(idle, ".scroller")
    took: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, click, shown in CLICKS:
            took.setdefault(name, []).append(timed(page, click, shown))
    return took


def exports(run: Path, folder: Path) -> None:
    """Print what the command's exports take, each in a process of its own."""
    rows = []
    for per in ("rollout", "case"):
        words = ["-m", "evaluator.cli", "export", str(run), "--per", per, "--to", str(folder / f"{per}.csv")]
        started = time.perf_counter()
        process = os.posix_spawn(sys.executable, [sys.executable, *words], os.environ)
        _, status, used = os.wait4(process, 0)
        assert status == 0
        memory = used.ru_maxrss / 1024
        rows.append([f"per {per}", f"{time.perf_counter() - started:.0f}", f"{memory:,.0f}", f"{_EXPORT_MB}"])
    report_table(["export as CSV", "s", "peak memory, MiB", "target"], rows)


def report(first: float, again: float, took: dict[str, list[float]], memory: float) -> None:
    """Print the figures beside their targets."""
    every = np.concatenate([np.array(times) for times in took.values()])
    rows = [[name, f"{np.median(times):.2f}", f"{max(times):.2f}"] for name, times in took.items()]
    report_table(["click", "median, s", "slowest, s"], rows)
    figures = [
        ["first page of the first server, s", f"{first:.2f}", ""],
        ["first page of a later server, s", f"{again:.2f}", f"{_FIRST_PAGE_S:g}"],
        [f"clicks, p95, s (n = {every.size})", f"{np.quantile(every, 0.95):.2f}", f"{_CLICK_S:g}"],
        ["the server's peak memory, MiB", f"{memory:,.0f}", f"{_MEMORY_MB:,}"],
    ]
    report_table(["figure", "reached", "target"], figures)


if __name__ == "__main__":
    main()
