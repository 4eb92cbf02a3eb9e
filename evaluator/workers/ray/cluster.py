"""Grades with the machines of a Ray cluster: an actor on each, which has that machine's worker processes (`node`).

A machine that has no sandbox, or would grade otherwise, is left out with a line in the log, and the others go on. So is
one that is lost; its rollouts are graded elsewhere.
"""

from __future__ import annotations

import logging
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from evaluator import version
from evaluator.extras import needs
from evaluator.options import Options
from evaluator.sandbox import InterpreterError, SandboxUnavailable, python_version
from evaluator.workers.engine import Engine, EngineError, WorkerClient, WorkerLostError
from evaluator.workers.messages import Ready
from evaluator.workers.ray.client import Machine, RayClient
from evaluator.workers.ray.node import RollscopeNode, digests_of

_ANSWERS_WITHIN_S: Final = 10.0
_CALLS_AT_ONCE: Final = 3  # tell, hear and stop
_RELEASED_WITHIN_S: Final = 30.0
"""What an earlier run had is free again after this time at most."""
_LOOK_S: Final = 0.1
_SHOWN: Final = 300
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
    return Engine(_Cluster(ray, machines, options, workers).start, len(machines), same_machine=False)


class _Cluster:
    """The machines for one run."""

    def __init__(self, ray: Any, machines: list[Machine], options: Options, workers: int | None) -> None:
        self._ray = ray
        self._untried = deque(machines)
        self._left = len(machines)
        """How many may have grades yet."""
        self._any_ready = False
        self._lost: set[str] = set()
        self._refusals: list[Exception] = []
        versions = version.VERSION, python_version(options.sandbox.python)
        self._rest = workers, versions, digests_of(options.grader)

    def start(self) -> WorkerClient:
        """Starts the grading on the next machine. Raises `WorkerLostError` if there is no other."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        if not self._untried:
            raise WorkerLostError("the cluster has no other machine", suspicious=False)
        machine = self._untried.popleft()
        made = self._ray.remote(RollscopeNode).options(
            num_cpus=machine.cpus,
            max_restarts=0,
            max_concurrency=_CALLS_AT_ONCE,
            scheduling_strategy=NodeAffinitySchedulingStrategy(machine.node, soft=False),
        )
        return RayClient(self, machine, made.remote(machine.cpus, *self._rest))

    def is_connected(self) -> bool:
        return bool(self._ray.is_initialized())

    def is_ready(self) -> None:
        self._any_ready = True

    def refused(self, machine: Machine, ready: Ready) -> Exception:
        if ready.bad_interpreter:
            path, _, what = ready.reason.removeprefix("Python ").partition(": ")
            return self._without(machine, ready.reason, InterpreterError(path, f"on {machine.name}: {what}"))
        mend = ready.mend or "see `rollscope doctor` there"
        why = f"{ready.reason}; {mend}"
        if ready.unfit:
            return self._without(machine, why, EngineError(f"{machine.name}: {why}"))
        return self._without(
            machine, f"no sandbox: {why}", SandboxUnavailable(f"on {machine.name}: {ready.reason}", mend)
        )

    def lost(self, machine: Machine, error: Exception | None) -> Exception:
        self._lost.add(machine.node)
        why = _told(error) if error is not None else "its actor ended"
        return self._without(machine, why, EngineError(f"{machine.name}: {why}"))

    def kill(self, machine: Machine, actor: Any) -> None:
        self._ray.kill(actor)
        if machine.node not in self._lost:  # of which nothing is free again
            _released[machine.node] = time.monotonic()

    def _without(self, machine: Machine, why: str, error: Exception) -> Exception:
        _log.warning("%s is left out: %s", machine.name, why)
        self._left -= 1
        self._refusals.append(error)
        if self._left:
            return WorkerLostError(f"{machine.name}: {why}", suspicious=False)
        if self._any_ready:
            return EngineError(f"no machine of the cluster is left; the last was lost: {error}")
        return self._refusals[0]


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
    if threading.current_thread() is not threading.main_thread():
        log = logging.getLogger("ray._private.worker")
        level = log.level
        log.setLevel(logging.ERROR)
        try:
            yield
        finally:
            log.setLevel(level)
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _free_machines(ray: Any, workers: int | None) -> list[Machine]:
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
            found.append(Machine(node["NodeID"], node["NodeManagerAddress"], reserved))
        else:
            _log.warning("%s is left out: none of its CPUs is free", node["NodeManagerAddress"])
    if not found:
        raise EngineError("no CPU of the cluster is free: free some, or say how many to use with --workers N")
    return found
