"""How a resource server is configured: by a file, by NeMo Gym's environment variables, or by its defaults."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, field_validator

from evaluator.checkers import CheckerError, get_checker
from evaluator.extras import MissingExtraError
from evaluator.graders import GraderError, get_grader
from evaluator.graders.spec import anchored
from evaluator.interop.http_serving import host_name
from evaluator.model import Limits

CONFIG_DICT: Final = "NEMO_GYM_CONFIG_DICT"
"""The environment variable with the whole configuration, as YAML."""
CONFIG_PATH: Final = "NEMO_GYM_CONFIG_PATH"
"""The environment variable with the name of the instance that a server is."""

_SECTION: Final = "resources_servers"
_NEMO_GYMS_FIELDS: Final = {
    "entrypoint", "domain", "verified", "verified_url", "description", "value", "num_workers", "debug",
    "expose_tools_over_mcp",
}  # fmt: skip
_EXAMPLE: Final = "grader: tests:reward=fraction"


class ConfigError(ValueError):
    """A configuration that can't be used: one line that says what is wrong and how to mend it."""


class ServerConfig(BaseModel):
    """A server's. What NeMo Gym keeps there for itself (entrypoint, domain, description, ...) is passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: str = "rollscope"
    host: str = "127.0.0.1"
    port: int = 8000
    allowed_hosts: tuple[str, ...] = ()
    """Further names that requests may have in their `Host`: see `http_guard.Hosts`."""
    max_request_mb: float = Field(default=256.0, gt=0)
    """MiB that a request may have."""

    grader: str | dict[str, JsonValue] | None = None
    """By whom rollouts are graded, where their rows do not say: `NAME`, `NAME:key=value,...`, a table with `name` and
    the options, or `FILE.py:FUNCTION`. None: by tests, or `exact_match` where a row has an answer in place of tests."""
    checker: str | None = "nemo_gym"
    """The rule by which outputs are compared, where a row does not say. The default is code_gen's of release 0.7."""
    run_all_tests: bool = False
    """Whether to go on after a completion's first failing test case. code_gen does not."""
    unfenced_code: bool = False
    """Whether an answer without a closed code fence may be code. For code_gen it is not."""
    public_tests: int = Field(default=0, ge=0)
    """How many of a row's test cases the model may run by `/run_tests`, where the row names none as public."""
    reasoning_format_penalty: float = 0.0
    """The reward where thinking tags stand in the answer, or more than once in the reasoning."""
    unverified: Literal["keep", "unknown"] = "keep"
    """What becomes of a grade that could only be made in the completion's own process."""
    disagreement: Literal["unknown", "keep", "fail"] = "unknown"
    """What becomes of a test suite that fails in two processes and passes in one: masked, a pass, or a failure."""

    unit_test_timeout_secs: float = Field(default=10.0, gt=0)
    """Wall and CPU seconds a test case."""
    max_timeout_secs: float = Field(default=60.0, gt=0)
    """The largest time limits of a test case that a row may ask for; no less than `unit_test_timeout_secs`."""
    memory_mb: float = Field(default=1024.0, gt=0)
    """Resident MiB a test case."""
    num_processes: int | None = Field(default=None, ge=1)
    """How many completions are verified at once; never more than there are CPUs. None: as many as there are."""
    session_idle_secs: float = Field(default=600.0, gt=0)
    """After how long without a request a session's state is given up."""
    max_sessions: int = Field(default=32, ge=1)
    """How many sessions may have an interpreter of their own at once (`keep_state`)."""

    profile: bool = False
    """Whether to tell at the end where the time of verifying went: a table on stderr, and JSON on stdout."""

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
        """Of each test case. The time for all of a completion's follows from how many there are."""
        seconds = self.unit_test_timeout_secs
        return Limits(wall_s=seconds, cpu_s=seconds, memory_mb=self.memory_mb, virtual_mb=max(4096, self.memory_mb))


Config = TypeVar("Config", bound=ServerConfig)


def config_from(kind: type[Config], fields: Mapping[str, object], where: str, folder: Path | None = None) -> Config:
    """A configuration from a mapping; files are looked for from `folder`. Raises `ConfigError`: `where`, and what."""
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
    """A configuration from FILE.yaml, FILE.toml or FILE.json: a server's fields, or a configuration of NeMo Gym's with
    one resources server in it. Raises `ConfigError`."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        content: object = tomllib.loads(text) if path.suffix.lower() == ".toml" else yaml.safe_load(text)
    except OSError as error:
        raise ConfigError(f"{path}: {(error.strerror or str(error)).lower()}: check the path") from None
    except (yaml.YAMLError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: can't be read: {place_and_fault(error)}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: holds no fields: give for instance {_EXAMPLE!r}")
    fields = _of_server(content, None, str(path))
    known = kind.model_fields.keys() | (set() if fields is content else _NEMO_GYMS_FIELDS)
    unknown = sorted(map(str, fields.keys() - known))
    if unknown:
        raise ConfigError(f"{path}: {unknown[0]} is no field of a server's: give any of {', '.join(kind.model_fields)}")
    return config_from(kind, fields, str(path), path.resolve().parent)


def config_from_environment(kind: type[Config], environment: Mapping[str, str]) -> Config | None:
    """What `gym env start` and `ng_run` hand to a server that they start; None where nothing is handed.

    Raises `ConfigError`.
    """
    text, name = environment.get(CONFIG_DICT), environment.get(CONFIG_PATH)
    if not text:
        return None
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{CONFIG_DICT}: can't be read: {place_and_fault(error)}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{CONFIG_DICT}: holds no fields: give the whole configuration, as YAML")
    # NeMo Gym's own switch stands on top, and is for all of its servers.
    fields = {"profile": bool(content.get("profiling_enabled")), **_of_server(content, name, CONFIG_DICT)}
    return config_from(kind, fields, CONFIG_DICT)


def place_and_fault(error: Exception) -> str:
    """Where the fault is, and what; without the text around it, which in one line says nothing."""
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    if mark is None or problem is None:
        return " ".join(str(error).split())
    return f"line {mark.line + 1}, column {mark.column + 1}: {problem}"


def _of_server(content: dict[str, object], name: str | None, where: str) -> dict[str, object]:
    """The fields of one server: of the named instance, or of the only one there is; else those on top."""
    instances = {
        key: part[_SECTION]
        for key, part in content.items()
        if isinstance(part, dict) and isinstance(part.get(_SECTION), dict) and part[_SECTION]
    }
    if not instances and name is None:
        return content
    if name is None and len(instances) == 1:
        name = next(iter(instances))
    if name not in instances:
        known = ", ".join(instances) or "none"
        raise ConfigError(f"{where}: no resources server is called {name!r} (there is {known}): set {CONFIG_PATH}")
    fields = next(iter(instances[name].values()))
    return {**(fields if isinstance(fields, dict) else {}), "name": name}
