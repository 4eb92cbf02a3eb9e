"""Engines by their names, and which one a call has."""

from __future__ import annotations

import os

from evaluator.options import Options
from evaluator.workers.engine import Engine, EngineError, EngineName, Place
from evaluator.workers.process_client import local_engine
from evaluator.workers.server.wire import SERVER, is_for_servers


def place_of(place: Place, options: Options) -> Place:
    """What was asked for; in place of this machine the servers that `ROLLSCOPE_SERVER` names, if any.

    A grader that is a file, or that asks a model, stays here.
    """
    servers = os.environ.get(SERVER)
    if place == Place() and servers and is_for_servers(options.grader):
        return Place("server", servers)
    return place


def engine_for(name: EngineName, address: str | None, options: Options, workers: int | None) -> Engine:
    """This machine's workers, the machines of the Ray cluster at an address (see `ray_cluster.engine`), or servers.

    Raises `EngineError` if there is no such engine, cluster or address, `MissingExtraError` without Ray.
    """
    name, address = place_of(Place(name, address), options)
    if name == "ray":
        from evaluator.workers.server import ray_cluster  # which imports what few need

        return ray_cluster.engine(address, options, workers)
    if name == "server":
        from evaluator.workers.server import client

        return client.engine(address or "")
    if name != "local":
        raise EngineError(f"engine {name!r} is unknown: give local, ray or server")
    if address is not None:
        raise EngineError("an address is that of a Ray cluster or a server: give --engine ray or server too")
    return local_engine(workers)
