"""The files that the options name, `--dataset`, `--grader` and `--preamble`, and those that lie beside the rollouts.

What is found beside NeMo Gym rollouts is told in one line on stderr.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from evaluator import syntax
from evaluator.commands.output import CommandError
from evaluator.formats import FormatError, Role, Source, load_rollouts
from evaluator.formats.nemo_gym_files import (
    failures_path,
    materialized_inputs_path,
    read_failures,
    roles_of,
    tasks_files,
)
from evaluator.formats.reading.sources import source_names
from evaluator.graders import get_grader, needs_tasks
from evaluator.graders.spec import anchored
from evaluator.model import JsonValue
from evaluator.runs.files import is_run, read_manifest
from evaluator.tasks import long_numbers
from evaluator.tasks.import_headers import LIVECODEBENCH


def dataset_for(rollouts: list[Source], format_name: str | None, grader: str | None, run: Path | None) -> Path | None:
    """The tasks where no `--dataset` was given: None for those in the rollouts' own rows.

    `run`: the run to resume, whose grader holds if no other is given. Raises `CommandError` where a grader that needs
    tasks has none.
    """
    if grader is None and run is not None and is_run(run):
        grader = read_manifest(run).options.grader
    path = rollouts[0].path
    found = found_dataset(rollouts, format_name)
    if found is None and needs_tasks(grader_text(grader)):
        missing = "Missing option '--dataset'"
        if len(rollouts) == 1 and Role.ROLLOUTS in roles_of(path, format_name):
            missing += f": the rollouts have no tests, and there is no {materialized_inputs_path(path)}"
        missing += _known_dataset(rollouts, format_name)
        raise CommandError(f"{missing} (see rollscope grade --help)")
    return None if found is None or found == rollouts else found[0].path


_DATASETS: Final = {
    r"HumanEval/\d+": "HumanEval: https://github.com/openai/human-eval (data/HumanEval.jsonl.gz)",
    r"Mbpp/\d+": "MBPP+: https://github.com/evalplus/mbppplus_release/releases (MbppPlus.jsonl.gz)",
    r"BigCodeBench/\d+": "BigCodeBench: https://huggingface.co/datasets/bigcode/bigcodebench",
    r"a[bgr]c\d+_[a-z]\d?|\d{3,4}_[A-Z]\d?": "LiveCodeBench: "
    "https://huggingface.co/datasets/livecodebench/code_generation_lite (test*.jsonl)",
    r"\d{1,4}/[A-Z]\d?": "codeforces: https://huggingface.co/datasets/open-r1/codeforces",
    r"sample_\d+": "CRUXEval: https://huggingface.co/datasets/cruxeval-org/cruxeval (test.jsonl)",
    r"ClassEval_\d+": "ClassEval: https://huggingface.co/datasets/FudanSELab/ClassEval",
    r"Python/\d+": "HumanEval-X: https://huggingface.co/datasets/THUDM/humaneval-x (data/python)",
}
"""What the ids of known datasets look like, and where these are."""
_IDS: Final = 5


def _known_dataset(rollouts: list[Source], format_name: str | None) -> str:
    """Which dataset the first ids look like, if any."""
    with suppress(FormatError):
        ids = [rollout.task_id for rollout in islice(load_rollouts(rollouts, format_name), _IDS)]
        for pattern, dataset in _DATASETS.items():
            if ids and all(re.fullmatch(pattern, task_id) for task_id in ids):
                return f"; the ids look like those of {dataset}"
    return ""


def found_dataset(rollouts: list[Source], format_name: str | None = None) -> list[Source] | None:
    """The files with the tasks of such rollouts, if they are found."""
    found = tasks_files(rollouts, format_name)
    if found == rollouts:
        names = ", ".join(source_names(rollouts))
        print(f"tasks from {names} itself: its rows have the tests", file=sys.stderr)
    elif found is not None:
        print(f"tasks from {found[0]}, found next to the rollouts", file=sys.stderr)
    return found


def tell_failures(rollouts: Path, format_name: str | None) -> None:
    """Print how many rollouts failed, by reason: no other file has them."""
    path = failures_path(rollouts)
    if not path.is_file() or not roles_of(rollouts, format_name):
        return
    try:
        failures = read_failures(path)
    except FormatError as error:
        print(error, file=sys.stderr)
        return
    if failures:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in failures.most_common())
        print(f"{path}: failed, without a completion: {failures.total():,} ({kinds})", file=sys.stderr)


_READERS: Final[dict[str, Callable[[str], JsonValue]]] = {".json": long_numbers.loads, ".toml": tomllib.loads}


def grader_text(given: str | None) -> str | None:
    """The requested grader as one text that means the same in every folder; a run stores it for `--resume`.

    Raises `GraderError` or `CommandError` if it names no valid grader.
    """
    if given is None:
        return None
    path = Path(given).expanduser()
    if path.suffix.lower() in _READERS and not given.lstrip().startswith("{"):
        text = anchored(json.dumps(_read(path), sort_keys=True), path.resolve().parent)
    else:
        text = anchored(given.strip(), Path.cwd())
    get_grader(text)
    return text


def _read(path: Path) -> dict[str, JsonValue]:
    kind = path.suffix.lower()
    try:
        row = _READERS[kind](path.read_text(encoding="utf-8-sig"))
        json.dumps(row)  # rejects TOML's dates, which no option takes
    except (ValueError, TypeError, RecursionError) as error:
        raise CommandError(f"{path}: can't be read as {kind[1:].upper()}: {error}") from None
    if not isinstance(row, dict):
        raise CommandError(f'{path}: must hold an object, for example {{"name": "tests"}}')
    return row


_NAMED: Final = {"none": "", "lcb": LIVECODEBENCH}


def preamble_text(given: str | None) -> str | None:
    """The requested code; None for the tasks' own. Raises `CommandError` for a file that is not Python."""
    if given is None or given in _NAMED:
        return _NAMED.get(given or "")
    path, instead = Path(given).expanduser(), "give a Python file, none or lcb"
    try:
        text = path.read_text(encoding="utf-8-sig")
        syntax.parse(text, str(path))
    except OSError as error:
        raise CommandError(f"--preamble: {path} can't be read: {error.strerror}: {instead}") from None
    except SyntaxError as error:
        raise CommandError(f"--preamble: {path}:{error.lineno}: {error.msg}: fix this line, or {instead}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise CommandError(f"--preamble: {path} is not Python: {error}: {instead}") from None
    return text
