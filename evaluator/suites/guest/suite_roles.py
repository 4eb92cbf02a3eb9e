"""What a process is that has to do with a test suite: the suite's, the completion's next to it, or one for both.

An interpreter for completions without test suites has none of these modules: it is smaller, and so is each of its
processes.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any

from evaluator.sandbox.guest import channel, forking
from evaluator.suites.guest import server, shared_process, suite_main


def serve(
    connection: int,
    order: dict[str, Any],
    code: CodeType | None,
    preamble: CodeType | None,
    arrange: Callable[[list[int]], None],
) -> None:
    """Does what the order says until the parent closes the connection; never returns.

    `arrange`: to be called in a fork, with its descriptors.
    """
    role = order["role"]
    if role == "suites":

        def run_suite(descriptors: list[int]) -> None:
            arrange(descriptors)
            suite_main.serve(connection, channel.receive(connection)[1])

        suite_main.settle()
        forking.serve_template(connection, run_suite)
    elif code is None:
        suite_main.settle()
        suite_main.serve(connection, order)
    elif role == "server":
        server.serve(connection, code, preamble, order)
    else:
        shared_process.serve(connection, code, preamble, order)
