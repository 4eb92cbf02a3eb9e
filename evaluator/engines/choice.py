"""Engines by their names."""

from __future__ import annotations

from typing import Literal

from evaluator.engines.hands import Engine, EngineError
from evaluator.engines.local_hand import LocalHand
from evaluator.engines.workers import cores_for, worker_count
from evaluator.options import Options

EngineName = Literal["local", "ray"]


def engine_named(name: EngineName, address: str | None, options: Options, workers: int | None) -> Engine:
    """This machine's workers, or the machines of the Ray cluster at an address (see `ray_cluster.engine`).

    Raises `EngineError` if there is no such engine or cluster, `MissingExtraError` without Ray.
    """
    if name == "ray":
        from evaluator.engines import ray_cluster  # which imports what only machines of a cluster need

        return ray_cluster.engine(address, options, workers)
    if name != "local":
        raise EngineError(f"engine {name!r} is unknown: give local or ray")
    if address is not None:
        raise EngineError("an address is that of a Ray cluster: give --engine ray too")
    count = workers or worker_count()
    return Engine(LocalHand, count, cores=cores_for(count))
