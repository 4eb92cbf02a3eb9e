from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st

from dashboard import workspace
from dashboard.workspace import Entry, OpenRun
from tests.dashboard import sample_run

APP = Path(__file__).parents[2] / "app.py"


@pytest.fixture(scope="session")
def run_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample_run.write(tmp_path_factory.mktemp("runs") / "sample")


@pytest.fixture(scope="session")
def run(run_path: Path) -> OpenRun:
    return workspace.open_run(Entry("sample", run_path, graded=True))


@pytest.fixture
def opened(run_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The sample run and an empty one are open, as `rollscope view` would have it."""
    empty = sample_run.write_empty(tmp_path / "empty")
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(run_path), str(empty)]}))
    yield run_path
    st.cache_data.clear()
