"""`rollscope collect` where the endpoint or the server fails: what is asked again, and what becomes of the rest."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from email.utils import formatdate

import pytest

from tests.graders.judge_server import (
    Answer,
    Asked,
    Handler,
    JudgeServer,
    breaks_off,
    closes,
    hangs,
    refuses,
    sends,
)
from tests.interop.nemo_gym.collecting.answers import (
    RIGHT,
    completes,
    function_call,
    message,
    responds,
    verifies,
    verifies_but,
    verifies_never,
)
from tests.interop.nemo_gym.collecting.collection import Collection, row, squares

Make = Callable[..., Collection]

FINE = responds(message("Fine."))
AT_ONCE = {"Retry_After": "0"}
PASSING = [
    refuses(429, "slow down", **AT_ONCE),
    refuses(429, "slow down", Retry_After=formatdate(0, usegmt=True)),
    refuses(408, "too slow", **AT_ONCE),
    refuses(409, "busy", **AT_ONCE),
    refuses(500, "oops", **AT_ONCE),
    sends("<html>Bad Gateway</html>", 502, **AT_ONCE),
    refuses(503, "starting", **AT_ONCE),
    sends(json.dumps({"error": {"message": "overloaded", "code": 503}}), **AT_ONCE),
    closes,
    breaks_off,
]


@pytest.mark.parametrize("fault", PASSING, ids=range(len(PASSING)))
def test_a_passing_fault_of_the_endpoint_is_ridden_out(collection: Make, model: JudgeServer, fault: Answer) -> None:
    model.answers = [fault, FINE]
    made = collection([row()], "--json")
    done = made.run()
    assert (done.status, made.names, done.summary["retries"]) == (0, [(0, 0)], 1)


@pytest.mark.parametrize("fault", PASSING[:1] + PASSING[4:7] + PASSING[8:], ids=range(6))
@pytest.mark.parametrize("path", ["/seed_session", "/verify"])
def test_a_passing_fault_of_the_server_is_ridden_out(
    collection: Make, model: JudgeServer, other: JudgeServer, fault: Answer, path: str
) -> None:
    model.answers = [FINE]
    other.answers = [verifies_but(path, fault)]
    made = collection([row()], "--server", other.url, "--json")
    done = made.run()
    assert (done.status, made.rollouts[0]["reward"], len(model.asked)) == (0, 1.0, 1)
    assert done.summary["retries"] == 1


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
    "html": ("responses", sends("<html>Welcome</html>")),
    "nothing": ("responses", sends("")),
    "no output": ("responses", sends("{}")),
    "empty output": ("responses", sends('{"output": []}')),
    "other output": ("responses", sends('{"output": ["text"]}')),
    "a failed response": ("responses", sends('{"output": [], "status": "failed"}')),
    "one still made": ("responses", sends('{"output": [], "status": "in_progress"}')),
    "half of it": ("chat", sends('{"choices": [')),
    "a list": ("chat", sends("[1]")),
    "no choices": ("chat", sends('{"choices": []}')),
    "other choices": ("chat", sends('{"choices": [1]}')),
    "no message": ("chat", sends('{"choices": [{"text": "old"}]}')),
    "a nameless call": ("chat", completes(tool_calls=[{"id": "x"}])),
}


@pytest.mark.parametrize(("api", "answer"), NONSENSE.values(), ids=NONSENSE)
def test_what_is_no_answer_is_a_failure(collection: Make, model: JudgeServer, api: str, answer: Answer) -> None:
    model.answers = [answer]
    made = collection([row("a"), row("b")], "--api", api)
    done = made.run()
    assert (done.status, made.names, len(made.failures), len(model.asked)) == (1, [], 2, 2)
    assert {failure["_ng_failure_class"] for failure in made.failures} == {"agent_run_error"}
    assert "sent a malformed reply" in made.failures[0]["_ng_failure_message"]
    assert "Traceback" not in done.err


def test_what_the_endpoint_refuses_is_not_asked_again(collection: Make, model: JudgeServer) -> None:
    model.answers = [refuses(400, "the context is too long")]
    made = collection([row()])
    assert (made.run().status, len(model.asked)) == (1, 1)
    (failure,) = made.failures
    assert failure["_ng_failure_message"].endswith("answered 400 to /responses: the context is too long")
    assert (failure["_ng_failure_http_status"], failure["_ng_failure_terminal"]) == (400, True)


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
    made = collection([row(str(number)) for number in range(20)], "--concurrency", 2)
    done = made.run()
    assert (done.status, done.err.count("\n")) == (2, 1), done.err
    assert list(made.output.parent.glob("*rollouts*")) == []
    assert mend in done.err
    assert len(model.asked) <= 2
    model.answers = [FINE]
    assert (made.run().status, len(made.names)) == (0, 20)


def test_the_key_is_nowhere(collection: Make, model: JudgeServer) -> None:
    model.answers = [FINE, refuses(400, "bad key sk-a-secret-of-this-test")]
    made = collection([row("a"), row("b")], "--concurrency", 1)
    done = made.run()
    assert "bad key [key]" in made.failures[0]["_ng_failure_message"]
    kept = "".join(path.read_text() for path in made.output.parent.iterdir())
    assert "sk-a-secret" not in kept + done.out + done.err


def test_a_server_that_refuses_a_rollout(collection: Make, model: JudgeServer, other: JudgeServer) -> None:
    model.answers = [FINE]
    other.answers = [verifies_never("/verify", sends('{"detail": "no verifier_metadata"}', 422))]
    made = collection([row()], "--server", other.url)
    assert made.run().status == 1
    (failure,) = made.failures
    assert (failure["_ng_failure_class"], failure["_ng_failure_http_status"]) == ("verifier_error", 422)
    assert "no verifier_metadata" in failure["_ng_failure_message"]


@pytest.mark.parametrize("told", ["{}", "[]", "<html>", '{"reward": null}', '{"reward": "1"}', '{"reward": NaN}'])
def test_a_verdict_that_is_none(collection: Make, model: JudgeServer, other: JudgeServer, told: str) -> None:
    model.answers = [FINE]
    other.answers = [verifies_never("/verify", sends(told))]
    made = collection([row()], "--server", other.url)
    assert (made.run().status, made.names) == (1, [])
    assert "not a verified rollout" in made.failures[0]["_ng_failure_message"]


def test_a_server_may_send_a_rollout_to_the_failures(collection: Make, model: JudgeServer, other: JudgeServer) -> None:
    model.answers = [FINE]
    other.answers = [verifies(_ng_failure_class="judge_failed")]
    made = collection([row()], "--server", other.url)
    assert (made.run().status, made.names) == (1, [])
    assert [failure["_ng_failure_class"] for failure in made.failures] == ["judge_failed"]


def test_what_is_no_resources_server(collection: Make, model: JudgeServer, other: JudgeServer) -> None:
    other.answers = [sends("not here", 404)]
    made = collection([row()], "--server", other.url)
    done = made.run()
    assert (done.status, done.err.count("\n"), model.asked) == (2, 1, [])
    assert "give the address of a NeMo Gym resources server" in done.err


def test_a_server_that_is_not_there(collection: Make) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        made = collection([row()], "--server", f"http://127.0.0.1:{unused.getsockname()[1]}")
        done = made.run()
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert done.err.endswith(": is it running?\n")
    assert not made.output.exists()


@pytest.mark.parametrize("option", ["--server", "--base-url"])
def test_what_is_no_address(collection: Make, option: str) -> None:
    done = collection([row()], option, "localhost:8000").run()
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "'localhost:8000' is not an address: give for example http://" in done.err


def test_the_session_is_lost_after_tool_calls(collection: Make, model: JudgeServer, other: JudgeServer) -> None:
    """The rollout begins anew, in a session of its own, and what was said before is in no file."""
    calls = responds(function_call("add", {"n": 1}))
    model.answers = [calls, calls, calls, responds(message("Fine."))]
    sessions: list[str] = []
    counts: dict[str, int] = {}
    faults = [closes]

    def answer(handler: Handler, asked: Asked) -> None:
        session = (handler.headers["Cookie"] or "").removeprefix("session=")
        if asked.path == "/seed_session":
            sessions.append(f"s{len(sessions)}")
            counts[sessions[-1]] = 0
            sends("{}", Set_Cookie=f"session={sessions[-1]}; Path=/")(handler, asked)
        elif asked.path == "/add" and counts[session] == 1 and faults:
            faults.pop()(handler, asked)
        elif asked.path == "/add":
            counts[session] += 1
            sends(str(counts[session]))(handler, asked)
        else:
            verifies(session=session)(handler, asked)

    other.answers = [answer]
    made = collection([squares()], "--server", other.url)
    assert made.run().status == 0
    (line,) = made.rollouts
    assert (sessions, line["session"]) == (["s0", "s1"], "s1")
    outputs = [item["output"] for item in line["response"]["output"] if item["type"] == "function_call_output"]
    assert (outputs, len(model.asked)) == (["1"], 4)


def test_a_server_that_says_that_it_lost_the_session(collection: Make, model: JudgeServer, other: JudgeServer) -> None:
    model.answers = [responds(function_call("add", {})), responds(message(RIGHT))]
    lost = sends("unknown session", 400, Rollscope_Session="lost")
    other.answers = [verifies_but("/add", lost, sends("1"))]
    made = collection([row()], "--server", other.url)
    assert made.run().status == 0
    assert [asked.path for asked in other.asked][:4] == ["/seed_session", "/add", "/seed_session", "/add"]
    assert made.rollouts[0]["response"]["output"][1]["output"] == "1"
    assert len(model.asked) == 2


def test_a_tool_behind_a_gateway_that_stays_busy(collection: Make, model: JudgeServer, other: JudgeServer) -> None:
    model.answers = [responds(function_call("look", {})), responds(message("Fine."))]
    other.answers = [verifies_never("/look", sends("later", 503, Retry_After="0"))]
    made = collection([row()], "--server", other.url, "--retries", 2)
    assert made.run().status == 0
    assert [asked.path for asked in other.asked].count("/look") == 3
    assert made.rollouts[0]["response"]["output"][1]["output"] == "later"
