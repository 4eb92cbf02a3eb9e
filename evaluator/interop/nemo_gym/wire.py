"""NeMo Gym's requests and responses as our own pydantic models, without importing `nemo_gym`.

The fields are those of release 0.7.0 (`nemo_gym/base_resources_server.py`, `config_types.py`, and
`resources_servers/code_gen/app.py`). Requests are read more leniently: unknown fields are kept, and an item of a
response may be of any kind. `BaseVerifyRequest` and `BaseVerifyResponse` have the form of the page "Building Custom
Resource Servers", a conversation and metadata of its task, to which rows are converted:
docs/integrations/nemo-gym-document.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator

from evaluator.formats.nemo_gym import output_text

JsonObject = dict[str, JsonValue]

HEALTH_PATHS = ("/", "/health", "/healthz", "/livez", "/readyz")
TASK_INDEX = "_ng_task_index"
ROLLOUT_INDEX = "_ng_rollout_index"
AGENT_REF = "agent_ref"
COOKIE = "rollscope_session"
STATE = "rollscope-session"
"""The header that says `lost` for a session of an earlier process of the server."""


class FailureKind(StrEnum):
    """Why a rollout is masked: the kinds of `nemo_gym/failure_kinds.py` that occur here, and our own."""

    JUDGE_FAILED = "judge_failed"
    VERIFIER_ERROR = "verifier_error"
    PROVIDER_UNAVAILABLE = "provider_unavailable"
    UNGRADABLE_TASK = "rollscope:ungradable_task"
    UNVERIFIED = "rollscope:unverified"


class ReverifyMode(StrEnum):
    """Whether a stored rollout can be verified again on its own, without its session."""

    STATELESS = "stateless"
    UNSUPPORTED = "unsupported"
    UNKNOWN = "unknown"


class Open(BaseModel):
    """Keeps unknown fields."""

    model_config = ConfigDict(extra="allow")


class ResponsesCreateParams(Open):
    """A request to the model in the form of OpenAI's Responses API."""

    input: str | list[JsonObject]


class ModelResponse(Open):
    """The model's answer in the form of OpenAI's Responses API."""

    output: list[JsonValue] = Field(default_factory=list)
    usage: JsonObject | None = None

    @field_validator("output", mode="before")
    @classmethod
    def _nothing(cls, value: object) -> object:
        return [] if value is None else value

    @property
    def output_text(self) -> str:
        """The text of the model's messages, joined as OpenAI's client joins it."""
        return output_text({"output": self.output})

    @property
    def reasoning_text(self) -> str:
        """The summaries of all reasoning items."""
        return "".join(_summaries(self.output))


def _summaries(output: list[JsonValue]) -> Iterator[str]:
    for item in output:
        parts = item.get("summary") if isinstance(item, dict) and item.get("type") == "reasoning" else None
        for part in parts if isinstance(parts, list) else ():
            text = part.get("text") if isinstance(part, dict) else None
            if isinstance(text, str):
                yield text


class VerifyRequest(Open):
    """A row of a dataset with the model's answer. The row's other fields are in `model_extra`."""

    responses_create_params: ResponsesCreateParams
    response: ModelResponse
    verifier_metadata: JsonValue = None
    """The tests or the answer; if it is not an object, the row can't be graded."""


class VerifyResponse(Open):
    """A verified rollout: the request's two objects unchanged, code_gen's fields, and our own.

    If nothing could be decided, `mask_sample` is set, `verdict` is `unknown` or `sandbox_error`, and `reward` is 0.0,
    since the protocol requires a number.
    """

    responses_create_params: JsonObject
    response: JsonObject
    reward: float
    mask_sample: bool = False
    failure_kind: str | None = None
    failure_reason: str | None = None
    reward_components: dict[str, float] = Field(default_factory=dict)

    extracted_model_output: str | None = None
    extracted_model_code: str | None = None
    result: list[bool | int] | None = None
    """code_gen's codes to the first failing test case: true passed, -1 killed, -2 wrong answer (false where a function
    was called), -3 time limit, -4 error."""
    metadata: JsonObject | None = None
    """code_gen's description of the first failing test case."""
    unit_tests_time_taken: float | None = None
    reasoning_format_violation_rate: float = 0.0
    difficulty: str | None = None

    verdict: str
    verified: bool = True
    pass_rate: float | None = None
    tests_passed: int = 0
    tests_total: int = 0
    test_verdicts: str = ""
    """A letter per test case, in order (P passed, W wrong answer, ...)."""
    error_message: str | None = None
    """The first failing test case's."""
    flags: list[str] = Field(default_factory=list)


class SeedSessionRequest(Open):
    """A whole row of a dataset, or the typed form of Environment Servers (0.7)."""

    resources_session_id: str | None = None
    task_data: JsonObject | None = None


class CloseSessionRequest(Open):
    """The session to end: the one seeded under this id, else the cookie's."""

    resources_session_id: str | None = None


class AggregateMetricsRequest(BaseModel):
    """Verified rollouts without the model's answers."""

    verify_responses: list[dict[str, Any]]


class AggregateMetrics(BaseModel):
    """The figures of a run: by task, over all, by repeat, and the most important ones."""

    group_level_metrics: list[JsonObject] = Field(default_factory=list)
    agent_metrics: JsonObject = Field(default_factory=dict)
    key_metrics: JsonObject = Field(default_factory=dict)
    perf_summary: JsonObject | None = None
    repeat_level_metrics: list[JsonObject] = Field(default_factory=list)


class ExecuteCodeRequest(BaseModel):
    """A program to run. With `keep_state` the session's next one has its names."""

    code: str
    stdin: str = ""
    keep_state: bool = False


class ExecuteCodeResponse(BaseModel):
    """The program's output. `returncode` is Python's, or -9 if a `limit` ended it."""

    stdout: str
    stderr: str
    returncode: int
    limit: str | None = None
    state: str | None = None
    """With `keep_state`: "new" (the session's first), "kept", or "lost": earlier names are gone; stderr says why."""


class RunTestsRequest(BaseModel):
    """A completion to run on the task's public test cases."""

    code: str


class PublicTest(BaseModel):
    """The result of one public test case."""

    index: int
    verdict: str
    input: str
    expected: str
    actual: str | None = None
    message: str | None = None


class RunTestsResponse(BaseModel):
    """The results of all public test cases."""

    tests_passed: int
    tests_total: int
    tests: list[PublicTest]


_ASKED, _ANSWERED = "responses_create_params", "response"
_KNOWN = ("metadata", "verifier_metadata")


class BaseVerifyRequest(BaseModel):
    """What `verify` gets. A subclass may declare more fields of its rows.

    BaseVerifyRequest(input=[{"role": "assistant", "content": "42"}], metadata={"answer": "42"})
    """

    input: list[JsonObject]
    """The messages of prompt and answer, each `{"role", "content"}`; tool calls and other items unchanged."""
    metadata: JsonObject = Field(default_factory=dict, exclude=True)
    """The task's data. Over HTTP: the row's `verifier_metadata`, over its `metadata`, over its other fields.
    `model_dump` leaves it out: it may hold the right answer, and a response may have its own `metadata`."""
    responses_create_params: ResponsesCreateParams | None = None
    """Unchanged from HTTP; None in a request built by hand."""
    response: ModelResponse | None = None
    """Unchanged from HTTP, as above; `response.output_text` is the answer's text."""

    @model_validator(mode="before")
    @classmethod
    def _read_row(cls, value: object) -> object:
        """Converts a row with a response to this form; leaves this form unchanged."""
        if not isinstance(value, Mapping) or not {_ASKED, _ANSWERED} <= value.keys():
            return value
        asked, answered = value[_ASKED], value[_ANSWERED]
        prompt = asked.get("input") if isinstance(asked, Mapping) else None
        output = answered.get("output") if isinstance(answered, Mapping) else None
        return {**value, "input": [*_conversation(prompt), *_conversation(output)], "metadata": _known(value)}


class BaseVerifyResponse(BaseModel):
    """What `verify` returns: `BaseVerifyResponse(**body.model_dump(), reward=1.0)`. More fields are kept, and NeMo Gym
    averages the numbers among them."""

    model_config = ConfigDict(extra="allow")

    input: list[JsonObject] = Field(default_factory=list, exclude=True)
    """Not sent over HTTP, since the next two fields have the same content."""
    responses_create_params: ResponsesCreateParams | None = None
    response: ModelResponse | None = None
    reward: float
    metadata: JsonObject | None = None
    mask_sample: bool = False
    """Whether to leave the reward out of all figures; `failure_reason` says why."""
    failure_kind: str | None = None
    failure_reason: str | None = None


def last_answer(conversation: list[JsonObject]) -> str:
    """The text of the assistant's last message, else an empty text: None would equal a row's missing answer."""
    for item in reversed(conversation):
        if item.get("role") == "assistant":
            return _text(item.get("content"))
    return ""


def within(value: JsonValue, *names: str) -> JsonValue:
    """What the names lead to in nested objects; None if one is missing."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _conversation(items: object) -> Iterator[JsonObject]:
    if isinstance(items, str):
        yield {"role": "user", "content": items}
    for item in items if isinstance(items, list) else ():
        if isinstance(item, Mapping):
            role = item.get("role")
            yield {"role": role, "content": _text(item.get("content"))} if isinstance(role, str) else dict(item)


def _text(content: object) -> str:
    """A message's content as text; it may be a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = (part.get("text") if isinstance(part, Mapping) else None for part in parts)
    return "".join(text for text in texts if isinstance(text, str))


def _known(row: Mapping[str, object]) -> dict[str, object]:
    known = {name: value for name, value in row.items() if name not in (_ASKED, _ANSWERED)}
    for name in _KNOWN:
        inner = known.get(name)
        if isinstance(inner, Mapping):
            del known[name]
            known |= inner
    return known
