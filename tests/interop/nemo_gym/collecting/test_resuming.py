"""`rollscope collect --resume`, and what keeps a collection whole: each rollout once, whatever ends what and when."""

import signal
from collections.abc import Callable

import pytest

from tests.graders.judge_server import Asked, Handler, JudgeServer, closes, hangs
from tests.interop.nemo_gym.collecting.answers import FINE, verifies
from tests.interop.nemo_gym.collecting.collection import Collection, row
from tests.waiting import HANG_S, wait_until

Make = Callable[..., Collection]


def asked_for(model: JudgeServer) -> list[str]:
    """The questions, sorted."""
    return sorted(asked.body["input"][0]["content"] for asked in model.asked)


def test_what_is_missing_is_asked_and_nothing_else(collection: Make, model: JudgeServer) -> None:
    made = collection([row(name) for name in "abc"], "--num-repeats", 2)
    assert (made.run("--resume").status, len(model.asked)) == (0, 6)  # there is nothing yet
    kept = made.output.read_bytes().splitlines(keepends=True)
    made.output.write_bytes(b"".join(line for line in kept if b'"_ng_task_index":1' not in line))
    model.asked.clear()
    assert (made.run("--resume").status, asked_for(model)) == (0, ["b", "b"])
    assert made.names == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    before = made.contents
    assert (made.run("--resume").status, len(model.asked)) == (0, 2)
    assert made.contents["rollouts.jsonl"] == before["rollouts.jsonl"]


@pytest.mark.parametrize("cut", [1, 30, -1])
def test_a_line_that_was_cut_off_is_made_again(collection: Make, model: JudgeServer, cut: int) -> None:
    """At its start, in its midst, or just before its end, where it is whole."""
    made = collection([row(name) for name in "abc"], "--concurrency", 1)
    made.run()
    *first, last = made.output.read_bytes().splitlines(keepends=True)
    made.output.write_bytes(b"".join(first) + last[:cut])
    model.asked.clear()
    assert made.run("--resume").status == 0
    assert (made.names, len(model.asked)) == ([(0, 0), (1, 0), (2, 0)], 0 if cut == -1 else 1)


def test_a_broken_line_is_told_of_and_asked_for_again(collection: Make, model: JudgeServer) -> None:
    made = collection([row(name) for name in "ab"], "--concurrency", 1)
    made.run()
    first, second = made.output.read_bytes().splitlines(keepends=True)
    made.output.write_bytes(first[:40] + b"\n" + second)
    model.asked.clear()
    done = made.run("--resume", "--json")
    assert (done.status, asked_for(model), done.summary["rollouts"]) == (0, ["a"], 2)
    assert done.err == f"{made.output}:1: malformed rollout: skipped, and collected again\n"


def test_an_output_that_is_there_is_not_touched(collection: Make, model: JudgeServer) -> None:
    made = collection([row("a"), row("b")], "--num-repeats", 2)
    made.run()
    before = made.contents
    done = made.run()
    assert (done.status, len(model.asked)) == (2, 4)
    assert done.err == f"rollscope: {made.output} already exists: give --resume to resume it, or another --output\n"
    for option in (("--temperature", "0.5"), ("--num-repeats", "1"), ("--limit", "1"), ("--model", "n")):
        done = made.run("--resume", *option)
        assert (done.status, done.err.count("\n"), len(model.asked)) == (2, 1, 4)
        assert "the collection began with other rows or options" in done.err
    assert made.contents == before
    made.beside("materialized_inputs.jsonl").unlink()
    done = made.run("--resume")
    assert (done.status, done.err.count("\n"), len(made.names)) == (2, 1, 4)


def test_more_rows_and_more_repeats_may_follow(collection: Make, model: JudgeServer) -> None:
    made = collection([row(name) for name in "abc"])
    made.run("--limit", 1)
    assert (made.run("--resume").status, asked_for(model), len(made.inputs)) == (0, ["a", "b", "c"], 3)
    model.asked.clear()
    done = made.run("--resume", "--num-repeats", 2, "--json")
    assert (done.status, asked_for(model)) == (0, ["a", "b", "c"])
    assert made.names == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    assert len(made.inputs) == done.summary["rollouts"] == 6


@pytest.mark.slow
def test_two_collections_do_not_write_one_file(collection: Make, model: JudgeServer) -> None:
    model.answers = [hangs]
    made = collection([row()])
    first = made.start()
    try:
        wait_until(lambda: len(model.asked) == 1, "nothing is asked")
        done = made.run("--resume")
        assert (done.status, len(model.asked)) == (2, 1)
        assert "another collection is writing to it" in done.err
    finally:
        first.kill()
        first.communicate()


def test_bad_rows_are_left_out_and_told_of(collection: Make, model: JudgeServer) -> None:
    rows = ["{not JSON", "[1]", {"query": "?"}, {"responses_create_params": {"input": []}}, row("good")]
    made = collection([*rows, {**row("x"), "agent_ref": 3}])
    done = made.run()
    assert (done.status, asked_for(model)) == (0, ["good"])
    assert [line.partition(": ")[0] for line in done.err.splitlines()] == [f"{made.rows}:{n}" for n in (1, 2, 3, 4, 6)]


def test_no_row_that_can_be_used(collection: Make, model: JudgeServer) -> None:
    made = collection([{"query": "?"}])
    done = made.run()
    assert (done.status, model.asked, made.contents) == (2, [], {})
    assert done.err.count("\n") == 2
    assert "no row can be collected" in done.err


@pytest.mark.parametrize(
    ("number", "collected"),
    [
        pytest.param(signal.SIGINT, 2, marks=pytest.mark.slow),
        (signal.SIGTERM, 2),
        pytest.param(signal.SIGKILL, None, marks=pytest.mark.slow),
    ],
)
def test_stopped_and_gone_on_with(
    collection: Make, model: JudgeServer, number: signal.Signals, collected: int | None
) -> None:
    model.answers = [FINE, FINE, hangs]
    made = collection([row(str(place)) for place in range(10)], "--concurrency", 2)
    process = made.start()
    wait_until(lambda: len(model.asked) == 4, "no more is asked")
    process.send_signal(number)
    out, err = process.communicate(timeout=HANG_S)
    if collected is not None:
        assert (process.returncode, len(made.names), made.failures) == (130, collected, [])
        assert err.splitlines()[-1] == "stopped; resume with the same command and --resume"
        assert f"{collected} of 10" in out
    model.answers = [FINE]
    model.asked.clear()
    assert (made.run("--resume").status, made.names) == (0, [(place, 0) for place in range(10)])
    assert len(model.asked) == 8


def test_the_server_stays_away_until_the_collector_gives_up(collection: Make, other: JudgeServer) -> None:
    def gone(handler: Handler, asked: Asked) -> None:
        (verifies() if asked.path == "/seed_session" else closes)(handler, asked)

    other.answers = [gone]
    made = collection([row(str(number)) for number in range(15)], "--server", other.url, "--retries", 1)
    assert made.run().status == 1
    assert {failure["_ng_failure_class"] for failure in made.failures} == {"transport_unreachable"}
    assert len(made.failures) == 15
    other.answers = [verifies()]
    assert made.run("--resume").status == 0
    assert (made.names, made.failures) == ([(place, 0) for place in range(15)], [])
