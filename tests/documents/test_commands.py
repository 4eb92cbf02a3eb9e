"""The commands of the README and of the how-to guides run, one after the other, on small files of the same names."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documents.small_files import write_into
from tests.waiting import HANG_S

ROOT = Path(__file__).resolve().parents[2]
GUIDES = sorted((ROOT / "docs/how-to").glob("*.md"))


def blocks(page: Path) -> str:
    return "".join(re.findall(r"^```sh\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL))


def pages() -> Iterator[object]:
    yield pytest.param(ROOT / "README.md", id="README")
    yield from (pytest.param(page, id=page.stem, marks=pytest.mark.slow) for page in GUIDES if blocks(page))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With the files that the pages name, and the checkout's data."""
    write_into(tmp_path)
    (tmp_path / "data").symlink_to(ROOT / "data")
    return tmp_path


@pytest.mark.parametrize("page", list(pages()))
def test_its_commands_succeed(page: Path, folder: Path) -> None:
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    command = ["sh", "-ec", blocks(page)]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=10 * HANG_S, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "nothing could be graded" not in done.stdout
