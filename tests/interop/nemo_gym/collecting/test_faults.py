"""`rollscope collect` where the endpoint or the server fails: what is asked again, and what becomes of the rest."""

import json
import socket
from collections.abc import Callable
from email.utils import formatdate

import pytest

from tests.graders.judge_server import Answer, JudgeServer, breaks_off, closes, hangs, refuses, sends
from tests.interop.nemo_gym.collecting.answers import (
    FINE,
    RIGHT,
    completes,
    function_call,
    message,
    responds,
    verifies,
    verifies_but,
)
from tests.interop.nemo_gym.collecting.collection import Collection, row

Make = Callable[..., Collection]

AT_ONCE = {"Retry_After": "0"}
OF_BOTH = [
    refuses(429, "slow down", **AT_ONCE),
    refuses(500, "oops", **AT_ONCE),
    sends("<html>Bad Gateway</html>", 502, **AT_ONCE),
    refuses(503, "starting", **AT_ONCE),
    closes,
    breaks_off,
]
OF_ENDPOINTS = [
    *OF_BOTH,
    refuses(429, "slow down", Retry_After=formatdate(0, usegmt=True)),
    refuses(408, "too slow", **AT_ONCE),
    refuses(409, "busy", **AT_ONCE),
    sends(json.dumps({"error": {"message": "overloaded", "code": 503}}), **AT_ONCE),
]


def some(number: int) -> list[object]:
    """Rows whose rollouts come one after the other, with `ONE_BY_ONE`."""
    return [row(str(each)) for each in range(number)]


ONE_BY_ONE = ("--concurrency", 1)


def test_a_passing_fault_of_the_endpoint_is_ridden_out(collection: Make, model: JudgeServer) -> None:
    model.answers = [answer for fault in OF_ENDPOINTS for answer in (fault, FINE)]
    made = collection(some(10), "--json", *ONE_BY_ONE)
    done = made.run()
    assert (done.status, len(made.names), done.summary["retries"], len(model.asked)) == (0, 10, 10, 20)


@pytest.mark.parametrize("path", ["/seed_session", "/verify"])
def test_a_passing_fault_of_the_server_is_ridden_out(
    collection: Make, model: JudgeServer, other: JudgeServer, path: str
) -> None:
    other.answers = [verifies_but(path, *(answer for fault in OF_BOTH for answer in (fault, verifies())))]
    made = collection(some(6), "--server", other.url, "--json", *ONE_BY_ONE)
    done = made.run()
    assert (done.status, [line["reward"] for line in made.rollouts], len(model.asked)) == (0, [1.0] * 6, 6)
    assert done.summary["retries"] == 6


def test_a_fault_that_does_not_pass_is_a_failure_to_be_asked_again(collection: Make, model: JudgeServer) -> None:
    model.answers = [refuses(503, "starting", **AT_ONCE)]
    made = collection([row()], "--retries", 2)
    done = made.run()
    assert (done.status, len(model.asked), made.names) == (1, 3, [])
    (failure,) = made.failures
    assert failure["_ng_failure_class"] == "agent_request_failed"
    assert failure["_ng_failure_message"].endswith("answered 503 to /responses: starting")
    assert (failure["_ng_failure_http_status"], failure["_ng_failure_terminal"]) == (503, False)
    assert (failure["_ng_task_index"], failure["_ng_rollout_index"]) == (0, 0)
    assert "1 (1 agent_request_failed); --resume retries them" in done.out
    model.answers = [FINE]
    assert (made.run("--resume").status, made.names, made.failures) == (0, [(0, 0)], [])


def test_no_answer_in_time_is_a_fault(collection: Make, model: JudgeServer) -> None:
    model.answers = [hangs]
    made = collection([row()], "--retries", 0, "--timeout", 0.2)
    assert made.run().status == 1
    assert "did not answer in 0.2 s" in made.failures[0]["_ng_failure_message"]


NONSENSE = {
    "responses": [
        sends("<html>Welcome</html>"), sends("{}"), sends('{"output": []}'), sends('{"output": ["text"]}'),
        sends('{"output": [], "status": "failed"}'), sends('{"output": [], "status": "in_progress"}'),
    ],
    "chat": [
        sends(""), sends("[1]"), sends('{"choices": []}'), sends('{"choices": [1]}'),
        sends('{"choices": [{"text": "old"}]}'), completes(tool_calls=[{"id": "x"}]),
    ],
}  # fmt: skip


@pytest.mark.parametrize("api", NONSENSE)
def test_what_is_no_answer_is_a_failure(collection: Make, model: JudgeServer, api: str) -> None:
    model.answers = [*NONSENSE[api]]
    made = collection(some(6), "--api", api, *ONE_BY_ONE)
    done = made.run()
    assert (done.status, made.names, len(made.failures), len(model.asked)) == (1, [], 6, 6)
    assert {failure["_ng_failure_class"] for failure in made.failures} == {"agent_run_error"}
    assert all("sent a malformed reply" in failure["_ng_failure_message"] for failure in made.failures)
    assert "Traceback" not in done.err


def test_what_the_endpoint_refuses_is_not_asked_again_and_the_key_is_nowhere(
    collection: Make, model: JudgeServer
) -> None:
    model.answers = [FINE, refuses(400, "bad key sk-a-secret-of-this-test")]
    made = collection(some(2), *ONE_BY_ONE)
    done = made.run()
    assert (done.status, len(model.asked)) == (1, 2)
    (failure,) = made.failures
    assert failure["_ng_failure_message"].endswith("answered 400 to /responses: bad key [key]")
    assert (failure["_ng_failure_http_status"], failure["_ng_failure_terminal"]) == (400, True)
    assert "sk-a-secret" not in f"{made.contents}{done.out}{done.err}"


def test_what_chat_completions_can_not_say_is_a_failure(collection: Make, model: JudgeServer) -> None:
    searching = row()
    searching["responses_create_params"]["tools"] = [{"type": "web_search"}]
    made = collection([searching], "--api", "chat")
    assert (made.run().status, len(model.asked)) == (1, 0)
    assert "Chat Completions can't express a tool of type 'web_search'" in made.failures[0]["_ng_failure_message"]


@pytest.mark.parametrize(
    ("answer", "mend"),
    [
        (refuses(401, "Incorrect API key provided: sk-a-secret-of-this-test"), "check OPENAI_API_KEY"),
        (refuses(404, "no such model"), "give --api chat"),
        (refuses(429, "You exceeded your quota", "insufficient_quota"), "check the account"),
    ],
)
def test_an_endpoint_that_answers_nobody_ends_it_all(
    collection: Make, model: JudgeServer, answer: Answer, mend: str
) -> None:
    model.answers = [answer]
    made = collection(some(20), "--concurrency", 2)
    done = made.run()
    assert (done.status, done.err.count("\n")) == (2, 1), done.err
    assert list(made.output.parent.glob("*rollouts*")) == []
    assert mend in done.err
    assert len(model.asked) <= 2
    model.answers = [FINE]
    assert (made.run().status, len(made.names)) == (0, 20)


def test_a_rollout_that_is_not_verified_is_a_failure(collection: Make, other: JudgeServer) -> None:
    nonsense = ("{}", "[]", "<html>", '{"reward": null}', '{"reward": "1"}', '{"reward": NaN}')
    refused = sends('{"detail": "no verifier_metadata"}', 422)
    others = [verifies(_ng_failure_class="judge_failed"), refused, *map(sends, nonsense)]
    other.answers = [verifies_but("/verify", *others)]
    made = collection(some(8), "--server", other.url, *ONE_BY_ONE)
    assert (made.run().status, made.names) == (1, [])
    judge, refusal, *malformed = made.failures
    assert judge["_ng_failure_class"] == "judge_failed"
    assert (refusal["_ng_failure_class"], refusal["_ng_failure_http_status"]) == ("verifier_error", 422)
    assert "no verifier_metadata" in refusal["_ng_failure_message"]
    assert [failure["_ng_failure_class"] for failure in malformed] == ["verifier_error"] * 6
    assert all("not a verified rollout" in failure["_ng_failure_message"] for failure in malformed)


def test_what_is_no_resources_server(collection: Make, model: JudgeServer, other: JudgeServer) -> None:
    other.answers = [sends("not here", 404)]
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        for option, address, told in (
            ("--server", other.url, "give the address of a NeMo Gym resources server"),
            ("--server", f"http://127.0.0.1:{unused.getsockname()[1]}", ": is it running?\n"),
            ("--server", "localhost:8000", "'localhost:8000' is not an address: give for example http://"),
            ("--base-url", "localhost:8000", "'localhost:8000' is not an address: give for example http://"),
        ):
            made = collection([row()], option, address)
            done = made.run()
            assert (done.status, done.err.count("\n"), model.asked) == (2, 1, [])
            assert told in done.err
            assert not made.output.exists()


def test_the_session_is_lost_after_tool_calls(collection: Make, model: JudgeServer, other: JudgeServer) -> None:
    """The rollout begins anew, in a session of its own, and what was said before is in no file."""
    calls = responds(function_call("add", {"n": 1}))
    model.answers = [calls, calls, calls, FINE]
    other.answers = [verifies_but("/add", sends("1"), closes, sends("1 anew"))]
    made = collection([row()], "--server", other.url)
    assert made.run().status == 0
    paths = [asked.path for asked in other.asked]
    assert paths[:6] == ["/seed_session", "/add", "/add", "/seed_session", "/add", "/verify"]
    assert [item.get("output") for item in made.rollouts[0]["response"]["output"]] == [None, "1 anew", None]
    assert len(model.asked) == 4


def test_a_server_that_says_that_it_lost_the_session(collection: Make, model: JudgeServer, other: JudgeServer) -> None:
    model.answers = [responds(function_call("add", {})), responds(message(RIGHT))]
    lost = sends("unknown session", 400, Rollscope_Session="lost")
    other.answers = [verifies_but("/add", lost, sends("1"))]
    made = collection([row()], "--server", other.url)
    assert made.run().status == 0
    assert [asked.path for asked in other.asked][:4] == ["/seed_session", "/add", "/seed_session", "/add"]
    assert made.rollouts[0]["response"]["output"][1]["output"] == "1"
    assert len(model.asked) == 2


@pytest.mark.parametrize(
    ("answer", "text", "times"),
    [(sends("it broke", 500), "it broke", 1), (sends("later", 503, Retry_After="0"), "later", 3)],
    ids=["broken", "behind a gateway that stays busy"],
)
def test_a_tools_error_is_what_the_model_sees(
    collection: Make, model: JudgeServer, other: JudgeServer, answer: Answer, text: str, times: int
) -> None:
    model.answers = [responds(function_call("look", {})), FINE]
    other.answers = [verifies_but("/look", *[answer] * times)]
    made = collection([row()], "--server", other.url, "--retries", 2)
    assert made.run().status == 0
    assert made.rollouts[0]["response"]["output"][1]["output"] == text
    assert [asked.path for asked in other.asked].count("/look") == times
