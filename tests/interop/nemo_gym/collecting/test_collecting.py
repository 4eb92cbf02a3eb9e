"""`rollscope collect`: what it asks, what it writes, and what it says at the end."""

import json
from collections.abc import Callable

import pytest

from evaluator.formats import load_rollouts, load_tasks
from tests.graders.judge_server import Asked, Handler, JudgeServer
from tests.interop.nemo_gym.collecting.answers import (
    FINE,
    RIGHT,
    WRONG,
    completes,
    function_call,
    message,
    responds,
    verifies,
)
from tests.interop.nemo_gym.collecting.collection import Collection, row, squares

Make = Callable[..., Collection]
Server = Callable[..., str]


def half_right(handler: Handler, asked: Asked) -> None:
    """The right answer to rows with an even number."""
    even = "(0)" in json.dumps(asked.body) or "(2)" in json.dumps(asked.body)
    responds(message(RIGHT if even else WRONG))(handler, asked)


def test_the_files_are_those_of_nemo_gym(collection: Make, model: JudgeServer, server: Server) -> None:
    model.answers = [half_right]
    made = collection([squares(number) for number in range(3)], "--server", server(), "--num-repeats", 2, "--json")
    done = made.run()
    assert (done.status, made.names) == (0, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)])
    assert [line["reward"] for line in made.rollouts] == [1.0, 1.0, 0.0, 0.0, 1.0, 1.0]
    first = made.rollouts[0]
    assert first["agent_ref"] == {"type": "responses_api_agents", "name": "rollscope_simple_agent"}
    assert first["response"]["output"] == [message(RIGHT)]
    assert first["responses_create_params"] == squares(0)["responses_create_params"] | {"model": "m"}
    assert "verifier_metadata" not in first
    assert [(line["_ng_task_index"], line["_ng_rollout_index"]) for line in made.inputs] == made.names
    assert made.inputs[0]["verifier_metadata"] == squares(0)["verifier_metadata"]
    assert not made.beside("failures.jsonl").exists()
    (metrics,) = json.loads(made.beside("aggregate_metrics.json").read_text())
    assert metrics["agent_ref"] == {"name": "rollscope_simple_agent"}
    assert metrics["agent_metrics"]["mean/reward"] == pytest.approx(2 / 3)
    assert len(metrics["group_level_metrics"]) == 3
    tasks = {task.task_id for task in load_tasks(made.beside("materialized_inputs.jsonl"))}
    rollouts = list(load_rollouts(made.output))
    assert {rollout.task_id for rollout in rollouts} == tasks
    assert {(rollout.completion, rollout.given_reward) for rollout in rollouts} == {(RIGHT, 1.0), (WRONG, 0.0)}
    told = done.summary
    assert (told["asked"], told["rollouts"], told["failed"], told["masked"], told["retries"]) == (6, 6, 0, 0, 0)
    assert told["mean_reward"] == pytest.approx(2 / 3)
    assert [(one["k"], round(one["value"], 3)) for one in told["pass_at_k"]] == [(1, 0.667), (2, 0.667)]
    assert (told["input_tokens"], told["output_tokens"], told["counted"]) == (60, 30, 6)


def test_the_figures_as_people_read_them(collection: Make, model: JudgeServer, server: Server) -> None:
    model.answers = [responds(message(RIGHT)), responds(message(RIGHT), usage=None)]
    done = collection([squares(0), squares(1)], "--server", server()).run()
    assert (done.status, done.err) == (0, "")
    told = dict(line.split(maxsplit=1) for line in done.out.replace("mean reward", "mean_reward").splitlines())
    assert told["rollouts"] == "2 of 2"
    assert told["mean_reward"] == "1.000 over 2 rollouts"
    assert told["tokens"] == "10 in, 5 out (counted in 1 of 2 answers)"
    assert told["next"].startswith("rollscope view ")


def test_the_model_is_asked_what_the_row_asks_but_for_the_options(collection: Make, model: JudgeServer) -> None:
    given = {"input": "Hello?", "temperature": 0.2, "seed": 7, "stream": True, "tools": []}
    collection([{"responses_create_params": given}], "--temperature", 0.9, "--max-output-tokens", 50).run()
    (asked,) = model.asked
    assert asked.path == "/v1/responses"
    assert asked.authorization == "Bearer sk-a-secret-of-this-test"
    assert asked.body == {
        "input": [{"role": "user", "content": "Hello?"}], "model": "m", "temperature": 0.9, "max_output_tokens": 50,
        "seed": 7, "tools": [],
    }  # fmt: skip


def test_without_a_server_a_rollout_has_no_reward_and_ends_with_the_first_tool_call(
    collection: Make, model: JudgeServer
) -> None:
    call = function_call("execute_code", {"code": "1"})
    model.answers = [responds(message(RIGHT)), responds(call)]
    made = collection([squares(0), squares(1)], "--concurrency", 1)
    done = made.run()
    assert (done.status, len(model.asked)) == (0, 2)
    assert [line["response"]["output"] for line in made.rollouts] == [[message(RIGHT)], [call]]
    assert not any("reward" in line for line in made.rollouts)
    assert "none: nothing was verified" in done.out
    assert not made.beside("aggregate_metrics.json").exists()


def test_equal_rows_are_one_task(collection: Make, model: JudgeServer) -> None:
    made = collection([row("a"), row("b"), row("a"), {**row("c"), "_ng_task_index": 9}], "--num-repeats", 2)
    made.run()
    assert made.names == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (9, 0), (9, 1)]


def test_a_native_task_is_a_row_too_and_a_masked_rollout_is_in_no_mean(
    collection: Make, model: JudgeServer, server: Server
) -> None:
    model.answers = [responds(message(RIGHT))]
    task = {"task_id": "t", "mode": "stdin", "prompt": "Square.", "in_outs": {"inputs": ["3\n"], "outputs": ["9\n"]}}
    done = collection([task, row("No tests here.")], "--server", server(), "--json").run()
    assert (done.summary["rollouts"], done.summary["masked"], done.summary["mean_reward"]) == (2, 1, 1.0)


def test_tools_are_called_and_their_session_is_kept(collection: Make, model: JudgeServer, server: Server) -> None:
    thought = {"id": "rs_1", "type": "reasoning", "summary": []}
    remember, recall = ({"code": code, "keep_state": True} for code in ("x = 6 * 7", "print(x)"))
    model.answers = [
        responds(thought, function_call("execute_code", remember, "a")),
        responds(function_call("execute_code", recall, "b"), function_call("nothing", {}, "c")),
        responds(function_call("execute_code", "{not JSON", "d")),
        responds(message(RIGHT)),
    ]
    made = collection([squares()], "--server", server(), "--json")
    done = made.run()
    (line,) = made.rollouts
    items = line["response"]["output"]
    outputs = {item["call_id"]: item["output"] for item in items if item["type"] == "function_call_output"}
    assert json.loads(outputs["b"])["stdout"] == "42\n"
    assert json.loads(outputs["c"]) == {"detail": "Not Found"}
    assert "not JSON" in json.loads(outputs["d"])["error"]
    assert model.asked[-1].body["input"] == squares()["responses_create_params"]["input"] + items[:-1]
    assert line["response"]["usage"]["input_tokens"] == 40
    assert line["response"]["usage"]["input_tokens_details"] == {"cached_tokens": 4}
    assert (done.summary["tool_calls"], line["reward"]) == (4, 1.0)


def test_an_endpoint_that_speaks_chat_completions(collection: Make, model: JudgeServer, server: Server) -> None:
    """How the one is told in the other: see `test_chat_conversion`."""
    call = {"id": "x", "type": "function", "function": {"name": "execute_code", "arguments": '{"code": "print(1)"}'}}
    model.answers = [
        completes("tool_calls", reasoning_content="Let me see.", tool_calls=[call]),
        completes("length", content=RIGHT),
    ]
    given = squares()
    given["responses_create_params"] |= {"instructions": "Be brief.", "max_output_tokens": 99}
    made = collection([given], "--server", server(), "--api", "chat")
    assert made.run().status == 0
    first, second = (asked.body for asked in model.asked)
    assert {asked.path for asked in model.asked} == {"/v1/chat/completions"}
    question = given["responses_create_params"]["input"][0]
    assert first["messages"] == [{"role": "system", "content": "Be brief."}, question]
    assert first["max_tokens"] == 99
    heard = second["messages"][3]
    assert (heard["role"], heard["tool_call_id"], json.loads(heard["content"])["stdout"]) == ("tool", "x", "1\n")
    (line,) = made.rollouts
    kinds = [item["type"] for item in line["response"]["output"]]
    assert kinds == ["reasoning", "function_call", "function_call_output", "message"]
    assert line["response"]["usage"]["total_tokens"] == 20
    assert line["response"]["incomplete_details"] == {"reason": "max_output_tokens"}
    assert line["reward"] == 1.0


def test_an_empty_answer_is_an_answer(collection: Make, model: JudgeServer, server: Server) -> None:
    model.answers = [completes(content="")]
    made = collection([squares()], "--server", server(), "--api", "chat")
    assert (made.run().status, made.rollouts[0]["reward"]) == (0, 0.0)


def test_endless_tool_calls_end_and_are_verified(collection: Make, model: JudgeServer, server: Server) -> None:
    model.answers = [responds(function_call("execute_code", {"code": "print(1)"}))]
    made = collection([squares()], "--server", server(), "--max-turns", 3)
    assert made.run().status == 0
    (line,) = made.rollouts
    assert (len(model.asked), len(line["response"]["output"]), line["reward"]) == (3, 6, 0.0)


def test_a_model_can_call_nothing_but_tools(collection: Make, model: JudgeServer, other: JudgeServer) -> None:
    names = ("verify", "close_session", "../verify", "a/b", "")
    model.answers = [responds(*(function_call(name, {}, f"call_{name}") for name in names)), FINE]
    made = collection([row()], "--server", other.url)
    assert made.run().status == 0
    assert [asked.path for asked in other.asked] == ["/seed_session", "/verify", "/close_session", "/aggregate_metrics"]
    items = made.rollouts[0]["response"]["output"]
    told = [item["output"] for item in items if item["type"] == "function_call_output"]
    assert ["there is no tool" in each for each in told] == [True] * len(names)


def test_the_row_and_the_cookie_go_to_the_server(collection: Make, model: JudgeServer, other: JudgeServer) -> None:
    cookies: list[tuple[str, str | None]] = []

    def answer(handler: Handler, asked: Asked) -> None:
        cookies.append((asked.path, handler.headers["Cookie"]))
        verifies()(handler, asked)

    other.answers = [answer]
    made = collection([row("a", extra=[1])], "--server", other.url)
    done = made.run()
    assert (done.status, made.names) == (0, [(0, 0)])
    assert done.err == "the resources server has no /aggregate_metrics: its figures are left out\n"
    assert cookies[:2] == [("/seed_session", None), ("/verify", "session=1")]
    assert other.asked[0].body == made.inputs[0]
    assert other.asked[1].body == made.inputs[0] | {"response": made.rollouts[0]["response"]}
