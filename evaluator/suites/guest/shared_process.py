"""Runs a test in the completion's own process, the last resort: the completion can have changed whatever it uses.

What is cheap to restore is restored first: the builtin functions, and unittest.
"""

from __future__ import annotations

import marshal
import os
import resource
import sys
from types import CodeType
from typing import Any

from evaluator.sandbox.guest import channel, encode, leftovers, loading
from evaluator.suites.guest.lacking import Lacking
from evaluator.suites.guest.runner import Runner

_SHOWN = 64 * 1024


def serve(connection: int, code: CodeType, preamble: CodeType | None, order: dict[str, Any]) -> None:
    """Loads the completion; then answers each `R`, an index and the suite, with `D`, and the closing `G` with a `G`."""
    write, read, leave, decoded, usage = os.write, os.read, os._exit, marshal.loads, resource.getrusage
    lacking = Lacking(processes=order["processes"] > 0, loopback=order["loopback"]) if order["audits"] else None
    entry_point = order["entry_point"]
    namespace = loading.load(connection, code, preamble, entry_point).by_name(entry_point)
    runner: Runner | None = None
    while True:
        index, suite, compiled = decoded(channel.next_request(connection, write, read, leave)[1])
        leftovers.restore_builtins()
        if runner is None:
            for name in [name for name in sys.modules if name.partition(".")[0] == "unittest"]:
                del sys.modules[name]
            if order["entry_point"] is not None:
                namespace.setdefault("candidate", namespace[order["entry_point"]])
            runner = Runner(suite, namespace, _shown)
            try:
                runner.load(decoded(compiled)[1] if compiled else None)
            except BaseException as error:
                channel.send(connection, b"D", channel.as_json(_unloadable(error)), write)
                leave(0)
        result = runner.run(index)
        result["memory_kib"] = usage(resource.RUSAGE_SELF).ru_maxrss
        if lacking is not None:
            result["lacking"] = lacking.needs
        channel.send(connection, b"D", channel.as_json(result), write)


def _unloadable(error: BaseException) -> dict[str, Any]:
    return {"status": "unloadable", "type": type(error).__name__, "message": str(error)[:2000]}


def _shown(value: object) -> str:
    try:
        return encode.encode(value, _SHOWN).decode("ascii")
    except Exception:
        return encode.encode(f"a value of class {type(value).__name__}", _SHOWN).decode("ascii")
