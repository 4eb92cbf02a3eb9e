"""The command: its options and their help. What each one does is in `evaluator.commands`.

Nothing heavy is imported before a command needs it, so `rollscope --help` answers at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from evaluator import long_numbers
from evaluator.commands.failure import CommandError, Exit, fail, report
from evaluator.commands.options import (
    AddressOption,
    App,
    CacheOption,
    DatasetFormatOption,
    DatasetMapOption,
    DisagreementOption,
    EngineOption,
    FormatOption,
    GraderOption,
    JsonFlag,
    MapOption,
    MemoryOption,
    PreambleOption,
    PythonOption,
    UnfinishedThinkingOption,
    UnverifiedOption,
    WorkersOption,
)

app = App(
    name="rollscope",
    help="Grades the code that language models write, and shows why each completion passed or failed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def grade(
    rollouts: Annotated[
        list[str], typer.Argument(metavar="ROLLOUTS", help="Files of rollouts, folders, patterns, - or s3://...")
    ],
    *,
    dataset: Annotated[
        Path | None, typer.Option(help="File of tasks with test cases. [nemo_gym: looked for next to the rollouts]")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The run's directory. [default: runs/<stem>-<UTC time>]")] = None,
    workers: WorkersOption = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    timeout: Annotated[float | None, typer.Option(help="Wall and CPU seconds per test case. [default: 10]")] = None,
    memory: MemoryOption = None,
    checker: Annotated[str | None, typer.Option(help="Comparison rule. [default: the task's]")] = None,
    grader: GraderOption = None,
    preamble: PreambleOption = None,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Skip a completion's remaining tests after its first failure.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the run in --out.")] = False,
    only: Annotated[
        str | None, typer.Option(help="Regrade rollouts with these verdicts (a,b) or that match this SQL condition.")
    ] = None,
    format_: FormatOption = None,
    map_: MapOption = None,
    dataset_format: DatasetFormatOption = None,
    dataset_map: DatasetMapOption = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Grade only the first N rollouts.")] = None,
    isolation: Annotated[
        Literal["completion", "test"], typer.Option(help="A fresh process for each completion or each test case.")
    ] = "completion",
    sandbox: Annotated[
        Literal["strict", "degraded"], typer.Option(help="Run only if the sandbox is proved, or with whatever works.")
    ] = "strict",
    python: PythonOption = None,
    cache: CacheOption = None,
    unverified: UnverifiedOption = "keep",
    disagreement: DisagreementOption = "unknown",
    unfinished_thinking: UnfinishedThinkingOption = "no_code",
    json: JsonFlag = False,
) -> int:
    """Grade rollouts and keep the grades as a run."""
    from evaluator.commands import grading
    from evaluator.commands.given_files import dataset_for, grader_text, preamble_text
    from evaluator.file_grading import grade_file
    from evaluator.formats.reading.dataset import map_of
    from evaluator.formats.reading.sources import resolve
    from evaluator.options import Options, Settings, limits_of

    if (resume or only) and out is None:
        raise CommandError("--resume and --only need an existing run: name it with --out RUN")
    files = resolve(rollouts, remote=True)
    options = Options(
        limits=limits_of(timeout, memory), checker=checker, grader=grader_text(grader),
        preamble=preamble_text(preamble), fail_fast=fail_fast, isolation=isolation,
        unverified=unverified, disagreement=disagreement, unfinished_thinking=unfinished_thinking,
        sandbox=Settings(strictness=sandbox, python=python),
    )  # fmt: skip
    job = partial(
        grade_file,
        files,
        dataset or dataset_for(files, format_, grader, out if resume or only else None),
        out=out,
        workers=workers,
        engine=engine,
        address=address,
        resume=resume,
        only=only,
        format=format_,
        field_map=map_of(map_),
        dataset_format=dataset_format,
        dataset_map=map_of(dataset_map, "--dataset-map"),
        limit=limit,
        cache=grading.cache_of(cache),
        options=options,
    )
    return grading.grade(job, as_json=json)


@app.command()
def view(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN|ROLLOUTS]...",
            help="Runs, files of rollouts, folders, patterns, - or s3://... [default: the bundled example]",
        ),
    ] = None,
    *,
    dataset: Annotated[Path | None, typer.Option(help="The tasks of ROLLOUTS, to show and to grade them.")] = None,
    format_: FormatOption = None,
    field_map: MapOption = None,
    dataset_format: DatasetFormatOption = None,
    dataset_map: DatasetMapOption = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; the next free one if it is taken.")] = 8501,
    follow: Annotated[bool, typer.Option("--follow", help="Look for new lines in ROLLOUTS every second.")] = False,
    allow_rerun: Annotated[
        bool, typer.Option("--allow-rerun", help="Let visitors from other machines run code in the sandbox.")
    ] = False,
) -> int:
    """Open the dashboard."""
    from evaluator.commands import viewing

    return viewing.view(
        words or [], format_name=format_, field_map=field_map, dataset=dataset, dataset_format=dataset_format,
        dataset_map=dataset_map, host=host, port=port, follow=follow, allow_rerun=allow_rerun,
    )  # fmt: skip


@app.command()
def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run's directory.")],
    to: Annotated[
        str | None, typer.Option(help="FILE.csv, .jsonl, .parquet, or .html for a report. [default: JSONL on stdout]")
    ] = None,
    per: Annotated[Literal["rollout", "case"], typer.Option(help="One row per rollout or per test case.")] = "rollout",
    where: Annotated[str | None, typer.Option(help="SQL condition: \"verdict = 'time_limit' AND wall_s > 5\".")] = None,
    columns: Annotated[str | None, typer.Option(help="Columns to write: A,B,C.")] = None,
) -> int:
    """Write a run's grades as CSV, JSON lines, Parquet or a report in HTML."""
    from evaluator.commands import exporting

    return exporting.export_run(run, to, per=per, where=where, columns=columns)


@app.command()
def formats(
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="File, folder or - to inspect. [default: list the formats]")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Print every bad line; exit status 2 if there are any.")
    ] = False,
    format_: Annotated[str | None, typer.Option("--format", help="Read the file as this format.")] = None,
    map_: Annotated[str | None, typer.Option("--map", help="Field names, ours=theirs.")] = None,
    json: JsonFlag = False,
) -> int:
    """List the supported file formats, or show what a file is and which of its lines are bad."""
    from evaluator.commands import formats as command

    if file is None:
        return command.list_formats(as_json=json)
    return command.inspect(file, format_, map_, check=check, as_json=json)


@app.command()
def check(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="File of tasks.")],
    *,
    format_: Annotated[str | None, typer.Option("--format", help="Read the file as this format.")] = None,
    preamble: PreambleOption = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Worker processes. [default: one per CPU]")] = None,
    json: JsonFlag = False,
) -> int:
    """Inspect a dataset's tests and grade its reference solutions; exit status 1 if there are findings."""
    from evaluator.commands import checking

    return checking.check(dataset, format_name=format_, preamble=preamble, workers=workers, as_json=json)


@app.command()
def serve(
    system: Annotated[
        Literal["grades", "nemo-gym", "agentfly", "colossalai", "sandbox-fusion"],
        typer.Argument(help="grades: for ROLLSCOPE_SERVER. Else the system whose server to replace."),
    ],
    *,
    host: Annotated[str | None, typer.Option(help="Address to listen on. [default: 127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="0: any free port. [default: 8000]")] = None,
    allowed_host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Also accept requests for this host name; repeatable.")
    ] = None,
    max_timeout: Annotated[
        float | None,
        typer.Option(metavar="S", help="Longest time-out a request may set. [default: 60] Not for agentfly."),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="Limits per program; for nemo-gym, server fields.")] = None,
    token_file: Annotated[Path | None, typer.Option(help="grades: clients must send what this file says.")] = None,
    profile: Annotated[bool, typer.Option(help="nemo-gym: report at the end where verification time went.")] = False,
) -> int:
    """Grade over HTTP: for ROLLSCOPE_SERVER, or as another system's server does."""
    from evaluator.commands import serving

    options = serving.ServerOptions(host, port, allowed_host or (), max_timeout, config, profile, token_file)
    return serving.serve(system, options)


@app.command()
def collect(
    rows: Annotated[
        Path, typer.Option("--input", metavar="ROWS", help="Rows with responses_create_params, or native tasks.")
    ],
    output: Annotated[Path, typer.Option(metavar="ROLLOUTS", help="FILE.jsonl; related files are written next to it.")],
    *,
    server: Annotated[
        str | None,
        typer.Option(metavar="URL", help="NeMo Gym resources server, for tools and rewards. [default: none]"),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="The model's endpoint. [default: $OPENAI_BASE_URL, else OpenAI's]")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Model to sample from. [default: the row's]")
    ] = None,
    api: Annotated[Literal["responses", "chat"], typer.Option(help="API of the endpoint.")] = "responses",
    num_repeats: Annotated[int, typer.Option(min=1, help="Rollouts per row.")] = 1,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N rows.")] = None,
    temperature: Annotated[float | None, typer.Option(min=0, help="Overrides the rows'.")] = None,
    top_p: Annotated[float | None, typer.Option(min=0, max=1, help="Overrides the rows'.")] = None,
    max_output_tokens: Annotated[int | None, typer.Option(min=1, help="Limit per answer; overrides the rows'.")] = None,
    max_turns: Annotated[int, typer.Option(min=1, help="Answers per rollout; each may call tools.")] = 16,
    concurrency: Annotated[int, typer.Option(min=1, help="Rollouts in progress at once.")] = 32,
    retries: Annotated[int, typer.Option(min=0, help="Retries per request; the default lasts about a minute.")] = 8,
    timeout: Annotated[float, typer.Option(min=0.001, help="Seconds per request.")] = 600,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume --output: collect what is missing or failed.")
    ] = False,
    json: JsonFlag = False,
) -> int:
    """Sample rollouts from a model, run the tools it calls, and have its answers verified.

    The endpoint's key is $OPENAI_API_KEY. Exit status 1 if some rollouts failed.
    """
    from evaluator.commands import collecting

    sampling = {"model": model, "temperature": temperature, "top_p": top_p, "max_output_tokens": max_output_tokens}
    overrides = {name: value for name, value in sampling.items() if value is not None}
    request = collecting.Request(
        rows=rows,
        output=output,
        base_url=base_url,
        api=api,
        server=server,
        repeats=num_repeats,
        limit=limit,
        overrides=overrides,
        concurrency=concurrency,
        most_turns=max_turns,
        backoff=collecting.Backoff(retries),
        timeout_s=timeout,
        resume=resume,
    )
    return collecting.collect_rollouts(request, as_json=json)


@app.command()
def compare(
    run_a: Annotated[Path, typer.Argument(metavar="RUN_A", help="A run's directory.")],
    run_b: Annotated[
        Path | None, typer.Argument(metavar="[RUN_B]", help="Another run's. [default: RUN_A, for two of its models]")
    ] = None,
    *,
    model_a: Annotated[str | None, typer.Option(metavar="NAME", help="Only this model's rollouts of RUN_A.")] = None,
    model_b: Annotated[str | None, typer.Option(metavar="NAME", help="Only this model's rollouts of RUN_B.")] = None,
    json: JsonFlag = False,
) -> int:
    """Compare two runs, or two models, task by task; exit status 1 if B is worse beyond chance."""
    from evaluator.commands import comparing

    return comparing.compare_runs(run_a, run_b, model_a, model_b, as_json=json)


@app.command()
def audit(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run's directory.")],
    *,
    checkers: Annotated[str, typer.Option(help="Two or more: floats,livecodebench,colossalai.")] = "",
    extractors: Annotated[bool, typer.Option("--extractors", help="Instead: grade other parts of the texts.")] = False,
    workers: Annotated[int | None, typer.Option(min=1, help="Worker processes. [default: one per CPU]")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N rollouts.")] = None,
    json: JsonFlag = False,
) -> int:
    """List the rollouts whose reward depends on the checker, or extractor; exit status 1 if there are any."""
    from evaluator.commands import auditing

    return auditing.audit(run, checkers, extractors=extractors, workers=workers, limit=limit, as_json=json)


@app.command()
def doctor(
    python: Annotated[str | None, typer.Option(help="Interpreter for completions. [default: this one]")] = None,
    json: JsonFlag = False,
) -> int:
    """Prove every layer of the sandbox on this machine; exit status 1 if one does not hold."""
    from evaluator.commands import doctor as command

    return command.diagnose(python=python, as_json=json)


@app.command()
def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="A dataset, rollouts as for `grade`, or a run.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="FILE.jsonl, or .parquet")],
    *,
    to: Annotated[
        Literal["native", "nemo-gym", "nemo_gym", "humaneval", "evalplus", "verl", "parquet"],
        typer.Option(help="Format to write."),
    ],
    dataset: Annotated[Path | None, typer.Option(help="Tasks of the rollouts in IN.")] = None,
    format_: Annotated[str | None, typer.Option("--format", help="Read IN as this format.")] = None,
    map_: Annotated[str | None, typer.Option("--map", help="Field names in IN, ours=theirs.")] = None,
    agent: Annotated[str, typer.Option(help="nemo_gym: agent named in the rollouts.")] = "rollscope_simple_agent",
) -> int:
    """Write a dataset, rollouts or a run in another format."""
    from evaluator.commands import converting

    request = converting.Request(
        source=source, out=out, to=to, dataset=dataset, format=format_, field_map=map_, agent=agent
    )
    return converting.convert(request)


@app.command("init-server")
def init_server(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder.")],
    *,
    name: Annotated[str | None, typer.Option(help="The server's name. [default: the folder's]")] = None,
) -> int:
    """Write a resource server for NeMo Gym, complete with tasks and tests."""
    from evaluator.commands import server_testing

    return server_testing.init_server(folder, name=name)


@app.command("test-server")
def try_server(
    server: Annotated[str, typer.Argument(metavar="DIR|URL", help="A server's folder, or a running server.")],
    *,
    rows: Annotated[Path | None, typer.Option(help="JSONL of rows to send. [default: DIR/data/example.jsonl]")] = None,
    validate_data: Annotated[bool, typer.Option("--validate-data", help="Also check its data and configs.")] = False,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds to wait at start, and per answer.")] = 60,
    json: JsonFlag = False,
) -> int:
    """Try everything a trainer asks of a resource server; exit status 1 if something fails."""
    from evaluator.commands import server_testing

    return server_testing.try_server(server, rows=rows, validate_data=validate_data, timeout=timeout, as_json=json)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit with its status."""
    long_numbers.allow()
    try:
        status = _run(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
        sys.exit(status)
    except BrokenPipeError:  # the reader of the pipe closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: list[str]) -> int:
    try:
        result = typer.main.get_command(app).main(arguments, prog_name="rollscope", standalone_mode=False)
        return result if isinstance(result, int) else Exit.DONE
    except (KeyboardInterrupt, typer.Abort):
        return fail("stopped", Exit.STOPPED)
    except BrokenPipeError:
        raise
    except Exception as error:
        if (status := report(error)) is None:
            raise
        return status


if __name__ == "__main__":
    main()
