"""One completion on ColossalAI's test cases, in the sandbox: its order, codes and stop rules, our judgement.

The program knows inputs alone; what it gives is compared here. Source: `testing_util.py`, as observed; every difference
is in docs/colossalai.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Final, NamedTuple, cast

from evaluator.checkers.colossalai import ORIGINAL, SOUND, text_accepted, value_accepted
from evaluator.graders.bench import Bench
from evaluator.graders.cases.attempts import attempt, attempt_by
from evaluator.graders.colossalai_testing.program import STDIN_FUNCTION, imports_before, wrapped_source
from evaluator.model import JsonValue, Limits, Verdict
from evaluator.sandbox import Execution, Outcome, Program, Runner, Status, encoded_call

CALL_S: Final = 600.0
"""For all test cases of a completion together."""

_SHOWN_OUTPUT: Final = 200
_SHOWN_INPUT: Final = 300

_RUNNER: Final = Runner("colossalai", resources.files(__package__).joinpath("inside.py").read_text("utf-8"))

Code = bool | int
"""True, False (wrong answer), -1 (runtime error, time-out), -2 (does not compile, or has no such function)."""


class InOutsError(ValueError):
    """`in_outs` can't be used: one line that says which test case, and why.

    `original` is what the original raised here, of its own type.
    """

    def __init__(self, message: str, original: Exception) -> None:
        super().__init__(message)
        self.original = original


class CaseCode(NamedTuple):
    """What one test case came to."""

    code: Code
    verdict: Verdict
    info: Mapping[str, str]
    """What `error_info` says of it; empty where it passed."""
    outcome: Outcome
    actual: str | None = None


@dataclass
class Report:
    """What a completion came to. `died`: why the original would have had no result at all, its process being gone."""

    cases: list[CaseCode] = field(default_factory=list)
    error_info: dict[str, str] = field(default_factory=dict)
    """Of the test case at which it was stopped; empty where all were run, whatever became of them."""
    died: bool = False
    faulty: bool = False
    """The sandbox failed: nothing is known of the completion."""

    @property
    def results(self) -> list[Code]:
        return [-1] if self.faulty else [case.code for case in self.cases]


class Asked(NamedTuple):
    """How it is to be done."""

    timeout: float = 15.0
    """Seconds a test case, and to load; 0: no limit but that of the whole."""
    run_all: bool = False
    strict: bool = False
    """Compare as the original does, wrong passes included, and stop where it stops."""


def truncated(text: str, length: int = _SHOWN_INPUT) -> str:
    """The text's two ends, where it is longer than `length` characters."""
    return text if len(text) <= length else text[: length // 2] + "...(truncated) ..." + text[-length // 2 :]


def cleaned_traceback(text: str) -> str:
    """A traceback from the first frame of the completion on."""
    return "Traceback (most recent call last):\n  " + text[text.find('File "<string>"') :]


def run_tests(in_outs: Mapping[str, JsonValue], completion: str, asked: Asked, bench: Bench) -> Report:
    """Runs the test cases until a rule says stop. Raises `InOutsError`, `FaultError`, `SandboxUnavailable`."""
    name = in_outs.get("fn_name")
    by_value = name is not None
    limits = _limits(asked, bench.options.limits)
    source = completion if by_value else wrapped_source(completion)
    of_solution = by_value and "class Solution" in completion
    load = (imports_before(source), name if by_value else STDIN_FUNCTION, of_solution, asked.strict)
    program = Program(source, runner=_RUNNER)
    with bench.sandbox.execute(program, limits) as execution:
        talk = _Talk(execution, limits, bench, load)
        report = Report()
        if _loaded(talk, report):
            _run_each(in_outs, asked, talk, report, by_value=by_value)
    return report


def _limits(asked: Asked, given: Limits) -> Limits:
    return given.replaced({"wall_s": asked.timeout or CALL_S, "cpu_s": CALL_S, "total_s": CALL_S})


class _Talk:
    """Asks the completion's process; a new one, where that had to be ended, is made ready first."""

    def __init__(self, execution: Execution, limits: Limits, bench: Bench, load: Sequence[object]) -> None:
        self._execution = execution
        self._limits = limits
        self._bench = bench
        self._load = encoded_call(("load", *load), {})

    @property
    def over(self) -> bool:
        return self._execution.left_s <= 0

    def load(self) -> Outcome:
        return attempt(self._load, self._limits, self._bench, self._execution)

    def ask(self, stage: str, given: object) -> Outcome:
        """What came of one test case; once more, alone, where the machine was too busy (see `attempt_by`)."""
        payload = encoded_call((stage, given), {})
        return attempt_by(lambda wall_s: self._asked(payload, wall_s), self._limits, self._bench, self._execution)

    def _asked(self, payload: bytes, wall_s: float) -> Outcome:
        if not self._execution.begun:
            loaded = self._execution.run(self._load, wall_s=wall_s)
            if loaded.status is not Status.ANSWERED:
                return loaded
        return self._execution.run(payload, wall_s=wall_s)


def _loaded(talk: _Talk, report: Report) -> bool:
    outcome = talk.load()
    answer = _answer(outcome)
    if answer is not None and answer[0] == "ok":
        return True
    failed = _failed(outcome, answer, loading=True)
    report.cases.append(failed)
    report.error_info = dict(failed.info)
    report.died = answer is None or _leaves(answer)
    return False


def _run_each(in_outs: Mapping[str, JsonValue], asked: Asked, talk: _Talk, report: Report, *, by_value: bool) -> None:
    runs_on = asked.run_all and not (asked.strict and by_value)
    judge = _judged_call if by_value else _judged_run
    for place, given in enumerate(_listed(in_outs, "inputs")):
        expected = _expected(in_outs, place)
        case = judge(talk, place, given, expected, asked, report)
        report.cases.append(case)
        if (case.code is not True and not runs_on) or talk.over:
            report.error_info = dict(case.info)
            return


def _judged_call(
    talk: _Talk, place: int, given: JsonValue, expected: JsonValue, asked: Asked, report: Report
) -> CaseCode:
    arguments, wanted = _arguments(given, place), _json(expected, f"outputs[{place}]")
    outcome = talk.ask("call", tuple(_with_int_keys(arguments)))
    answer = _answer(outcome)
    if answer is None or answer[0] != "ok":
        report.died = report.died or answer is None or _leaves(answer)
        return _failed(outcome, answer)
    if value_accepted(wanted, answer[1], ORIGINAL if asked.strict else SOUND):
        return CaseCode(True, Verdict.PASSED, {}, outcome, _text(answer, 2))
    lines = given.strip().split("\n")
    room = _SHOWN_INPUT // (given.count("\n") + 1)
    shown = "\n".join(truncated(line, room) for line in lines)
    return _wrong(outcome, _text(answer, 2), expected, shown)


def _judged_run(
    talk: _Talk, place: int, given: JsonValue, expected: JsonValue, asked: Asked, report: Report
) -> CaseCode:
    for name, value in (("inputs", given), ("outputs", expected)):
        if not isinstance(value, str):
            told = f"{name}[{place}] is {type(value).__name__}, not text"
            raise InOutsError(f"in_outs: {told}", AssertionError(told))
    outcome = talk.ask("run", given)
    answer = _answer(outcome)
    if answer is None or answer[0] != "ok":
        report.died = report.died or answer is None or (_leaves(answer) and answer[3] != "SystemExit")
        return _failed(outcome, answer)
    written = _text(answer, 1)
    if text_accepted(expected, written, ORIGINAL if asked.strict else SOUND):
        return CaseCode(True, Verdict.PASSED, {}, outcome, written)
    return _wrong(outcome, truncated(written, _SHOWN_OUTPUT), expected, truncated(given), written)


def _wrong(outcome: Outcome, output: str, expected: str, inputs: str, actual: str | None = None) -> CaseCode:
    info = {
        "output": output,
        "expected": truncated(expected, _SHOWN_OUTPUT),
        "inputs": inputs,
        "error_message": "Wrong Answer",
    }
    return CaseCode(False, Verdict.WRONG_ANSWER, info, outcome, actual or output)


_VERDICTS: Final = {
    Status.TIME: (Verdict.TIME_LIMIT, "TimeoutError"),
    Status.MEMORY: (Verdict.MEMORY_LIMIT, "MemoryError"),
    Status.OUTPUT: (Verdict.OUTPUT_LIMIT, "OverflowError"),
    Status.REJECTED: (Verdict.REJECTED, "RuntimeError"),
}


def _failed(outcome: Outcome, answer: tuple[object, ...] | None, *, loading: bool = False) -> CaseCode:
    """Of what the program raised, or of how its process ended."""
    if answer is not None:
        code, verdict = (-2, Verdict.COMPILE_ERROR) if loading else (-1, Verdict.RUNTIME_ERROR)
        info = {"error": _text(answer, 1), "traceback": cleaned_traceback(_text(answer, 2))}
        return CaseCode(code, verdict, info, outcome)
    verdict, kind = _VERDICTS.get(outcome.status, (Verdict.RUNTIME_ERROR, "RuntimeError"))
    told = outcome.message or (outcome.failure.message if outcome.failure else "") or outcome.status.value
    return CaseCode(-1, verdict, {"error": f"{kind}({told!r})", "traceback": ""}, outcome)


def _leaves(answer: tuple[object, ...]) -> bool:
    """Whether the original's `except Exception` lets it pass, so that its process ends without a result."""
    return answer[0] == "raised" and _text(answer, 3) in ("SystemExit", "KeyboardInterrupt", "GeneratorExit")


def _answer(outcome: Outcome) -> tuple[object, ...] | None:
    """What the process said, where it has the form that ours has; it is the completion's word, whatever it says."""
    value = outcome.value
    if outcome.status is not Status.ANSWERED or type(value) is not tuple or not value:
        return None
    return value if value[0] in ("ok", "raised") else None


def _text(answer: tuple[object, ...], place: int) -> str:
    value = answer[place] if len(answer) > place else ""
    return value if isinstance(value, str) else ""


def _arguments(given: JsonValue, place: int) -> list[JsonValue]:
    """One JSON value a line."""
    if not isinstance(given, str):
        told = f"inputs[{place}] is {type(given).__name__}, not text"
        raise InOutsError(f"in_outs: {told} with one JSON value a line", AttributeError(told))
    lines = given.split("\n")
    return [_json(line, f"inputs[{place}], line {number}") for number, line in enumerate(lines, 1)]


def _with_int_keys(arguments: list[JsonValue]) -> list[JsonValue]:
    """Of a first argument that is a dict with keys that are digits, nothing but that, with ints for keys."""
    first = arguments[0]
    if not isinstance(first, dict):
        return arguments
    try:
        return [{int(key): value for key, value in first.items()}]
    except ValueError:
        return arguments


def _json(text: JsonValue, where: str) -> JsonValue:
    try:
        return json.loads(text)
    except TypeError as error:
        raise InOutsError(f"in_outs: {where} is {type(text).__name__}, not JSON text", error) from None
    except (ValueError, RecursionError) as error:
        raise InOutsError(f"in_outs: {where} is no JSON: {error}", error) from None


def _expected(in_outs: Mapping[str, JsonValue], place: int) -> JsonValue:
    outputs = _listed(in_outs, "outputs")
    if place < len(outputs):
        return outputs[place]
    told = f"{len(_listed(in_outs, 'inputs'))} inputs but {len(outputs)} outputs"
    raise InOutsError(f"in_outs has {told}: give one output an input", IndexError("list index out of range"))


def _listed(in_outs: Mapping[str, JsonValue], name: str) -> list[JsonValue]:
    value = in_outs.get(name)
    if isinstance(value, list | tuple):
        return cast("list[JsonValue]", value)
    told = "is missing" if value is None else f"is {type(value).__name__}, no list"
    raise InOutsError(f"in_outs: {name} {told}", KeyError(name) if value is None else TypeError(told))
