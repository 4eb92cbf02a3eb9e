"""A zygote for test suites."""

from __future__ import annotations

import marshal
import time
from collections.abc import Mapping

from evaluator.options import Settings, Way
from evaluator.sandbox.host.case_template import Template
from evaluator.sandbox.host.child import Child
from evaluator.sandbox.host.launch.settings import Warm
from evaluator.sandbox.host.wire import BrokenFrameError
from evaluator.sandbox.host.zygotes import Zygote

_START_S = 10.0
_ANSWER_CAP = 4096


class SuiteZygote(Zygote):
    """A zygote whose only child is usually a template: already confined, it forks the processes of suites."""

    def __init__(self, settings: Settings, way: Way, warm: Warm) -> None:
        """Raises as `Zygote` does."""
        self._template: Template | None = None
        self._confined = b""
        super().__init__(settings, way, warm)

    def template(self, confinement: Mapping[str, object]) -> Template:
        """A template with this confinement.

        Raises `OSError`, `EOFError`, `SilenceError`, `BrokenFrameError`.
        """
        order = marshal.dumps(dict(confinement), 2)
        if self._template is None or not self._template.usable or order != self._confined:
            self.end_template()
            self._template, self._confined = self._start(order), order
        return self._template

    def end_template(self) -> None:
        """Ends the template, so that another child can start. Raises `OSError`, `EOFError`, `SilenceError`."""
        template, self._template = self._template, None
        if template is not None:
            template.close()

    def close(self) -> None:
        super().close()
        if self._template is not None:
            self._template.child.close()
            self._template = None

    def _start(self, order: bytes) -> Template:
        child = Child.started(self)
        try:
            child.connection.send(b"I", order)
            kind, _ = child.connection.receive(time.monotonic() + _START_S, _ANSWER_CAP)
            if kind != b"L":
                raise BrokenFrameError("the template does not start")
        except BaseException:
            child.close()
            raise
        return Template(child)
