"""Verifies a model's response to a row, for every server of this package.

There is always an answer. If nothing can be decided (the row can't be graded, or a judge or the sandbox failed),
`mask_sample` is set and the reward is 0.0, since the protocol requires a number. `VerifyProfile` is the time by stage,
for `rollscope serve nemo-gym --profile`.
"""

from __future__ import annotations

import os
import re
import threading
import time
from array import array
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

import msgspec
import numpy as np

from evaluator.formats.nemo_gym import read_task
from evaluator.graders import grader_or_refusal
from evaluator.interop.endpoints import in_thread, until_disconnect
from evaluator.interop.nemo_gym.code_gen_codes import codes_of
from evaluator.interop.nemo_gym.config import ServerConfig, require_short, with_time_for_all
from evaluator.interop.nemo_gym.wire import FailureKind, JsonObject, ModelResponse, VerifyRequest, VerifyResponse
from evaluator.model import Grade, Kind, Mode, RecordError, Rollout, Task, Verdict
from evaluator.sandbox import SandboxUnavailable
from evaluator.stages import STAGES, Spent, measured
from evaluator.workers.single import grade_one

_REST: Final = "rest"
_TOTAL: Final = "total"
_HEADERS: Final = ("stage", "total s", "share", "mean ms", "p50 ms", "p99 ms", "n")
_CELLS: Final = ("{}", "{:,.3f}", "{:.1%}", "{:,.2f}", "{:,.2f}", "{:,.2f}", "{:,}")


class VerifyProfile:
    """The durations of verified requests. `add` is thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seconds: dict[str, array[float]] = {name: array("d") for name in (*STAGES, _REST, _TOTAL)}

    def add(self, spent: Spent, total_s: float) -> None:
        """Adds a request: the time of its stages, and its total; the remainder is `rest`."""
        rest = max(0.0, total_s - sum(spent.seconds.values()))
        with self._lock:
            for name, value in (*spent.seconds.items(), (_REST, rest), (_TOTAL, total_s)):
                self._seconds[name].append(value)

    def stages(self) -> list[dict[str, Any]]:
        """The stages entered, in the order of `STAGES`, then `rest` and `total`, each over the `n` requests that
        entered it; empty without requests. `share`: of the total time, 0 to 1."""
        with self._lock:
            seconds = {name: np.array(values) for name, values in self._seconds.items() if values}
        found = []
        for name, values in seconds.items():
            total = float(values.sum())
            share = total / (float(seconds[_TOTAL].sum()) or 1.0)
            times = (1000 * values.mean(), *np.percentile(1000 * values, (50, 99)))
            spread = dict(zip(("mean_ms", "p50_ms", "p99_ms"), map(float, times), strict=True))
            found.append({"stage": name, "total_s": total, "share": share, **spread, "n": len(values)})
        return found

    def table(self) -> str:
        """Aligned columns, without a final newline."""
        rows = [
            [pattern.format(value) for pattern, value in zip(_CELLS, each.values(), strict=True)]
            for each in self.stages()
        ]
        if not rows:
            return "no request was verified"
        first, *others = ([*column] for column in zip(_HEADERS, *rows, strict=True))
        columns = [[cell.ljust(max(map(len, first))) for cell in first]]
        columns += [[cell.rjust(max(map(len, column))) for cell in column] for column in others]
        return "\n".join(map("  ".join, zip(*columns, strict=True)))

    def json(self) -> str:
        """`{"requests": n, "stages": [{"stage", "total_s", "share", "mean_ms", "p50_ms", "p99_ms", "n"}, ...]}`."""
        stages = self.stages()
        requests = stages[-1]["n"] if stages else 0
        return msgspec.json.encode({"requests": requests, "stages": stages}).decode()


_FENCES_OF_A_BLOCK: Final = 2
_THINKING: Final = re.compile(r"</?think>")
_JUDGE_FLAG: Final = "judge_failed"
_REASONING_FLAG: Final = "reasoning_format"
_REASONING: Final = "the answer has thinking tags, so the reward is reasoning_format_penalty"
_SHOWN: Final = 500


class Verifier:
    """The verifier of one server. Runs as many at once as its configuration and the CPUs allow."""

    def __init__(self, config: ServerConfig) -> None:
        self._config = config
        self.profile = VerifyProfile() if config.profile else None
        self._options = config.options
        cpus = len(os.sched_getaffinity(0))
        self._running = ThreadPoolExecutor(min(config.num_processes or cpus, cpus), "rollscope-verify")
        self._waiting: ThreadPoolExecutor | None = None
        """For graders that run no code but wait, for example for a judge."""

    async def verify(self, request: VerifyRequest) -> VerifyResponse:
        """The verified response; errors become a masked one. Raises `ClientDisconnect`."""
        row: JsonObject = {
            "task_id": "row",  # for a row without one
            **(request.model_extra or {}),
            "responses_create_params": request.responses_create_params.model_dump(),
            "verifier_metadata": request.verifier_metadata,
        }
        task: Task | None = None
        try:
            task = read_task(row)
            require_short(task, self._config)
            task = with_time_for_all(task, self._config)
            job = partial(self._graded, task, request.response, time.perf_counter())
            grade, seconds = await until_disconnect(in_thread(self._threads(task), job))
        except RecordError as error:
            return _undecided(request, FailureKind.UNGRADABLE_TASK, str(error))
        except SandboxUnavailable as error:
            return _undecided(request, FailureKind.PROVIDER_UNAVAILABLE, str(error), Verdict.SANDBOX_ERROR)
        except Exception as error:  # our own bug must not end the run
            return _undecided(request, FailureKind.VERIFIER_ERROR, repr(error), Verdict.SANDBOX_ERROR)
        return self._response(request, task, grade, seconds)

    def close(self) -> None:
        """Starts nothing more."""
        for threads in (self._running, self._waiting):
            if threads is not None:
                threads.shutdown(wait=False, cancel_futures=True)

    def _threads(self, task: Task) -> ThreadPoolExecutor:
        at_once = grader_or_refusal(task, self._options.grader).waits
        if not at_once:
            return self._running
        if self._waiting is None:
            self._waiting = ThreadPoolExecutor(at_once, "rollscope-judge")
        return self._waiting

    def _graded(self, task: Task, response: ModelResponse, arrived: float) -> tuple[Grade, float]:
        """The grade, and the seconds that this thread took."""
        started = time.perf_counter()
        if self.profile is None:
            return self._grade(task, response), time.perf_counter() - started
        with measured() as spent:
            spent.add("queue", started - arrived)
            grade = self._grade(task, response)
        ended = time.perf_counter()
        self.profile.add(spent, ended - arrived)
        return grade, ended - started

    def _grade(self, task: Task, response: ModelResponse) -> Grade:
        text = response.output_text
        kind = Kind.CHAT if task.mode in (Mode.CALL, Mode.STDIN) and "```" in text else None
        rollout = Rollout(task_id=task.task_id, sample_id=f"{task.task_id}#0", completion=text, kind=kind)
        if self._has_no_block(task, text):
            grade = Grade(task_id=task.task_id, sample_id=rollout.sample_id, verdict=Verdict.NO_CODE, reward=0.0)
            grade.error_message = "the answer has no closed code fence, and unfenced_code is off"
            grade.pass_rate = 0.0
            return grade
        return grade_one(task, rollout, self._options)

    def _has_no_block(self, task: Task, text: str) -> bool:
        """code_gen's rule: only text between two lines with a fence is code."""
        if self._config.unfenced_code or task.mode not in (Mode.CALL, Mode.STDIN):
            return False
        if not text.strip() or not task.cases:  # these have a better message
            return False
        return sum("```" in line for line in text.split("\n")) < _FENCES_OF_A_BLOCK

    def _response(self, request: VerifyRequest, task: Task, grade: Grade, seconds: float) -> VerifyResponse:
        answer = _undecided(request, *_why_undecided(grade)) if grade.reward is None else _echoed(request)
        answer.verdict, answer.verified = grade.verdict.value, grade.verified
        answer.pass_rate = grade.pass_rate
        answer.tests_passed, answer.tests_total = grade.tests_passed, grade.tests_total or len(task.cases)
        answer.test_verdicts = "".join(case.verdict.letter for case in grade.cases)
        answer.flags = [flag.word for flag in grade.flags]
        text = request.response.output_text
        if text.strip():
            answer.extracted_model_output = text
            answer.extracted_model_code = grade.code.removesuffix("\n") if grade.code else None
        if grade.reward is not None:
            if grade.verdict is not Verdict.PASSED:  # `failure_reason` is for masked rollouts only
                answer.error_message = _one_line(grade.error) or None
            answer.reward = self._reward(request.response, grade, answer)
            answer.unit_tests_time_taken = seconds if grade.code is not None else None
            _add_components(answer, grade)
        codes = codes_of(task, grade)
        if codes is not None:
            answer.result, answer.metadata = codes
        return answer

    def _reward(self, response: ModelResponse, grade: Grade, answer: VerifyResponse) -> float:
        assert grade.reward is not None
        if grade.code is None or not has_format_violation(response):
            return grade.reward
        answer.reasoning_format_violation_rate = 1.0
        answer.flags.append(_REASONING_FLAG)
        if answer.error_message is None:
            answer.error_message = _REASONING
        return self._config.reasoning_format_penalty


def has_format_violation(response: ModelResponse) -> bool:
    """Whether the answer has a thinking tag, or the reasoning more than one opening or closing tag."""
    if _THINKING.search(response.output_text):
        return True
    reasoning = response.reasoning_text
    return reasoning.count("<think>") > 1 or reasoning.count("</think>") > 1


def _echoed(request: VerifyRequest) -> VerifyResponse:
    """An undecided answer with the request's own fields."""
    details = request.verifier_metadata
    difficulty = details.get("difficulty") if isinstance(details, dict) else None
    own_id = (request.model_extra or {}).get("task_id")
    answer: JsonObject = {
        "responses_create_params": request.responses_create_params.model_dump(),
        "response": request.response.model_dump(),
        "reward": 0.0,
        "verdict": Verdict.UNKNOWN.value,
        "difficulty": difficulty if isinstance(difficulty, str) else None,
    }
    if isinstance(own_id, str):
        answer["task_id"] = own_id
    return VerifyResponse.model_validate(answer)


def _undecided(
    request: VerifyRequest, kind: FailureKind, reason: str, verdict: Verdict = Verdict.UNKNOWN
) -> VerifyResponse:
    answer = _echoed(request)
    answer.mask_sample, answer.failure_kind, answer.failure_reason = True, kind.value, _one_line(reason)
    answer.verdict = verdict.value
    return answer


def _why_undecided(grade: Grade) -> tuple[FailureKind, str, Verdict]:
    reason = grade.error_message or grade.unverified_reason or "no reason was given"
    if grade.verdict is Verdict.SANDBOX_ERROR:
        ours = reason.startswith("the grader failed:")
        kind = FailureKind.VERIFIER_ERROR if ours else FailureKind.PROVIDER_UNAVAILABLE
    elif any(flag.word == _JUDGE_FLAG for flag in grade.flags):
        kind = FailureKind.JUDGE_FAILED
    else:
        kind = FailureKind.UNGRADABLE_TASK if grade.verified else FailureKind.UNVERIFIED
    return kind, reason, grade.verdict


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_SHOWN]


def _add_components(answer: VerifyResponse, grade: Grade) -> None:
    """Adds them as a table and as single fields, since NeMo Gym averages only numbers at the top level."""
    answer.reward_components = {part.name: part.reward for part in grade.components if part.reward is not None}
    assert answer.model_extra is not None
    for name, reward in answer.reward_components.items():
        answer.model_extra[f"component_{name}"] = reward
