"""The tools of the stand-alone server, as a model's agent calls them, and its other endpoints but `/verify`."""

from collections.abc import Callable

from evaluator.interop.nemo_gym import CodeResourcesServer
from evaluator.interop.nemo_gym.wire import COOKIE
from tests.interop.nemo_gym.client import Client
from tests.interop.serving import ask, in_thread

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
    code = "import sys\nprint(input() * 2)\nprint('no', file=sys.stderr)\nsys.exit(3)"
    told = ran(Client(server()), code, stdin="ab\n")
    assert told == {"stdout": "abab\n", "stderr": "no\n", "returncode": 3, "limit": None, "state": None}


def test_what_is_wrong_with_a_program_is_told_as_python_tells_it(server: Server) -> None:
    for keep_state in (False, True):
        told = ran(Client(server()), "print(1)\nnothing", keep_state=keep_state)
        assert (told["stdout"], told["returncode"]) == ("1\n", 1)
        assert str(told["stderr"]).endswith("NameError: name 'nothing' is not defined\n")
        told = ran(Client(server()), "x = 1\ndef (", keep_state=keep_state)
        assert (told["returncode"], "line 2" in str(told["stderr"])) == (1, True)
        assert "SyntaxError" in str(told["stderr"])


def test_a_limit_is_named(server: Server) -> None:
    assert ran(Client(server("unit_test_timeout_secs: 0.5")), "while True: pass")["limit"] == "time"
    hog = "x = bytearray(10**9)\nfor place in range(0, 10**9, 4096): x[place] = 1"
    assert ran(Client(server("memory_mb: 64")), hog)["limit"] == "memory"


def test_names_are_kept_for_who_asks(server: Server) -> None:
    client, other = Client(server()), Client(server())
    assert ran(client, "x = 1", keep_state=True)["state"] == "new"
    told = ran(client, "x += 1\nprint(x)", keep_state=True)
    assert (told["stdout"], told["state"]) == ("2\n", "kept")
    assert ran(client, "print(x)")["returncode"] == 1
    assert ran(other, "print(x)", keep_state=True)["returncode"] == 1
    assert ran(client, "print(x)", keep_state=True)["stdout"] == "2\n"
    assert ran(client, "1 / 0", keep_state=True)["state"] == "kept"
    assert ran(client, "raise SystemExit('over')", keep_state=True) == {
        "stdout": "", "stderr": "over\n", "returncode": 1, "limit": None, "state": "kept",
    }  # fmt: skip
    assert ran(client, "print(x)", keep_state=True)["stdout"] == "2\n"


def test_a_cookie_that_no_server_has_given_begins_a_session(server: Server) -> None:
    client = Client(server())
    for odd in ('"a\\012b: c"', "a b", "", "x" * 5000):
        client.cookie = f"{COOKIE}={odd}"
        assert ran(client, "x = 1", keep_state=True)["state"] == "new"
        assert ran(client, "print(x)", keep_state=True)["state"] == "kept"


def test_names_that_are_lost_are_said_to_be(server: Server) -> None:
    for config, end in (("unit_test_timeout_secs: 2", "import time\ntime.sleep(600)"), ("", "import os\nos._exit(0)")):
        client = Client(server(config))
        ran(client, "x = 5", keep_state=True)
        told = ran(client, end, keep_state=True)
        assert (told["state"], "gone" in str(told["stderr"])) == ("lost", True)
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


def test_a_server_that_was_started_anew_says_what_is_lost(server: Server) -> None:
    client = Client(server())
    ran(client, "x = 5", keep_state=True)
    with in_thread(CodeResourcesServer().setup_webserver()) as url:
        again = Client(url)
        again.cookie = client.cookie
        assert ran(again, "y = 1", keep_state=True)["state"] == "lost"
        assert ran(again, "print(y)", keep_state=True)["state"] == "kept"


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


def test_what_a_tool_can_not_do_is_told_to_the_model(server: Server) -> None:
    status, told = Client(server()).post("/run_tests", {"code": "x"})
    assert (status, "/seed_session" in told["error"]) == (400, True)
    status, told = Client(server()).post("/execute_code", {"source": "x"})
    assert (status, told["detail"][0]["loc"]) == (422, ["body", "code"])


def test_it_is_healthy_and_verifies_stored_rollouts_again(server: Server) -> None:
    for path in ("/", "/health", "/healthz", "/livez", "/readyz"):
        assert ask(server(), "GET", path) == (200, {"status": "ok"})
    assert ask(server(), "GET", "/reverify_mode") == (200, '"stateless"')


def test_sessions_open_and_close(server: Server) -> None:
    client = Client(server())
    assert client.post("/seed_session", {"responses_create_params": {"input": "x"}, "agent_ref": {}}) == (200, {})
    typed = {"resources_session_id": "s1", "episode_id": "e", "task_id": {"taskset": "t"}, "task_data": {"a": 1}}
    assert client.post("/seed_session", typed) == (200, {"resources_session_id": "s1"})
    assert client.post("/seed_session", typed).status == 200
    for name in ("s1", "s1", "never seeded"):
        closing = {"resources_session_id": name, "episode_id": "e"}
        assert client.post("/close_session", closing) == (200, {"resources_session_id": name})
        assert client.post("/seed_session", typed | {"resources_session_id": name}).status == 400
