"""One connection to a server of grades. What it raises says whether another try may help."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Collection, Generator, Iterator, Mapping
from typing import Any, BinaryIO, Final, NamedTuple
from urllib.parse import urlsplit

from evaluator.version import VERSION
from evaluator.workers.engine import EngineError
from evaluator.workers.server.wire import PULSE_S, GradeLine, Request, record_in, text_of

_SILENT_S: Final = 6 * PULSE_S
_OK, _CONFLICT, _FULL = 200, 409, 503


class Address(NamedTuple):
    """Of a server."""

    url: str
    token: str | None = None


class TryAgainError(Exception):
    """The server can't be reached, or is full: one line."""


class Connection:
    """For one thread; `hang_up` is for any. Each request has a socket of its own.

    It speaks HTTP/1.0, whose answers just end, since a reward process may live for a single grade: importing
    `http.client` would take as long as all the rest of that.
    """

    def __init__(self, address: Address) -> None:
        """Raises `EngineError` for what is not an address."""
        self._url = address.url
        parts = urlsplit(address.url)
        try:
            host, port = parts.hostname, parts.port
        except ValueError:
            host = port = None
        if parts.scheme not in ("http", "https") or not host:
            fix = "give the address of a `rollscope serve grades`, such as http://gpu-box:8000"
            raise EngineError(f"{address.url}: {fix}")
        self._encrypted = parts.scheme == "https"
        self._host, self._port = host, port or (443 if self._encrypted else 80)
        self._path = parts.path.rstrip("/")
        name = f"[{host}]" if ":" in host else host
        self._head = f"host: {name}:{self._port}\r\ncontent-type: application/json\r\n"
        if address.token:
            self._head += f"authorization: Bearer {address.token}\r\n"
        self._socket: socket.socket | None = None

    def workers(self) -> int:
        """How many rollouts the server grades at once. Raises `TryAgainError`, `EngineError`."""
        with self._answered("GET", "/") as (_, answer):
            found = _object(answer.read())
        if "rollscope" not in found:
            raise EngineError(f"{self._url}: not a `rollscope serve grades`")
        if (there := found["rollscope"]) != VERSION:
            raise EngineError(f"{self._url} has Rollscope {there}, and this is {VERSION}: install the same")
        return int(found["workers"])

    def grades(self, request: Request, tasks: Mapping[str, str], known: Collection[str]) -> Generator[GradeLine]:
        """The grades of the rollouts as they arrive. `tasks`: all that they need, by key; `known`: which were sent.

        Raises `TryAgainError`, also when some have arrived, and `EngineError`.
        """
        request.tasks = [text for key, text in tasks.items() if key not in known]
        left = len(request.rollouts)
        for _ in range(2):
            with self._answered("POST", "/grade", text_of(request).encode("ascii")) as (status, answer):
                if status == _CONFLICT:
                    missing = _object(answer.read()).get("missing", [])
                    request.tasks = [tasks[key] for key in missing if key in tasks]
                    continue
                for line in answer:
                    if line.strip():
                        left -= 1
                        yield record_in(line, GradeLine)
            break
        if left:
            raise TryAgainError("it ended before all was graded")

    def hang_up(self) -> None:
        """Ends what the server is doing for it."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)  # closing it would not wake the thread that reads from it

    @contextlib.contextmanager
    def _answered(self, method: str, path: str, body: bytes = b"") -> Iterator[tuple[int, BinaryIO]]:
        """The status of an answer that grades or asks for tasks, and its body to be read."""
        head = f"{method} {self._path}{path} HTTP/1.0\r\n{self._head}content-length: {len(body)}\r\n\r\n"
        try:
            with self._connected() as self._socket, self._socket.makefile("rb") as answer:
                self._socket.sendall(head.encode("ascii") + body)
                words = answer.readline().split(None, 2)
                status = int(words[1]) if len(words) > 1 and words[0].startswith(b"HTTP/") else 0
                while answer.readline().strip():  # the headers say nothing that matters
                    pass
                if status not in (_OK, _CONFLICT):
                    why = str(_object(answer.read()).get("error") or f"it answers {status}")
                    raise TryAgainError(why) if status in (0, _FULL) else EngineError(f"{self._url}: {why}")
                yield status, answer
        except (OSError, ValueError) as error:
            raise TryAgainError(str(error) or type(error).__name__) from error

    def _connected(self) -> socket.socket:
        made = socket.create_connection((self._host, self._port), _SILENT_S)
        if not self._encrypted:
            return made
        import ssl  # for these alone

        return ssl.create_default_context().wrap_socket(made, server_hostname=self._host)


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
