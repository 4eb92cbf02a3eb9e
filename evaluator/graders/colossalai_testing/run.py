"""One completion on ColossalAI's test cases, in the sandbox: its order, codes and stop rules, our judgement.

The program knows only inputs; its results are compared here. It is made from the completion line by line: 34 imports
that hide missing ones come first, and a program that reads stdin is wrapped in a function, which turns its globals into
locals. Source: `testing_util.py`, as observed; docs/integrations/colossalai.md lists every difference.
"""

from __future__ import annotations

import ast
import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import resources
from typing import Final, NamedTuple, cast

from evaluator import syntax
from evaluator.cases import Bench, attempt, attempt_by
from evaluator.checkers.colossalai import text_accepted, value_accepted
from evaluator.model import JsonValue, Verdict
from evaluator.sandbox import Execution, Outcome, Program, Runner, Status, encoded_call
from evaluator.tasks import long_numbers
from evaluator.tasks.import_headers import COLOSSALAI

CALL_S: Final = 600.0
"""For all test cases of a completion together."""

_STDIN_FUNCTION: Final = "code"
_SHOWN_OUTPUT: Final = 200
_SHOWN_INPUT: Final = 300

_RUNNER: Final = Runner("colossalai", resources.files(__package__).joinpath("inside.py").read_text("utf-8"))

_Answer = tuple[object, object, object, object]
"""`("ok", value, text, None)`, or `("raised", repr, traceback, the type's name)`."""

Code = bool | int
"""True, False (wrong answer), -1 (runtime error, time-out), -2 (does not compile, or has no such function)."""


class InOutsError(ValueError):
    """`in_outs` can't be used: one line that names the test case and the reason.

    `original`: what the original raises here.
    """

    def __init__(self, message: str, original: Exception) -> None:
        super().__init__(message)
        self.original = original

    def __reduce__(self) -> tuple[type[InOutsError], tuple[str, Exception]]:
        return type(self), (str(self), self.original)


class CaseCode(NamedTuple):
    """The result of one test case."""

    code: Code
    verdict: Verdict
    info: Mapping[str, str]
    """Its `error_info`; empty if it passed."""
    outcome: Outcome
    actual: str | None = None


@dataclass
class Report:
    """A completion's results. `died`: whether the original would have no result, because its process is gone."""

    cases: list[CaseCode] = field(default_factory=list)
    error_info: dict[str, str] = field(default_factory=dict)
    """Of the test case at which it stopped; empty if all were run, even if some failed."""
    died: bool = False
    faulty: bool = False
    """The sandbox failed: nothing is known about the completion."""

    @property
    def results(self) -> list[Code]:
        return [-1] if self.faulty else [case.code for case in self.cases]

    def answer(self, outcome: Outcome, *, loading: bool = False) -> _Answer | None:
        """What the program returned; else adds a result for what it raised, or how its process ended."""
        answer = _answer(outcome)
        if answer is not None and answer[0] == "ok":
            return answer
        self.cases.append(_failure(outcome, answer, loading=loading))
        # The original's `except Exception` does not catch these, so that its process ends without a result.
        self.died = self.died or answer is None or answer[3] in ("SystemExit", "KeyboardInterrupt", "GeneratorExit")
        return None


class Asked(NamedTuple):
    """The options of a run."""

    timeout: float = 15.0
    """Seconds per test case, and for loading; 0: only the limit for all of them."""
    run_all: bool = False
    strict: bool = False
    """Compare like the original, wrong passes included, and stop where it stops."""


def truncated(text: str, length: int = _SHOWN_INPUT) -> str:
    """The text's two ends if it is longer than `length` characters."""
    return text if len(text) <= length else text[: length // 2] + "...(truncated) ..." + text[-length // 2 :]


def cleaned_traceback(text: str) -> str:
    """A traceback from the completion's first frame on."""
    return "Traceback (most recent call last):\n  " + text[text.find('File "<string>"') :]


def run_tests(in_outs: Mapping[str, JsonValue], completion: str, options: Asked, bench: Bench) -> Report:
    """Runs the test cases until a rule says stop. Raises `InOutsError`, `FaultError`, `SandboxUnavailable`."""
    name = in_outs.get("fn_name")
    by_value = name is not None
    times = {"wall_s": options.timeout or CALL_S, "cpu_s": CALL_S, "total_s": CALL_S}
    limits = bench.options.limits.replaced(times)
    source = completion if by_value else _wrapped_source(completion)
    of_solution = by_value and "class Solution" in completion
    function = name if by_value else _STDIN_FUNCTION
    load = encoded_call(("load", _imports_before(source), function, of_solution, options.strict), {})
    report = Report()
    with bench.sandbox.execute(Program(source, runner=_RUNNER), limits) as execution:
        if report.answer(attempt(load, limits, bench, execution), loading=True) is None:
            report.error_info = dict(report.cases[0].info)
            return report
        for argument, case_input, expected, wanted in _cases(in_outs, by_value):
            payload = encoded_call(("call" if by_value else "run", argument), {})
            outcome = attempt_by(partial(_run, execution, load, payload), limits, bench, execution)
            answer = report.answer(outcome)
            if answer is not None:
                output = _text(answer[2])
                accepted = (
                    value_accepted(wanted, answer[1], strict=options.strict)
                    if by_value
                    else text_accepted(expected, output, strict=options.strict)
                )
                info = {} if accepted else _wrong(case_input, expected, output, by_value)
                verdict = Verdict.PASSED if accepted else Verdict.WRONG_ANSWER
                report.cases.append(CaseCode(accepted, verdict, info, outcome, output))
            continues = report.cases[-1].code is True or (options.run_all and not (options.strict and by_value))
            if not continues or execution.left_s <= 0:
                report.error_info = dict(report.cases[-1].info)
                break
    return report


def _run(execution: Execution, load: bytes, payload: bytes, wall_s: float) -> Outcome:
    """The outcome of one test case. If the completion's process has ended, a new one is loaded first."""
    loaded = None if execution.begun else execution.run(load, wall_s=wall_s)
    if loaded is not None and loaded.status is not Status.ANSWERED:
        return loaded
    return execution.run(payload, wall_s=wall_s)


def _wrong(case_input: str, expected: str, output: str, by_value: bool) -> dict[str, str]:
    lines = case_input.strip().split("\n") if by_value else [case_input]
    room = _SHOWN_INPUT // (case_input.count("\n") + 1 if by_value else 1)
    return {
        "output": output if by_value else truncated(output, _SHOWN_OUTPUT),
        "expected": truncated(expected, _SHOWN_OUTPUT),
        "inputs": "\n".join(truncated(line, room) for line in lines),
        "error_message": "Wrong Answer",
    }


_VERDICTS: Final = {
    Status.TIME: (Verdict.TIME_LIMIT, "TimeoutError"),
    Status.MEMORY: (Verdict.MEMORY_LIMIT, "MemoryError"),
    Status.OUTPUT: (Verdict.OUTPUT_LIMIT, "OverflowError"),
    Status.REJECTED: (Verdict.REJECTED, "RuntimeError"),
}


def _failure(outcome: Outcome, answer: _Answer | None, *, loading: bool) -> CaseCode:
    """The result of what the program raised, or of how its process ended."""
    if answer is not None:
        code, verdict = (-2, Verdict.COMPILE_ERROR) if loading else (-1, Verdict.RUNTIME_ERROR)
        info = {"error": _text(answer[1]), "traceback": cleaned_traceback(_text(answer[2]))}
        return CaseCode(code, verdict, info, outcome)
    verdict, kind = _VERDICTS.get(outcome.status, (Verdict.RUNTIME_ERROR, "RuntimeError"))
    message = outcome.message or (outcome.failure.message if outcome.failure else "") or outcome.status.value
    return CaseCode(-1, verdict, {"error": f"{kind}({message!r})", "traceback": ""}, outcome)


def _answer(outcome: Outcome) -> _Answer | None:
    """What the process returned, if it has our form. The completion may have written it, so it is not trusted."""
    value = outcome.value
    if outcome.status is not Status.ANSWERED or type(value) is not tuple or value[:1] not in (("ok",), ("raised",)):
        return None
    kind, first, second, third, *_ = (*value, None, None, None)
    return kind, first, second, third


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


# --- the test cases


def _cases(
    in_outs: Mapping[str, JsonValue], by_value: bool
) -> Iterator[tuple[object, JsonValue, JsonValue, JsonValue]]:
    """For each the argument of its request, its input and expected output, and the value that is expected."""
    for place, case_input in enumerate(inputs := _list_of(in_outs, "inputs")):
        outputs = _list_of(in_outs, "outputs")
        if place >= len(outputs):
            counts = f"in_outs has {len(inputs)} inputs but {len(outputs)} outputs: give one output per input"
            raise InOutsError(counts, IndexError("list index out of range"))
        expected = outputs[place]
        if by_value:
            arguments = _arguments(case_input, place)
            yield tuple(arguments), case_input, expected, _json(expected, f"outputs[{place}]")
            continue
        for name, value in (("inputs", case_input), ("outputs", expected)):
            if not isinstance(value, str):
                raise _unusable(f"{name}[{place}] is {type(value).__name__}, not text", AssertionError)
        yield case_input, case_input, expected, expected


def _unusable(problem: str, original: type[Exception], rest: str = "") -> InOutsError:
    return InOutsError(f"in_outs: {problem}{rest}", original(problem))


def _list_of(in_outs: Mapping[str, JsonValue], name: str) -> list[JsonValue]:
    value = in_outs.get(name)
    if value is None:
        raise InOutsError(f"in_outs: {name} is missing", KeyError(name))
    if not isinstance(value, list | tuple):
        raise InOutsError(f"in_outs: {name} is {type(value).__name__}, not a list", TypeError(name))
    return cast("list[JsonValue]", value)


def _arguments(case_input: JsonValue, place: int) -> list[JsonValue]:
    """One JSON value per line. If the first is a dict whose keys are digits: only that, with ints as keys."""
    if not isinstance(case_input, str):
        problem = f"inputs[{place}] is {type(case_input).__name__}, not text"
        raise _unusable(problem, AttributeError, " with one JSON value per line")
    lines = enumerate(case_input.split("\n"), 1)
    arguments = [_json(line, f"inputs[{place}], line {number}") for number, line in lines]
    if isinstance(arguments[0], dict):
        with contextlib.suppress(ValueError):
            return [{int(key): value for key, value in arguments[0].items()}]
    return arguments


def _json(text: JsonValue, where: str) -> JsonValue:
    try:
        return long_numbers.loads(text) if isinstance(text, str) else json.loads(text)
    except TypeError as error:
        raise InOutsError(f"in_outs: {where} is {type(text).__name__}, not JSON text", error) from None
    except ValueError as error:
        raise InOutsError(f"in_outs: {where} is not JSON: {error}", error) from None


# --- the program


def _imports_before(source: str) -> str:
    """The lines before a program when it is compiled: as many as imports, for the line numbers in tracebacks.

    The imported names exist already. Only a `from __future__` needs the imports: after them it is an error.
    """
    return COLOSSALAI if "__future__" in source else "\n" * COLOSSALAI.count("\n")


def _wrapped_source(completion: str) -> str:
    """For a program that reads stdin: everything but its top imports goes into a function without arguments."""
    lines = [_indented(line) for line in _without_guard(completion).split("\n")]
    started = False
    parts: list[str] = []
    for line in lines:
        if line.startswith("\t") and not started:
            parts.append(f"stdin = sys.stdin\nstdout = sys.stdout\ndef {_STDIN_FUNCTION}():\n")
            started = True
        elif started and _is_import(line):
            parts.append("\t")
        parts.append(line)
    return "".join(parts)


def _indented(line: str) -> str:
    return f"{line}\n" if _is_import(line) else f"\t{line}\n"


def _is_import(line: str) -> bool:
    return line.startswith(("from ", "import "))


def _without_guard(completion: str) -> str:
    """If the last statement is the main guard, it is replaced by its body; its `else` is dropped."""
    try:
        body = syntax.parse(completion).body
        last = body[-1] if body else None
        if isinstance(last, ast.If) and ast.unparse(last.test).strip() == "__name__ == '__main__'":
            return "\n".join(map(_unparsed, (body[:-1], last.body)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    return completion


def _unparsed(statements: list[ast.stmt]) -> str:
    """As in the original: not as a module, whose first text would be a docstring."""
    return ast.unparse(cast("ast.AST", statements))
