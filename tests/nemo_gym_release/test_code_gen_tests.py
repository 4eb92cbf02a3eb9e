"""The tests that code_gen's own server comes with, as the release has them, pass on ours."""

import os
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.nemo_gym_release.releases import Release, releases

SHIM = Path(__file__).parent / "shim"
TESTS = {"0.7.0": 10, "0.4.0": 9}


@pytest.mark.parametrize("release", releases(), ids=lambda release: release.number)
def test_every_test_of_code_gen_passes(release: Release, tmp_path: Path) -> None:
    here = shutil.copytree(SHIM, tmp_path / "server")
    theirs = release.library / "resources_servers" / "code_gen" / "tests" / "test_app.py"
    shutil.copy(theirs, here)
    report = tmp_path / "report.xml"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    options = ["-p", "no:cacheprovider", "-o", "asyncio_mode=auto", f"--rootdir={here}", f"--junitxml={report}"]

    done = subprocess.run(
        [str(release.python), "-m", "pytest", *options, "test_app.py"],
        cwd=here, env=environment | {"PYTHONPATH": str(here)}, capture_output=True, text=True, check=False,
    )  # fmt: skip

    suite = ElementTree.parse(report).getroot().find("testsuite")
    assert suite is not None
    assert (suite.get("failures"), suite.get("errors"), suite.get("skipped")) == ("0", "0", "0"), done.stdout
    assert int(suite.get("tests", 0)) == TESTS[release.number]
