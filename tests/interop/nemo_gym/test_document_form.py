"""The tutorial's request and response: what a row of today becomes in them, and what comes back."""

import asyncio
from typing import Any

import pytest
from starlette.testclient import TestClient

from evaluator.interop.nemo_gym import BaseResourcesServer, BaseVerifyRequest
from tests.interop.nemo_gym.client import answer_of

CALL = {"type": "function_call", "name": "look_up", "arguments": "{}", "call_id": "c"}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": "a note"}


def row(asked: object = "Why?", response: object = None, **more: object) -> dict[str, Any]:
    return {"responses_create_params": {"input": asked}, "response": response or answer_of("So."), **more}


def said(content: object) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def read(body: dict[str, Any]) -> BaseVerifyRequest:
    return BaseVerifyRequest.model_validate(body)


def test_the_prompt_and_the_answer_are_one_conversation() -> None:
    parts = [{"type": "input_text", "text": "Wh"}, {"text": "y?"}, {}]
    prompt = {"role": "user", "content": "Why?"}
    for asked in ("Why?", [prompt], [{"type": "message", "role": "user", "content": parts}]):
        assert read(row(asked)).input == [prompt, said("So.")]
    response = answer_of("So.")
    response["output"] = [CALL, OUTPUT, *response["output"]]  # calls of tools stay what they are
    assert read(row(response=response)).input == [prompt, CALL, OUTPUT, said("So.")]


def test_what_is_known_of_the_task_lies_one_over_another() -> None:
    known = read(row(a=1, b=1, c=1, metadata={"b": 2, "c": 2}, verifier_metadata={"c": 3})).metadata
    assert known == {"a": 1, "b": 2, "c": 3}


def test_metadata_that_is_no_object_and_an_input_of_the_rows_own_are_fields_like_others() -> None:
    for value in (None, "text", [1], 7):
        both = {"metadata": value, "verifier_metadata": value}
        assert read(row(**both)).metadata == both
    request = read(row(input="5"))
    assert (len(request.input), request.metadata) == (2, {"input": "5"})


def test_the_answer_is_what_was_said_last() -> None:
    user = {"role": "user", "content": "x"}
    for conversation, answer in (
        ([], ""),
        ([user], ""),
        ([said("1"), user, said("2")], "2"),
        ([said("1"), CALL, OUTPUT], "1"),
        ([said([{"type": "output_text", "text": "a"}, {"text": "b"}])], "ab"),
        ([said(None)], ""),
    ):
        assert BaseResourcesServer()._extract_answer(conversation) == answer


def test_a_verify_that_is_not_written_masks_and_says_so() -> None:
    with TestClient(BaseResourcesServer().setup_webserver()) as client:
        told = client.post("/verify", json=row()).json()
    assert (told["mask_sample"], "has no verify" in told["failure_reason"]) == (True, True)
    with pytest.raises(NotImplementedError):
        asyncio.run(BaseResourcesServer().verify(None))
