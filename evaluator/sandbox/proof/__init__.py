"""Proves each layer on this machine: a program inside tries what is forbidden, and reports the result."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any

import msgspec

from evaluator.model import Limits
from evaluator.options import Settings, Way
from evaluator.sandbox.host.launch.interpreter import interpreter_for
from evaluator.sandbox.host.launch.settings import SandboxUnavailable
from evaluator.sandbox.host.launch.spawn import target_user
from evaluator.sandbox.host.outcomes import Outcome, Status
from evaluator.sandbox.host.program import FaultError, Program
from evaluator.sandbox.host.values import encoded_call
from evaluator.sandbox.proof.layers import BORDER, Layer, attempts, border, ending, limits, rest, waits

__all__ = ["Layer", "layers_of", "unproved"]

Start = Callable[[Settings], Any]
"""Makes a `Sandbox`."""

_PATIENT = Limits(wall_s=5, cpu_s=5)
_HOW = {
    Way.NAMESPACES: "bubblewrap: user, process, mount, network and IPC namespaces",
    Way.LANDLOCK: "without user namespaces: Landlock, seccomp, limits, a separate folder",
}


def unproved(sandbox: Any) -> list[Layer]:
    """Tries to break out before the first completion; returns which of files, network and process tree do not hold.

    Raises `SandboxUnavailable` if the sandbox does not start, `FaultError` if nothing could be tried.
    """
    return [layer for layer in _border(sandbox) if layer.name in (*BORDER, "probe") and not layer.holds]


def layers_of(start: Start, requested: Settings) -> list[Layer]:
    """All layers of the first way whose border holds in full; a refused way is reported with its fix."""
    refused: list[Layer] = []
    for way in [requested.way] if requested.way else Way:
        try:
            layers = _tried(start, msgspec.structs.replace(requested, way=way), way)
        except (SandboxUnavailable, FaultError) as error:
            refused.append(_refusal(way, error))
            continue
        missing = next((layer for layer in layers if layer.name in (*BORDER, "probe") and not layer.holds), None)
        if missing is None:
            return [*(msgspec.structs.replace(layer, needed=False) for layer in refused), *layers]
        refused += layers
    return refused


def _refusal(way: Way, error: SandboxUnavailable | FaultError) -> Layer:
    reason, mend = (error.reason, error.mend) if isinstance(error, SandboxUnavailable) else (str(error), "run it again")
    return Layer(way.value, False, _HOW[way], reason, mend)


def _tried(start: Start, settings: Settings, way: Way) -> list[Layer]:
    """All layers of one way; only those at the border if one of them does not hold."""
    with start(settings) as sandbox:

        def call(name: str, arguments: list[object], within: Limits) -> Outcome:
            return _call(sandbox, name, arguments, within)

        layers = _border(sandbox)
        if all(layer.holds for layer in layers):
            layers += [*_rest(call), _leaves_nothing(call), waits(sandbox.counts_waits), *limits(call)]
        return [Layer(way.value, True, _HOW[way], ", ".join(sandbox.layers)), *layers]


def _border(sandbox: Any) -> list[Layer]:
    way = sandbox.settings.way
    outcome = _call(sandbox, "border", attempts(way), _PATIENT)
    results = _answer(outcome)
    if results is None:
        return [_failed(outcome)]
    interpreter = interpreter_for(target_user(), sandbox.settings.python)
    results["opened"] = [opened for opened in results["opened"] if not interpreter.offers(opened[0])]
    return border(results, way)


def _rest(call: Callable[[str, list[object], Limits], Outcome]) -> list[Layer]:
    outcome = call("rest", [os.getpid()], _PATIENT)
    results = _answer(outcome)
    return [_failed(outcome)] if results is None else rest(results)


def _leaves_nothing(call: Callable[[str, list[object], Limits], Outcome]) -> Layer:
    call("leave", [], _PATIENT)
    files = call("find", [], _PATIENT).value
    how = "its folder is new, or emptied and reset"
    return Layer("nothing stays", files == ["solution.py"], how, f"the next sees {files}")


def _answer(outcome: Outcome) -> dict[str, Any] | None:
    answered = outcome.status is Status.ANSWERED and isinstance(outcome.value, dict)
    return dict(outcome.value) if answered and isinstance(outcome.value, dict) else None


def _failed(outcome: Outcome) -> Layer:
    return Layer("probe", False, "a program inside", ending(outcome), "report this with the output of --json")


def _call(sandbox: Any, name: str, arguments: list[object], within: Limits) -> Outcome:
    with sandbox.execute(Program(_probe(), name), within) as execution:
        outcome: Outcome = execution.run(encoded_call(arguments, {}), wall_s=within.wall_s)
    return outcome


@cache
def _probe() -> str:
    return resources.files(__name__).joinpath("probe.py").read_text("utf-8")
