"""The `similarity` grader: a judge, some OpenAI-compatible server's model, scores how well a completion agrees with
the task's answer.

The reward is the score's share of `scale`. A judge that fails gives no reward: the grade is `unknown` and says why.
See docs/judge.md.
"""

from __future__ import annotations

import math
import os
from functools import partial
from typing import Final
from urllib.parse import urlsplit

import msgspec

from evaluator.checkers import shortened
from evaluator.extraction import outside_thinking
from evaluator.extras import require
from evaluator.graders.answers.grades import begun, conclude
from evaluator.graders.bench import Bench
from evaluator.graders.cases.loop import SHOWN_WHEN_RIGHT, SHOWN_WHEN_WRONG, excerpt, not_run
from evaluator.graders.grader import Grader, GraderError
from evaluator.graders.judge.call import Question, Server
from evaluator.graders.judge.event_loop import GivenUpError
from evaluator.graders.judge.failures import JudgeError
from evaluator.graders.judge.judgement import Judgement, Patience, judge
from evaluator.graders.judge.prompt import PROMPT, SYSTEM, answer_text, has_answer, messages
from evaluator.model import CaseResult, Difference, Flag, Grade, JsonValue, Rollout, Task, TestCase, Verdict
from evaluator.sandbox import FaultError
from evaluator.stages import stage

__all__ = ["Config", "make"]

_KEY_NAME: Final = "OPENAI_API_KEY"
_ADDRESS: Final = "https://api.openai.com/v1"
_SHOWN_TEXT: Final = 16 * 1024
_MOST_AT_ONCE: Final = 1024
_MOST_RETRIES: Final = 20
_OURS: Final = {"model", "messages", "temperature", "max_tokens", "stream", "n"}


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a judge is asked. Seconds, counts and characters."""

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
    """The grader. Raises `GraderError` for options that can't be, and where a key is wanted and there is none."""
    _check(config)
    _server(config)
    require("openai", "judge", "grader similarity needs openai")
    return Grader(
        name="similarity",
        grade=partial(_grade, config),
        test_cases=partial(_test_cases, config),
        refusal=partial(_refusal, config),
        runs_code=False,
        waits=config.concurrency,
    )


def _check(config: Config) -> None:
    if not config.model.strip():
        raise _wrong("model is missing: name the judge's, as in similarity:model=NAME")
    if "{completion}" not in config.prompt:
        raise _wrong("prompt does not say where the {completion} goes")
    known = {
        "scale": (config.scale, 0 < config.scale <= 100_000, "a number above 0, up to 100000"),
        "pass_at": (config.pass_at, 0 < config.pass_at <= 1, "a share above 0, up to 1"),
        "timeout_s": (config.timeout_s, 0 < config.timeout_s < math.inf, "seconds above 0"),
        "backoff_s": (config.backoff_s, 0 <= config.backoff_s < math.inf, "seconds, 0 or more"),
        "retries": (config.retries, 0 <= config.retries <= _MOST_RETRIES, f"0 to {_MOST_RETRIES}"),
        "concurrency": (config.concurrency, 1 <= config.concurrency <= _MOST_AT_ONCE, f"1 to {_MOST_AT_ONCE}"),
        "longest": (config.longest, config.longest > 0, "characters above 0"),
    }
    for name, (value, fits, wanted) in known.items():
        if not fits:
            raise _wrong(f"{name} is {value}: give {wanted}")
    if config.temperature is not None and not 0 <= config.temperature < math.inf:
        raise _wrong(f"temperature is {config.temperature}: give 0 or more, or null to send none")
    if taken := _OURS & config.extra.keys():
        raise _wrong(f"extra has {', '.join(sorted(taken))}, which can't be given there")


def _server(config: Config) -> Server:
    """Whom to ask. Raises `GraderError`."""
    named = config.base_url or os.environ.get("OPENAI_BASE_URL")
    key = os.environ.get(config.api_key_env, "").strip()
    if not key and (named is None or config.api_key_env != _KEY_NAME):
        raise _wrong(f"the environment variable {config.api_key_env} is not set: it is to hold the judge's key")
    if not (key.isascii() and key.isprintable()):
        raise _wrong(f"the environment variable {config.api_key_env} holds no key: it has characters that none has")
    return Server(_address(named or _ADDRESS), key, config.api_key_env)


def _address(text: str) -> str:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise _wrong("base_url is no address: give for instance http://127.0.0.1:8000/v1")
    if parts.username is not None or parts.password is not None:
        raise _wrong("base_url holds a user or a password: put the key into the variable that api_key_env names")
    return text.rstrip("/")


def _wrong(why: str) -> GraderError:
    return GraderError(f"grader similarity: {why}")


def _test_cases(config: Config, task: Task) -> tuple[TestCase, ...]:
    """One: `input` says what is looked at, `expected` is the answer as the judge is shown it."""
    if _refusal(config, task) is not None:
        return ()
    asked = f"similarity: {config.model} gives {config.pass_at * config.scale:g} of {config.scale:g} or more"
    return (TestCase(0, asked, answer_text(task.answer)),)


def _refusal(config: Config, task: Task) -> str | None:
    if "{answer}" in config.prompt and not has_answer(task.answer):
        return "the task has no answer for the judge to compare with"
    if task.grader is not None and (config.base_url is not None or config.api_key_env != _KEY_NAME):
        # A dataset from elsewhere could otherwise have any variable of the environment sent anywhere.
        return "the task's own grader names base_url or api_key_env: only --grader or OPENAI_BASE_URL may say these"
    return None


def _grade(config: Config, task: Task, rollout: Rollout, bench: Bench) -> Grade:
    grade = begun(rollout, "similarity")
    grade.error_message = _refusal(config, task)
    if grade.error_message is not None:
        return grade
    [case] = _test_cases(config, task)
    answer = outside_thinking(rollout.completion).strip()
    if not answer:
        grade.cases, grade.reward = (not_run(case),), 0.0
        conclude(grade, "no answer was found: the completion has no text, thinking left out")
        return grade
    shown = shortened(answer, config.longest, separator="\n", parts=2)
    if shown != answer:
        told = f"{len(answer):,} characters: the judge was shown the first and last {config.longest // 2:,}"
        grade.flags = (Flag("completion_cut", told),)
    try:
        with stage("judge"):
            judgement = _judged(config, task, shown, bench)
    except (JudgeError, GraderError) as error:
        grade.error_message = str(error)
        grade.flags = (*grade.flags, Flag("judge_failed", grade.error_message))
        return grade
    grade.reward = judgement.score / config.scale
    grade.cases = (_case_result(config, case, answer, judgement),)
    conclude(grade)
    return grade


def _judged(config: Config, task: Task, completion: str, bench: Bench) -> Judgement:
    """Raises `JudgeError`, `GraderError` where the environment lacks what is needed, `FaultError` when a run ends."""
    chat = messages(
        config.prompt,
        config.system,
        prompt=task.prompt,
        answer=task.answer,
        completion=completion,
        scale=config.scale,
    )
    options = dict(config.extra)
    if config.temperature is not None:
        options["temperature"] = config.temperature
    if config.max_tokens is not None:
        options["max_tokens"] = config.max_tokens
    patience = Patience(config.timeout_s, config.retries, config.backoff_s, config.concurrency)
    question = Question(config.model, chat, options)
    given_up = lambda: bench.sandbox.closed  # noqa: E731 - so does a worker hear that its run ends
    try:
        return judge(_server(config), question, config.scale, patience, cached=config.cache, given_up=given_up)
    except GivenUpError:
        raise FaultError("the run ended before the judge had answered") from None


def _case_result(config: Config, case: TestCase, answer: str, judgement: Judgement) -> CaseResult:
    """What the judge said stands in its `stderr`."""
    passed = judgement.score / config.scale >= config.pass_at
    told = f"the judge gives {judgement.score:g} of {config.scale:g}"
    room = SHOWN_WHEN_RIGHT if passed else SHOWN_WHEN_WRONG
    return CaseResult(
        index=case.index,
        verdict=Verdict.PASSED if passed else Verdict.WRONG_ANSWER,
        expected=excerpt(case.expected, room),
        actual=excerpt(answer, room),
        difference=None if passed else Difference(told),
        stderr=excerpt(judgement.text, _SHOWN_TEXT),
        stderr_bytes=len(judgement.text.encode("utf-8", "replace")),
    )
