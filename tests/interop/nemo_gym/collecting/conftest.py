"""A model to ask, a resources server of somebody else's, and the command, each for one test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.graders.judge_server import JudgeServer, judge_server, own_environment
from tests.interop.nemo_gym.collecting.answers import FINE, verifies
from tests.interop.nemo_gym.collecting.collection import Collection


@pytest.fixture
def model() -> Iterator[JudgeServer]:
    """An endpoint, which says `FINE` unless a test gives it other answers."""
    with judge_server() as running:
        running.answers = [FINE]
        yield running


@pytest.fixture
def other() -> Iterator[JudgeServer]:
    """A resources server that is not ours; it `verifies` unless a test gives it other answers."""
    with judge_server() as running:
        running.url = running.url.removesuffix("/v1")
        running.answers = [verifies()]
        yield running


@pytest.fixture
def collection(
    model: JudgeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Collection]:
    own_environment(monkeypatch, tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", model.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-secret-of-this-test")

    def make(rows: list[object], *options: object) -> Collection:
        return Collection(tmp_path, rows, [*map(str, options)], capsys)

    return make
