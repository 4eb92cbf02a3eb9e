"""What AgentFly's own sandbox was seen to answer, where that is not what its documentation says.

Within `as_observed()`, for the task or thread that is in it:

- the output keeps its last newline;
- an error's text is an output like any other, and earns 1.0; an exception's ends with a newline;
- code that is out of CPU time gives the empty text, one that is out of wall time `Execution timed out`, one that is
  out of memory `Memory limit exceeded`;
- `SystemExit` is an error whatever its status, `SystemExit: 0` or `SystemExit: None`, and what was printed is lost;
- a process that ends by a signal, or by `os._exit` with a status other than 0, gives the empty text.

What the sandbox itself does wrong is raised here too: the original made a 0.0 of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from evaluator.interop.agentfly.execution import ERROR_CHARACTERS, Run
from evaluator.sandbox import Status

_observed = ContextVar("observed", default=False)


@contextmanager
def as_observed() -> Iterator[None]:
    """Within it, code is run and rewarded as AgentFly was seen to do, not as it documents."""
    token = _observed.set(True)
    try:
        yield
    finally:
        _observed.reset(token)


def is_observed() -> bool:
    return _observed.get()


def observed_source(code: str) -> str:
    """A program that runs the code, and for which `SystemExit` is an exception like any other."""
    lines = [
        "def _run(source, names):",
        "    try:",
        "        exec(compile(source, 'main.py', 'exec', dont_inherit=True), names)",
        "    except SystemExit as ended:",
        "        raise type('SystemExit', (Exception,), {'__module__': 'builtins'})(ended.code) from None",
        f"_run({code!r}, globals())",
    ]
    return "\n".join(lines) + "\n"


def observed_text(run: Run) -> str:
    """What the original answers for a run."""
    if run.error is None:
        return run.output
    if run.raised:
        return f"{run.error}\n"[:ERROR_CHARACTERS]
    silent = run.out_of_cpu or run.status in (Status.DIED, Status.ANSWERED)
    return "" if silent else run.error
