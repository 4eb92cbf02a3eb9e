"""The corpus of files on the dashboard: every page opens on a run that was made of it, and none of it is markup."""

import json
from collections.abc import Iterator

import pytest
import streamlit as st

from dashboard import state, workspace
from evaluator.cli import main
from tests.dashboard.test_pages import no_exception, visit
from tests.hostile.files import ADD, LINES, RIGHT, TEXTS, named
from tests.hostile.serving import Served
from tests.hostile.test_command import written

pytestmark = pytest.mark.slow  # tests/dashboard/test_escape.py shows each page a few texts

NAMES = {name: value for name, value in TEXTS.items() if value.strip() and "\ud800" not in value}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What is open: a run of hostile names, one of hostile lines, and those lines before they were graded."""
    folder = tmp_path_factory.mktemp("hostile")
    tasks, rollouts = named()
    dataset, lines = written(folder / "d.jsonl", ADD, *tasks), written(folder / "lines.jsonl", RIGHT, *LINES.values())
    for name, file in (("names", written(folder / "r.jsonl", *rollouts)), ("lines", lines)):
        with pytest.raises(SystemExit, match="0"):
            main(["grade", str(file), "--dataset", str(dataset), "--output", str(folder / name)])
    runs = [str(folder / name) for name in ("names", "lines")]
    return json.dumps({"runs": runs, "rollouts": [str(lines)], "dataset": str(dataset)})


@pytest.fixture(autouse=True)
def opened(made: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(workspace.VARIABLE, made)
    yield
    st.cache_data.clear()


def test_no_foreign_page_can_talk_to_the_dashboard(made: str) -> None:
    served = Served("-m", "evaluator.cli", "view", json.loads(made)["runs"][0], "--port", 0)
    own, stranger = f"localhost:{served.port}", "rebound.example"
    for host, origin, status in (
        (own, f"http://{own}", b"101"), (stranger, f"http://{stranger}", b"403"), (own, "http://evil.example", b"403"),
    ):  # fmt: skip
        upgrade = "GET /_stcore/stream HTTP/1.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
        key = "sec-websocket-version: 13\r\nsec-websocket-key: MDEyMzQ1Njc4OTAxMjM0NQ==\r\n"
        with served.connect() as client:
            client.sendall(f"{upgrade}{key}host: {host}\r\norigin: {origin}\r\n\r\n".encode())
            assert client.recv(1000).split()[1] == status
    assert served.end()[0] == 0


@pytest.mark.parametrize("page", state.PAGES)
@pytest.mark.parametrize("run", ["names", "lines", "lines.jsonl"])
def test_a_page_opens_on_hostile_runs(page: str, run: str) -> None:
    no_exception(visit(page, run=run))


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_completion_of_any_name_is_shown_as_text(name: str) -> None:
    app = visit("completion", task=name, sample=f"{name}#2")  # which says its name in an exception, too
    no_exception(app)
    drawn = "".join([element.proto.body for element in app.html] + [element.value for element in app.markdown])
    assert "<img src=x" not in drawn
    assert "<script" not in drawn


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_any_text_may_be_looked_for(name: str) -> None:
    no_exception(visit("rollouts", **dict.fromkeys(("q", "model", "step", "flag", "sort", "page"), name)))
    no_exception(visit("rollouts", task=name))
