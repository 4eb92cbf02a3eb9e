from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st

from dashboard import workspace
from dashboard.workspace import Entry, OpenRun
from tests.dashboard import check_run, sample_run

APP = Path(__file__).parents[2] / "app.py"


@pytest.fixture(scope="session")
def run_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample_run.write(tmp_path_factory.mktemp("runs") / "sample")


@pytest.fixture(scope="session")
def run(run_path: Path) -> OpenRun:
    return workspace.open_run(Entry("sample", run_path, graded=True))


@pytest.fixture(scope="session")
def checks(tmp_path_factory: pytest.TempPathFactory) -> OpenRun:
    """A run of asserts and methods, of which some are not verified."""
    path = check_run.write(tmp_path_factory.mktemp("runs") / "checks")
    return workspace.open_run(Entry("checks", path, graded=True))


@pytest.fixture
def opened(run_path: Path, checks: OpenRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Runs are open, as `rollscope view` would have it: the sample first, an empty one, two of checks."""
    empty = sample_run.write_empty(tmp_path / "empty")
    withheld = check_run.write(tmp_path / "withheld", "unknown")
    runs = [run_path, empty, checks.path, withheld]
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(run) for run in runs]}))
    yield run_path
    st.cache_data.clear()
