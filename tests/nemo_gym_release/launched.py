"""Servers that a release of NeMo Gym has launched, ours among them, in a folder as its users have one."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml

from tests.nemo_gym_release.releases import Release
from tests.waiting import HANG_S, wait_until
from tests.workers.processes import descendants

OURS = "rollscope_code"
SUBCLASS = "rollscope_subclass"
THEIRS = "code_gen"
TEST_SECONDS = 2
SHUTDOWN_S = 60
"""What has not ended by then is left behind."""
_RULE, _RULES = "#" * 100, 3
"""What the launcher draws about the list of servers that are ready, and how many of it."""

_CHECKOUT = Path(__file__).resolve().parents[2]
_SUBCLASS_APP = """\
from evaluator.interop.nemo_gym.server import EvaluatorResourcesServer

if __name__ == "__main__":
    EvaluatorResourcesServer.run_webserver()
"""


class Project:
    """A folder with servers in it, and the environments that they run in."""

    def __init__(self, folder: Path, release: Release, model_url: str) -> None:
        self.folder, self.release = folder, release
        settings = {
            "policy_base_url": model_url, "policy_api_key": "none", "policy_model_name": "loopback",
            "head_server": {"host": "127.0.0.1", "port": _free_port()},
        }  # fmt: skip
        (folder / "env.yaml").write_text(yaml.safe_dump(settings))
        for part in ("responses_api_agents/simple_agent", "responses_api_models/openai_model",
                     "environment_servers/legacy_agent"):  # fmt: skip
            self._runs_in(part, release.environment)

    def add_ours(self) -> None:
        """The stand-alone server, as `rollscope init-server` writes it; it runs where no nemo_gym is."""
        path = self.folder / "resources_servers" / OURS
        subprocess.run(
            [sys.executable, "-m", "evaluator.cli", "init-server", str(path)],
            env=os.environ | {"PYTHONPATH": str(_CHECKOUT)}, check=True, capture_output=True,
        )  # fmt: skip
        self._without_what_is_newer(self.folder / _config_of(OURS))
        self._runs_in(f"resources_servers/{OURS}", Path(sys.prefix))

    def add_subclass(self) -> None:
        """The form that is a subclass of the release's own."""
        path = self.folder / "resources_servers" / SUBCLASS
        (path / "configs").mkdir(parents=True)
        (path / "app.py").write_text(_SUBCLASS_APP)
        (path / "requirements.txt").write_text("rollscope[nemo-gym]\n")  # else 0.4 looks for the server elsewhere
        ours = (self.folder / _config_of(OURS)).read_text()
        (self.folder / _config_of(SUBCLASS)).write_text(ours.replace(OURS, SUBCLASS))
        self._runs_in(f"resources_servers/{SUBCLASS}", self.release.environment)

    def add_theirs(self) -> None:
        """The release's own code_gen."""
        self._runs_in(f"resources_servers/{THEIRS}", self.release.environment)

    def configs(self, *servers: str) -> list[str]:
        """The files that say which servers there are, the model's with them."""
        return ["responses_api_models/openai_model/configs/openai_model.yaml", *map(_config_of, servers)]

    def alone(self, server: str) -> str:
        """A configuration with the server, and no agent: as verifying needs it."""
        own, theirs = self.folder / _config_of(server), self.release.library / _config_of(server)
        whole = yaml.safe_load((own if own.exists() else theirs).read_text())
        path = self.folder / f"{server}_alone.yaml"
        path.write_text(yaml.safe_dump({server: whole[server]}))
        return str(path)

    def settings(self, *servers: str) -> list[str]:
        """What every launch is told: to use the environments that there are, and to wait shortly for endless loops."""
        return [
            "+skip_venv_if_present=true",
            f"+uv_venv_dir={self.folder / 'venvs'}",
            *(f"++{name}.resources_servers.{name}.unit_test_timeout_secs={TEST_SECONDS}" for name in servers),
        ]

    def run(self, *command: str) -> int:
        """Runs a command of the release; fails with what it says where it ends badly.

        Returns how many of the processes that it started were left, which `gym eval reverify` does not see to. They
        are ended here.
        """
        told = self.folder / "command.log"
        with told.open("w") as log:
            process = subprocess.Popen(
                self._words(*command), cwd=self.folder, env=self._environment(), stdin=subprocess.DEVNULL,
                stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
            try:
                process.wait(HANG_S)
            finally:
                left = still_there(watched(_of_session(process.pid)))
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        assert process.returncode == 0, told.read_text()[-6000:]
        return left

    @contextmanager
    def launched(self, *command: str) -> Iterator[Launched]:
        """The servers, from when they are all ready; Ctrl-C ends them."""
        process = subprocess.Popen(
            self._words(*command), cwd=self.folder, env=self._environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip
        servers = Launched(process)
        try:
            servers.wait_until_ready()
            yield servers
        finally:
            servers.end(signal.SIGINT)

    def _without_what_is_newer(self, config: Path) -> None:
        """Takes out the part of a configuration that releases before 0.6 refuse."""
        if not (self.release.library / "environment_servers").exists():
            parts = yaml.safe_load(config.read_text())
            older = {name: part for name, part in parts.items() if "environment_servers" not in part}
            config.write_text(yaml.safe_dump(older))

    def _words(self, name: str, *arguments: str) -> list[str]:
        return [str(self.release.commands / name), *arguments]

    def _environment(self) -> dict[str, str]:
        path = f"{self.release.commands}{os.pathsep}{os.environ['PATH']}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
        return kept | {"PATH": path, "HF_HUB_OFFLINE": "1", "RAY_USAGE_STATS_ENABLED": "0", "PYTHONUNBUFFERED": "1"}

    def _runs_in(self, part: str, environment: Path) -> None:
        place = self.folder / "venvs" / part
        place.mkdir(parents=True)
        (place / ".venv").symlink_to(environment)


def _free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
        return port


def _config_of(server: str) -> str:
    return f"resources_servers/{server}/configs/{server}.yaml"


class Launched:
    """A launcher under way."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._told: list[str] = []
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def wait_until_ready(self) -> None:
        wait_until(lambda: self._ready.is_set() or self.process.poll() is not None, "the servers are not ready")
        assert self.process.poll() is None, self.told()

    def told(self) -> str:
        return "".join(self._told[-200:])

    def of_server(self, name: str) -> list[int]:
        """The processes of a server that was launched, its sandboxes' with them."""
        folder = f"/resources_servers/{name}"
        started = descendants(self.process.pid)
        own = {process for process in started if str(Path(f"/proc/{process}/cwd").readlink()).endswith(folder)}
        return sorted(own.union(*map(descendants, own)))

    def end(self, number: signal.Signals) -> None:
        """Ends the launcher as Ctrl-C in a terminal does, or as a service manager; kills what does not heed that."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, number)
        try:
            self.process.wait(SHUTDOWN_S)
        except subprocess.TimeoutExpired:
            pass
        finally:
            for process in descendants(self.process.pid):
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self._reader.join()

    def send(self, number: signal.Signals) -> None:
        """Sends the launcher a signal. Once more if that was lost: Python drops a Ctrl-C in a finalizer."""
        self.process.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(SHUTDOWN_S)
        if self.process.poll() is None and "Exception ignored in" in self.told():
            self.process.send_signal(number)

    def _read(self) -> None:
        """Until all servers are shown the launcher is still at work: on a SIGINT then, 0.4 leaves them all behind."""
        assert self.process.stdout
        rules = 0
        for line in self.process.stdout:
            self._told.append(line)
            rules += line.startswith(_RULE)
            if "servers ready! Polling" in line:
                rules = 0
            elif rules == _RULES:
                self._ready.set()


def _of_session(number: int) -> list[int]:
    """Its processes, without those of Ray, which take their own time."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            session = int((place / "stat").read_text().rpartition(")")[2].split()[3])
            if session == number and b"app.py" in (place / "cmdline").read_bytes():
                found.append(int(place.name))
    return found


def watched(processes: list[int]) -> list[int]:
    """A file descriptor for each that is there, which tells of its end."""
    descriptors = []
    for process in processes:
        with suppress(ProcessLookupError):
            descriptors.append(os.pidfd_open(process))
    return descriptors


def still_there(descriptors: list[int]) -> int:
    """How many have not ended in good time."""
    waiting = set(descriptors)
    while waiting:
        ended, _, _ = select.select(waiting, [], [], SHUTDOWN_S)
        if not ended:
            break
        waiting -= set(ended)
    for descriptor in descriptors:
        os.close(descriptor)
    return len(waiting)


def read_lines(path: Path) -> list[dict[str, Any]]:
    with path.open() as lines:
        return [json.loads(line) for line in lines]


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
