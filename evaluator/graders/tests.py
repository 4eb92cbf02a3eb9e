"""The `tests` grader: runs a completion on every test case; 1.0 when all pass, else 0.0."""

from __future__ import annotations

from evaluator import flags
from evaluator.checkers import render, shortened
from evaluator.extraction import Extraction, extract
from evaluator.graders._attempts import Budget, attempt
from evaluator.graders._plans import Plan, PlannedCase, UngradableError, plan_for, test_cases
from evaluator.graders._preamble import why_it_fails
from evaluator.graders.bench import Bench
from evaluator.model import CaseResult, Flag, Grade, Limits, Rollout, Task, Verdict
from evaluator.sandbox import Execution, Outcome, Program, Status

__all__ = ["grade", "test_cases"]

_TIME_OUTS_ALLOWED = 2
_SHOWN_WHEN_WRONG = 64 * 1024
_SHOWN_WHEN_RIGHT = 2 * 1024
_SHOWN_STREAM = 16 * 1024

_VERDICTS = {
    Status.RAISED: Verdict.RUNTIME_ERROR,
    Status.DIED: Verdict.RUNTIME_ERROR,
    Status.NOT_LOADED: Verdict.COMPILE_ERROR,
    Status.TIME: Verdict.TIME_LIMIT,
    Status.MEMORY: Verdict.MEMORY_LIMIT,
    Status.OUTPUT: Verdict.OUTPUT_LIMIT,
    Status.REJECTED: Verdict.REJECTED,
}


def grade(task: Task, rollout: Rollout, bench: Bench) -> Grade:
    """Grades one rollout.

    Raises `FaultError` when the sandbox failed, `SandboxUnavailable` when there is none, `RecordError` for bad limits.
    """
    options = bench.options
    result = Grade(
        task_id=rollout.task_id,
        sample_id=rollout.sample_id,
        verdict=Verdict.UNKNOWN,
        reward=None,
        limits=options.limits.replaced(task.limits),
        grader="tests",
    )
    extraction = extract(rollout.completion, task=task, kind=rollout.kind)
    result.code, result.kind, result.line_offset = extraction.code, extraction.kind, extraction.line_offset
    try:
        plan = plan_for(task, options.checker)
    except UngradableError as error:
        result.error_message = str(error)
        return result
    result.checker = plan.checker
    if result.limits.processes and not bench.sandbox.allows_processes:
        result.error_message = "new processes are allowed, which takes user namespaces: see `rollscope doctor`"
        return result
    notes: list[Flag] = []
    cases = _grade_cases(task, extraction, plan, result.limits, bench, notes)
    result.layers = bench.sandbox.layers
    fault = _fault_of_preamble(task, plan, cases, result.limits, bench) if extraction.code is not None else None
    if fault is not None:
        result.error_message = fault
        return result
    result.cases = tuple(cases)
    if extraction.code is not None:
        result.flags = flags.flags_of(task, extraction.code, cases, notes, plan.answers)
    _conclude(result, extraction)
    return result


def _fault_of_preamble(task: Task, plan: Plan, cases: list[CaseResult], limits: Limits, bench: Bench) -> str | None:
    """Why the task's preamble is to blame for the first failing test case; None where the completion is."""
    failing = next((place for place, case in enumerate(cases) if case.verdict is not Verdict.PASSED), None)
    if not task.preamble or failing is None:
        return None
    came_later = plan.by_value and cases[failing].verdict is Verdict.WRONG_ANSWER
    if came_later or cases[failing].error_line is not None:
        return None  # the completion was run, so the preamble had been
    entry_point = task.entry_point if plan.by_value else None
    return why_it_fails(task.preamble, entry_point, plan.cases[failing].payload, limits, bench)


def _conclude(result: Grade, extraction: Extraction) -> None:
    """The rollout's verdict and error are those of its first failing test case."""
    failing = next((case for case in result.cases if case.verdict is not Verdict.PASSED), None)
    if extraction.code is None:
        result.verdict, result.error_message = Verdict.NO_CODE, extraction.reason
    elif failing is None:
        result.verdict = Verdict.PASSED
    else:
        result.verdict = failing.verdict
        result.error_type, result.error_message = failing.error_type, failing.error_message
        result.error_line = failing.error_line
        if result.error_message is None and failing.difference is not None:
            result.error_message = failing.difference.message
    result.pass_rate = result.tests_passed / result.tests_total
    result.reward = float(result.verdict is Verdict.PASSED)


def _grade_cases(
    task: Task, extraction: Extraction, plan: Plan, limits: Limits, bench: Bench, notes: list[Flag]
) -> list[CaseResult]:
    """The results; what the sandbox saw beside them is put into `notes`."""
    if extraction.code is None:
        return [_not_run(planned) for planned in plan.cases]
    program = Program(extraction.code, task.entry_point if plan.by_value else None, task.preamble)
    reuse, several = bench.options.isolation == "completion", len(plan.cases) > 1
    with bench.sandbox.execute(program, limits, reuse=reuse, several=several) as execution:
        results = _run_cases(task, plan, limits, bench, execution, notes)
        tampering = execution.finish()
    if tampering and all(result.verdict is Verdict.PASSED for result in results):
        results[-1].verdict, results[-1].error_message = Verdict.REJECTED, tampering
    return results


def _run_cases(
    task: Task, plan: Plan, limits: Limits, bench: Bench, execution: Execution, notes: list[Flag]
) -> list[CaseResult]:
    results: list[CaseResult] = []
    budget = Budget(limits.total_s)
    time_outs = 0
    stopped = False
    for planned in plan.cases:
        if stopped:
            results.append(_not_run(planned))
            continue
        if budget.left() <= 0:
            late = _not_run(planned)
            late.verdict = Verdict.TIME_LIMIT
            late.error_message = f"{limits.total_s:g} s for the whole completion had passed"
            results.append(late)
            stopped = True
            continue
        outcome = attempt(planned.payload, limits, budget, bench, execution)
        notes += outcome.notes
        if plan.by_value:
            notes += _early_exit(planned, outcome, notes)
        result = _case_result(task, plan, planned, outcome)
        results.append(result)
        time_outs += result.verdict is Verdict.TIME_LIMIT
        failed_fast = bench.options.fail_fast and result.verdict is not Verdict.PASSED
        stopped = failed_fast or time_outs >= _TIME_OUTS_ALLOWED or result.verdict is Verdict.REJECTED
    return results


def _early_exit(planned: PlannedCase, outcome: Outcome, notes: list[Flag]) -> list[Flag]:
    """The first call whose process ended as if by itself; a program may end whenever it likes."""
    by_itself = outcome.status is Status.DIED and outcome.exit_status is not None and outcome.exit_status >= 0
    if not by_itself or any(note.word == "early_exit" for note in notes):
        return []
    return [Flag("early_exit", f"test {planned.case.index}: {outcome.message}")]


def _not_run(planned: PlannedCase) -> CaseResult:
    case = planned.case
    return CaseResult(index=case.index, verdict=Verdict.NOT_RUN, expected=_excerpt(case.expected, _SHOWN_WHEN_RIGHT))


def _case_result(task: Task, plan: Plan, planned: PlannedCase, outcome: Outcome) -> CaseResult:
    stdout = outcome.stdout.text()
    result = CaseResult(
        index=planned.case.index,
        verdict=_VERDICTS.get(outcome.status, Verdict.PASSED),
        wall_s=outcome.wall_s,
        cpu_s=outcome.cpu_s,
        memory_mb=outcome.memory_mb,
        stdout=_excerpt(stdout, _SHOWN_STREAM),
        stdout_bytes=outcome.stdout.size,
        stderr=_excerpt(outcome.stderr.text(), _SHOWN_STREAM),
        stderr_bytes=outcome.stderr.size,
        exit_code=None if plan.by_value else outcome.exit_status,
        error_message=outcome.message or None,
        traceback=outcome.failure,
    )
    if outcome.failure is not None and outcome.failure.type:
        result.error_type, result.error_message = outcome.failure.type, outcome.message or outcome.failure.message
    if outcome.status is Status.ANSWERED:
        _judge(task, plan, planned, outcome, stdout, result)
    room = _SHOWN_WHEN_RIGHT if result.verdict is Verdict.PASSED else _SHOWN_WHEN_WRONG
    result.expected = _excerpt(planned.case.expected, room)
    if not plan.by_value:
        result.actual = _excerpt(stdout, room)
    elif outcome.status is Status.ANSWERED:
        result.actual = render(outcome.value, room)
    return result


def _judge(task: Task, plan: Plan, planned: PlannedCase, outcome: Outcome, stdout: str, result: CaseResult) -> None:
    result.difference = planned.judge(outcome.value if plan.by_value else stdout)
    if task.exit_code == "strict" and outcome.exit_status:
        result.verdict = Verdict.RUNTIME_ERROR
        result.error_message = f"exit status {outcome.exit_status}"
    elif result.difference is not None:
        result.verdict = Verdict.WRONG_ANSWER


def _excerpt(text: str, room: int) -> str:
    return shortened(text, room, separator="\n", parts=4)
