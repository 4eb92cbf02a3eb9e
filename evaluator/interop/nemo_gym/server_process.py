"""Starts and ends the `app.py` of a resource server's folder, as NeMo Gym's launcher does."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, Self

import yaml

from evaluator.interop.nemo_gym.client import Client, NoAnswerError
from evaluator.interop.nemo_gym.config import CONFIG_DICT, CONFIG_PATH

_HOST: Final = "127.0.0.1"
_SECTION: Final = "resources_servers"
_BETWEEN_LOOKS_S: Final = 0.05
ENDS_WITHIN_S: Final = 5
"""Seconds that a server has to end after a signal."""
_MOST_READ: Final = 1_000_000
_SHOWN: Final = 300
_LISTENING: Final = re.compile(r"^listening on (http://\S+)$", re.MULTILINE)
_IN_APP: Final = re.compile(r'^ *File ".*\bapp\.py", line (\d+)', re.MULTILINE)
_BY_ITS_CLASS: Final = """\
import app
found = [each for each in vars(app).values() if isinstance(each, type) and each.__module__ == "app"
         and hasattr(each, "run_webserver")]
if not found:
    raise SystemExit("app.py has no class with run_webserver: build one on BaseResourcesServer")
found[-1].run_webserver()
"""


class StartError(Exception):
    """The server does not listen. One line that says why."""


class ServerProcess:
    """A server as a child process. Leaving the `with` block ends it and all its processes."""

    def __init__(self, folder: Path, timeout: float, *, by_its_class: bool = False) -> None:
        """Waits at most `timeout` seconds until it listens. `by_its_class`: starts the last server class in an app.py
        that does not start one itself. Raises `StartError`."""
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        port = _free_port()
        python = folder.absolute() / ".venv" / "bin" / "python"
        words = ["-c", _BY_ITS_CLASS] if by_its_class else ["app.py"]
        self._process = subprocess.Popen(
            [str(python) if python.exists() else sys.executable, *words],
            cwd=folder, env=_environment(folder, port), stdin=subprocess.DEVNULL, stdout=self._log,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        self.url = f"http://{_HOST}:{port}"
        began = time.monotonic()
        try:
            self._wait(began + timeout)
        except BaseException:
            self.close()
            raise
        self.started_in_s = time.monotonic() - began

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def end(self, number: signal.Signals) -> float | None:
        """Sends the signal; returns the seconds until its end, or None if it had to be killed."""
        began = time.monotonic()
        self._process.send_signal(number)
        try:
            self._process.wait(ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return None
        return time.monotonic() - began

    def close(self) -> None:
        """Ends all its processes at once."""
        if self._process.poll() is None:
            self.end(signal.SIGTERM)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # the children that it left
        self._log.close()

    def _wait(self, deadline: float) -> None:
        while True:
            status, answers = self._process.poll(), self._answers()
            if status is not None:
                raise StartError(f"app.py ended with status {status} and listens nowhere{self._last_words()}")
            if answers:
                return
            if time.monotonic() > deadline:
                raise StartError(f"app.py does not listen on {self.url}{self._last_words()}")
            time.sleep(_BETWEEN_LOOKS_S)

    def _answers(self) -> bool:
        found = _LISTENING.search(self._output())
        if found:
            self.url = found[1]
        try:
            Client(self.url, 5).get("/")
        except NoAnswerError:
            return False
        return True

    def _output(self) -> str:
        # Keeps the write position, which the process shares.
        return os.pread(self._log.fileno(), _MOST_READ, 0).decode("utf-8", "replace")

    def _last_words(self) -> str:
        """The last line of its output; for a traceback also the line number in app.py."""
        output = self._output()
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        places = _IN_APP.findall(output)
        place = f"app.py, line {places[-1]}: " if places else ""
        return f": {place}{lines[-1][:_SHOWN]}" if lines else ""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        return int(probe.getsockname()[1])


def _environment(folder: Path, port: int) -> dict[str, str]:
    """This process's variables and those of NeMo Gym's launcher: the configuration, and the instance's name."""
    content, name = _configuration(folder)
    inner = next(iter(content[name][_SECTION].values()))
    inner |= {"host": _HOST, "port": port, "num_workers": None}
    paths = [str(folder.absolute()), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {
        CONFIG_DICT: yaml.safe_dump(content),
        CONFIG_PATH: name,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONUNBUFFERED": "1",
    }


def _configuration(folder: Path) -> tuple[dict[str, dict[str, dict[str, dict[str, object]]]], str]:
    """The first configuration with one resources server, and its name; else a minimal one."""
    for path in sorted(folder.glob("configs/*.y*ml")):
        try:
            content = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError):
            continue  # `--validate-data` reports it
        for name, part in content.items() if isinstance(content, dict) else ():
            section = part.get(_SECTION) if isinstance(part, dict) else None
            if isinstance(section, dict) and len(section) == 1 and isinstance(next(iter(section.values())), dict):
                return content, str(name)
    name = folder.resolve().name
    return {name: {_SECTION: {name: {"entrypoint": "app.py"}}}}, name
