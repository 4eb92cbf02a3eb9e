"""The `similarity` grader: a model, the judge, scores how well a completion agrees with the task's answer.

The reward is the score divided by `scale`. If the judge fails, the grade is `unknown` and says why. See
docs/reference/judge.md.
"""

from __future__ import annotations

import math
import os
from functools import partial
from typing import Final
from urllib.parse import urlsplit

import msgspec

from evaluator.cases import Bench, excerpt, not_run
from evaluator.checkers import shortened
from evaluator.extraction import outside_thinking
from evaluator.extras import require
from evaluator.graders.answers import answer_grader, case_result, conclude
from evaluator.graders.grader import Grader, GraderError
from evaluator.graders.judge.call import JudgeError, Question, Server
from evaluator.graders.judge.judgement import GivenUpError, Judgement, judge
from evaluator.graders.judge.prompt import PROMPT, SYSTEM, answer_text, has_answer, messages
from evaluator.model import Flag, Grade, JsonValue, Rollout, Task, TestCase
from evaluator.sandbox import FaultError
from evaluator.stages import stage
from evaluator.suites.reading import UngradableError

_KEY_NAME: Final = "OPENAI_API_KEY"
_ADDRESS: Final = "https://api.openai.com/v1"
_SHOWN_TEXT: Final = 16 * 1024
_MOST_AT_ONCE: Final = 1024
_MOST_RETRIES: Final = 20
_OURS: Final = {"model", "messages", "temperature", "max_tokens", "stream", "n"}


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a judge is called. Seconds, counts and characters."""

    model: str = ""
    base_url: str | None = None
    api_key_env: str = _KEY_NAME
    prompt: str = PROMPT
    system: str = SYSTEM
    scale: float = 10
    pass_at: float = 0.5
    temperature: float | None = 0
    max_tokens: int | None = None
    extra: dict[str, JsonValue] = {}
    timeout_s: float = 60
    retries: int = 2
    backoff_s: float = 0.5
    concurrency: int = 8
    longest: int = 50_000
    cache: bool = True


def make(config: Config) -> Grader:
    """The grader. Raises `GraderError` for impossible options or a missing key."""
    _validate(config)
    _server(config)
    require("httpx2", "judge", "grader similarity needs httpx2")
    return answer_grader(
        "similarity", partial(_test_cases, config), partial(_complete, config), waits=config.concurrency
    )


def _validate(config: Config) -> None:
    if not config.model.strip():
        raise _wrong("model is missing: name the judge's, as in similarity:model=NAME")
    if "{completion}" not in config.prompt:
        raise _wrong("prompt must contain {completion}")
    options = {
        "scale": (config.scale, 0 < config.scale <= 100_000, "a number above 0, up to 100000"),
        "pass_at": (config.pass_at, 0 < config.pass_at <= 1, "a share above 0, up to 1"),
        "timeout_s": (config.timeout_s, 0 < config.timeout_s < math.inf, "seconds above 0"),
        "backoff_s": (config.backoff_s, 0 <= config.backoff_s < math.inf, "seconds, 0 or more"),
        "retries": (config.retries, 0 <= config.retries <= _MOST_RETRIES, f"0 to {_MOST_RETRIES}"),
        "concurrency": (config.concurrency, 1 <= config.concurrency <= _MOST_AT_ONCE, f"1 to {_MOST_AT_ONCE}"),
        "longest": (config.longest, config.longest > 0, "characters above 0"),
    }
    for name, (value, fits, allowed) in options.items():
        if not fits:
            raise _wrong(f"{name} is {value}: give {allowed}")
    if config.temperature is not None and not 0 <= config.temperature < math.inf:
        raise _wrong(f"temperature is {config.temperature}: give 0 or more, or null to send none")
    if ours := _OURS & config.extra.keys():
        raise _wrong(f"extra may not contain {', '.join(sorted(ours))}")


def _server(config: Config) -> Server:
    """The judge's server. Raises `GraderError`."""
    address = config.base_url or os.environ.get("OPENAI_BASE_URL")
    key = os.environ.get(config.api_key_env, "").strip()
    if not key and (address is None or config.api_key_env != _KEY_NAME):
        raise _wrong(f"the environment variable {config.api_key_env} is not set: set it to the judge's key")
    if not (key.isascii() and key.isprintable()):
        raise _wrong(f"the environment variable {config.api_key_env} has characters that a key can't have")
    numbers = config.timeout_s, config.retries, config.backoff_s, config.concurrency
    return Server(_address(address or _ADDRESS), key, config.api_key_env, *numbers)


def _address(text: str) -> str:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise _wrong("base_url is not an address: give for example http://127.0.0.1:8000/v1")
    if parts.username is not None or parts.password is not None:
        raise _wrong("base_url contains a user or a password: put the key into the variable that api_key_env names")
    return text.rstrip("/")


def _wrong(why: str) -> GraderError:
    return GraderError(f"grader similarity: {why}")


def _test_cases(config: Config, task: Task) -> tuple[TestCase, ...]:
    """One: `input` says what is judged, `expected` is the answer as the judge sees it. Raises `UngradableError`."""
    if "{answer}" in config.prompt and not has_answer(task.answer):
        raise UngradableError("the task has no answer for the judge to compare with")
    if task.grader is not None and (config.base_url is not None or config.api_key_env != _KEY_NAME):
        # Otherwise a dataset from elsewhere could send any environment variable anywhere.
        raise UngradableError("a row's grader may not set base_url or api_key_env: use --grader or OPENAI_BASE_URL")
    name = f"similarity: {config.model} gives {config.pass_at * config.scale:g} of {config.scale:g} or more"
    return (TestCase(0, name, answer_text(task.answer)),)


def _complete(config: Config, task: Task, rollout: Rollout, bench: Bench, grade: Grade) -> None:
    [case] = _test_cases(config, task)
    answer = outside_thinking(rollout.completion).strip()
    if not answer:
        grade.cases, grade.reward = (not_run(case),), 0.0
        conclude(grade, "no answer was found: the completion has no text besides thinking")
        return
    shown = shortened(answer, config.longest, separator="\n", parts=2)
    if shown != answer:
        evidence = f"{len(answer):,} characters: the judge saw the first and last {config.longest // 2:,}"
        grade.flags = (Flag("completion_cut", evidence),)
    try:
        with stage("judge"):
            judgement = _judged(config, task, shown, bench)
    except (JudgeError, GraderError) as error:
        grade.error_message = str(error)
        grade.flags = (*grade.flags, Flag("judge_failed", grade.error_message))
        return
    grade.reward = judgement.score / config.scale
    failed = f"the judge gives {judgement.score:g} of {config.scale:g}"
    result = case_result(case, answer, None if grade.reward >= config.pass_at else failed)
    result.stderr = excerpt(judgement.text, _SHOWN_TEXT)
    result.stderr_bytes = len(judgement.text.encode("utf-8", "replace"))
    grade.cases = (result,)
    conclude(grade)


def _judged(config: Config, task: Task, completion: str, bench: Bench) -> Judgement:
    """Raises `JudgeError`, `GraderError` if the key is now missing, `FaultError` if the run ends."""
    chat = messages(
        config.prompt, config.system, prompt=task.prompt, answer=task.answer, completion=completion, scale=config.scale
    )
    options = dict(config.extra)
    if config.temperature is not None:
        options["temperature"] = config.temperature
    if config.max_tokens is not None:
        options["max_tokens"] = config.max_tokens
    question = Question(config.model, chat, options)
    given_up = lambda: bench.sandbox.closed  # noqa: E731 - how a worker learns that its run ends
    try:
        return judge(_server(config), question, config.scale, cached=config.cache, given_up=given_up)
    except GivenUpError:
        raise FaultError("the run ended before the judge had answered") from None
