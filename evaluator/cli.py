"""The command: its options and their help. What each one does is in `evaluator.commands`.

Nothing heavy is imported before a command needs it, so `rollscope --help` answers at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from evaluator.commands.failure import CommandError, Exit, status_of

app = typer.Typer(
    name="rollscope",
    help="Grades the code that language models write, and shows why each completion passed or failed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Isolation(StrEnum):
    COMPLETION = "completion"
    TEST = "test"


class Strictness(StrEnum):
    STRICT = "strict"
    DEGRADED = "degraded"


class Unverified(StrEnum):
    KEEP = "keep"
    UNKNOWN = "unknown"


class Per(StrEnum):
    ROLLOUT = "rollout"
    CASE = "case"


class System(StrEnum):
    AGENTFLY = "agentfly"
    COLOSSALAI = "colossalai"


JsonFlag = Annotated[bool, typer.Option("--json", help="Machine-readable output on stdout.")]


@app.command()
def grade(
    rollouts: Annotated[
        Path, typer.Argument(metavar="ROLLOUTS", help="File of rollouts: one sampled completion a row.")
    ],
    *,
    dataset: Annotated[Path, typer.Option("--dataset", help="File of tasks with their test cases.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="The run's directory. [default: runs/<stem>-<UTC time>]")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="How many to grade at once. [default: one a CPU]")] = None,
    timeout: Annotated[
        float | None, typer.Option("--timeout", help="Wall and CPU seconds a test case. [default: 10]")
    ] = None,
    memory: Annotated[float | None, typer.Option("--memory", help="Resident MiB a test case. [default: 1024]")] = None,
    checker: Annotated[str | None, typer.Option("--checker", help="Comparison rule. [default: the task's]")] = None,
    grader: Annotated[
        str | None,
        typer.Option(
            "--grader",
            metavar="GRADER",
            help="NAME, NAME:key=value,..., FILE.json, FILE.toml or FILE.py:FUNCTION. [default: tests]",
        ),
    ] = None,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Skip a completion's tests after its first failure.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    only: Annotated[
        str | None,
        typer.Option("--only", help="Grade again what has these verdicts (a,b) or meets this SQL condition."),
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option("--format", help="Format of the rollouts (see `rollscope formats`). [default: told]"),
    ] = None,
    map_: Annotated[
        str | None, typer.Option("--map", help="Names of fields, ours=theirs: task_id=uid,completion=text.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Grade the first N rollouts alone.")] = None,
    isolation: Annotated[
        Isolation, typer.Option(help="A fresh process for each completion or each test case.")
    ] = Isolation.COMPLETION,
    sandbox: Annotated[
        Strictness, typer.Option(help="Run nothing unless the sandbox is proved, or with what there is.")
    ] = Strictness.STRICT,
    python: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="The Python whose packages completions see. [default: this one, with numpy]"),
    ] = None,
    unverified: Annotated[
        Unverified,
        typer.Option(help="Grades that are not verified keep their reward, or are unknown and have none."),
    ] = Unverified.KEEP,
    json: JsonFlag = False,
) -> int:
    """Grade rollouts and keep the grades as a run."""
    from evaluator.commands import grading

    request = grading.Request(
        rollouts=rollouts,
        dataset=dataset,
        out=out or grading.default_out(rollouts),
        workers=workers,
        timeout=timeout,
        memory=memory,
        checker=checker,
        grader=grader,
        fail_fast=fail_fast,
        resume=resume,
        only=only,
        format=format_,
        field_map=map_,
        limit=limit,
        isolation=isolation.value,
        sandbox=sandbox.value,
        python=python,
        unverified=unverified.value,
    )
    if (resume or only) and out is None:
        raise CommandError("--resume and --only go on with a run: name it with --out RUN")
    return grading.grade(request, as_json=json)


@app.command()
def view(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="[RUN|ROLLOUTS]...", help="[default: the bundled example]")
    ] = None,
    *,
    dataset: Annotated[
        Path | None, typer.Option("--dataset", help="Tasks, for grading ROLLOUTS from the page.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The next free one when it is taken.")] = 8501,
    follow: Annotated[bool, typer.Option("--follow", help="Show new grades as they come.")] = False,
    allow_rerun: Annotated[
        bool, typer.Option("--allow-rerun", help="Let visitors of other machines run code in the sandbox.")
    ] = False,
) -> int:
    """Open the dashboard."""
    from evaluator.commands import viewing

    return viewing.view(paths or [], dataset=dataset, host=host, port=port, follow=follow, allow_rerun=allow_rerun)


@app.command()
def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run's directory.")],
    to: Annotated[
        str | None,
        typer.Option("--to", help="FILE.csv, FILE.jsonl or FILE.parquet. [default: JSONL on stdout]"),
    ] = None,
    per: Annotated[Per, typer.Option(help="One row a rollout or a test case.")] = Per.ROLLOUT,
    where: Annotated[
        str | None, typer.Option("--where", help="SQL condition: \"verdict = 'time_limit' AND wall_s > 5\".")
    ] = None,
    columns: Annotated[str | None, typer.Option("--columns", help="Which columns, A,B,C.")] = None,
) -> int:
    """Write a run's grades as CSV, JSON lines or Parquet."""
    from evaluator.commands import exporting

    return exporting.export_run(run, to, per=per.value, where=where, columns=columns)


@app.command()
def formats(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A file to look at. [default: list the formats]")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Print every bad line; exit status 2 when there is one.")
    ] = False,
    format_: Annotated[str | None, typer.Option("--format", help="Read it as this format.")] = None,
    map_: Annotated[str | None, typer.Option("--map", help="Names of fields, ours=theirs.")] = None,
    json: JsonFlag = False,
) -> int:
    """List the file formats that can be read, or say what a file is and which of its lines are bad."""
    from evaluator.commands import formats as command

    if file is None:
        return command.list_formats(as_json=json)
    return command.inspect(file, format_, map_, check=check, as_json=json)


@app.command()
def check(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="Tasks.")],
    *,
    format_: Annotated[str | None, typer.Option("--format", help="Read it as this format.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Worker processes. [default: one a CPU]")] = None,
    json: JsonFlag = False,
) -> int:
    """Look at a dataset's tests, and grade its own references; exit status 1 when something is odd."""
    from evaluator.commands import checking

    return checking.check(dataset, format_name=format_, workers=workers, as_json=json)


@app.command()
def serve(
    system: Annotated[System, typer.Argument(help="Whose server to stand in for.")],
    *,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8000,
    config: Annotated[
        Path | None, typer.Option("--config", help="TOML with [limits] for each program (agentfly).")
    ] = None,
) -> int:
    """Answer over HTTP as another system's server does."""
    from evaluator.commands import serving

    return serving.serve(system.value, host=host, port=port, config=config)


@app.command()
def audit(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run's directory.")],
    *,
    checkers: Annotated[str, typer.Option("--checkers", help="Two or more: floats,livecodebench,colossalai.")],
    workers: Annotated[int | None, typer.Option(min=1, help="Worker processes. [default: one a CPU]")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="The first N rollouts alone.")] = None,
    json: JsonFlag = False,
) -> int:
    """List the rollouts whose reward depends on the checker; exit status 1 when there is one."""
    from evaluator.commands import auditing

    return auditing.audit(run, checkers, workers=workers, limit=limit, as_json=json)


@app.command()
def doctor(
    python: Annotated[
        str | None, typer.Option("--python", help="The interpreter that completions would run on. [default: ours]")
    ] = None,
    json: JsonFlag = False,
) -> int:
    """Prove every layer of the sandbox on this machine; exit status 1 when one does not hold."""
    from evaluator.commands import doctor as command

    return command.diagnose(python=python, as_json=json)


# Typer carries its own Click, under a private name; these are its public errors' bases.
_USAGE_ERROR: Any = typer.BadParameter.__bases__[0]
_CLICK_ERROR: Any = _USAGE_ERROR.__bases__[0]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit with its status."""
    try:
        status = _run(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = Exit.DONE
    sys.exit(status)


def _run(arguments: list[str]) -> int:
    try:
        result = typer.main.get_command(app).main(arguments, prog_name="rollscope", standalone_mode=False)
        return result if isinstance(result, int) else Exit.DONE
    except (KeyboardInterrupt, typer.Abort):
        return _tell("stopped", Exit.STOPPED)
    except BrokenPipeError:
        raise
    except Exception as error:
        if isinstance(error, _CLICK_ERROR):
            return _tell_usage(error)
        status = status_of(error)
        if status is None:
            raise
        return _tell(_message(error), status)


def _tell_usage(error: Any) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":
        print(error.format_message())
        return Exit.DONE
    command = error.ctx.command_path if getattr(error, "ctx", None) else "rollscope"
    message = error.format_message().rstrip(".")
    return _tell(f"{message} (see {command} --help)", Exit.BAD_INPUT)


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _tell(message: str, status: Exit) -> int:
    print(f"rollscope: {' '.join(message.split())}", file=sys.stderr)
    return status


if __name__ == "__main__":
    main()
