"""A server that answers `POST /verify` with new processes for each request, without isolation.

`_nemo_gym_peer.py manager` does what NeMo Gym's code_gen does in a Ray task: a `multiprocessing.Manager`, and a
forked `Process` that executes the program on one input after the other. `_nemo_gym_peer.py python` starts a new Python
for that. It handles one request per CPU at once. Prints `listening on URL`.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import _nemo_gym_results
import uvicorn
from _nemo_gym_results import Tests, results_of
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

_BLOCK = re.compile(r"```\w*\n(.*?)\n```", re.DOTALL)
_PATIENCE_S = 600


def _child(code: str, tests: Tests, results: Any) -> None:
    results.append(results_of(code, tests))


def by_manager(code: str, tests: Tests) -> list[bool | int]:
    with multiprocessing.Manager() as manager:
        results = manager.list()
        process = multiprocessing.Process(target=_child, args=(code, tests, results))
        process.start()
        process.join(_PATIENCE_S)
        return list(results[0]) if results else [-1]


def by_python(code: str, tests: Tests) -> list[bool | int]:
    words = [sys.executable, _nemo_gym_results.__file__]
    done = subprocess.run(words, input=json.dumps([code, tests]), capture_output=True, text=True, check=False)
    return list(json.loads(done.stdout)) if done.returncode == 0 else [-1]


WAYS: dict[str, Callable[[str, Tests], list[bool | int]]] = {"manager": by_manager, "python": by_python}


def application(way: str) -> Starlette:
    threads = ThreadPoolExecutor(len(os.sched_getaffinity(0)))

    async def verify(request: Request) -> JSONResponse:
        body = await request.json()
        code = _BLOCK.findall(body["response"]["output"][0]["content"][0]["text"])[-1]
        tests = body["verifier_metadata"]["unit_tests"]
        results = await asyncio.get_running_loop().run_in_executor(threads, WAYS[way], code, tests)
        reward = float(all(result is True for result in results))
        return JSONResponse({**body, "reward": reward, "result": results, "extracted_model_code": code})

    return Starlette(routes=[Route("/verify", verify, methods=["POST"])])


def main() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
        server = uvicorn.Server(uvicorn.Config(application(sys.argv[1]), log_level="error"))
        server.run([listener])


if __name__ == "__main__":
    main()
