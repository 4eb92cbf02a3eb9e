"""The Responses API told in Chat Completions: what is asked, and back again what is answered."""

from typing import Any

import pytest

from evaluator.interop.nemo_gym.collecting.chat_conversion import ConversionError, chat_request, response_of
from evaluator.interop.nemo_gym.collecting.rollout import whole


def asked(*items: dict[str, Any], **params: Any) -> dict[str, Any]:
    return chat_request({"model": "m", **params}, items, "max_tokens")


def answered(more: dict[str, Any], message: dict[str, Any], finish: str) -> dict[str, Any]:
    return response_of(more | {"choices": [{"message": message, "finish_reason": finish}]})


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def call(name: str, call_id: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": "{}"}


def told_call(name: str, call_id: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{}"}}


def output(call_id: str, text: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def thought(text: str) -> dict[str, Any]:
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}


def said(*texts: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text} for text in texts]
    return {"type": "message", "role": "assistant", "content": content}


def test_the_items_of_one_turn_are_one_message() -> None:
    messages = asked(
        user("q"), thought("hm, "), thought("so"), said("I ", "look"), call("f", "a"), call("g", "b"),
        output("a", "1"), output("b", [{"type": "input_text", "text": "2"}]),
        thought("then"), said("done"), user("more"),
    )["messages"]  # fmt: skip
    assert messages == [
        user("q"),
        {"role": "assistant", "reasoning_content": "hm, so", "content": "I look",
         "tool_calls": [told_call("f", "a"), told_call("g", "b")]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "tool", "tool_call_id": "b", "content": "2"},
        {"role": "assistant", "reasoning_content": "then", "content": "done"},
        user("more"),
    ]  # fmt: skip


def test_parts_of_a_question() -> None:
    picture = {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "low"}
    text = {"type": "input_text", "text": "What is it?"}
    (only_text,) = asked(user([text, text]))["messages"]
    assert only_text == user("What is it?What is it?")
    (with_picture,) = asked(user([text, picture]))["messages"]
    assert with_picture["content"] == [
        {"type": "text", "text": "What is it?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA==", "detail": "low"}},
    ]


def test_options() -> None:
    schema = {"name": "n", "schema": {"type": "object"}, "strict": True}
    same = {"temperature": 0.5, "top_p": 0.9, "seed": 3, "top_logprobs": 2, "parallel_tool_calls": False}
    body = asked(
        user("q"),
        **same,
        max_output_tokens=7,
        reasoning={"effort": "high", "summary": "auto"},
        text={"format": {"type": "json_schema", **schema}},
        tools=[{"type": "function", "name": "f", "description": None, "strict": False}],
        tool_choice={"type": "function", "name": "f"},
        store=False,
        metadata={"a": "b"},
    )
    assert body == same | {
        "model": "m",
        "messages": [user("q")],
        "max_tokens": 7,
        "logprobs": True,
        "reasoning_effort": "high",
        "response_format": {"type": "json_schema", "json_schema": schema},
        "tools": [{"type": "function", "function": {"name": "f", "strict": False}}],
        "tool_choice": {"type": "function", "function": {"name": "f"}},
    }


def test_only_a_function_has_the_fields_that_a_response_requires_of_it() -> None:
    function, search = {"type": "function", "name": "f"}, {"type": "web_search"}
    assert whole({}, {"tools": [function, search]})["tools"] == [
        function | {"parameters": None, "strict": None},
        search,
    ]


def test_without_tools_nothing_is_said_of_them() -> None:
    assert asked(user("q"), tools=[], tool_choice="auto", parallel_tool_calls=True).keys() == {"model", "messages"}


@pytest.mark.parametrize(
    "item",
    [user([{"type": "input_file", "file_id": "f"}]), {"type": "web_search_call", "id": "w"}, "text", user([3])],
)
def test_what_has_no_form(item: Any) -> None:
    with pytest.raises(ConversionError):
        asked(item)


def test_an_answer_with_all_its_parts() -> None:
    usage: dict[str, Any] = {
        "prompt_tokens": 5,
        "completion_tokens": 3,
        "total_tokens": 8,
        "completion_tokens_details": None,
    }
    usage |= {"prompt_tokens_details": {"cached_tokens": 4}}
    message = {"reasoning": "hm", "content": [{"type": "text", "text": "hi"}], "tool_calls": [told_call("f", "a")]}
    told = answered({"id": "c", "created": 9, "model": "m", "usage": usage}, message, "tool_calls")
    items: Any = told["output"]
    assert [item["type"] for item in items] == ["reasoning", "message", "function_call"]
    assert items[0]["summary"] == [{"type": "summary_text", "text": "hm"}]
    assert items[1]["content"] == [{"type": "output_text", "text": "hi", "annotations": []}]
    assert (items[2]["call_id"], items[2]["name"], items[2]["arguments"]) == ("a", "f", "{}")
    assert (told["status"], told["incomplete_details"], told["created_at"]) == ("completed", None, 9)
    assert told["usage"] == {
        "input_tokens": 5, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 8,
    }  # fmt: skip


def test_a_refusal_and_an_answer_that_was_cut_off() -> None:
    told = answered({}, {"content": None, "refusal": "No."}, "content_filter")
    items: Any = told["output"]
    assert items[0]["content"] == [{"type": "refusal", "refusal": "No."}]
    assert (told["status"], told["incomplete_details"]) == ("incomplete", {"reason": "content_filter"})
    assert told["usage"] is None
