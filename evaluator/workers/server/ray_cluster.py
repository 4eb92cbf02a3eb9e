"""Grades with the machines of a Ray cluster: an actor on each, which is a server of grades for this process alone.

A machine that has no sandbox, or would grade otherwise, is left out with a line in the log, and the others go on. So is
one that is lost; its rollouts are graded elsewhere.
"""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from evaluator import version
from evaluator.extras import MissingExtraError, needs
from evaluator.graders.spec import files_named
from evaluator.options import Options, Settings
from evaluator.sandbox import InterpreterError, SandboxUnavailable, python_version
from evaluator.workers.engine import Engine, EngineError
from evaluator.workers.locks import MACHINE_WIDE
from evaluator.workers.pool import local_pool
from evaluator.workers.server.client import Address, Server, Servers
from evaluator.workers.worker_count import WORKERS, worker_count

_ANSWERS_WITHIN_S: Final = 10.0
_STARTS_WITHIN_S: Final = 120.0
_PATIENCE_S: Final = 2.0
"""How long a machine's server may be unreachable. It was there before, so it has ended."""
_RELEASED_WITHIN_S: Final = 30.0
"""What an earlier run had is free again after this time at most."""
_LOOK_S: Final = 0.1
_SHOWN: Final = 300
_SAME: Final = "install the same on every machine"
_log = logging.getLogger(__name__)
_released: Final[dict[str, float]] = {}
"""By machine, when its actor of an earlier run was told to end."""


def engine(address: str | None, options: Options, workers: int | None) -> Engine:
    """The machines of the cluster at an address; None: of the one that this process belongs to, or is beside.

    `workers`: how many on each machine; None: as many as Ray has CPUs free there. Raises `EngineError` if there is no
    such cluster or no machine is free, `MissingExtraError` without Ray.
    """
    ray = _connected(address or "auto")
    machines = _free_machines(ray, workers)
    versions = version.VERSION, python_version(options.sandbox.python)
    files = {path: _digest(path) for path in files_named(options.grader)} if options.grader is not None else {}
    same = _Same(versions, options.sandbox, files)
    servers = [_Machine(ray, *each, workers, same) for each in machines]
    return Servers(servers, "see its logs of Ray", _PATIENCE_S, ours=True).engine()


class _Same(NamedTuple):
    """What makes a machine grade as the driver would."""

    versions: tuple[str, str]
    """Of Rollscope, and of the Python that completions run on."""
    settings: Settings
    files: dict[str, str]
    """Digests of the files that a grader names, by full path."""

    def require_here(self) -> None:
        """Raises `EngineError` and `InterpreterError` where something is otherwise."""
        versions = version.VERSION, python_version(self.settings.python)
        for name, here, there in zip(("Rollscope", "Python"), versions, self.versions, strict=True):
            if here != there:
                raise EngineError(f"it has {name} {here}, and the driver has {there}; {_SAME}")
        for path, digest in self.files.items():
            try:
                found = _digest(path)
            except OSError:
                raise EngineError(f"it has no {path}; put the same file there") from None
            if found != digest:
                raise EngineError(f"its {path} is not that of the driver; put the same file there")


class MachineServer:
    """What the actor on each machine does. It knows nothing of Ray."""

    def serve(self, host: str, token: str, most: int, workers: int | None, same: _Same) -> int | Exception:
        """Serves grades at this address until the process ends. The port, or why it can't.

        `workers`: how many; None: as many as this machine has room for, `most` at most.
        """
        try:
            same.require_here()
            os.environ[WORKERS] = str(workers or min(most, worker_count()))
            os.environ[MACHINE_WIDE] = "no"
            local_pool(Options(sandbox=same.settings)).warm_up().result()
            with needs("serve", "a server needs starlette and uvicorn"):
                import uvicorn

            from evaluator.workers.server.application import application
        except (InterpreterError, SandboxUnavailable) as error:
            return error
        except (EngineError, MissingExtraError) as error:
            return EngineError(f"{host}: {error}")
        listener = socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        config = uvicorn.Config(application(token, ours=True), log_level="critical", access_log=False, ws="none")
        threading.Thread(target=uvicorn.Server(config).run, args=([listener],), daemon=True).start()
        port: int = listener.getsockname()[1]
        return port


class _Machine(Server):
    """One of the cluster, and its actor."""

    def __init__(self, ray: Any, node: str, host: str, cpus: int, workers: int | None, same: _Same) -> None:
        """`node`: Ray's number of it; `cpus`: so many are taken there."""
        super().__init__(host)
        self._ray = ray
        self._node = node
        self._cpus = cpus
        self._rest = workers, same
        self._actor: Any = None
        self._ended = False

    def start(self) -> Address:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        affinity = NodeAffinitySchedulingStrategy(self._node, soft=False)
        made = self._ray.remote(MachineServer)
        token = secrets.token_hex(16)
        try:
            self._actor = made.options(num_cpus=self._cpus, max_restarts=0, scheduling_strategy=affinity).remote()
            serving = self._actor.serve.remote(self.name, token, self._cpus, *self._rest)
            if self._ended:
                self.end()
            found = self._ray.get(serving, timeout=_STARTS_WITHIN_S)
        except Exception as error:
            raise EngineError(f"{self.name}: {_told(error)}") from None
        if isinstance(found, Exception):
            raise found
        host = f"[{self.name}]" if ":" in self.name else self.name
        return Address(f"http://{host}:{found}", token)

    def end(self) -> None:
        self._ended = True
        actor, self._actor = self._actor, None
        if actor is not None and self._ray.is_initialized():  # else it has ended with this process's part in Ray
            self._ray.kill(actor)
            _released[self._node] = time.monotonic()


def _told(error: Exception) -> str:
    """What happened to an actor, in a line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if any("No module named 'evaluator" in line for line in lines):
        return "it has not this version of Rollscope: pip install rollscope there"
    if isinstance(error, TimeoutError):
        return f"{error}; are its CPUs in use?"
    cause = next((line for line in reversed(lines) if "Error: " in line), lines[0] if lines else repr(error))
    return cause[:_SHOWN]


# ---- the cluster


def _connected(address: str) -> Any:
    """Ray, connected. A process that is connected already stays so."""
    with needs("ray", "grading on a cluster needs Ray"):
        import ray
    if not ray.is_initialized():
        address = _resolved(address)
        _knock(address)
        try:
            with _own_signals():
                ray.init(address=address, log_to_driver=False, configure_logging=False, logging_level=logging.ERROR)
            ray._private.worker._worker_logs_enabled = False  # standard output is not for what happens to machines
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise EngineError(f"Ray at {address}: {_told(error)}") from None
    return ray


def _resolved(address: str) -> str:
    """The host and port that Ray will connect to."""
    from ray._private.services import get_ray_address_from_environment

    if "://" in address:
        raise EngineError(f"Ray at {address}: give HOST:PORT of the cluster's head, and start this on one of its nodes")
    if address != "auto":
        return address
    try:
        found: str = get_ray_address_from_environment("auto", None)
    except ConnectionError:
        hint = "name one with --address HOST:PORT, or type `ray start --head`"
        raise EngineError(f"no Ray cluster runs here: {hint}") from None
    return found


def _knock(address: str) -> None:
    """Raises `EngineError` if nobody is there: Ray would try for minutes, and say so in many lines."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _ANSWERS_WITHIN_S).close()
    except ValueError:
        raise EngineError(f"Ray at {address}: give HOST:PORT, or auto") from None
    except OSError as error:
        raise EngineError(f"Ray at {address}: {error.strerror or error}") from None


@contextmanager
def _own_signals() -> Iterator[None]:
    """Ray replaces what the caller does on SIGTERM; this brings it back. In other threads Ray warns that it can't."""
    log, before = logging.getLogger("ray._private.worker"), signal.getsignal(signal.SIGTERM)
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


def _free_machines(ray: Any, workers: int | None) -> list[tuple[str, str, int]]:
    """Each one's number, address, and how many CPUs to take there."""
    from ray._private.state import available_resources_per_node  # there is no public one

    nodes = [node for node in ray.nodes() if node["Alive"]]
    while True:
        free = {number: int(has.get("CPU", 0)) for number, has in available_resources_per_node().items()}
        late = time.monotonic() - _RELEASED_WITHIN_S
        if not any(_released.get(node["NodeID"], late) > late for node in nodes if not free.get(node["NodeID"])):
            break
        time.sleep(_LOOK_S)
    found = []
    for node in nodes:
        cpus = free.get(node["NodeID"], 0)
        reserved = cpus if workers is None else min(cpus, workers)
        if reserved or workers:
            found.append((node["NodeID"], node["NodeManagerAddress"], reserved))
        else:
            _log.warning("%s is left out: none of its CPUs is free", node["NodeManagerAddress"])
    if not found:
        raise EngineError("no CPU of the cluster is free: free some, or say how many to use with --workers N")
    return found


def _digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
