"""What goes over NeMo Gym's wire, in pydantic models of our own: nothing of `nemo_gym` is imported.

Field names and meanings are those of release 0.7.0 (`nemo_gym/base_resources_server.py`, `config_types.py`, and
`resources_servers/code_gen/app.py`). Requests are read with more patience than there: a field that is not known is
kept, and an item of a response may be of any kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator

from evaluator.formats.nemo_gym import output_text

JsonObject = dict[str, JsonValue]

TASK_INDEX = "_ng_task_index"
ROLLOUT_INDEX = "_ng_rollout_index"
AGENT_REF = "agent_ref"


class FailureKind(StrEnum):
    """Why a reward measures nothing: the words of `nemo_gym/failure_kinds.py` that can occur here, and our own."""

    JUDGE_FAILED = "judge_failed"
    VERIFIER_ERROR = "verifier_error"
    PROVIDER_UNAVAILABLE = "provider_unavailable"
    UNGRADABLE_TASK = "rollscope:ungradable_task"
    UNVERIFIED = "rollscope:unverified"


class ReverifyMode(StrEnum):
    """Whether a stored rollout can be verified again by itself."""

    STATELESS = "stateless"
    UNSUPPORTED = "unsupported"
    UNKNOWN = "unknown"


class Open(BaseModel):
    """Keeps fields that it does not know."""

    model_config = ConfigDict(extra="allow")


class ResponsesCreateParams(Open):
    """What the model was asked, as OpenAI's Responses API takes it."""

    input: str | list[JsonObject]


class ModelResponse(Open):
    """What the model answered, as OpenAI's Responses API gives it."""

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
    """A row of a dataset with what the model answered. The row's other fields are in `model_extra`."""

    responses_create_params: ResponsesCreateParams
    response: ModelResponse
    verifier_metadata: JsonValue = None
    """By what is decided; an object, or the row can't be graded."""


class VerifyResponse(Open):
    """A verified rollout: the request's two objects as they came, what code_gen's server tells, and what ours does.

    `reward` is a number even where nothing could be decided, for the wire has no other: `mask_sample` says so then, and
    `verdict` is `unknown` or `sandbox_error`.
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
    """code_gen's account of the first failing test case."""
    unit_tests_time_taken: float | None = None
    reasoning_format_violation_rate: float = 0.0
    difficulty: str | None = None

    verdict: str
    verified: bool = True
    pass_rate: float | None = None
    tests_passed: int = 0
    tests_total: int = 0
    test_verdicts: str = ""
    """A letter a test case, in their order (P passed, W wrong answer, ...)."""
    error_message: str | None = None
    """Of the first failing test case."""
    flags: list[str] = Field(default_factory=list)


class SeedSessionRequest(Open):
    """The whole row of a dataset, or the typed form of Environment Servers (0.7)."""

    resources_session_id: str | None = None
    task_data: JsonObject | None = None


class CloseSessionRequest(Open):
    """Which session to end: by the id that it was seeded under, else the cookie's."""

    resources_session_id: str | None = None


class AggregateMetricsRequest(BaseModel):
    """Verified rollouts, without the model's answers."""

    verify_responses: list[dict[str, Any]]


class AggregateMetrics(BaseModel):
    """The figures of a run: by task, over all, and those to look at first."""

    group_level_metrics: list[JsonObject] = Field(default_factory=list)
    agent_metrics: JsonObject = Field(default_factory=dict)
    key_metrics: JsonObject = Field(default_factory=dict)
    perf_summary: JsonObject | None = None
    repeat_level_metrics: list[JsonObject] = Field(default_factory=list)


class ExecuteCodeRequest(BaseModel):
    """A program to run. With `keep_state` the names that it defines are there for the session's next one."""

    code: str
    stdin: str = ""
    keep_state: bool = False


class ExecuteCodeResponse(BaseModel):
    """What it did. `returncode` is Python's; -9 with the `limit` that ended it."""

    stdout: str
    stderr: str
    returncode: int
    limit: str | None = None
    state: str | None = None
    """With `keep_state`: "new" (the session's first), "kept", or "lost": what was before is gone; stderr says why."""


class RunTestsRequest(BaseModel):
    """A completion to run on the task's public test cases."""

    code: str


class PublicTest(BaseModel):
    """What one public test case said."""

    index: int
    verdict: str
    input: str
    expected: str
    actual: str | None = None
    message: str | None = None


class RunTestsResponse(BaseModel):
    """What they said together."""

    tests_passed: int
    tests_total: int
    tests: list[PublicTest]
