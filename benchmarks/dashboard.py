"""How long a person waits for the dashboard on a run of 200,000 rollouts, and how much memory its server takes.

A synthetic run (`_big_run.py`) is opened by a new server. One browser clicks through every page, two more keep a page
open. A wait ends when the page has drawn what the click asked for. Needs Chromium (CHROMIUM names it).
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
from playwright.sync_api import Page, sync_playwright

_READY = '[data-testid="stApp"][data-test-script-state="notRunning"]:not(:has([data-testid="stSkeleton"]))'
_FIRST_PAGE_S, _CLICK_S, _MEMORY_MB = 3.0, 0.5, 1024
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


CLICKS: list[tuple[str, Click, str]] = [
    ("Overview: first failure", button("Open the first failure"), ".rs-code .ln"),
    ("Completion: next", key("j"), ".rs-code .ln"),
    ("Completion: next", key("j"), ".rs-code .ln"),
    ("Completion: previous", key("k"), ".rs-code .ln"),
    ("Completion: up", key("u"), ".scroller"),
    ("Rollouts: cell", cell, ".scroller"),
    ("Tasks", link("Tasks"), '[data-testid="stDataFrame"], .rows'),
    ("Rewards", link("Rewards"), ".js-plotly-plot"),
    ("Compare", link("Compare"), ".rs-title, .rs-section"),
    ("Audit", link("Audit"), ".rs-title, .rs-section"),
    ("SQL", link("SQL"), "textarea"),
    ("Rollouts", link("Rollouts"), ".scroller"),
    ("Overview", link("Overview"), ".cards .card"),
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
def served(run: Path) -> Iterator[tuple[str, int]]:
    """A new server; gives its address and the process of Streamlit."""
    process = subprocess.Popen(
        [sys.executable, "-m", "evaluator.cli", "view", str(run), "--port", "8611"],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"ROLLSCOPE_NO_BROWSER": "1"},
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
    parser.add_argument("--rollouts", type=int, default=200_000)
    parser.add_argument("--run", type=Path, help="an existing run instead of a new one")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    chromium = os.environ.get("CHROMIUM") or "/usr/bin/chromium"
    if not Path(chromium).exists():
        print("skipped: no Chromium; name one in CHROMIUM")
        return
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        run = options.run or _big_run.write(Path(folder) / "run", options.rollouts)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        with served(run) as (address, pid):
            pages = [browser.new_context(viewport={"width": 1280, "height": 720}).new_page() for _ in range(3)]
            started = time.perf_counter()
            pages[0].goto(address)
            wait_for(pages[0], ".cards .card")
            first = time.perf_counter() - started
            for idle in pages[1:]:
                idle.goto(f"{address}/rollouts")
                wait_for(idle, ".scroller")
            took: dict[str, list[float]] = {}
            for _ in range(options.rounds):
                for name, click, shown in CLICKS:
                    took.setdefault(name, []).append(timed(pages[0], click, shown))
            report(first, took, peak_mb(pid))
        browser.close()


def report(first: float, took: dict[str, list[float]], memory: float) -> None:
    """Print the figures beside their targets."""
    every = np.concatenate([np.array(times[1:] or times) for times in took.values()])
    print("| click | median, s | slowest, s |\n|---|---:|---:|")
    for name, times in took.items():
        print(f"| {name} | {np.median(times):.2f} | {max(times):.2f} |")
    print(f"\nfirst page of a new server: {first:.2f} s (target: {_FIRST_PAGE_S:g})")
    print(f"clicks, p95: {np.quantile(every, 0.95):.2f} s (target: {_CLICK_S:g}); n = {every.size}")
    print(f"the server's peak memory: {memory:,.0f} MiB (target: {_MEMORY_MB:,})")


if __name__ == "__main__":
    main()
