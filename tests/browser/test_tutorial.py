"""The first ten minutes work as their page says, from the first command to the exported table."""

import csv
import sys
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tools"))

import screenshots  # noqa: E402
import tutorial  # noqa: E402


@pytest.mark.slow
def test_a_reader_fixes_the_test_and_exports_the_grades(browser: BrowserContext, tmp_path: Path) -> None:
    pictures, folder = tmp_path / "pictures", tmp_path / "folder"
    pictures.mkdir()
    folder.mkdir()
    page = browser.new_page()
    tutorial.follow(page, folder, pictures, screenshots.dashboard, screenshots.settled)
    page.close()

    with (folder / "grades.csv").open() as table:
        rewards = {row["sample_id"]: row["reward"] for row in csv.DictReader(table) if row["task_id"] == "median"}
    assert rewards == {"median#0": "1.0", "median#1": "1.0", "median#2": "0.0", "median#3": "1.0"}
    taken = {picture.name for picture in pictures.iterdir()}
    assert taken == {picture.name for picture in (ROOT / "docs/images").glob("tutorial-*.png")}
