"""`rollscope grade`: grades a file into a run, with progress on stderr; Ctrl-C stops it, and it can be resumed."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial

import msgspec

from evaluator.commands.failure import Exit
from evaluator.commands.given_files import tell_failures
from evaluator.commands.progress import FirstProblems, Meter, stopping_on_signal
from evaluator.commands.summary import Summary, print_summary, summarise
from evaluator.file_grading import GradedFile
from evaluator.formats import Source
from evaluator.formats.reading.sources import resolve
from evaluator.model import Verdict
from evaluator.runs.reading import Run, RunError, is_run
from evaluator.runs.resuming import resume_command


def grade(job: partial[GradedFile], *, as_json: bool) -> int:
    """Do a `grade_file`, and print the figures. Raises errors with one line each for bad arguments and input."""
    done = grade_quietly(job)
    summary = summarise_written(done)
    if as_json:
        print(msgspec.json.encode(summary).decode())
    else:
        print_summary(summary)
    if done.stopped:
        print(f"stopped; resume with: {resume_command(done.run, Run.open(done.run).manifest)}", file=sys.stderr)
        return Exit.STOPPED
    return Exit.DONE


def summarise_written(done: GradedFile) -> Summary:
    """The figures of the run that was just written. Raises `RunError` where it was removed meanwhile."""
    import duckdb

    try:
        return summarise(Run.open(done.run), seconds=done.seconds, graded_now=done.graded, cached=done.cached)
    except (RunError, duckdb.IOException) as error:
        if isinstance(error, RunError) and is_run(done.run):
            raise
        raise RunError(f"{done.run}: was removed during grading, with its grades: grade again") from None


def grade_quietly(job: partial[GradedFile]) -> GradedFile:
    """Do a `grade_file`, with progress on stderr and nothing on stdout."""
    with ExitStack() as stack:
        watch = _Watch(stack, resolve(job.args[0]), job.keywords.get("format"))
        return job(on_start=watch.start, on_verdicts=watch.graded, on_problem=watch.problem, stop=watch.stop)


class _Watch:
    """Shows on stderr how the grading gets on. From its start on, Ctrl-C stops it."""

    def __init__(self, stack: ExitStack, rollouts: list[Source], format_name: str | None) -> None:
        self.stop = threading.Event()
        self._stack = stack
        self._rollouts = rollouts
        self._format = format_name
        self._meter = Meter(None)
        self.problem = FirstProblems("they are listed in the run's run.json")

    def start(self, total: int | None) -> None:
        for file in self._rollouts:
            tell_failures(file.path, self._format)
        self._stack.enter_context(stopping_on_signal(self.stop.set, "grades so far"))
        self._meter = self._stack.enter_context(Meter(total))

    def graded(self, verdicts: Mapping[str, int]) -> None:
        self._meter.count_passed(sum(verdicts.values()), verdicts.get(Verdict.PASSED.value, 0))


def cache_of(text: str | None) -> str | bool | None:
    """The `cache` of `grade_file` for `--cache`: a folder, or `none`; the user's own if the option was not given."""
    return True if text is None else None if text in ("none", "") else text
