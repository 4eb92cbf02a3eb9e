"""The options of every command, and their help.

An option means the same in every command, and has the same short form (`_SHORT`).
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

Kind = Callable[[str], object] | tuple[str, ...]
"""What the text of an option becomes; or the words of which it is one, the first by default."""
Option = tuple[tuple[str, ...], dict[str, Any]]
"""What `add_argument` takes, and perhaps a `group` of the help."""

_SHORT: Final = {
    "--output": "-o", "--dataset": "-d", "--workers": "-j", "--limit": "-n", "--port": "-p", "--quiet": "-q",
}  # fmt: skip


def _option(flag: str, text: str, kind: Kind = str, default: Any = None, **more: Any) -> Option:
    """An option, which is passed under its own name unless `dest` gives another."""
    flags = (_SHORT[flag], flag) if flag in _SHORT else (flag,)
    if kind is bool:
        return flags, {"help": text, "action": "store_true", **more}
    if isinstance(kind, tuple):
        return flags, {"help": text, "choices": kind, "default": kind[0], **more}
    metavar = "FILE" if kind is _path else "VALUE"
    return flags, {"help": text, "type": kind, "default": default, "metavar": metavar, **more}


def _group(title: str, *options: Option) -> list[Option]:
    """Options that stand together in the help."""
    return [(flags, settings | {"group": title}) for flags, settings in options]


def _hyphened(text: str) -> str:
    """`nemo-gym` for `nemo_gym`, which its format is called."""
    return text.replace("_", "-")


def _format(text: str) -> str:
    """The name of a format, in which a hyphen is as good."""
    return text.replace("-", "_")


def is_path(option: Option) -> bool:
    """Whether its value is a path, or may be one."""
    metavar = option[1].get("metavar") or ""
    return option[1].get("type") is _path or any(word in metavar for word in ("FILE", "PATH", "DIR"))


def _argument(name: str, metavar: str, text: str, kind: Kind = str, **more: Any) -> Option:
    return (name,), {"help": text, "metavar": metavar, "type": kind, **more}


def _from(least: float, kind: type[float] = int, most: float | None = None) -> Callable[[str], float]:
    """A number that is not below the least one, nor above `most`."""

    def number(text: str) -> float:
        value = kind(text)
        if not least <= value or (most is not None and value > most):
            up = "" if most is None else f" to {most:g}"
            raise argparse.ArgumentTypeError(f"{text} is out of range: give a number from {least:g}{up}")
        return value

    number.__name__ = "whole number" if kind is int else "number"
    return number


def _seconds(text: str) -> float:
    """Such as `10` or `10s`."""
    return _from(0.5, float)(text.removesuffix("s"))


def _rate(text: str) -> float:
    """A share, such as `0.8` or `80%`."""
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text} is out of range: give a number from 0 to 1, or a percentage, 50%")
    return share


def _path(text: str) -> Path:
    if "\0" in text:  # it would be found out somewhere else each time
        raise argparse.ArgumentTypeError(f"{text!r} is not a path")
    return Path(text)


_JSON: Final = _option("--json", "Machine-readable output on stdout.", bool, dest="as_json")
_FORMAT: Final = _option(
    "--format",
    "Format of the rollouts (see `rollscope formats`). [default: detected]",
    _format,
    dest="format_name",
    metavar="NAME",
)
_MAP: Final = _option(
    "--map", "The rollouts' field names: task_id=uid,completion=text.", dest="field_map", metavar="OURS=THEIRS,..."
)
_DATASET_FORMAT: Final = _option(
    "--dataset-format", "Format of the dataset. [default: detected]", _format, metavar="NAME"
)
_DATASET_MAP: Final = _option("--dataset-map", "The dataset's field names.", metavar="OURS=THEIRS,...")
_FILE_FORMAT: Final = _option("--format", "Read the file as this format.", _format, dest="format_name", metavar="NAME")
_FILE_MAP: Final = _option("--map", "Field names in the file, ours=theirs.", dest="field_map")
_RUN: Final = _argument("run", "RUN", "A run's directory.", _path)
_FIRST: Final = _option("--limit", "Only the first N rollouts.", _from(1), metavar="N")
_PROCESSES: Final = _option("--workers", "Worker processes. [default: one per CPU]", _from(1), metavar="N")
_PREAMBLE: Final = _option(
    "--preamble",
    "Code before every completion: none, LiveCodeBench's imports, or a Python file. [default: the task's]",
    metavar="none|lcb|FILE",
)
_PYTHON: Final = _option(
    "--python", "The Python whose packages completions see. [default: this one, with numpy]", metavar="PATH"
)

_GRADE: Final = [
    _argument("rollouts", "ROLLOUTS", "Files of rollouts, folders, patterns, - or s3://...", nargs="+"),
    *_group(
        "input",
        _option("--dataset", "File of tasks with test cases. [default: that of the rollouts, if they have one]", _path),
        _FORMAT, _MAP, _DATASET_FORMAT, _DATASET_MAP, _FIRST,
    ),
    *_group(
        "the run",
        _option("--output", "The run's directory. [default: runs/<stem>-<UTC time>]", _path, dest="out", metavar="RUN"),
        _option("--resume", "Resume the run in --output.", bool),
        _option("--only", "Regrade rollouts with these verdicts (a,b) or that match this SQL condition."),
        _option(
            "--cache", "Where to keep grades for later runs. [default: the user's cache directory]", metavar="DIR|none"
        ),
        _option("--fail-under", "Exit status 1 if pass@1 is below: 0.8 or 80%%.", _rate, metavar="RATE"),
        _JSON,
    ),
    *_group(
        "how it is graded",
        _option(
            "--grader", "NAME, NAME:key=value,..., FILE.json, FILE.toml or FILE.py:FUNCTION. [default: tests]",
            metavar="NAME|FILE",
        ),
        _option("--checker", "Comparison rule. [default: the task's]", metavar="NAME"),
        _PREAMBLE,
        _option("--fail-fast", "Skip a completion's remaining tests after its first failure.", bool),
        _option(
            "--unverified", "Unverified grades keep their reward, or become unknown without one.", ("keep", "unknown")
        ),
        _option(
            "--disagreement", "A suite that fails in two processes and passes in one: unknown, passed or failed.",
            ("unknown", "keep", "fail"),
        ),
        _option(
            "--unfinished-thinking",
            "A completion that ends while thinking has no code, or its thoughts are searched for code.",
            ("no_code", "grade"),
        ),
    ),
    *_group(
        "limits and sandbox",
        _option("--timeout", "Wall and CPU seconds per test case. [default: 10]", float, metavar="S"),
        _option("--memory", "Resident MiB per test case. [default: 1024]", float, metavar="MB"),
        _option(
            "--time-factor", "Times the time limits that the dataset states; 0: ignore these. [default: 5]",
            _from(0, float, 1000), 5.0, metavar="X",
        ),
        _option("--isolation", "A fresh process for each completion or each test case.", ("completion", "test")),
        _option("--sandbox", "Run only if the sandbox is proved, or with whatever works.", ("strict", "degraded")),
        _PYTHON,
    ),
    *_group(
        "where it runs",
        _option(
            "--workers", "Completions graded at once; with ray, per machine. [default: one per CPU]", _from(1),
            metavar="N",
        ),
        _option("--engine", "Grade on this machine, or on a Ray cluster.", ("local", "ray")),
        _option(
            "--address", "ray: the cluster's head. [default: auto, the cluster of this machine]", metavar="HOST:PORT"
        ),
    ),
]  # fmt: skip
_VIEW: Final = [
    _argument(
        "words", "RUN|ROLLOUTS", "Runs, files of rollouts, folders, patterns, - or s3://... [default: the bundled "
        "example]", nargs="*",
    ),
    _option("--dataset", "The tasks of ROLLOUTS, to show and to grade them.", _path),
    _FORMAT, _MAP, _DATASET_FORMAT, _DATASET_MAP,
    _option("--host", "Address to listen on. [default: 127.0.0.1]", default="127.0.0.1", metavar="ADDRESS"),
    _option(
        "--port", "Port; the next free one if it is taken. [default: 8501]", _from(0, int, 65535), 8501, metavar="N"
    ),
    _option("--no-browser", "Open no browser.", bool),
    _option("--follow", "Look for new lines in ROLLOUTS every second.", bool),
    _option("--allow-rerun", "Let visitors from other machines run code in the sandbox.", bool),
]  # fmt: skip
_EXPORT: Final = [
    _RUN,
    _option(
        "--output",
        "FILE.csv, .jsonl, .parquet, or .html for a report. [default: JSONL on stdout]",
        dest="to",
        metavar="FILE",
    ),
    _option("--per", "One row per rollout or per test case.", ("rollout", "case")),
    _option("--where", "SQL condition: \"verdict = 'time_limit' AND wall_s > 5\"."),
    _option("--columns", "Columns to write: A,B,C."),
]
_FORMATS: Final = [
    _argument("file", "FILE", "File, folder or - to inspect. [default: list the formats]", nargs="?"),
    _option("--check", "Print every bad line; exit status 2 if there are any.", bool),
    _FILE_FORMAT,
    _FILE_MAP,
    _JSON,
]
_CHECK: Final = [
    _argument("dataset", "DATASET", "File of tasks, folder, pattern, - or s3://..."),
    _FILE_FORMAT,
    _FILE_MAP,
    _PREAMBLE,
    _PYTHON,
    _PROCESSES,
    _JSON,
]
_SYSTEMS: Final = {
    "grades": "grades for other processes and machines: ROLLSCOPE_SERVER",
    "nemo-gym": "a resource server of NeMo Gym",
    "agentfly": "AgentFly's Python environment",
    "colossalai": "ColossalAI's code verifier",
    "sandbox-fusion": "SandboxFusion, and open-instruct's code API",
}
_SERVE: Final = [
    _argument("system", "SYSTEM", "What to serve; see below.", _hyphened, choices=tuple(_SYSTEMS)),
    _option("--host", "Address to listen on. [default: 127.0.0.1]", metavar="ADDRESS"),
    _option("--port", "0: any free port. [default: 8000]", _from(0, int, 65535), metavar="N"),
    _option(
        "--allowed-host", "Also accept requests for this host name; repeatable.", default=[], action="append",
        dest="allowed_hosts", metavar="NAME",
    ),
    _option(
        "--max-timeout", "Longest time-out a request may set. [default: 60] Not for agentfly.", float, metavar="S"
    ),
    _option("--config", "Limits per program; for nemo-gym, server fields.", _path),
    _option("--token-file", "Clients must send `Authorization: Bearer` with what this file says.", _path),
    _option("--profile", "nemo-gym: report at the end where verification time went.", bool),
]  # fmt: skip
_COLLECT: Final = [
    _option(
        "--input", "Rows with responses_create_params, or native tasks.", _path, dest="rows", metavar="ROWS",
        required=True,
    ),
    _option("--output", "FILE.jsonl; related files are written next to it.", _path, metavar="ROLLOUTS", required=True),
    _option("--server", "NeMo Gym resources server, for tools and rewards. [default: none]", metavar="URL"),
    _option("--base-url", "The model's endpoint. [default: $OPENAI_BASE_URL, else OpenAI's]", metavar="URL"),
    _option("--model", "Model to sample from. [default: the row's]", metavar="NAME"),
    _option("--api", "API of the endpoint.", ("responses", "chat")),
    _option("--num-repeats", "Rollouts per row. [default: 1]", _from(1), 1),
    _option("--limit", "Only the first N rows.", _from(1), metavar="N"),
    _option("--temperature", "Overrides the rows'.", _from(0, float)),
    _option("--top-p", "Overrides the rows'.", _from(0, float, 1)),
    _option("--max-output-tokens", "Limit per answer; overrides the rows'.", _from(1)),
    _option("--max-turns", "Answers per rollout; each may call tools. [default: 16]", _from(1), 16),
    _option("--concurrency", "Rollouts in progress at once. [default: 32]", _from(1), 32),
    _option("--retries", "Retries per request; the default lasts about a minute. [default: 8]", _from(0), 8),
    _option("--timeout", "Seconds per request. [default: 600]", _from(0.001, float), 600.0),
    _option("--resume", "Resume --output: collect what is missing or failed.", bool),
    _JSON,
]  # fmt: skip
_COMPARE: Final = [
    _argument("run_a", "RUN_A", "A run's directory.", _path),
    _argument("run_b", "RUN_B", "Another run's. [default: RUN_A, for two of its models or steps]", _path, nargs="?"),
    _option("--model-a", "Only this model's rollouts of RUN_A.", metavar="NAME"),
    _option("--model-b", "Only this model's rollouts of RUN_B.", metavar="NAME"),
    _option("--step-a", "Only this training step of RUN_A.", int, metavar="N"),
    _option("--step-b", "Only this training step of RUN_B.", int, metavar="N"),
    _JSON,
]
_AUDIT: Final = [
    _RUN,
    _option("--checkers", "Two or more: floats,livecodebench,colossalai.", default=""),
    _option("--extractors", "Instead: grade other parts of the texts.", bool),
    _PROCESSES,
    _FIRST,
    _JSON,
]
_STRENGTHEN: Final = [
    _argument("dataset", "DATASET", "File of tasks, folder, pattern, - or s3://..."),
    _option("--rollouts", "Rollouts of these tasks, or a run: those that pass and disagree.", metavar="FILE|RUN"),
    _option("--output", "The dataset with the added test cases, FILE.jsonl.", _path, dest="out", required=True),
    _option("--budget", "Seconds per task. [default: 10]", _seconds, 10.0, metavar="S"),
    _option("--seed", "Another one makes other inputs. [default: 0]", _from(0), 0, metavar="N"),
    _FILE_FORMAT,
    _FILE_MAP,
    _PYTHON,
    _PROCESSES,
    _JSON,
]
_CONVERT: Final = [
    _argument("source", "IN", "A dataset, rollouts as for `grade`, or a run."),
    _argument("out_word", "OUT", "The same as --output OUT.", _path, nargs="?"),
    _option("--output", "FILE.jsonl, or .parquet; must not exist yet.", _path, dest="out"),
    _option(
        "--to", "Format to write.", ("native", "nemo-gym", "humaneval", "evalplus", "verl", "parquet"),
        type=_hyphened, required=True,
    ),
    _option("--dataset", "Tasks of the rollouts in IN.", _path),
    _FILE_FORMAT,
    _FILE_MAP,
    _option(
        "--agent", "nemo-gym: agent named in the rollouts. [default: rollscope_simple_agent]",
        default="rollscope_simple_agent",
    ),
]  # fmt: skip
_TEST_SERVER: Final = [
    _argument("server", "DIR|URL", "A server's folder, or a running server."),
    _option("--rows", "JSONL of rows to send. [default: DIR/data/example.jsonl]", _path),
    _option("--validate-data", "Also check its data and configs.", bool),
    _option("--timeout", "Seconds to wait at start, and per answer. [default: 60]", _from(1, float), 60.0),
    _JSON,
]


class Command(NamedTuple):
    """What a command does, and with which options."""

    function: str
    """`module:function`, in `evaluator.commands`; it takes each option by its name, and returns the exit status."""
    about: str
    """The first sentence stands in the list of commands."""
    options: Sequence[Option]
    words: Mapping[str, str] = {}
    """What each of an argument's words is."""
    renamed: Mapping[str, str] = {}
    """Options' other names, which mean the same."""


COMMANDS: Final = {
    "grade": Command(
        "grading:grade", "Grade rollouts and keep the grades as a run.", _GRADE, renamed={"--out": "--output"}
    ),
    "view": Command("viewing:view", "Open the dashboard; `rollscope FILE` does too.", _VIEW),
    "export": Command(
        "exporting:export_run", "Write a run as CSV, JSON lines, Parquet or HTML.", _EXPORT,
        renamed={"--to": "--output"},
    ),
    "formats": Command(
        "formats:formats", "Show what a file is and its bad lines, or list all formats.", _FORMATS
    ),
    "check": Command(
        "checking:check",
        "Inspect a dataset's tests and grade its references. Exit status 1 if there are findings.", _CHECK,
    ),
    "serve": Command(
        "serving:serve", "Grade over HTTP, in place of another system's server too.", _SERVE, words=_SYSTEMS
    ),
    "collect": Command(
        "collecting:collect_rollouts",
        "Sample rollouts from a model and have them verified. Runs the tools that it calls. The endpoint's key is "
        "$OPENAI_API_KEY. Exit status 1 if some rollouts failed.",
        _COLLECT,
    ),
    "compare": Command(
        "comparing:compare_runs",
        "Compare two runs, models or steps task by task. Exit status 1 if B is worse beyond chance.", _COMPARE,
    ),
    "audit": Command(
        "auditing:audit",
        "List rewards that depend on the checker or extractor. Exit status 1 if there are any.", _AUDIT,
    ),
    "strengthen": Command(
        "strengthening:strengthen_dataset",
        "Find tests that pay wrong programs, and add better ones. Exit status 1 if there are any.", _STRENGTHEN,
        renamed={"--out": "--output"},
    ),
    "doctor": Command(
        "doctor:diagnose", "Prove every layer of the sandbox here. Exit status 1 if one does not hold.",
        [_PYTHON, _JSON],
    ),
    "convert": Command("converting:convert", "Write a dataset, rollouts or a run in another format.", _CONVERT),
    "init-server": Command(
        "server_testing:init_server", "Write a resource server for NeMo Gym, with tasks and tests.",
        [
            _argument("folder", "DIR", "A new or empty folder.", _path),
            _option("--name", "The server's name. [default: the folder's]"),
        ],
    ),
    "test-server": Command(
        "server_testing:try_server",
        "Try everything a trainer asks of a resource server. Exit status 1 if something fails.", _TEST_SERVER,
    ),
    "config": Command(
        "configuration:show", "Show every setting and where it comes from.",
        [_argument("command", "COMMAND", "Only this command's. [default: all]", nargs="?"), _JSON],
    ),
    "cache": Command(
        "caching:show_caches", "Show what is cached and how large it is, or clear it.",
        [
            _argument("names", "NAME", "Only these. [default: all]", nargs="*"),
            _option("--clear", "Remove them; nothing is lost but time.", bool),
            _JSON,
        ],
    ),
}  # fmt: skip
EVERYWHERE: Final = [
    _option("--quiet", "No progress and notes on stderr; errors only.", bool),
    _option("--log-json", "stderr as JSON lines: time, level, message.", bool),
]
"""The options of every command."""
