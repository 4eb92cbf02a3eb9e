"""A zygote for checks, and what is kept beside it for the next completion: nothing that has spoken with one."""

from __future__ import annotations

import marshal
import time
from collections import OrderedDict
from collections.abc import Mapping

from evaluator.sandbox.checks import Check
from evaluator.sandbox.child import Child
from evaluator.sandbox.settings import Settings, Warm, Way
from evaluator.sandbox.template import Template
from evaluator.sandbox.wire import BrokenFrameError
from evaluator.sandbox.zygotes import Zygote

_START_S = 10.0
_ANSWER_CAP = 4096
_MOST_CODE = 64 * 2**20


class CheckZygote(Zygote):
    """A zygote whose one child is, most of the time, a template: confined already, it forks the processes of checks."""

    def __init__(self, settings: Settings, way: Way, warm: Warm) -> None:
        """Raises as `Zygote` does."""
        self._template: Template | None = None
        self._confined = b""
        self.compiled = CompiledChecks()
        super().__init__(settings, way, warm)

    def template(self, confinement: Mapping[str, object]) -> Template:
        """What forks processes that are confined so.

        Raises `OSError`, `EOFError`, `SilenceError`, `BrokenFrameError`.
        """
        wanted = marshal.dumps(dict(confinement), 2)
        if self._template is None or not self._template.usable or wanted != self._confined:
            self.end_template()
            self._template, self._confined = self._started(wanted), wanted
        return self._template

    def end_template(self) -> None:
        """Makes room for another child. Raises `OSError`, `EOFError`, `SilenceError`."""
        template, self._template = self._template, None
        if template is not None:
            template.close()

    def close(self) -> None:
        super().close()
        if self._template is not None:
            self._template.child.close()
            self._template = None

    def _started(self, order: bytes) -> Template:
        child = Child(self, b"")
        try:
            child.connection.send(b"I", order)
            kind, _ = child.connection.receive(time.monotonic() + _START_S, _ANSWER_CAP)
            if kind != b"L":
                raise BrokenFrameError("a template that does not start")
        except BaseException:
            child.close()
            raise
        return Template(child)


class CompiledChecks:
    """The code of the last checks, as their processes compiled it before they had heard of any completion."""

    def __init__(self) -> None:
        self._codes: OrderedDict[Check, bytes] = OrderedDict()
        self._size = 0

    def of(self, check: Check) -> bytes:
        """Empty where it is not known."""
        code = self._codes.get(check, b"")
        if code:
            self._codes.move_to_end(check)
        return code

    def keep(self, check: Check, code: bytes) -> None:
        self._size += len(code) - len(self._codes.pop(check, b""))
        self._codes[check] = code
        while self._size > _MOST_CODE:
            self._size -= len(self._codes.popitem(last=False)[1])
