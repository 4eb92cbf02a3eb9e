"""The servers that `ROLLSCOPE_SERVER` names, as an engine: what a lost one had is graded by the others."""

from __future__ import annotations

import logging
import os

from evaluator.workers.engine import Engine, EngineError, WorkerClient, WorkerLostError
from evaluator.workers.server.client import ServerClient
from evaluator.workers.server.connection import Address
from evaluator.workers.server.wire import TOKEN

_log = logging.getLogger(__name__)


def engine(addresses: str) -> Engine:
    """`addresses`: URLs with commas between them."""
    token = os.environ.get(TOKEN)
    servers = _Servers([Address(url.strip().rstrip("/"), token) for url in addresses.split(",") if url.strip()])
    return Engine(servers.start, servers.left, same_machine=False)


class _Servers:
    """Those of one dispatcher."""

    def __init__(self, addresses: list[Address]) -> None:
        self._untried = addresses[::-1]
        self.left = len(addresses)
        """How many may have grades yet."""

    def start(self) -> WorkerClient:
        if not self._untried:
            raise WorkerLostError("there is no other server", suspicious=False)
        return ServerClient(self._untried.pop(), self._lost)

    def _lost(self, why: str) -> Exception:
        self.left -= 1
        if not self.left:
            return EngineError(why)
        _log.warning("%s; the other servers go on", why)
        return WorkerLostError(why, suspicious=False)
