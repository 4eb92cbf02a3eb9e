"""The documentation as a site: it builds without a warning, and loads nothing from elsewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.conftest import ROOT

LOADS = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=[\"']?((?:https?:)?//[^\"' >]*)")
IMPORTS = re.compile(r"@import|url\([\"']?(?:https?:)?//")


@pytest.mark.slow
def test_it_builds_strictly_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    command = [sys.executable, "tools/docs_site.py", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = sorted(tmp_path.rglob("*.html"))
    assert {"index.html", "reference/python.html", "project/changelog.html", "project/benchmarks.html"} <= {
        str(page.relative_to(tmp_path)) for page in pages
    }
    assert (tmp_path / "search/search_index.json").is_file()
    assert {address for page in pages for address in LOADS.findall(page.read_text())} == set()
    assert [sheet for sheet in tmp_path.rglob("*.css") if IMPORTS.search(sheet.read_text())] == []
