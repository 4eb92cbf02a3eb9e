"""The servers, as people start them or in a thread, and a client that may send what it likes."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from starlette.types import ASGIApp

from evaluator.interop import sandbox_fusion
from evaluator.interop.agentfly import server as agentfly
from evaluator.interop.colossalai import server as colossalai
from evaluator.interop.nemo_gym import CodeResourcesServer
from tests.interop.serving import in_thread
from tests.waiting import HANG_S

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = os.environ | {
    "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error,ignore::ResourceWarning", "ROLLSCOPE_NO_BROWSER": "1",
}  # fmt: skip


class Order(NamedTuple):
    """How a system is asked for something."""

    path: str
    body: Any
    """A good one."""
    right: Any
    """A part of the answer to it."""
    sleeper: Any = None
    """One whose program sleeps for ten minutes."""


SLEEP = "import time\ntime.sleep(600)"


def _verify(code: str) -> dict[str, Any]:
    text = {"type": "output_text", "text": f"```python\n{code}\n```", "annotations": []}
    message = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [text]}
    return {
        "responses_create_params": {"input": [{"role": "user", "content": "square"}]},
        "response": {"id": "r", "object": "response", "model": "m", "output": [message], "usage": None},
        "verifier_metadata": {
            "unit_tests": {"inputs": ["3\n"], "outputs": ["9"]},
            "limits": {"wall_s": 60, "cpu_s": 60, "memory_mb": 512, "output_mb": 1, "threads": 8, "processes": 0},
            "checker": "tokens",
            "grader": "tests",
            "mode": "stdin",
            "exit_code": "ignore",
            "preamble": "",
            "difficulty": "easy",
        },
        "task_id": "a",
        "_ng_task_index": 0,
    }


def _check(code: str) -> dict[str, Any]:
    in_outs = {"fn_name": "add", "inputs": ["1\n2"], "outputs": ["3"]}
    return {"in_outs": in_outs, "generation": code, "timeout": 60, "debug": False, "eval_mode": True}


def _run(code: str) -> dict[str, Any]:
    return {
        "code": code, "language": "python", "stdin": "9", "compile_timeout": 10, "run_timeout": 10,
        "memory_limit_MB": 512, "files": {"a": "OQ=="}, "fetch_files": ["a"],
    }  # fmt: skip


ORDERS = {
    "agentfly": Order("/exec", {"code": "print(9)"}, {"output": "9\n"}, {"code": SLEEP}),
    "colossalai": Order(
        "/check_correctness", _check("def add(a, b): return a + b"), {"result": [1]}, _check(SLEEP) | {"timeout": 600}
    ),
    "nemo-gym": Order(
        "/verify", _verify("print(int(input()) ** 2)"), {"reward": 1.0, "verdict": "passed"},
        {**_verify(SLEEP), "verifier_metadata": {"unit_tests": {"inputs": ["3\n"], "outputs": ["9"]}}},
    ),
    "sandbox-fusion": Order(
        "/run_code", _run("print(open('a').read(), input())"), {"status": "Success", "files": {"a": "OQ=="}},
        _run(SLEEP) | {"run_timeout": 600, "compile_timeout": 600},
    ),
}  # fmt: skip

_ROLLOUT = {
    "reward": 1.0, "verdict": "passed", "mask_sample": False, "pass_rate": 1.0, "difficulty": "easy",
    "extracted_model_code": "x", "response": {"usage": {"input_tokens": 1, "output_tokens": 2}},
    "agent_ref": {"name": "a"}, "_ng_task_index": 0, "_ng_rollout_index": 0,
}  # fmt: skip
OTHERS = (
    Order("/execute_code", {"code": "print(1)", "stdin": "", "keep_state": True}, {"stdout": "1\n"}),
    Order("/seed_session", {"resources_session_id": "a", "task_data": _verify("x")}, {"resources_session_id": "a"}),
    Order("/run_tests", {"code": "x"}, {}),
    Order("/close_session", {"resources_session_id": "b"}, {"resources_session_id": "b"}),
    Order("/aggregate_metrics", {"verify_responses": [_ROLLOUT]}, {}),
)
"""What else a resource server of NeMo Gym's is asked for."""
TESTS = (
    Order("/test_program", {"program": "def f(): return 9", "tests": ["assert f() == 9"], "max_execution_time": 5}, {}),
    Order("/test_program_stdio", {"program": "print(9)", "tests": [{"input": "", "output": "9"}]}, {}),
)
"""What open-instruct's client asks for."""


class Answer(NamedTuple):
    status: int
    body: Any
    """The decoded JSON."""


class Client:
    """Asks a server."""

    def __init__(self, url: str) -> None:
        self.port = urlsplit(url).port or 0

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), HANG_S)

    def ask(self, path: str, body: bytes, headers: Mapping[str, str] | None = None, method: str = "POST") -> Answer:
        """Sends a request. `headers` win over those of an honest client; an empty type is none."""
        sent = {"host": f"127.0.0.1:{self.port}", "content-type": "application/json"} | dict(headers or {})
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG_S)
        try:
            connection.putrequest(method, path, skip_host=True)
            for name, value in sent.items():
                if value or name == "host":
                    connection.putheader(name, value)
            connection.putheader("content-length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return Answer(answer.status, json.loads(answer.read() or b"null"))
        finally:
            connection.close()


class Served(Client):
    """A server as a process. `ask` it, and `end` it."""

    def __init__(self, *words: object) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *map(str, words)], env=ENVIRONMENT, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert self.process.stdout
        self.url = self.process.stdout.readline().strip().removeprefix("listening on ")
        super().__init__(self.url)

    def peak_mib(self) -> float:
        """The most memory that it has had."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
        raise AssertionError("the kernel does not say")

    def end(self) -> tuple[int, str]:
        """Its exit status and what it wrote to stderr."""
        self.process.send_signal(signal.SIGTERM)
        _, error = self.process.communicate(timeout=HANG_S)
        return self.process.returncode, error


def start(system: str, *options: object) -> Served:
    return Served("-m", "evaluator.cli", "serve", system, "--port", 0, *options)


class System:
    """A server, and what it is asked."""

    def __init__(self, name: str, client: Client) -> None:
        self.name = name
        self.client = client
        self.order = ORDERS[name]

    def good(self, headers: Mapping[str, str] | None = None) -> Answer:
        return self.client.ask(self.order.path, json.dumps(self.order.body).encode(), headers)

    def is_well(self) -> bool:
        status, body = self.good()
        return (status, {name: body[name] for name in self.order.right}) == (200, self.order.right)

    def head(self, *headers: str, path: str = "") -> bytes:
        """The head of a request for what `order` asks."""
        host = ["host: 127.0.0.1", "content-type: application/json"]
        lines = [f"POST {path or self.order.path} HTTP/1.1", *host, *headers, ""]
        return "".join(f"{line}\r\n" for line in lines).encode()


@contextmanager
def system_in_thread(name: str) -> Iterator[System]:
    """The server of that name in a thread, guarded."""
    applications: dict[str, Callable[[], ASGIApp]] = {
        "agentfly": agentfly.application,
        "colossalai": colossalai.application,
        "nemo-gym": lambda: CodeResourcesServer().setup_webserver(),
        "sandbox-fusion": sandbox_fusion.application,
    }
    with in_thread(applications[name]()) as url:
        yield System(name, Client(url))
