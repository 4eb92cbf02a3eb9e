"""Collects rollouts: asks a model, makes its tool calls, and has a resources server verify the answers."""

from evaluator.interop.nemo_gym.collecting.collector import Collected, Request, Watch, collect
from evaluator.interop.nemo_gym.collecting.endpoint import Address, Api, address_from
from evaluator.interop.nemo_gym.collecting.figures import Figures
from evaluator.interop.nemo_gym.collecting.rows import RowSelection
from evaluator.interop.nemo_gym.collecting.transport import Backoff, CollectError

__all__ = [
    "Address",
    "Api",
    "Backoff",
    "CollectError",
    "Collected",
    "Figures",
    "Request",
    "RowSelection",
    "Watch",
    "address_from",
    "collect",
]  # fmt: skip
