"""AgentFly's observed behaviour, where it differs from its documentation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from evaluator.interop.agentfly.execution import ERROR_CHARACTERS, Run
from evaluator.sandbox import Status

_RUN = """\
def _run(source, names):
    try:
        exec(compile(source, 'main.py', 'exec', dont_inherit=True), names)
    except SystemExit as ended:
        raise type('SystemExit', (Exception,), {'__module__': 'builtins'})(ended.code) from None
"""
_observed = ContextVar("observed", default=False)


@contextmanager
def as_observed() -> Iterator[None]:
    """A context in which code is run and rewarded as AgentFly was observed to do, not as documented.

    Holds for the current asyncio task or thread. Within it

    - the output keeps its last newline;
    - an error's text is an output, and earns 1.0; that of an exception ends with a newline;
    - code out of CPU time gives an empty text, out of wall time `Execution timed out`, out of memory
      `Memory limit exceeded`;
    - `SystemExit` is an error whatever its status, `SystemExit: 0` or `SystemExit: None`, and the output is lost;
    - a process ended by a signal, or by `os._exit` with a status other than 0, gives an empty text.

    A failing sandbox still raises; the original gave 0.0.

        with as_observed():
            await code_reward_test(prediction="1 / 0", context=context)  # reward 1.0
    """
    token = _observed.set(True)
    try:
        yield
    finally:
        _observed.reset(token)


def is_observed() -> bool:
    return _observed.get()


def observed_source(code: str) -> str:
    """A program that runs the code, with `SystemExit` turned into an ordinary exception."""
    return f"{_RUN}_run({code!r}, globals())\n"


def observed_text(run: Run) -> str:
    """The original's answer for a run."""
    if run.error is None:
        return run.output
    if run.raised:
        return f"{run.error}\n"[:ERROR_CHARACTERS]
    silent = run.out_of_cpu or run.status in (Status.DIED, Status.ANSWERED)
    return "" if silent else run.error
