"""The corpus of requests, sent to the servers: no 5xx, nothing that hangs, and a server that still answers."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evaluator.interop.nemo_gym.new_server import write_server
from tests.engines.processes import descendants, wait_until_none
from tests.hostile.requests import BODIES, REFUSED, TAKEN, with_values
from tests.hostile.serving import ORDERS, OTHERS, PATIENCE_S, TESTS, Answer, Order, Served, start

LONG = {
    "agentfly": ("--config", "[limits]\nwall_s = 600\ncpu_s = 600\ntotal_s = 600\n"),
    "colossalai": ("--max-timeout", "600"),
    "nemo-gym": ("--config", "unit_test_timeout_secs = 600\nmax_request_mb = 8\n"),
    "sandbox-fusion": ("--max-timeout", "600"),
}
"""Options with which programs have ten minutes; a text with lines is a file's."""
TOO_LONG_MIB = {"agentfly": 40, "colossalai": 300, "nemo-gym": 40, "sandbox-fusion": 300}
"""What is sent of a body that is longer than the server takes (8, 256, 8 and 256 MiB)."""


class System:
    """A server, and what it is asked."""

    def __init__(self, name: str, served: Served) -> None:
        self.name = name
        self.served = served
        self.order = ORDERS[name]

    def good(self, headers: dict[str, str] | None = None) -> Answer:
        return self.served.ask(self.order.path, json.dumps(self.order.body).encode(), headers)

    def is_well(self) -> bool:
        status, body = self.good()
        return (status, {name: body[name] for name in self.order.right}) == (200, self.order.right)


@pytest.fixture(scope="module", params=ORDERS)
def system(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    option, value = LONG[request.param]
    if "\n" in value:
        file = tmp_path_factory.mktemp(request.param) / "config.toml"
        file.write_text(value)
        value = str(file)
    served = start(request.param, option, value)
    yield System(request.param, served)
    assert served.end() == (0, "")


@pytest.mark.parametrize(("status", "headers"), REFUSED.values(), ids=REFUSED)
def test_requests_from_a_foreign_page_are_refused(system: System, status: int, headers: dict[str, str]) -> None:
    answer = system.good(headers)
    assert answer.status == status
    assert answer.body.keys() == {"error"}
    assert "\n" not in answer.body["error"]


@pytest.mark.parametrize("headers", TAKEN.values(), ids=TAKEN)
def test_requests_of_an_honest_client_are_answered(system: System, headers: dict[str, str]) -> None:
    assert system.good(headers).status == 200


def test_no_page_gets_leave_to_send_json(system: System) -> None:
    asking = {"origin": "https://evil.example", "access-control-request-method": "POST"}
    assert system.served.ask(system.order.path, b"", asking, "OPTIONS").status == 403


def test_no_body_makes_it_fail(system: System) -> None:
    failed = {}
    for name, body in BODIES.items():
        status = system.served.ask(system.order.path, body).status
        if not 400 <= status < 500:
            failed[name] = status
    assert failed == {}
    assert system.is_well()


def test_no_value_in_a_field_makes_it_fail(system: System) -> None:
    assert failures(system.served, system.order) == {}
    assert system.is_well()


_TRIES = 20


def failures(served: Served, order: Order) -> dict[str, object]:
    """The answers to a good request with each value in each of its fields, as far as they speak of a fault of ours."""

    def fault(body: bytes) -> object:
        for _ in range(_TRIES):
            status, answer = served.ask(order.path, body)
            if status != 504:  # no sandbox was free in time: other tests keep them all
                break
        if status not in (200, 400, 408, 422):
            return status
        masked = isinstance(answer, dict) and answer.get("failure_kind") in ("verifier_error", "provider_unavailable")
        return answer["failure_reason"] if masked else None

    names, bodies = zip(*with_values(order.body), strict=True)
    with ThreadPoolExecutor(4) as clients:
        return {name: seen for name, seen in zip(names, clients.map(fault, bodies), strict=True) if seen is not None}


def test_a_body_of_unknown_length_is_read_within_bounds(system: System) -> None:
    part = b"%x\r\n%s\r\n" % (2**20, b" " * 2**20)
    before = system.served.peak_mib()
    with system.served.connect() as client:
        client.sendall(_head(system, "transfer-encoding: chunked"))
        for _ in range(TOO_LONG_MIB[system.name]):
            client.sendall(part)
        assert client.recv(1000).startswith(b"HTTP/1.1 413 ")
    assert system.served.peak_mib() - before < 0.95 * TOO_LONG_MIB[system.name]
    assert system.is_well()


def test_a_body_that_says_its_length_is_not_read(system: System) -> None:
    with system.served.connect() as client:
        client.sendall(_head(system, f"content-length: {10**15}"))
        assert client.recv(1000).startswith(b"HTTP/1.1 413 ")
    assert system.is_well()


def test_a_silent_client_delays_no_other(system: System) -> None:
    waiting = []
    for head in (b"POST ", _head(system, "content-length: 100")[:-2], _head(system, "content-length: 100") + b'{"co'):
        for _ in range(20):
            waiting.append(system.served.connect())
            waiting[-1].sendall(head)
    assert system.is_well()
    for client in waiting:
        client.close()
    assert system.is_well()


def test_a_run_ends_with_its_client(system: System) -> None:
    assert system.is_well()
    number, body = system.served.process.pid, json.dumps(system.order.sleeper).encode()
    before = descendants(number)
    clients = []
    for _ in range(8):  # more than there are sandboxes, unless this machine has many CPUs
        clients.append(system.served.connect())
        clients[-1].sendall(_head(system, f"content-length: {len(body)}") + body)
    assert wait_until_none(lambda: [] if descendants(number) - before else [number]) == []
    running = descendants(number) - before
    for client in clients:
        client.close()
    assert wait_until_none(lambda: [each for each in running if Path(f"/proc/{each}").exists()]) == []
    assert system.is_well()


@pytest.mark.parametrize("system", ["nemo-gym"], indirect=True)
def test_a_session_whose_run_ended_with_its_client_says_so(system: System) -> None:
    cookie = {"cookie": "rollscope_session=mine"}

    def state(code: str) -> object:
        body = json.dumps({"code": code, "keep_state": True}).encode()
        return system.served.ask("/execute_code", body, cookie).body["state"]

    state("x = 1")
    assert state("x") == "kept"
    many = "import threading, time\nfor _ in range(9): threading.Thread(target=time.sleep, args=[600]).start()"
    body = json.dumps({"code": f"{many}\ntime.sleep(600)", "keep_state": True}).encode()
    with system.served.connect() as client:
        client.sendall(
            _head(system, f"content-length: {len(body)}", "cookie: rollscope_session=mine", path="/execute_code")
        )
        client.sendall(body)
        assert wait_until_none(lambda: [] if _most_threads(system) > 9 else ["it has not begun"]) == []
    assert wait_until_none(lambda: ["it still runs"] if _most_threads(system) > 9 else []) == []
    assert state("x = 2") == "lost"
    assert state("x") == "kept"


def _most_threads(system: System) -> int:
    most = 0
    for each in descendants(system.served.process.pid):
        with contextlib.suppress(OSError):
            most = max(most, len(list(Path(f"/proc/{each}/task").iterdir())))
    return most


def test_no_request_gets_more_time_than_the_server_gives() -> None:
    served = start("colossalai", "--max-timeout", 5)
    order = ORDERS["colossalai"]
    for asked, status in ((5, 200), (0, 200), (5.1, 422), (1e300, 422), (-1, 422)):
        answer = served.ask(order.path, json.dumps(order.body | {"timeout": asked}).encode())
        assert (asked, answer.status) == (asked, status)
    assert "--max-timeout" in served.ask(order.path, json.dumps(order.body | {"timeout": 6}).encode()).body["detail"]
    assert served.end() == (0, "")


@pytest.fixture
def served() -> Iterator[Callable[[Served], Served]]:
    running: list[Served] = []

    def keep(server: Served) -> Served:
        running.append(server)
        return server

    yield keep
    for server in running:
        assert server.end()[0] == 0


def test_a_row_gets_no_more_time_than_the_server_gives(served: Callable[[Served], Served]) -> None:
    server = served(start("nemo-gym", "--max-timeout", 20))
    order = ORDERS["nemo-gym"]
    for limits, masked in (({"wall_s": 20}, False), ({"wall_s": 21}, True), ({"total_s": 1e6}, True)):
        body = order.body | {"verifier_metadata": {**order.body["verifier_metadata"], "limits": limits}}
        answer = server.ask(order.path, json.dumps(body).encode()).body
        assert (limits, answer["mask_sample"], answer["verdict"]) == (limits, masked, "unknown" if masked else "passed")
        assert not masked or "max_timeout_secs" in answer["failure_reason"]


@pytest.mark.parametrize(
    ("order", "system"),
    [(order, "nemo-gym") for order in OTHERS] + [(order, "sandbox-fusion") for order in TESTS],
    ids=lambda value: value.path[1:] if isinstance(value, Order) else value,
    indirect=["system"],
)
def test_no_other_endpoint_fails(order: Order, system: System) -> None:
    assert failures(system.served, order) == {}
    assert {
        name: status for name, body in BODIES.items() if (status := system.served.ask(order.path, body).status) > 422
    } == {}
    assert system.is_well()


@pytest.mark.parametrize(
    ("options", "names", "strangers"),
    [
        (["--allowed-host", "gpu-box", "--allowed-host", "10.0.0.5"], ["GPU-box:80", "10.0.0.5", "localhost"], ["x"]),
        (["--host", "0.0.0.0"], ["gpu-box", "anything.example"], []),
        (["--host", "0.0.0.0", "--allowed-host", "gpu-box"], ["gpu-box", "127.0.0.1"], ["x", "10.0.0.5"]),
    ],
    ids=["loopback", "network", "network, named"],
)
def test_it_answers_to_the_allowed_names(
    options: list[str], names: list[str], strangers: list[str], served: Callable[[Served], Served]
) -> None:
    server = served(start("agentfly", *options))
    for name, status in [(name, 200) for name in names] + [(name, 400) for name in strangers]:
        answer = server.ask("/health", b"", {"host": name}, "GET")
        assert (name, answer.status) == (name, status)
        assert status == 200 or "--allowed-host" in answer.body["error"]


def test_a_server_made_by_init_server_is_guarded_too(served: Callable[[Served], Served], tmp_path: Path) -> None:
    write_server(tmp_path / "mine")
    server = served(Served(tmp_path / "mine" / "app.py", "--port", 0, "--allowed-host", "gpu-box"))
    body = json.dumps({"code": "print(1)"}).encode()
    for headers, status in (
        ({}, 200), ({"host": "gpu-box:80"}, 200), ({"host": "x"}, 400),
        ({"content-type": "text/plain"}, 415), ({"origin": "http://evil.example"}, 403),
    ):  # fmt: skip
        assert (headers, server.ask("/execute_code", body, headers).status) == (headers, status)


@pytest.mark.parametrize(
    ("system", "option", "value", "message"),
    [
        ("agentfly", "--allowed-host", "http://gpu-box/", "--allowed-host 'http://gpu-box/': give only a host name"),
        ("agentfly", "--max-timeout", "5", "--max-timeout: not for `serve agentfly`"),
        ("nemo-gym", "--max-timeout", "0", "--max-timeout 0: give seconds above 0"),
        ("colossalai", "--max-timeout", "inf", "--max-timeout inf: give seconds above 0"),
    ],
)
def test_a_bad_option_is_one_line(system: str, option: str, value: str, message: str) -> None:
    server = start(system, option, value)
    _, error = server.process.communicate(timeout=PATIENCE_S)
    assert server.process.returncode == 2
    assert error.startswith(f"rollscope: {message}")
    assert error.count("\n") == 1


def _head(system: System, *headers: str, path: str = "") -> bytes:
    lines = [
        f"POST {path or system.order.path} HTTP/1.1",
        "host: 127.0.0.1",
        "content-type: application/json",
        *headers,
    ]
    return "".join(f"{line}\r\n" for line in [*lines, ""]).encode()
