"""What a client and a server of grades say to each other over HTTP, in JSON.

    GET /        ->  {"rollscope": VERSION, "workers": N}
    POST /grade  ->  a line of JSON for each grade as soon as it is there, in any order; empty lines in between, so that
                     both ends notice when the other has gone

The request has `version`, `options` (as in `run.json`), `rollouts`, and `tasks`, each as a text of JSON. A rollout
names its task by `task_key` of that text. A server keeps tasks, so a client sends each once:

| status | answer | what the client does |
|---|---|---|
| 200 | lines of `GradeLine` | |
| 401 | `{"error"}` | raises `EngineError`: the token is missing or wrong |
| 409 | `{"missing": [KEY, ...]}` | sends the request again, with these tasks |
| 422 | `{"error"}` | raises `EngineError`: another version, or something that only this machine has |
| 503 | `{"error"}` | tries again in a moment: the server is full |
"""

from __future__ import annotations

import hashlib
import json
from typing import Final, TypeVar

import msgspec

from evaluator.graders import GraderError, get_grader
from evaluator.graders.spec import files_named
from evaluator.model import Grade, Rollout, Task
from evaluator.options import Options
from evaluator.tasks import long_numbers, nesting
from evaluator.tasks.parts import JsonValue

SERVER: Final = "ROLLSCOPE_SERVER"
"""The environment variable with the server's URL, or several with commas between them."""
TOKEN: Final = "ROLLSCOPE_SERVER_TOKEN"  # noqa: S105 - a name
"""The environment variable with what the server's `--token-file` says."""
PULSE_S: Final = 10.0
"""How often a server that has nothing to say sends an empty line."""

Record = TypeVar("Record")


class Asked(msgspec.Struct):
    """A rollout in a request."""

    number: int
    """Names it in the answer."""
    task: str
    """`task_key`."""
    rollout: Rollout


class Request(msgspec.Struct):
    """The body of `POST /grade`."""

    version: str
    options: Options
    rollouts: list[Asked]
    tasks: list[str] = []
    """Those that the server may not have, as texts of JSON."""


class GradeLine(msgspec.Struct):
    """A line of the answer."""

    number: int
    grade: Grade


def task_key(text: str) -> str:
    """Names a task by its text."""
    return hashlib.blake2b(text.encode("ascii"), digest_size=16).hexdigest()


def text_of(record: object) -> str:
    """A record as JSON, in ASCII: so it holds every text, and numbers of any size."""
    return json.dumps(msgspec.to_builtins(record))


def record_in(text: str | bytes, kind: type[Record]) -> Record:
    """The record of JSON. Raises `ValueError` with one line for anything else."""
    return msgspec.convert(loads(text if isinstance(text, str) else text.decode("ascii")), kind)


def loads(text: str) -> JsonValue:
    """The value of a record's JSON. Raises `ValueError`. A record may hold a row's values a few levels down."""
    return long_numbers.loads(text, 2 * nesting.MOST)


def task_in(text: str) -> Task:
    """The task of a text. Raises `ValueError`."""
    return record_in(text, Task)


def sent_options(options: Options) -> Options:
    """What a server needs of the options: the sandbox and the cache of grades are its own."""
    return msgspec.structs.replace(options, sandbox=type(options.sandbox)(), cache=None)


def is_for_servers(grader: str | None) -> bool:
    """Whether a server may run it: not a file of the caller's, and not one that asks a model with a key."""
    try:
        return grader is None or not (files_named(grader) or get_grader(grader).waits)
    except GraderError:  # which the grades say
        return True
