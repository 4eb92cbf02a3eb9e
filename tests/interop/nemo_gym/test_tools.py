"""The tools of the stand-alone server, as a model's agent calls them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evaluator.interop.nemo_gym.session_cookie import COOKIE
from tests.interop.nemo_gym.client import Client
from tests.interop.serving import Served

Server = Callable[..., str]

ROW = {
    "responses_create_params": {"input": [{"role": "user", "content": "square the number"}]},
    "verifier_metadata": {
        "unit_tests": {"inputs": ["2\n", "9\n"], "outputs": ["4", "81"]},
        "public_tests": {"inputs": ["3\n"], "outputs": ["9"]},
    },
}


def ran(client: Client, code: str, **more: object) -> dict[str, object]:
    status, told = client.post("/execute_code", {"code": code, **more})
    assert status == 200, told
    answer: dict[str, object] = told
    return answer


def test_a_program_is_run_with_its_stdin(server: Server) -> None:
    told = ran(
        Client(server()), "import sys\nprint(input() * 2)\nprint('no', file=sys.stderr)\nsys.exit(3)", stdin="ab\n"
    )
    assert told == {"stdout": "abab\n", "stderr": "no\n", "returncode": 3, "limit": None, "state": None}


def test_an_exception_is_told_as_python_tells_it(server: Server) -> None:
    told = ran(Client(server()), "print(1)\nnothing")
    assert (told["stdout"], told["returncode"]) == ("1\n", 1)
    assert str(told["stderr"]).endswith("NameError: name 'nothing' is not defined\n")


def test_what_does_not_compile_is_told(server: Server) -> None:
    for keep_state in (False, True):
        told = ran(Client(server()), "x = 1\ndef (", keep_state=keep_state)
        assert told["returncode"] == 1
        assert "line 2" in str(told["stderr"])
        assert "SyntaxError" in str(told["stderr"])


def test_a_limit_is_named(server: Server) -> None:
    client = Client(server("unit_test_timeout_secs: 0.5\nmemory_mb: 64"))
    assert ran(client, "while True: pass")["limit"] == "time"
    assert ran(client, "x = bytearray(10**9)\nfor place in range(0, 10**9, 4096): x[place] = 1")["limit"] == "memory"


def test_names_are_kept_for_who_asks(server: Server) -> None:
    client, other = Client(server()), Client(server())
    assert ran(client, "x = 1", keep_state=True)["state"] == "new"
    told = ran(client, "x += 1\nprint(x)", keep_state=True)
    assert (told["stdout"], told["state"]) == ("2\n", "kept")
    assert ran(client, "print(x)")["returncode"] == 1
    assert ran(other, "print(x)", keep_state=True)["returncode"] == 1
    assert ran(client, "print(x)", keep_state=True)["stdout"] == "2\n"


def test_a_cookie_that_no_server_has_given_begins_a_session(server: Server) -> None:
    client = Client(server())
    for odd in ('"a\\012b: c"', "a b", "", "x" * 5000):
        client.cookie = f"{COOKIE}={odd}"
        assert ran(client, "x = 1", keep_state=True)["state"] == "new"
        assert ran(client, "print(x)", keep_state=True)["state"] == "kept"


def test_names_are_kept_after_an_exception_and_an_exit(server: Server) -> None:
    client = Client(server())
    ran(client, "x = 5", keep_state=True)
    assert ran(client, "1 / 0", keep_state=True)["state"] == "kept"
    assert ran(client, "raise SystemExit('over')", keep_state=True) | {"state": ""} == {
        "stdout": "", "stderr": "over\n", "returncode": 1, "limit": None, "state": "",
    }  # fmt: skip
    assert ran(client, "print(x)", keep_state=True)["stdout"] == "5\n"


@pytest.mark.parametrize("end", ["while True: pass", "import os\nos._exit(0)"], ids=["limit", "exit"])
def test_names_that_are_lost_are_said_to_be(server: Server, end: str) -> None:
    client = Client(server("unit_test_timeout_secs: 0.5"))
    ran(client, "x = 5", keep_state=True)
    told = ran(client, end, keep_state=True)
    assert told["state"] == "lost"
    assert "gone" in str(told["stderr"])
    told = ran(client, "print(x)", keep_state=True)
    assert (told["state"], told["returncode"]) == ("new", 1)


def test_a_new_rollout_begins_with_nothing(server: Server) -> None:
    client = Client(server())
    ran(client, "x = 5", keep_state=True)
    client.post("/seed_session", ROW)
    assert ran(client, "x = 6", keep_state=True)["state"] == "new"
    client.post("/close_session", {})
    assert ran(client, "x = 6", keep_state=True)["state"] == "new"


def test_who_was_idle_longest_makes_room(server: Server) -> None:
    url = server("max_sessions: 2")
    clients = [Client(url) for _ in range(3)]
    for client in clients:
        assert ran(client, "x = 1", keep_state=True)["state"] == "new"
    assert ran(clients[2], "print(x)", keep_state=True)["state"] == "kept"
    told = ran(clients[0], "print(x)", keep_state=True)
    assert (told["state"], told["returncode"]) == ("lost", 1)


def test_a_server_that_was_started_anew_says_what_is_lost() -> None:
    first = Served()
    client = Client(first.url)
    ran(client, "x = 5", keep_state=True)
    first.end()
    again = Served(port=int(first.url.rpartition(":")[2]))
    assert ran(client, "y = 1", keep_state=True)["state"] == "lost"
    assert ran(client, "print(y)", keep_state=True)["state"] == "kept"
    again.end()


def test_public_tests_alone_are_run_and_shown(server: Server) -> None:
    client = Client(server())
    client.post("/seed_session", ROW)
    status, told = client.post("/run_tests", {"code": "print(int(input()) ** 2)"})
    assert (status, told["tests_passed"], told["tests_total"]) == (200, 1, 1)
    told = client.post("/run_tests", {"code": "```python\nprint(int(input()) + 1)\n```"}).body
    assert told["tests"] == [
        {"index": 0, "verdict": "wrong_answer", "input": "3\n", "expected": "9", "actual": "4\n",
         "message": "line 1, column 1: expected '9', got '4'"},
    ]  # fmt: skip
    assert "81" not in str(told)


def test_public_tests_may_be_the_first_of_all(server: Server) -> None:
    row = ROW | {"verifier_metadata": {"unit_tests": ROW["verifier_metadata"]["unit_tests"]}}
    client = Client(server("public_tests: 1"))
    client.post("/seed_session", row)
    assert client.post("/run_tests", {"code": "print(int(input()) ** 2)"}).body["tests_total"] == 1
    client = Client(server())
    client.post("/seed_session", row)
    assert client.post("/run_tests", {"code": "x"}) == (400, {"error": "the task has no public test cases"})


def test_tests_want_a_session(server: Server) -> None:
    status, told = Client(server()).post("/run_tests", {"code": "x"})
    assert status == 400
    assert "/seed_session" in told["error"]


def test_wrong_arguments_are_told_to_the_model(server: Server) -> None:
    status, told = Client(server()).post("/execute_code", {"source": "x"})
    assert status == 422
    assert told["detail"][0]["loc"] == ["body", "code"]
