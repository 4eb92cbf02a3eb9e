"""Servers of grades as an engine: those that `ROLLSCOPE_SERVER` names, or those that were started on the machines of a
cluster (`ray_cluster`). What a lost one had is graded by the others.

A client of one makes requests over HTTP, each in a thread, whose answers arrive line by line.
"""

from __future__ import annotations

import contextlib
import logging
import os
import random
import socket
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, BinaryIO, Final, NamedTuple, TypeVar
from urllib.parse import urlsplit

from evaluator.model import Rollout, Verdict
from evaluator.options import Options
from evaluator.sandbox import InterpreterError, SandboxUnavailable
from evaluator.version import VERSION
from evaluator.workers.engine import Bell, Engine, EngineError, WorkerClient, WorkerLostError
from evaluator.workers.interrupts import STOPPED
from evaluator.workers.messages import FromWorker, Ready, Setup, ToWorker, Work, done_of, unpickled
from evaluator.workers.server.wire import (
    PULSE_S,
    SERVER,
    TOKEN,
    Asked,
    GradeLine,
    Request,
    loads,
    record_in,
    sent_options,
    task_key,
    text_of,
)
from evaluator.workers.worker import ungraded

Result = TypeVar("Result")

_log = logging.getLogger(__name__)

_FIX: Final = f"start `rollscope serve grades` there, or unset {SERVER} to grade on this machine"
_PATIENCE_S: Final = 30.0
"""How long a server may be unreachable, or full, without a single grade."""
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 5.0
_PACE_S: Final = 0.03
"""So that it has eight rollouts at once for each of its workers."""
_SILENT_S: Final = 6 * PULSE_S
_OK, _CONFLICT, _FULL = 200, 409, 503


def engine(addresses: str) -> Engine:
    """`addresses`: URLs with commas between them."""
    token = os.environ.get(TOKEN)
    urls = [url.strip().rstrip("/") for url in addresses.split(",") if url.strip()]
    return Servers([Server(url, Address(url, token)) for url in urls], _FIX, _PATIENCE_S).engine()


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
        found = loads(body.decode())
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


class Server:
    """One that may be asked, and that somebody else started."""

    def __init__(self, name: str, address: Address | None = None) -> None:
        self.name = name
        self.address = address

    def start(self) -> Address:
        """Where it answers; may take its time. What it raises leaves the server out."""
        assert self.address is not None
        return self.address

    def end(self) -> None:
        """It is not asked any more."""


class Servers:
    """Those of one dispatcher."""

    def __init__(self, servers: Sequence[Server], fix: str, patience_s: float, *, ours: bool = False) -> None:
        """`fix`: what to do about one that does not answer; `ours`: whether they do all that this process would."""
        self._untried = list(servers[::-1])
        self._left = len(servers)
        """How many may have grades yet."""
        self._several = len(servers) > 1
        self.fix = fix
        self.patience_s = patience_s
        self.ours = ours

    def engine(self) -> Engine:
        return Engine(self._start, self._left, same_machine=False)

    def _start(self) -> WorkerClient:
        if not self._untried:
            raise WorkerLostError("there is no other server", suspicious=False)
        return ServerClient(self._untried.pop(), self)

    def lost(self, server: Server, error: Exception) -> Exception:
        """Leaves a server out. What its client raises: the end of all if there is no other one."""
        why = str(error).removeprefix(server.name).lstrip(": ")
        if self._several:
            _log.warning("%s is left out: %s", server.name, why)
        self._left -= 1
        return WorkerLostError(f"{server.name}: {why}", suspicious=False) if self._left else error


class _Task(NamedTuple):
    key: str
    text: str
    options: Options


class _Asking:
    """One request's rollouts, and the connection on which it is asked for them."""

    def __init__(self, address: Address, options: Options) -> None:
        self.connection = Connection(address)
        self.options = options
        self.left: dict[int, tuple[Rollout, _Task]] = {}
        """Those without an answer, by number."""


class ServerClient:
    """One server. Its threads end with it, or with the process."""

    def __init__(self, server: Server, servers: Servers) -> None:
        self._server = server
        self._servers = servers
        self._address: Address | None = None
        self._bell = Bell()
        self._lock = threading.RLock()
        self._ready: list[FromWorker] = []
        self._answers: list[GradeLine] = []
        self._failure: Exception | None = None
        self._tasks: dict[int, _Task] = {}
        self._known: set[str] = set()
        """Keys of tasks that the server was sent."""
        self._asking: dict[int, _Asking] = {}
        """By the number of each rollout that has no answer."""
        self._ending = False

    def fileno(self) -> int:
        return self._bell.descriptor

    def send(self, message: ToWorker) -> None:
        if isinstance(message, Setup):
            self._in_thread(self._connect)
        elif isinstance(message, Work):
            for number in message.forget:
                self._known.discard(self._tasks.pop(number).key)
            for number, task_and_options in message.tasks.items():
                record, options = unpickled(task_and_options)
                text = text_of(record)
                options = options if self._servers.ours else sent_options(options)
                self._tasks[number] = _Task(task_key(text), text, options)
            asking: dict[Options, _Asking] = {}
            for job in message.jobs:
                task = self._tasks[job.task]
                if (one := asking.get(task.options)) is None:
                    assert self._address is not None
                    one = asking[task.options] = _Asking(self._address, task.options)
                one.left[job.number] = job.rollout, task
                with self._lock:
                    self._asking[job.number] = one
            for one in asking.values():
                self._in_thread(lambda one=one: self._grade(one))  # type: ignore[misc]

    def flush(self) -> bool:
        return False

    def receive(self) -> list[FromWorker]:
        self._bell.silence()
        with self._lock:
            found, self._ready = self._ready, []
            answers, self._answers = self._answers, []
            if answers:
                found.append(done_of([each.number for each in answers], [each.grade for each in answers], _PACE_S))
            if self._failure is not None:
                if not found:
                    raise self._failure
                self._bell.ring()
        return found

    def drop(self, number: int) -> bool:
        with self._lock:
            one = self._asking.get(number)
            if one is not None:
                rollout, _ = one.left[number]
                self._answer(one, GradeLine(number, ungraded(rollout, Verdict.SANDBOX_ERROR, STOPPED)))
                if not one.left:
                    one.connection.hang_up()
        return True

    def end(self) -> None:
        with self._lock:
            self._ending = True
            for one in self._asking.values():
                one.connection.hang_up()
        self._server.end()

    def gone(self) -> bool:
        return True

    def close(self) -> None:
        self.end()

    # ---- threads

    def _in_thread(self, work: Callable[[], object]) -> None:
        threading.Thread(target=self._run, args=(work,), daemon=True, name="rollscope-server").start()

    def _run(self, work: Callable[[], object]) -> None:
        try:
            work()
        except Exception as error:
            if isinstance(error, TryAgainError):
                error = EngineError(f"{self._server.name} does not answer ({error}): {self._servers.fix}")
            elif not isinstance(error, (EngineError, InterpreterError, SandboxUnavailable)):
                error = EngineError(str(error) or repr(error))
            with self._lock:
                if not self._ending and self._failure is None:
                    self._failure = self._servers.lost(self._server, error)
            self._bell.ring()

    def _connect(self) -> None:
        self._address = self._server.start()
        workers = self._patiently(Connection(self._address).workers)
        with self._lock:
            self._ready.append(Ready(workers=workers))
        self._bell.ring()

    def _grade(self, one: _Asking) -> None:
        """Asks until each of the rollouts has its answer."""

        def ask() -> None:
            with self._lock:
                left = one.left.copy()
            asked = [Asked(number, task.key, rollout) for number, (rollout, task) in left.items()]
            tasks = {task.key: task.text for _, task in left.values()}
            try:
                with closing(one.connection.grades(Request(VERSION, one.options, asked), tasks, self._known)) as grades:
                    for graded in grades:
                        self._known |= tasks.keys()
                        self._answer(one, graded)
                        if not one.left:
                            return  # which ends what the server still does for those that were dropped
            except TryAgainError:
                if len(one.left) == len(left):
                    raise

        while one.left and not self._ending:
            self._patiently(ask)

    def _answer(self, one: _Asking, graded: GradeLine) -> None:
        with self._lock:
            if one.left.pop(graded.number, None) is not None:  # not if it was dropped
                del self._asking[graded.number]
                self._answers.append(graded)
        self._bell.ring()

    def _patiently(self, ask: Callable[[], Result]) -> Result:
        """What `ask` returns; while the server does not answer, it asks again after longer and longer pauses."""
        pause, until = _FIRST_PAUSE_S, time.monotonic() + self._servers.patience_s
        while True:
            try:
                return ask()
            except TryAgainError:
                if self._ending or time.monotonic() > until:
                    raise
            time.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - so that clients don't come back all at once
            pause = min(2 * pause, _LONGEST_PAUSE_S)
