"""Follows docs/start/first-ten-minutes.md: runs its commands, clicks as it says, and takes its pictures.

`screenshots.py` calls it for the pictures, and a test to see that the tutorial holds.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from playwright.sync_api import Page

PAGE = Path(__file__).resolve().parent.parent / "docs/start/first-ten-minutes.md"
_VIEW = "rollscope view "


def follow(
    page: Page,
    folder: Path,
    out: Path,
    dashboard: Callable[[Path], AbstractContextManager[str]],
    settled: Callable[[Page], None],
) -> None:
    """Leaves what the commands write in `folder`, which has to be empty, and the pictures in `out`.

    `dashboard`: opens a run, and gives its address. `settled`: waits until a page is drawn.
    """
    for block in re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        if block.startswith(_VIEW):
            with dashboard(folder / block.removeprefix(_VIEW).strip()) as address:
                _fix_the_test(page, address, folder, out, settled)
        else:
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            subprocess.run(["sh", "-ec", block], cwd=folder, env=os.environ | {"PATH": path}, check=True)


def _fix_the_test(page: Page, address: str, folder: Path, out: Path, settled: Callable[[Page], None]) -> None:
    """From the first failure to the corrected dataset, as a person would go."""

    def picture(name: str) -> None:
        settled(page)
        page.screenshot(path=out / f"tutorial-{name}.png")

    page.goto(address)
    page.get_by_role("button", name="Open the first failure").click()
    page.get_by_text("expected 2, got 2.5").first.wait_for()
    picture("completion")
    page.get_by_role("link", name="median").first.click()
    page.get_by_text("Answers to test").first.wait_for()
    page.goto(f"{address}/tasks?task=median&test=1")
    page.get_by_text("Answers to test 1").wait_for()
    picture("tasks")
    page.get_by_text("Edit or add a test case").first.click()
    page.get_by_label("Expected, as JSON").fill("2.5")
    page.get_by_role("button", name="Run on 4 samples").click()
    page.get_by_text("3 of 4 pass").wait_for()
    picture("edit")
    page.get_by_role("button", name="Change test 1").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the dataset with 1 changed task").click()
    download.value.save_as(folder / download.value.suggested_filename)
