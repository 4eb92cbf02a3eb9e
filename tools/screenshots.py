"""Renders every page of the dashboard into `docs/images/`, with Chromium. `make screenshots` runs it.

    .venv/bin/python tools/screenshots.py [RUN] [--out FOLDER] [--all]

Without a run: the bundled example. `--all` renders every page at 1280 x 720 and 1920 x 1080, light and dark; else the
pictures that the documentation shows are made: light, 1280 x 720, with those of the tutorial, and the moving one of
the README.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

import tutorial
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
READY = '[data-testid="stApp"][data-test-script-state="notRunning"]:not(:has([data-testid="stSkeleton"]))'
PAGES = {"rollouts": "rollouts", "tasks": "tasks", "rewards": "rewards", "compare": "compare"}
OTHERS = {
    "overview": "",
    "audit": "audit",
    "table": "rollouts?view=table",
    "search": "rollouts?view=search&find=return",
    "sql": "sql",
}
"""Name of the picture, and address. Those of a failure follow from the Overview's button."""
FAILURE = {"completion": "", "why": "why", "siblings": "siblings"}
"""Name of the picture, and the tab of the completion."""

MOVING = ("rollouts", "completion", "siblings")
"""The pictures that the README's goes through."""
SHOWN_MS = 3_000


class Look(NamedTuple):
    """How a picture is made."""

    scheme: Literal["light", "dark"]
    width: int
    height: int


DOCUMENTED = Look("light", 1280, 720)
LOOKS = (DOCUMENTED, Look("dark", 1280, 720), Look("light", 1920, 1080), Look("dark", 1920, 1080))


@contextmanager
def dashboard(run: Path | None) -> Iterator[str]:
    """The dashboard as a process; gives its address."""
    command = [sys.executable, "-m", "evaluator.cli", "view", *([str(run)] if run else []), "--port", "8601"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=os.environ | {"ROLLSCOPE_NO_BROWSER": "1"}
    )
    try:
        line = process.stdout.readline() if process.stdout else ""
        if not line.startswith("listening on "):
            raise SystemExit("the dashboard did not start: see its message above")
        yield line.removeprefix("listening on ").strip()
    finally:
        process.terminate()
        process.wait()


def settled(page: Page) -> None:
    """Wait until the page is drawn."""
    page.get_by_role("link", name="Overview").wait_for()
    page.wait_for_selector(READY)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(800)  # charts and canvases draw themselves once more when their sizes are known


def render(browser: Browser, address: str, out: Path, look: Look, pages: Mapping[str, str]) -> None:
    """These pages, and a failure, in one look."""
    size = {"width": look.width, "height": look.height}
    context = browser.new_context(viewport=size, color_scheme=look.scheme)  # type: ignore[arg-type]
    context.set_default_timeout(60_000)
    page = context.new_page()
    name = "{}" if look == DOCUMENTED else f"{{}}-{look.scheme}-{look.width}"
    for picture, path in pages.items():
        page.goto(f"{address}/{path}")
        settled(page)
        page.screenshot(path=out / f"{name.format(picture)}.png")
    page.goto(address)
    page.get_by_role("button", name="Open the first failure").click()
    page.locator(".rs-code").first.wait_for()
    settled(page)
    failure = page.url
    for picture, tab in FAILURE.items():
        page.goto(f"{failure}&tab={tab}" if tab else failure)
        settled(page)
        page.screenshot(path=out / f"{name.format(picture)}.png")
    context.close()


def move(out: Path) -> None:
    """One picture that shows some of the others in turn, `debug.gif`, with colours that they share."""
    frames = [Image.open(out / f"{name}.png").convert("RGB") for name in MOVING]
    width, height = frames[0].size
    together = Image.new("RGB", (width, height * len(frames)))
    for place, frame in enumerate(frames):
        together.paste(frame, (0, height * place))
    colours = together.quantize(128)
    first, *others = (frame.quantize(palette=colours, dither=Image.Dither.NONE) for frame in frames)
    first.save(out / "debug.gif", save_all=True, append_images=others, duration=SHOWN_MS, loop=0, optimize=True)


def of_the_tutorial(browser: Browser, out: Path) -> None:
    """Follows it in a folder of its own."""
    size = {"width": DOCUMENTED.width, "height": DOCUMENTED.height}
    context = browser.new_context(viewport=size, color_scheme=DOCUMENTED.scheme)  # type: ignore[arg-type]
    context.set_default_timeout(60_000)
    with tempfile.TemporaryDirectory() as folder:
        tutorial.follow(context.new_page(), Path(folder), out, dashboard, settled)
    context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("run", nargs="?", type=Path)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM") or "/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        with dashboard(options.run) as address:
            for look in LOOKS if options.all else (DOCUMENTED,):
                render(browser, address, options.out, look, PAGES | OTHERS if options.all else PAGES)
        move(options.out)
        of_the_tutorial(browser, options.out)
        browser.close()


if __name__ == "__main__":
    main()
