"""The corpus of requests, sent to the servers: no 5xx, nothing that hangs, and a server that still answers."""

import contextlib
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evaluator.interop.nemo_gym.server_folder import write_server
from tests.hostile.requests import BODIES, REFUSED, TAKEN, with_values
from tests.hostile.serving import ORDERS, OTHERS, TESTS, Client, Order, Served, System, start
from tests.interop.serving import refused
from tests.waiting import wait_until
from tests.workers.processes import descendants, runs_code, zygotes_below

slow = pytest.mark.slow
TOO_LONG_MIB = {"agentfly": 40, "colossalai": 300, "nemo-gym": 40, "sandbox-fusion": 300}
"""What is sent of a body that is longer than the server takes (8, 256, 8 and 256 MiB)."""
agentfly_soon = pytest.mark.parametrize(
    "here",
    ["agentfly", *(pytest.param(name, marks=slow) for name in ORDERS if name != "agentfly")],
    indirect=True,
    scope="module",
)


def test_requests_from_a_foreign_page_are_refused(here: System) -> None:
    for what, (status, headers) in REFUSED.items():
        answer = here.good(headers)
        assert (what, answer.status, [*answer.body]) == (what, status, ["error"])
        assert "\n" not in answer.body["error"]
    asking = {"origin": "https://evil.example", "access-control-request-method": "POST"}
    assert here.client.ask(here.order.path, b"", asking, "OPTIONS").status == 403, "no page gets leave to send JSON"


@agentfly_soon
def test_requests_of_an_honest_client_are_answered(here: System) -> None:
    assert {what: here.good(headers).status for what, headers in TAKEN.items()} == dict.fromkeys(TAKEN, 200)


def test_no_body_makes_it_fail(here: System) -> None:
    odd = [(name, status) for name, status in answers_to_bodies(here.client, here.order) if not 400 <= status < 500]
    assert odd == []
    assert here.is_well()


@agentfly_soon
def test_no_value_in_a_field_makes_it_fail(here: System) -> None:
    assert failures(here.client, here.order) == {}
    assert here.is_well()


def answers_to_bodies(client: Client, order: Order) -> list[tuple[str, int]]:
    return [(name, client.ask(order.path, body).status) for name, body in BODIES.items()]


_TRIES = 20


def failures(client: Client, order: Order) -> dict[str, object]:
    """The answers to a good request with each value in each of its fields, as far as they speak of a fault of ours."""

    def fault(body: bytes) -> object:
        for _ in range(_TRIES):
            status, answer = client.ask(order.path, body)
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
    before = system.client.peak_mib()
    with system.client.connect() as client:
        client.sendall(system.head("transfer-encoding: chunked"))
        for _ in range(TOO_LONG_MIB[system.name]):
            client.sendall(part)
        assert client.recv(1000).startswith(b"HTTP/1.1 413 ")
    assert system.client.peak_mib() - before < 0.95 * TOO_LONG_MIB[system.name]
    assert system.is_well()


def test_a_body_that_says_its_length_is_not_read(system: System) -> None:
    with system.client.connect() as client:
        client.sendall(system.head(f"content-length: {10**15}"))
        assert client.recv(1000).startswith(b"HTTP/1.1 413 ")
    assert system.is_well()


@agentfly_soon
def test_a_silent_client_delays_no_other(here: System) -> None:
    head = here.head("content-length: 100")
    waiting = []
    for begun in (b"POST ", head[:-2], head + b'{"co'):
        for _ in range(20):
            waiting.append(here.client.connect())
            waiting[-1].sendall(begun)
    assert here.is_well()
    for client in waiting:
        client.close()
    assert here.is_well()


def test_a_run_ends_with_its_client(system: System) -> None:
    assert system.is_well()
    number, body = system.client.process.pid, json.dumps(system.order.sleeper).encode()

    def runs() -> bool:
        return any(map(runs_code, zygotes_below(number)))

    clients = []
    for _ in range(8):  # more than there are sandboxes, unless this machine has many CPUs
        clients.append(system.client.connect())
        clients[-1].sendall(system.head(f"content-length: {len(body)}") + body)
    wait_until(runs, "no program began")
    for client in clients:
        client.close()
    wait_until(lambda: not runs(), "a program still runs")
    assert system.is_well()


@slow
@pytest.mark.parametrize("system", ["nemo-gym"], indirect=True)
def test_a_session_whose_run_ended_with_its_client_says_so(system: System) -> None:
    cookie = {"cookie": "rollscope_session=mine"}

    def state(code: str) -> object:
        body = json.dumps({"code": code, "keep_state": True}).encode()
        return system.client.ask("/execute_code", body, cookie).body["state"]

    state("x = 1")
    assert state("x") == "kept"
    many = "import threading, time\nfor _ in range(9): threading.Thread(target=time.sleep, args=[600]).start()"
    body = json.dumps({"code": f"{many}\ntime.sleep(600)", "keep_state": True}).encode()
    with system.client.connect() as client:
        head = system.head(f"content-length: {len(body)}", "cookie: rollscope_session=mine", path="/execute_code")
        client.sendall(head + body)
        wait_until(lambda: _most_threads(system) > 9, "the program did not begin")
    wait_until(lambda: _most_threads(system) <= 9, "the program still runs")
    assert state("x = 2") == "lost"
    assert state("x") == "kept"


def _most_threads(system: System) -> int:
    most = 0
    for each in descendants(system.client.process.pid):
        with contextlib.suppress(OSError):
            most = max(most, len(list(Path(f"/proc/{each}/task").iterdir())))
    return most


@slow
def test_no_request_gets_more_time_than_the_server_gives(served: Callable[[Served], Served]) -> None:
    server, order = served(start("colossalai", "--max-timeout", 50)), ORDERS["colossalai"]
    for asked, status in ((50, 200), (0, 200), (50.1, 422), (1e300, 422), (-1, 422)):
        answer = server.ask(order.path, json.dumps(order.body | {"timeout": asked}).encode())
        assert (asked, answer.status) == (asked, status)
    assert "--max-timeout" in server.ask(order.path, json.dumps(order.body | {"timeout": 60}).encode()).body["detail"]


@slow
def test_a_row_gets_no_more_time_than_the_server_gives(served: Callable[[Served], Served]) -> None:
    server = served(start("nemo-gym", "--max-timeout", 50))
    order = ORDERS["nemo-gym"]
    for limits, masked in (({"wall_s": 50}, False), ({"wall_s": 51}, True), ({"total_s": 1e6}, True)):
        body = order.body | {"verifier_metadata": {**order.body["verifier_metadata"], "limits": limits}}
        answer = server.ask(order.path, json.dumps(body).encode()).body
        assert (limits, answer["mask_sample"], answer["verdict"]) == (limits, masked, "unknown" if masked else "passed")
        assert not masked or "max_timeout_secs" in answer["failure_reason"]


@slow
@pytest.mark.parametrize(
    ("order", "here"),
    [(order, "nemo-gym") for order in OTHERS] + [(order, "sandbox-fusion") for order in TESTS],
    ids=lambda value: value.path[1:] if isinstance(value, Order) else value,
    indirect=["here"],
)
def test_no_other_endpoint_fails(order: Order, here: System) -> None:
    assert failures(here.client, order) == {}
    assert [(name, status) for name, status in answers_to_bodies(here.client, order) if status > 422] == []
    assert here.is_well()


@pytest.mark.parametrize(
    ("options", "names", "strangers"),
    [
        (["--allowed-host", "gpu-box", "--allowed-host", "10.0.0.5"], ["GPU-box:80", "10.0.0.5", "localhost"], ["x"]),
        pytest.param(["--host", "0.0.0.0"], ["gpu-box", "anything.example"], [], marks=slow),
        pytest.param(
            ["--host", "0.0.0.0", "--allowed-host", "gpu-box"], ["gpu-box", "127.0.0.1"], ["x", "10.0.0.5"], marks=slow
        ),
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


@slow
def test_a_server_made_by_init_server_is_guarded_too(served: Callable[[Served], Served], tmp_path: Path) -> None:
    write_server(tmp_path / "mine")
    server = served(Served(tmp_path / "mine" / "app.py", "--port", 0, "--allowed-host", "gpu-box"))
    body = json.dumps({"code": "print(1)"}).encode()
    for headers, status in (
        ({}, 200), ({"host": "gpu-box:80"}, 200), ({"host": "x"}, 400),
        ({"content-type": "text/plain"}, 415), ({"origin": "http://evil.example"}, 403),
    ):  # fmt: skip
        assert (headers, server.ask("/execute_code", body, headers).status) == (headers, status)


def test_a_bad_option_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for system, option, value, message in (
        ("agentfly", "--allowed-host", "http://gpu-box/", "--allowed-host 'http://gpu-box/': give only a host name"),
        ("agentfly", "--max-timeout", "5", "--max-timeout: not for `serve agentfly`"),
        ("nemo-gym", "--max-timeout", "0", "--max-timeout 0: give seconds above 0"),
        ("colossalai", "--max-timeout", "inf", "--max-timeout inf: give seconds above 0"),
    ):
        assert refused(capsys, system, option, value).startswith(f"rollscope: {message}")
