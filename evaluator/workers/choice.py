"""Engines by their names, and which one a call has."""

from __future__ import annotations

import os
from typing import Literal, NamedTuple

from evaluator.graders import GraderError, get_grader
from evaluator.graders.spec import files_named
from evaluator.options import Options
from evaluator.workers.engine import Engine, EngineError
from evaluator.workers.process_client import ProcessClient
from evaluator.workers.server.wire import SERVER
from evaluator.workers.worker_count import cores_for, worker_count

EngineName = Literal["local", "ray", "server"]


class Place(NamedTuple):
    """Where completions run."""

    engine: EngineName = "local"
    address: str | None = None


def place_of(engine: EngineName, address: str | None, options: Options) -> Place:
    """What was asked for; in place of this machine the servers that `ROLLSCOPE_SERVER` names, if any.

    A grader that is a file, or that asks a model, stays here.
    """
    servers = os.environ.get(SERVER)
    if engine == "local" and address is None and servers and is_for_servers(options.grader):
        return Place("server", servers)
    return Place(engine, address)


def is_for_servers(grader: str | None) -> bool:
    """Whether a server may run it: not a file of the caller's, and not one that asks a model with a key."""
    try:
        return grader is None or not (files_named(grader) or get_grader(grader).waits)
    except GraderError:  # which the grades say
        return True


def engine_named(name: EngineName, address: str | None, options: Options, workers: int | None) -> Engine:
    """This machine's workers, the machines of the Ray cluster at an address (see `ray.cluster.engine`), or servers.

    Raises `EngineError` if there is no such engine, cluster or address, `MissingExtraError` without Ray.
    """
    if name == "ray":
        from evaluator.workers.ray import cluster  # which imports what only machines of a cluster need

        return cluster.engine(address, options, workers)
    if name == "server":
        from evaluator.workers.server import client  # which imports an HTTP client

        return client.engine(address or "")
    if name != "local":
        raise EngineError(f"engine {name!r} is unknown: give local, ray or server")
    if address is not None:
        raise EngineError("an address is that of a Ray cluster or a server: give --engine ray or server too")
    count = workers or worker_count()
    return Engine(ProcessClient, count, cores=cores_for(count))
