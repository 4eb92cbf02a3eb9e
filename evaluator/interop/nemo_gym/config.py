"""The configuration of a resource server: from a file, the command line, NeMo Gym's environment variables, or
defaults.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, field_validator

from evaluator.checkers import CheckerError, get_checker
from evaluator.extras import MissingExtraError
from evaluator.graders import GraderError, get_grader
from evaluator.graders.spec import anchored
from evaluator.interop.http_server import host_name
from evaluator.interop.nemo_gym.wire import JsonObject
from evaluator.model import Limits, RecordError, Task
from evaluator.options import Disagreements, Options, Unverified

CONFIG_DICT: Final = "NEMO_GYM_CONFIG_DICT"
"""The environment variable with the whole configuration, as YAML."""
CONFIG_PATH: Final = "NEMO_GYM_CONFIG_PATH"
"""The environment variable with the name of the server's instance."""

SERVERS: Final = "resources_servers"
_NEMO_GYMS_FIELDS: Final = {
    "entrypoint", "domain", "verified", "verified_url", "description", "value", "num_workers", "debug",
    "expose_tools_over_mcp",
}  # fmt: skip
_EXAMPLE: Final = "grader: tests:reward=fraction"


class ConfigError(ValueError):
    """A bad configuration: one line that says what is wrong and how to fix it."""


class ServerConfig(BaseModel):
    """The fields of a server's configuration; a subclass may add its own. Unknown ones are ignored.

        ServerConfig(grader="tests:reward=fraction", run_all_tests=True)

    Raises pydantic's `ValidationError`; `config_from_file` also checks `grader` and `checker`.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: str = "rollscope"
    host: str = "127.0.0.1"
    port: int = 8000
    allowed_hosts: tuple[str, ...] = ()
    """More names of the server in a request's `Host`: see `http_server.Hosts`."""
    max_request_mb: float = Field(default=256.0, gt=0)
    """MiB, the largest request."""

    grader: str | dict[str, JsonValue] | None = None
    """The default grader of rows: `NAME`, `NAME:key=value,...`, a table with `name` and options, or
    `FILE.py:FUNCTION`. None: tests, or `exact_match` if a row has an answer instead of tests."""
    checker: str | None = "nemo_gym"
    """The default checker of rows; `nemo_gym` compares as code_gen of release 0.7."""
    run_all_tests: bool = False
    """Whether to continue after a completion's first failing test case. code_gen does not."""
    unfenced_code: bool = False
    """Whether an answer without a closed code fence may be code. Not in code_gen."""
    public_tests: int = Field(default=0, ge=0)
    """How many test cases the model may run by `/run_tests` if the row has no `public_tests`."""
    reasoning_format_penalty: float = 0.0
    """The reward if the answer has thinking tags, or the reasoning more than one pair."""
    unverified: Unverified = "keep"
    """What to do with a grade made in the completion's own process: `unknown` masks it."""
    disagreement: Disagreements = "unknown"
    """What a suite is that fails in two processes and passes in one: masked, passed (`keep`) or failed."""

    unit_test_timeout_secs: float = Field(default=10.0, gt=0)
    """Wall and CPU seconds per test case."""
    max_timeout_secs: float = Field(default=60.0, gt=0)
    """The largest time limits per test case that a row may set; at least `unit_test_timeout_secs`."""
    memory_mb: float = Field(default=1024.0, gt=0)
    """Resident MiB per test case."""
    num_processes: int | None = Field(default=None, ge=1)
    """How many completions are verified at once, at most one per CPU; None: one per CPU."""
    session_idle_secs: float = Field(default=600.0, gt=0)
    """Seconds without a request after which a session's state is dropped."""
    max_sessions: int = Field(default=32, ge=1)
    """How many sessions may have an interpreter (`keep_state`) at once."""

    profile: bool = False
    """Whether to print the time per stage of verifying at the end: a table on stderr, JSON on stdout."""

    @field_validator("allowed_hosts")
    @classmethod
    def _names(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(host_name(name) for name in value)

    @property
    def grader_text(self) -> str | None:
        """The grader as `evaluator.graders.get_grader` takes it."""
        return json.dumps(self.grader, sort_keys=True) if isinstance(self.grader, dict) else self.grader

    @property
    def limits(self) -> Limits:
        """Per test case; `with_time_for_all` sets the time for all of them."""
        seconds = self.unit_test_timeout_secs
        return Limits(wall_s=seconds, cpu_s=seconds, memory_mb=self.memory_mb, virtual_mb=max(4096, self.memory_mb))

    @property
    def options(self) -> Options:
        """How rows are verified."""
        return Options(
            limits=self.limits,
            checker=self.checker,
            grader=self.grader_text,
            fail_fast=not self.run_all_tests,
            unverified=self.unverified,
            disagreement=self.disagreement,
        )


Config = TypeVar("Config", bound=ServerConfig)


def config_from(kind: type[Config], fields: Mapping[str, object], where: str, folder: Path | None = None) -> Config:
    """A configuration from a mapping; `folder` anchors relative paths. Raises `ConfigError`, prefixed by `where`."""
    try:
        config = kind.model_validate(dict(fields))
        if config.grader is not None:
            text = anchored(config.grader_text or "", folder or Path.cwd())
            get_grader(text)
            config = config.model_copy(update={"grader": text})
        if config.checker is not None:
            get_checker(config.checker)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{where}: {place}: {first['msg'].lower()} (it is {first['input']!r:.60})") from None
    except (GraderError, CheckerError, MissingExtraError) as error:
        raise ConfigError(f"{where}: {error}") from None
    return config


def config_from_file(kind: type[Config], path: Path) -> Config:
    """A configuration from FILE.yaml, FILE.toml or FILE.json.

    `kind`: the class to build. The file has a server's fields at the top level, or is a configuration of NeMo Gym with
    one resources server. Raises `ConfigError`, also for a field that does not exist.
    """
    try:
        content = content_of(path)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: must be an object, for example {_EXAMPLE!r}")
    fields = _of_server(content, None, str(path))
    known = kind.model_fields.keys() | (set() if fields is content else _NEMO_GYMS_FIELDS)
    unknown = sorted(map(str, fields.keys() - known))
    if unknown:
        raise ConfigError(
            f"{path}: {unknown[0]} is not a field of a server: give any of {', '.join(kind.model_fields)}"
        )
    return config_from(kind, fields, str(path), path.resolve().parent)


def config_from_environment(kind: type[Config], environment: Mapping[str, str]) -> Config | None:
    """The configuration from `gym env start` or `ng_run`; None if neither started the server. Raises `ConfigError`."""
    text, name = environment.get(CONFIG_DICT), environment.get(CONFIG_PATH)
    if not text:
        return None
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{CONFIG_DICT}: {_fault(error)}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{CONFIG_DICT}: must be an object: give the whole configuration, as YAML")
    # NeMo Gym's own switch is at the top level, for all servers.
    fields = {"profile": bool(content.get("profiling_enabled")), **_of_server(content, name, CONFIG_DICT)}
    return config_from(kind, fields, CONFIG_DICT)


def config_from_command_line(kind: type[Config], words: Sequence[str], folder: Path | None) -> Config:
    """The configuration of `--config`, else the only one in the folder's `configs/`, else the defaults; overridden by
    `--host` and `--port`. Raises `ConfigError`, and `SystemExit` for `--help` and for bad arguments."""
    parser = argparse.ArgumentParser(description="Serves until Ctrl-C or SIGTERM.", allow_abbrev=False)
    parser.add_argument("--host", help="address to listen on")
    parser.add_argument("--port", type=int, help="0: any free one")
    parser.add_argument("--config", type=Path, help="FILE.yaml [default: the one in configs/]")
    parser.add_argument(
        "--allowed-host", action="append", metavar="NAME", help="another name of this server; may be repeated"
    )
    given = parser.parse_args(words)
    path = given.config or _only_one(folder)
    config = config_from_file(kind, path) if path else kind()
    overrides = {name: value for name, value in (("host", given.host), ("port", given.port)) if value is not None}
    try:
        names = (*config.allowed_hosts, *map(host_name, given.allowed_host or ()))
    except ValueError as error:
        raise ConfigError(f"--allowed-host {error}") from None
    return config.model_copy(update=overrides | {"allowed_hosts": names})


def _only_one(folder: Path | None) -> Path | None:
    found = sorted(folder.glob("configs/*.y*ml")) if folder else []
    if len(found) > 1:
        raise ConfigError(f"{folder}/configs has {len(found)} configurations: name one with --config FILE")
    return found[0] if found else None


def content_of(path: Path) -> object:
    """The value of a configuration's YAML, TOML or JSON. Raises `ConfigError`, without the path."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        content: object = tomllib.loads(text) if path.suffix.lower() == ".toml" else yaml.safe_load(text)
    except OSError as error:
        raise ConfigError(f"{(error.strerror or str(error)).lower()}: check the path") from None
    except (yaml.YAMLError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(_fault(error)) from None
    return content


def instances_of(content: object, section: str) -> dict[str, tuple[str, JsonObject]]:
    """The kind and the fields, by name, of the instances in a configuration of NeMo Gym that have this section."""
    found = {}
    for name, part in content.items() if isinstance(content, dict) else ():
        inner = part.get(section) if isinstance(part, dict) else None
        if isinstance(inner, dict) and inner:
            kind, fields = next(iter(inner.items()))
            found[str(name)] = str(kind), fields if isinstance(fields, dict) else {}
    return found


def _fault(error: Exception) -> str:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    if mark is None or problem is None:
        return f"can't be read: {' '.join(str(error).split())}"
    return f"can't be read: line {mark.line + 1}, column {mark.column + 1}: {problem}"


def _of_server(content: dict[str, object], name: str | None, where: str) -> dict[str, object]:
    """The fields of the named instance, or of the only one, else the top level."""
    instances = instances_of(content, SERVERS)
    if not instances and name is None:
        return content
    if name is None and len(instances) == 1:
        name = next(iter(instances))
    if name not in instances:
        known = ", ".join(instances) or "none"
        raise ConfigError(f"{where}: no resources server is called {name!r} (known: {known}): set {CONFIG_PATH}")
    return {**instances[name][1], "name": name}


_SLACK_S: Final = 5


def with_time_for_all(task: Task, config: ServerConfig) -> Task:
    """The task with code_gen's time for all test cases, unless the row sets its own."""
    if task.limits is None or "total_s" not in task.limits:
        seconds = max(config.unit_test_timeout_secs, config.options.time_factor * (task.time_limit or 0))
        task.limits = {**(task.limits or {}), "total_s": _total_s(seconds, task)}
    return task


def require_short(task: Task, config: ServerConfig) -> None:
    """Raises `RecordError` if a row sets more time than the server allows; its `time_limit` is cut to that."""
    most = max(config.max_timeout_secs, config.unit_test_timeout_secs)
    if task.time_limit is not None:
        task.time_limit = min(task.time_limit, most / config.options.time_factor)
    for name, seconds in (("wall_s", most), ("cpu_s", most), ("total_s", _total_s(most, task))):
        wanted = (task.limits or {}).get(name, 0)
        if wanted > seconds:
            raise RecordError(f"limits.{name} is {wanted:g}, above {seconds:g}: see the server's max_timeout_secs")


def _total_s(seconds: float, task: Task) -> float:
    return (seconds + 1) * max(1, len(task.cases)) + _SLACK_S
