"""The command line of a server: `python app.py [--host ADDRESS] [--port N] [--allowed-host NAME] [--config FILE]`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from evaluator.interop.host_names import host_name
from evaluator.interop.nemo_gym.config import Config, ConfigError, config_from_file


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
