"""Compiled test suites, kept for the next completion. None of them has met a completion."""

from __future__ import annotations

from collections import OrderedDict

from evaluator.sandbox.host.program import SuiteNeeds

_MOST_CODE = 64 * 2**20


class CompiledSuites:
    """The code of the latest suites, compiled by their processes before these got any message of a completion."""

    def __init__(self) -> None:
        self._codes: OrderedDict[SuiteNeeds, bytes] = OrderedDict()
        self._size = 0

    def of(self, suite: SuiteNeeds) -> bytes:
        """The suite's code; empty if it is not known."""
        code = self._codes.get(suite, b"")
        if code:
            self._codes.move_to_end(suite)
        return code

    def keep(self, suite: SuiteNeeds, code: bytes) -> None:
        self._size += len(code) - len(self._codes.pop(suite, b""))
        self._codes[suite] = code
        while self._size > _MOST_CODE:
            self._size -= len(self._codes.popitem(last=False)[1])
