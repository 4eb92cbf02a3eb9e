"""`rollscope grade`: grades a file into a run, with progress on stderr; Ctrl-C stops it, and it can be resumed. At its
end the run's figures, as tables or as JSON.
"""

from __future__ import annotations

import math
import shlex
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from evaluator.commands.given_files import dataset_for, grader_text, preamble_text, tell_failures
from evaluator.commands.output import CommandError, Exit, counted, fail, one_line, print_facts, print_json, print_table
from evaluator.commands.progress import FirstProblems, Meter, paced, stopping_on_signal
from evaluator.file_grading import GradedFile, grade_file
from evaluator.formats import Source
from evaluator.formats.reading.dataset import map_of
from evaluator.formats.reading.sources import resolve
from evaluator.model import NO_REASON, Verdict
from evaluator.options import Options, Settings, limits_of
from evaluator.runs.expressions import GRADED, MODEL, pass_at_1
from evaluator.runs.files import read_manifest
from evaluator.runs.reading import Run, RunError, is_run
from evaluator.runs.resuming import resume_command

if TYPE_CHECKING:
    import duckdb

_REWARDED: Final = "verdict NOT IN ('sandbox_error', 'unknown')"
_MODELS: Final = 20
_MODELS_PRINTED: Final = 8
_DIFFERING: Final = 100
_REASONS: Final = 100
_REASONS_PRINTED: Final = 5
_WIDEST: Final = 160
_JUDGE_FAILED: Final = "judge_failed"


def grade(
    rollouts: list[str],
    *,
    dataset: Path | None,
    out: Path | None,
    resume: bool,
    only: str | None,
    fail_under: float | None,
    cache: str | None,
    format_name: str | None,
    field_map: str | None,
    dataset_format: str | None,
    dataset_map: str | None,
    as_json: bool,
    timeout: float | None,
    memory: float | None,
    grader: str | None,
    preamble: str | None,
    sandbox: Any,
    python: str | None,
    workers: int | None,
    engine: Any,
    address: str | None,
    limit: int | None,
    **options: Any,
) -> int:
    """Grade rollouts and print the figures. `options`: the other fields of `Options`.

    Raises errors with one line each for bad arguments and input.
    """
    if (resume or only) and out is None:
        raise CommandError("--resume and --only need an existing run: name it with --output RUN")
    require_no_run(rollouts)
    files = resolve(rollouts, remote=True)
    how = Options(
        limits=limits_of(timeout, memory), grader=grader_text(grader), preamble=preamble_text(preamble),
        sandbox=Settings(strictness=sandbox, python=python), **options,
    )  # fmt: skip
    done = grade_with_progress(
        files, dataset or dataset_for(files, format_name, grader, out if resume or only else None), format_name,
        out=out, workers=workers, engine=engine, address=address, resume=resume, only=only, limit=limit,
        field_map=map_of(field_map), dataset_format=dataset_format, dataset_map=map_of(dataset_map, "--dataset-map"),
        cache=True if cache is None else None if cache in ("none", "") else cache, options=how,
    )  # fmt: skip
    summary = summarise_written(done)
    if as_json:
        print_json(summary, in_one_line=True)
    else:
        print_summary(summary)
    if done.stopped:
        print(f"stopped; resume with: {resume_command(done.run, Run.open(done.run).manifest)}", file=sys.stderr)
        return Exit.STOPPED
    return Exit.DONE if fail_under is None else _gate(summary, fail_under)


def require_no_run(rollouts: list[str]) -> None:
    """Raises `CommandError` with the command that grades the rest of a run, where one is named as rollouts."""
    for word in rollouts:
        if is_run(word):
            command = resume_command(Path(word), read_manifest(Path(word)))
            raise CommandError(f"{word}: is a run: this grades what it lacks, also with --fail-under: {command}")


def _gate(summary: Summary, fail_under: float) -> int:
    """The status, and a line on stderr. A gate that left out what could not be graded would open when grading fails."""
    ungraded = summary.unknown + summary.sandbox_error
    how_many = f"({summary.unknown:,} unknown, {summary.sandbox_error:,} sandbox_error)"
    with Run.open(Path(summary.run)).connect() as connection:
        passed = pass_at_1(connection, "rollouts", counted="true").value
    found = f"pass@1 is {passed:.1%}"
    if math.isnan(summary.pass_at_1.value):
        found = f"nothing could be graded {how_many}"
    elif ungraded:
        share = f"{ungraded:,} of {counted(summary.rollouts, 'rollout')} not graded {how_many}"
        found += f" with {share}, which count as not passed"
    told = f"{found}: --fail-under is {fail_under:.1%}"
    if math.isnan(summary.pass_at_1.value) or passed < fail_under:
        return fail(told, Exit.FINDING)
    if ungraded:
        print(f"note: {told}", file=sys.stderr)
    return Exit.DONE


def grade_with_progress(
    files: list[Source], dataset: Path | None, format_name: str | None = None, **given: Any
) -> GradedFile:
    """A `grade_file` that shows on stderr how it gets on, and says nothing on stdout. From its start on, Ctrl-C stops
    it."""
    stop = threading.Event()
    with ExitStack() as stack:
        meter = Meter(None)

        def start(total: int | None) -> None:
            nonlocal meter
            for file in files:
                tell_failures(file.path, format_name)
            stack.enter_context(stopping_on_signal(stop.set, "grades so far"))
            meter = stack.enter_context(Meter(total))

        def graded(verdicts: Mapping[str, int]) -> None:
            meter.count(verdicts.get(Verdict.PASSED.value, 0), of=sum(verdicts.values()))

        problem = FirstProblems("they are listed in the run's run.json")
        return grade_file(
            files, dataset, format=format_name, on_start=start, on_verdicts=graded, on_problem=problem, stop=stop,
            **given,
        )  # fmt: skip


def summarise_written(done: GradedFile) -> Summary:
    """The figures of the run that was just written. Raises `RunError` where it was removed meanwhile."""
    import duckdb

    try:
        return summarise(Run.open(done.run), seconds=done.seconds, graded_now=done.graded, cached=done.cached)
    except (RunError, duckdb.IOException) as error:
        if isinstance(error, RunError) and is_run(done.run):
            raise
        raise RunError(f"{done.run}: was removed during grading, with its grades: grade again") from None


class PassAt1(msgspec.Struct):
    """pass@1 with its 95 % interval; `n` counts tasks, or rollouts where there is one task. Without any, NaN."""

    value: float
    low: float
    high: float
    n: int
    method: str


class Agreement(msgspec.Struct):
    """Our verdicts compared with the file's `expected_pass`, where it has one and we could grade."""

    agree: int
    differ: int
    only_ours: int
    """Of those that differ, how many pass here."""
    differing: list[str]
    """The first 100 sample ids that differ."""


class ModelFigures(msgspec.Struct):
    """The figures of one model."""

    model: str
    rollouts: int
    pass_at_1: PassAt1
    mean_reward: float | None


class Summary(msgspec.Struct):
    """A run in figures. `graded` leaves out `unknown` and `sandbox_error`, which have no reward.

    `pass_at_1` and `mean_reward` cover the rollouts of all models; `models` has each model's own.
    """

    run: str
    state: str
    rollouts: int
    tasks: int
    graded: int
    verdicts: dict[str, int]
    pass_at_1: PassAt1
    mean_reward: float | None
    disagreements: int
    """Test suites that fail in two processes and pass in one: see docs/concepts/checks.md."""
    mean_reward_bounds: tuple[float, float] | None
    """The mean reward with unrewarded disagreements counted as 0 and as 1; None without any."""
    models: list[ModelFigures]
    """The 20 with the most rollouts, in that order."""
    models_total: int
    unknown: int
    sandbox_error: int
    ungraded_reasons: dict[str, int]
    """Verified rollouts that could not be graded, by reason: the 100 most frequent."""
    ungraded_reasons_total: int
    """How many reasons there are."""
    unverified: int
    """Grades that are not verified, with or without a reward."""
    unverified_rewarded: int
    """Unverified grades with a reward."""
    unverified_reasons: dict[str, int]
    """Unverified rollouts by reason: the 100 most frequent, in that order."""
    unverified_reasons_total: int
    flags: dict[str, int]
    """Rollouts by flag, most frequent first."""
    duplicates: int
    bad_lines: int
    expected: Agreement | None
    graded_now: int
    """Rollouts graded in this session."""
    cached: int
    """How many of these have a grade from the cache."""
    seconds: float
    rate: float
    """Rollouts graded per second, in this session."""
    view: str
    """The command that opens it."""


def summarise(run: Run, *, seconds: float, graded_now: int, cached: int) -> Summary:
    """The figures of a run; `seconds`, `graded_now` and `cached` are this session's."""
    with run.connect() as connection:
        counts = dict(connection.execute("SELECT verdict, count(*) FROM rollouts GROUP BY 1").fetchall())
        verdicts = {verdict.value: counts[verdict] for verdict in Verdict if verdict in counts}
        tasks, reward, duplicates, disagreements, unverified, rewarded, low, high = _totals(connection)
        ungraded, ungraded_total = _reasons(connection, "error_message", f"NOT ({_REWARDED}) AND verified")
        reasons, reasons_total = _reasons(connection, "unverified_reason", "NOT verified")
        models, models_total = _models(connection)
        unknown, faults = verdicts.get("unknown", 0), verdicts.get("sandbox_error", 0)
        return Summary(
            run=str(run.path),
            state=run.manifest.state,
            rollouts=sum(verdicts.values()),
            tasks=tasks,
            graded=sum(verdicts.values()) - unknown - faults,
            verdicts=verdicts,
            pass_at_1=_pass_at_1(connection),
            mean_reward=reward,
            disagreements=disagreements,
            mean_reward_bounds=None if low == high else (low, high),
            models=models,
            models_total=models_total,
            unknown=unknown,
            sandbox_error=faults,
            ungraded_reasons=ungraded,
            ungraded_reasons_total=ungraded_total,
            unverified=unverified,
            unverified_rewarded=rewarded,
            unverified_reasons=reasons,
            unverified_reasons_total=reasons_total,
            flags=_flags(connection),
            duplicates=duplicates,
            bad_lines=run.manifest.problems_total,
            expected=_agreement(connection),
            graded_now=graded_now,
            cached=cached,
            seconds=round(seconds, 3),
            rate=round(graded_now / seconds, 1) if seconds > 0 else 0.0,
            view=f"rollscope view {shlex.quote(str(run.path))}",
        )


def print_summary(summary: Summary) -> None:
    """The figures as tables on stdout."""
    rows = [
        (Verdict(verdict).letter, verdict, f"{count:,}", f"{count / summary.rollouts:.1%}")
        for verdict, count in summary.verdicts.items()
    ]
    print_table(("", "verdict", "rollouts", "share"), rows, numbers=("rollouts", "share"))
    print()
    print_facts(_figures(summary))


def _figures(summary: Summary) -> Iterator[tuple[str, str]]:
    together = f", {summary.models_total:,} models together" if summary.models_total > 1 else ""
    yield "pass@1", _interval(summary.pass_at_1) + together
    if summary.models_total > 1:  # pooled samples do not describe one policy
        shown = [(each.model, _interval(each.pass_at_1)) for each in summary.models[:_MODELS_PRINTED]]
        yield from (("", f"{one_line(model, _WIDEST)}: {interval}") for model, interval in shown)
        yield from _others(summary.models_total - len(shown), "model")
    yield "mean reward", f"{_number(summary.mean_reward)} over {summary.graded:,} graded{together}"
    if summary.disagreements:
        text = f"{summary.disagreements:,}: the suite fails in two processes and passes in one"
        if summary.mean_reward_bounds is not None:
            low, high = map(_number, summary.mean_reward_bounds)
            text += f"; counted as not passed in pass@1; mean reward with them: {low} to {high}"
        yield "disagree", text
    yield "not graded", f"{summary.unknown:,} unknown, {summary.sandbox_error:,} sandbox_error"
    yield from _reason_rows(summary.ungraded_reasons, summary.ungraded_reasons_total)
    if summary.unverified:
        without = summary.unverified - summary.unverified_rewarded
        counts = [f"{summary.unverified_rewarded:,} with a reward"] if summary.unverified_rewarded else []
        counts += [f"{without:,} without"] if without else []
        yield "not verified", f"{summary.unverified:,} ({', '.join(counts)})"
        yield from _reason_rows(summary.unverified_reasons, summary.unverified_reasons_total)
    if summary.flags:
        yield "flagged", ", ".join(f"{count:,} {word}" for word, count in summary.flags.items())
    if _JUDGE_FAILED in summary.flags:
        yield "", "a judge gave no score: the same command with --resume and --output retries these"
    if summary.duplicates:
        yield "duplicates", f"{summary.duplicates:,} (same task and code, graded once)"
    if summary.cached:
        yield "cache", f"{summary.graded_now:,} graded, {summary.cached:,} from the cache"
    if summary.bad_lines:
        yield "bad lines", f"{summary.bad_lines:,} left out, listed in {summary.run}/run.json"
    if summary.expected:
        yield "given grades", _agreeing(summary.expected)
    size = f"{counted(summary.rollouts, 'rollout')} of {counted(summary.tasks, 'task')}"
    yield "run", f"{summary.run} ({size}; {summary.seconds:,.1f} s, {paced(summary.rate)})"
    yield "next", summary.view


def _reason_rows(counts: dict[str, int], total: int) -> Iterator[tuple[str, str]]:
    """The most frequent reasons."""
    for reason, count in list(counts.items())[:_REASONS_PRINTED]:
        yield "", f"{count:,}: {one_line(reason, _WIDEST)}"
    yield from _others(total - _REASONS_PRINTED, "reason")


def _others(count: int, what: str) -> Iterator[tuple[str, str]]:
    if count > 0:
        yield "", f"and {counted(count, what)} more"


def _agreeing(expected: Agreement) -> str:
    total = expected.agree + expected.differ
    text = f"{expected.agree:,} of {total:,} agree with ours"
    shown = expected.differing[:5]
    if not shown:
        return text
    more = ", ..." if expected.differ > len(shown) else ""
    sides = f"{expected.only_ours:,} pass only here, {expected.differ - expected.only_ours:,} only there"
    return f"{text}; {expected.differ:,} differ ({sides}): {', '.join(shown)}{more}"


def _interval(interval: PassAt1) -> str:
    if not interval.n:
        return "none: nothing could be graded"
    bounds = f"{interval.low:.1%} to {interval.high:.1%}"
    return f"{interval.value:.1%} (95 % interval {bounds}, {interval.method}, n = {interval.n:,})"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"


def _totals(connection: duckdb.DuckDBPyConnection) -> tuple[Any, ...]:
    row = connection.execute(
        f"""WITH r AS (SELECT *, {GRADED} AND reward IS NULL AS open FROM rollouts)
            SELECT count(DISTINCT task_id), avg(reward), count(duplicate_of), count(disagreement),
                   count(*) FILTER (NOT verified), count(reward) FILTER (NOT verified),
                   avg(coalesce(reward, 0)) FILTER (open OR reward IS NOT NULL),
                   avg(coalesce(reward, 1)) FILTER (open OR reward IS NOT NULL) FROM r"""  # noqa: S608
    ).fetchone()
    assert row is not None
    return row


def _reasons(connection: duckdb.DuckDBPyConnection, column: str, condition: str) -> tuple[dict[str, int], int]:
    """Rollouts by reason, most frequent first, and the number of reasons."""
    rows = connection.execute(
        f"""SELECT coalesce({column}, $none) AS reason, count(*), count(*) OVER () FROM rollouts
            WHERE {condition} GROUP BY reason ORDER BY count(*) DESC, reason LIMIT $limit""",  # noqa: S608
        {"none": NO_REASON, "limit": _REASONS},
    ).fetchall()
    return {reason: count for reason, count, _ in rows}, rows[0][-1] if rows else 0


def _flags(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    return dict(
        connection.execute(
            """SELECT flag, count(*) FROM (SELECT unnest(list_distinct(flags)) AS flag FROM rollouts)
               GROUP BY flag ORDER BY count(*) DESC, flag"""
        ).fetchall()
    )


def _pass_at_1(connection: duckdb.DuckDBPyConnection, model: str | None = None) -> PassAt1:
    return PassAt1(*pass_at_1(connection, "rollouts", model))


def _models(connection: duckdb.DuckDBPyConnection) -> tuple[list[ModelFigures], int]:
    """The models with the most rollouts, and the number of models."""
    rows = connection.execute(
        f"""SELECT {MODEL} AS name, count(*), avg(reward), count(*) OVER () FROM rollouts
            GROUP BY name ORDER BY count(*) DESC, name LIMIT {_MODELS}"""  # noqa: S608
    ).fetchall()
    found = [ModelFigures(name, count, _pass_at_1(connection, name), reward) for name, count, reward, _ in rows]
    return found, rows[0][-1] if rows else 0


def _agreement(connection: duckdb.DuckDBPyConnection) -> Agreement | None:
    given = f"FROM rollouts WHERE expected_pass IS NOT NULL AND {_REWARDED}"
    differs = "(verdict = 'passed') <> expected_pass"
    row = connection.execute(
        f"SELECT count(*), count(*) FILTER ({differs}), count(*) FILTER ({differs} AND NOT expected_pass) {given}"
    ).fetchone()
    assert row is not None
    total, differ, only_ours = row
    if not total:
        return None
    samples = connection.execute(
        f"SELECT sample_id {given} AND {differs} ORDER BY task_id, sample_id LIMIT {_DIFFERING}"
    ).fetchall()
    return Agreement(total - differ, differ, only_ours, [sample for (sample,) in samples])
