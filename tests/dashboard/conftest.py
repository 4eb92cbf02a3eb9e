from __future__ import annotations

import json
from pathlib import Path

import pytest
import streamlit as st

from dashboard import workspace
from dashboard.workspace import Entry, OpenRun
from tests.dashboard import check_run, rows, sample_run
from tests.dashboard.rows import Row, Written

APP = Path(__file__).parents[2] / "app.py"

# Streamlit reads its settings once, from the working directory: before a test changes it.
st.get_option("server.address")


@pytest.fixture(scope="session")
def run_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample_run.write(tmp_path_factory.mktemp("runs") / "sample")


@pytest.fixture(scope="session")
def run(run_path: Path) -> OpenRun:
    return workspace.open_run(Entry("sample", run_path))


@pytest.fixture(scope="session")
def checks(tmp_path_factory: pytest.TempPathFactory) -> OpenRun:
    """A run of asserts and methods, of which some are not verified."""
    path = check_run.write(tmp_path_factory.mktemp("runs") / "checks")
    return workspace.open_run(Entry("checks", path))


@pytest.fixture(scope="session")
def open_runs(run_path: Path, checks: OpenRun, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What `rollscope view` would open: the sample first, an empty run, two of checks."""
    folder = tmp_path_factory.mktemp("runs")
    runs = [
        run_path,
        sample_run.write_empty(folder / "empty"),
        checks.path,
        check_run.write(folder / "withheld", "unknown"),
    ]
    return json.dumps({"runs": [str(run) for run in runs]})


@pytest.fixture
def opened(open_runs: str, run_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(workspace.VARIABLE, open_runs)
    return run_path


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    """Writes a run of rows, and opens it as the only one."""

    def write(found: list[Row]) -> OpenRun:
        run = rows.write(tmp_path / "run", found)
        monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(run.path)]}))
        return run

    return write
