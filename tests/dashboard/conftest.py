"""Run alone: .venv/bin/python -m pytest tests/dashboard"""

import functools
import json
from pathlib import Path

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner

from dashboard import workspace
from dashboard.workspace import Entry, OpenRun
from evaluator.model import Task
from tests.dashboard import check_run, rows, sample_run
from tests.dashboard.rows import Row, Show, Written

APP = Path(__file__).parents[2] / "app.py"

# Streamlit reads its settings once, from the working directory: before a test changes it.
st.get_option("server.address")

# Every visitor of `AppTest` looks for components in all installed packages, which takes four times as long as a page.
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)


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
def open_runs(run_path: Path, checks: OpenRun, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The sample first, an empty run, two of checks."""
    folder = tmp_path_factory.mktemp("runs")
    empty, withheld = sample_run.write_empty(folder / "empty"), check_run.write(folder / "withheld", "unknown")
    return [run_path, empty, checks.path, withheld]


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch) -> Show:
    """Opens what `rollscope view` would be given, and nothing else."""

    def show(*runs: Path, **more: object) -> None:
        monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": runs} | more, default=str))

    return show


@pytest.fixture
def opened(open_runs: list[Path], show: Show) -> Path:
    show(*open_runs)
    return open_runs[0]


@pytest.fixture
def sample(tmp_path: Path, show: Show) -> Path:
    """The sample alone, where notes may be written."""
    run = sample_run.write(tmp_path / "sample")
    show(run)
    return run


@pytest.fixture
def written(tmp_path: Path, show: Show) -> Written:
    """Writes a run of rows, and opens it as the only one."""

    def write(found: list[Row], *tasks: Task) -> OpenRun:
        path = rows.write(tmp_path / "run", found, *tasks)
        show(path)
        return workspace.open_run(Entry("run", path))

    return write
