"""The transcript and the JSON of a rollout on its page: everything as text, never as markup."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import msgspec
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.completion import chat_templates, transcript
from evaluator.model import Mode, Task, TestCase
from tests.dashboard import rows
from tests.dashboard.rows import Show, row
from tests.dashboard.test_pages import text, visit

HOSTILE = "<script>alert(1)</script> **bold** [link](javascript:x)"
ITEMS: list[dict[str, Any]] = [
    {"type": "reasoning", "text": HOSTILE},
    {"type": "function_call", "name": "run_**tests**", "arguments": '{"code": "print(1)"}'},
    {"type": "function_call_output", "output": "1\n", "omitted": 12},
    {"type": "web_search_call"},
    {"type": "message", "role": "assistant", "text": "print(1)"},
]
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "hi"},
    {
        "role": "assistant",
        "content": None,
        "reasoning_content": "hm",
        "tool_calls": [{"function": {"name": "run", "arguments": '{"n": 1}'}}],
    },
    {"role": "tool", "name": "run", "content": HOSTILE},
]
METADATA: list[dict[str, Any]] = [
    {"conversation": ITEMS, "usage": {"input_tokens": 1200, "output_tokens": 34}},
    {"messages": MESSAGES},
    {"conversation": [{"role": "user", "content": "hi"}], "reasoning": "because"},
]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with one rollout of each metadata; the last one means something else by `conversation`."""
    task = Task(task_id="t", mode=Mode.STDIN, prompt="Print 1.", cases=(TestCase(0, "", "1"),))
    found = []
    for place, metadata in enumerate(METADATA):
        rollout, grade = row("t", f"t#{place}", reward=1.0, completion="print(1)")
        more = {"metadata": {**metadata, "difficulty": "easy"}, "given_reward": 0.25}
        found.append((msgspec.structs.replace(rollout, **more), grade))
    return rows.write(tmp_path_factory.mktemp("runs") / "run", found, task)


@pytest.fixture
def opened(stored: Path, show: Show) -> None:
    show(stored)


def shown_turns(sample: str) -> tuple[AppTest, list[tuple[str, list[str]]]]:
    """The page, who, and the texts, of each turn that the page shows."""
    app = visit("completion", task="t", sample=sample, view="transcript")
    turns = text(app).split('class="turn ')[1:]
    assert "<script>" not in "".join(turns)
    labels = [unescape(turn.partition("<b>")[2].partition("</b>")[0]) for turn in turns]
    boxes = r"<pre[^>]*>(.*?)</pre>|<div class=\"rows\">(.*?)</div>"
    bare = r'<span class="no">\d+</span>|<[^>]*>'  # without line numbers and tags
    texts = [[unescape(re.sub(bare, "", a or b)) for a, b in re.findall(boxes, turn, re.DOTALL)] for turn in turns]
    return app, list(zip(labels, texts, strict=True))


@pytest.mark.usefixtures("opened")
def test_every_turn_is_shown_in_its_order_as_text() -> None:
    app, turns = shown_turns("t#0")
    assert turns == [
        ("user · the task's prompt", ["Print 1."]),
        ("reasoning", [HOSTILE]),
        ("function_call: run_**tests**", ["print(1)"]),
        ("function_call_output", ["1\n"]),
        ("web_search_call", []),
        ("assistant message", ["print(1)"]),  # which is the completion: it is not shown twice
    ]
    shown = text(app)
    assert "12 characters left out" in shown
    assert "<span>input tokens</span> <b>1,200</b>" in shown
    assert "<span>output tokens</span> <b>34</b>" in shown


@pytest.mark.usefixtures("opened")
def test_messages_of_a_chat_api_are_turns() -> None:
    assert shown_turns("t#1")[1] == [
        ("system", ["Be brief."]),
        ("user", ["hi"]),
        ("assistant", ["hm"]),
        ("tool call: run", ["1"]),
        ("tool: run", [HOSTILE]),
        ("assistant · completion", ["print(1)"]),
    ]


@pytest.mark.usefixtures("opened")
def test_a_rollout_without_a_conversation_has_prompt_reasoning_and_completion() -> None:
    assert shown_turns("t#2")[1] == [
        ("user · the task's prompt", ["Print 1."]),
        ("reasoning", ["because"]),
        ("assistant · completion", ["print(1)"]),
    ]


@pytest.mark.usefixtures("opened")
def test_the_json_has_every_column_and_the_metadata_as_text() -> None:
    app = visit("completion", task="t", sample="t#0", view="json")
    (block,) = [e.proto.body for e in app.html if '"rollout": {' in unescape(e.proto.body)]
    assert "<script>" not in block
    stored = json.loads(unescape(re.sub(r"<[^>]*>", "", block)))["rollout"]
    assert stored["given_reward"] == 0.25
    assert stored["metadata"]["difficulty"] == "easy"
    assert stored["metadata"]["conversation"][0]["text"] == HOSTILE
    assert "<span>given reward</span> <b>0.25</b>" in text(app)


TURNS = [("system", "Be brief."), ("user", "Add one."), ("assistant", "def f(n): ...")]
TEMPLATES = {
    "im_start": "<|im_start|>{}\n{}<|im_end|>\n",
    "Llama 3": "<|start_header_id|>{}<|end_header_id|>\n\n{}<|eot_id|>",
    "DeepSeek": "<｜{}｜>{}<｜end▁of▁sentence｜>",
    "Phi": "<|{}|>\n{}<|end|>\n",
    "gpt-oss": "<|start|>{}<|channel|>final<|message|>{}<|end|>",
    "Gemma": "<start_of_turn>{}\n{}<end_of_turn>\n",
}


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_chat_template_is_split_into_turns(template: str) -> None:
    is_title = template == "DeepSeek"
    text = "".join(TEMPLATES[template].format(role.title() if is_title else role, said) for role, said in TURNS)
    assert chat_templates.split(text) == TURNS


def test_instructions_in_brackets_are_turns_and_a_text_before_the_first_marker_is_kept() -> None:
    text = "<s>Be brief. [INST] one [/INST] two</s>[INST] three [/INST] four</s>"
    assert chat_templates.split(text) == [
        ("system", "Be brief. "), ("user", "one "), ("assistant", "two"), ("user", "three "), ("assistant", "four"),
    ]  # fmt: skip
    assert chat_templates.split("one<|im_end|>\n<|im_start|>user\ntwo") == [("", "one"), ("user", "two")]
    assert chat_templates.split("<s>no turns</s>\n") == [("", "<s>no turns</s>\n")]


def test_thoughts_calls_and_results_are_parts_of_a_turn() -> None:
    called = json.dumps({"name": "run", "arguments": {"code": "a = 1\nprint(a)", "timeout": 5}})
    text = f"<think>\nhm\n</think>\nNow:\n<tool_call>\n{called}\n</tool_call><tool_response>1\n</tool_response>done"
    assert chat_templates.parts(text) == [
        ("thinking", "thinking", "hm"), ("text", "", "Now:"), ("text", "calls", "run"),
        ("call", "code", "a = 1\nprint(a)"), ("call", "timeout", "5"), ("output", "result", "1"), ("text", "", "done"),
    ]  # fmt: skip
    assert chat_templates.parts("hm\n</think>code") == [("thinking", "thinking", "hm"), ("text", "", "code")]
    assert chat_templates.parts("<think>unfinished") == [("thinking", "thinking", "unfinished")]
    assert chat_templates.parts("<tool_call>{broken") == [("call", "arguments", "{broken")]


@pytest.mark.slow
def test_a_long_text_full_of_markers_is_taken_apart_in_time_that_grows_with_it() -> None:
    for given in ("<think>" * 100_000, "<|start|>assistant" * 50_000, "[INST]" * 100_000, "<" * 500_000, "x" * 500_000):
        assert chat_templates.split(given)
        assert chat_templates.parts(given)


@pytest.mark.parametrize("metadata", [None, "", "{", "[]", '{"conversation": 3}', '{"conversation": [3]}'])
def test_broken_metadata_has_no_conversation(metadata: str | None) -> None:
    assert transcript.items(metadata) == []
    assert transcript.tokens(metadata) == []
