"""The conversation of a rollout on its page: every item as text, never as markup."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard import conversation, workspace
from evaluator.model import Grade, Mode, Rollout, Task, TestCase, Verdict
from evaluator.runs.reading import Manifest, RunWriter
from tests.dashboard.test_pages import no_exception, text, visit

HOSTILE = "<script>alert(1)</script> **bold** [link](javascript:x)"
ITEMS: list[dict[str, Any]] = [
    {"type": "reasoning", "text": HOSTILE},
    {"type": "function_call", "name": "run_**tests**", "arguments": '{"code": "print(1)"}'},
    {"type": "function_call_output", "output": "1\n", "omitted": 12},
    {"type": "web_search_call"},
    {"type": "message", "role": "assistant", "text": "```python\nprint(1)\n```"},
]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A run of two rollouts: one with a conversation, one whose metadata means something else by that word."""
    writer = RunWriter.create(tmp_path / "run", Manifest(dataset="d", rollouts="r"))
    cases = (TestCase(0, "", "1"),)
    writer.add_task(Task(task_id="t", mode=Mode.STDIN, cases=cases), cases)
    said: list[Any] = [ITEMS, [{"role": "user", "content": "hi"}]]
    for row, found in enumerate(said):
        rollout = Rollout(
            task_id="t",
            completion="print(1)",
            sample_id=f"t#{row}",
            given_reward=0.25,
            metadata={"conversation": found, "difficulty": "easy"},
        )
        writer.add(rollout, Grade(task_id="t", sample_id=f"t#{row}", verdict=Verdict.PASSED, reward=1.0), row)
    writer.close("finished")
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(tmp_path / "run")]}))
    yield
    st.cache_data.clear()


def folded(app: AppTest, begin: str) -> Any:
    return next((e for e in app.expander if e.label.startswith(begin)), None)


@pytest.mark.usefixtures("opened")
def test_every_item_is_shown_in_its_order_as_text() -> None:
    app = visit("completion", task="t", sample="t#0")
    no_exception(app)
    shown = folded(app, "Conversation")
    assert shown.label == "Conversation: 5 items"
    assert not shown.proto.expanded
    assert [line.value for line in shown.text] == [
        "1. reasoning",
        "2. function_call: run_**tests**",
        "3. function_call_output",
        "12 characters left out",
        "4. web_search_call",
        "5. assistant message",
    ]
    assert [code.value for code in shown.code] == [
        HOSTILE, '{"code": "print(1)"}', "1", "```python\nprint(1)\n```",
    ]  # fmt: skip
    assert {code.language for code in shown.code} <= {"", "plaintext", None}
    assert not shown.markdown
    assert HOSTILE not in "".join(element.proto.body for element in app.html)


@pytest.mark.usefixtures("opened")
def test_the_metadata_has_the_rest_and_the_reward_that_was_given() -> None:
    app = visit("completion", task="t", sample="t#0")
    assert "run_**tests**" not in "".join(element.proto.body for element in app.html)
    shown = text(app)
    assert "difficulty" in shown
    assert "<span>given reward</span> <b>0.25</b>" in shown


@pytest.mark.usefixtures("opened")
def test_what_is_no_conversation_of_ours_stays_in_the_metadata() -> None:
    app = visit("completion", task="t", sample="t#1")
    no_exception(app)
    assert folded(app, "Conversation") is None
    assert "conversation" in text(app)


@pytest.mark.parametrize("metadata", [None, "", "{", "[]", '{"conversation": 3}', '{"conversation": [3]}'])
def test_broken_metadata_has_no_conversation(metadata: str | None) -> None:
    assert conversation.items(metadata) == []
