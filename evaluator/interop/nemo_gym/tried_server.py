"""A resource server to try: its rows and answers, and its process, as NeMo Gym's launcher starts and ends it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import yaml
from pydantic import JsonValue

from evaluator.extras import needs
from evaluator.formats.reading.json_text import JsonError, decode_json
from evaluator.interop.nemo_gym.config import CONFIG_DICT, CONFIG_PATH, SERVERS, ConfigError, content_of, instances_of
from evaluator.interop.nemo_gym.wire import JsonObject

with needs("serve", "a client of a resource server needs httpx2"):
    import httpx2
    from httpx2 import Response

_HOST: Final = "127.0.0.1"
_BETWEEN_LOOKS_S: Final = 0.05
_LOOK_S: Final = 5
ENDS_WITHIN_S: Final = 5
"""Seconds that a server has to end after a signal."""
_MOST_READ: Final = 1_000_000
_SHOWN: Final = 300
_SHOWN_OF_ANSWER: Final = 200
OTHERS_ANSWER: Final = "```python\npass\n```"
_ANSWERS: Final = ("answer", "expected_answer", "reference_answer")
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


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a dataset, its place, and a model's response to it if one is known."""

    place: str
    fields: JsonObject
    response: JsonObject | None = None

    @property
    def right_answer(self) -> tuple[bool, str | None]:
        """A response that should earn the full reward, and whether it must: an answer may need another form."""
        places = [self.fields.get("verifier_metadata"), self.fields.get("metadata"), self.fields]
        known = [place for place in places if isinstance(place, dict)]
        for place in known:
            if isinstance(place.get("reference"), str):
                return True, f"```python\n{place['reference']}\n```"
        answers = (place.get(name) for place in known for name in _ANSWERS)
        return False, next((answer for answer in answers if isinstance(answer, str)), None)

    @property
    def likely_response(self) -> JsonObject:
        """The known response, else a right one."""
        return self.response if self.response is not None else says(self.right_answer[1] or OTHERS_ANSWER)


class NoAnswerError(Exception):
    """The server did not answer. One line with the reason."""


def fields_of(answer: Response) -> JsonObject:
    """The decoded object; empty for anything else."""
    try:
        body = decode_json(answer.content)
    except JsonError:
        return {}
    return body if isinstance(body, dict) else {}


def shown(answer: Response) -> str:
    """Its status and the start of its text."""
    text = answer.content.decode("utf-8", "replace")
    return f"{answer.status_code} {' '.join(text.split())[:_SHOWN_OF_ANSWER]}".strip()


@dataclass(frozen=True, slots=True)
class Server:
    """A running server, http://HOST:PORT and perhaps a path, and the rows to try it with."""

    url: str
    rows: list[Row]
    timeout: float
    """Seconds for one answer."""

    def get(self, path: str) -> Response:
        return self._send("GET", path)

    def post(self, path: str, body: JsonObject, session: Response | None = None) -> Response:
        """`session`: an earlier answer, whose cookies are sent."""
        return self._send("POST", path, json.dumps(body), session.cookies if session else None)

    def seed(self, **more: JsonValue) -> Response:
        """Seeds a session with the first row."""
        return self.post("/seed_session", self.rows[0].fields | more)

    def verify(self, row: Row, response: JsonObject | None = None) -> Response:
        """Seeds a session with the row and requests the reward of a response, as an agent does."""
        session = self.post("/seed_session", row.fields)
        given = row.likely_response if response is None else response
        return self.post("/verify", {**row.fields, "response": given}, session)

    def _send(self, method: str, path: str, body: str | None = None, cookies: httpx2.Cookies | None = None) -> Response:
        """Raises `NoAnswerError`."""
        try:
            return httpx2.request(
                method, self.url.rstrip("/") + path, content=body, headers={"content-type": "application/json"},
                cookies=cookies, timeout=self.timeout, trust_env=False, verify=False,
            )  # fmt: skip
        except httpx2.TimeoutException:
            raise NoAnswerError(f"{method} {path}: no answer within {self.timeout:g} s") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise NoAnswerError(f"{method} {path}: no answer: {str(error) or type(error).__name__}") from None


def says(text: str) -> JsonObject:
    """A model's response of one message, with all fields that NeMo Gym's own servers require."""
    content: JsonObject = {"type": "output_text", "text": text, "annotations": []}
    message: JsonObject = {
        "id": "msg_test",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [content],
    }
    return response_with([message])


def response_with(output: JsonValue) -> JsonObject:
    """A model's response with this output, valid or not."""
    return {
        "id": "resp_test", "created_at": 0, "model": "test-server", "object": "response", "output": output,
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
    }  # fmt: skip


class StartError(Exception):
    """The server does not listen. One line that says why."""


class ServerProcess:
    """A server as a child process. Leaving the `with` block ends it and all its processes."""

    def __init__(self, folder: Path, timeout: float, *, by_its_class: bool = False) -> None:
        """Waits at most `timeout` seconds until it listens. `by_its_class`: starts the last server class in an app.py
        that does not start one itself. Raises `StartError`."""
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        with socket.socket() as probe:
            probe.bind((_HOST, 0))
            port = probe.getsockname()[1]
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
            Server(self.url, [], _LOOK_S).get("/")
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


def _environment(folder: Path, port: int) -> dict[str, str]:
    """This process's variables and those of NeMo Gym's launcher: the configuration, and the instance's name.

    That is the first one with a resources server; else a minimal one.
    """
    name = folder.resolve().name
    content: object = {name: {SERVERS: {name: {"entrypoint": "app.py"}}}}
    for path in sorted(folder.glob("configs/*.y*ml")):
        try:
            given = content_of(path)
        except ConfigError:
            continue  # `--validate-data` reports it
        if instances_of(given, SERVERS):
            content = given
            break
    name, (_, fields) = next(iter(instances_of(content, SERVERS).items()))
    fields |= {"host": _HOST, "port": port, "num_workers": None}
    paths = [str(folder.absolute()), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {
        CONFIG_DICT: yaml.safe_dump(content),
        CONFIG_PATH: name,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONUNBUFFERED": "1",
    }
