"""`rollscope collect --resume`, and what keeps a collection whole: each rollout once, whatever ends what and when."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable

import pytest

from tests.graders.judge_server import Asked, Handler, JudgeServer, closes, hangs
from tests.interop.nemo_gym.collecting.answers import RIGHT, WRONG, message, responds, verifies
from tests.interop.nemo_gym.collecting.collection import PATIENCE_S, Collection, row, squares
from tests.interop.serving import Served

Make = Callable[..., Collection]

FINE = responds(message("Fine."))


def asked_for(model: JudgeServer) -> list[str]:
    """The questions, sorted."""
    return sorted(asked.body["input"][0]["content"] for asked in model.asked)


def test_what_is_missing_is_asked_and_nothing_else(collection: Make, model: JudgeServer) -> None:
    model.answers = [FINE]
    made = collection([row(name) for name in "abc"], "--num-repeats", 2)
    made.run()
    kept = made.output.read_bytes().splitlines(keepends=True)
    made.output.write_bytes(b"".join(line for line in kept if b'"_ng_task_index":1' not in line))
    model.asked.clear()
    assert made.run("--resume").status == 0
    assert asked_for(model) == ["b", "b"]
    assert made.names == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]


@pytest.mark.parametrize("cut", [1, 30, -1])
def test_a_line_that_was_cut_off_is_made_again(collection: Make, model: JudgeServer, cut: int) -> None:
    """At its start, in its midst, or just before its end, where it is whole."""
    model.answers = [FINE]
    made = collection([row(name) for name in "abc"], "--concurrency", 1)
    made.run()
    *first, last = made.output.read_bytes().splitlines(keepends=True)
    made.output.write_bytes(b"".join(first) + last[:cut])
    model.asked.clear()
    assert made.run("--resume").status == 0
    assert (made.names, len(model.asked)) == ([(0, 0), (1, 0), (2, 0)], 0 if cut == -1 else 1)


def test_a_broken_line_is_told_of_and_asked_for_again(collection: Make, model: JudgeServer) -> None:
    model.answers = [FINE]
    made = collection([row(name) for name in "ab"], "--concurrency", 1)
    made.run()
    first, second = made.output.read_bytes().splitlines(keepends=True)
    made.output.write_bytes(first[:40] + b"\n" + second)
    model.asked.clear()
    done = made.run("--resume", "--json")
    assert (done.status, asked_for(model), done.summary["rollouts"]) == (0, ["a"], 2)
    assert done.err == f"{made.output}:1: malformed rollout: skipped, and collected again\n"


def test_with_nothing_left_nothing_is_asked(collection: Make, model: JudgeServer) -> None:
    model.answers = [FINE]
    made = collection([row()])
    made.run()
    before = made.output.read_bytes()
    assert (made.run("--resume").status, len(model.asked), made.output.read_bytes()) == (0, 1, before)


def test_resume_of_nothing_begins(collection: Make, model: JudgeServer) -> None:
    model.answers = [FINE]
    made = collection([row()])
    assert (made.run("--resume").status, made.names) == (0, [(0, 0)])


def test_an_output_that_is_there_is_not_touched(collection: Make, model: JudgeServer) -> None:
    model.answers = [FINE]
    made = collection([row()])
    made.run()
    before = {path: path.read_bytes() for path in made.output.parent.iterdir()}
    done = made.run()
    assert (done.status, len(model.asked)) == (2, 1)
    assert done.err == f"rollscope: {made.output} already exists: give --resume to resume it, or another --output\n"
    assert {path: path.read_bytes() for path in made.output.parent.iterdir()} == before


@pytest.mark.parametrize(
    "option", [("--temperature", "0.5"), ("--num-repeats", "1"), ("--limit", "1"), ("--model", "n")]
)
def test_other_rows_or_options_are_refused(collection: Make, model: JudgeServer, option: tuple[str, str]) -> None:
    model.answers = [FINE]
    made = collection([row("a"), row("b")], "--num-repeats", 2)
    made.run()
    before = {path: path.read_bytes() for path in made.output.parent.iterdir()}
    done = made.run("--resume", *option)
    assert (done.status, done.err.count("\n"), len(model.asked)) == (2, 1, 4)
    assert "the collection began with other rows or options" in done.err
    assert {path: path.read_bytes() for path in made.output.parent.iterdir()} == before


def test_more_rows_may_follow(collection: Make, model: JudgeServer) -> None:
    model.answers = [FINE]
    made = collection([row(name) for name in "abc"])
    made.run("--limit", 1)
    assert (made.run("--resume").status, asked_for(model), len(made.inputs)) == (0, ["a", "b", "c"], 3)


def test_more_repeats_may_follow(collection: Make, model: JudgeServer) -> None:
    model.answers = [FINE]
    made = collection([row(name) for name in "ab"])
    made.run()
    done = made.run("--resume", "--num-repeats", 3, "--json")
    assert (done.status, asked_for(model)) == (0, ["a"] * 3 + ["b"] * 3)
    assert made.names == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    assert len(made.inputs) == done.summary["rollouts"] == 6


def test_inputs_that_are_gone(collection: Make, model: JudgeServer) -> None:
    model.answers = [FINE]
    made = collection([row()])
    made.run()
    made.beside("materialized_inputs.jsonl").unlink()
    done = made.run("--resume")
    assert (done.status, done.err.count("\n"), made.names) == (2, 1, [(0, 0)])


def test_two_collections_do_not_write_one_file(collection: Make, model: JudgeServer) -> None:
    model.answers = [hangs]
    made = collection([row()])
    first = made.start()
    try:
        wait_for(lambda: len(model.asked) == 1)
        done = made.run("--resume")
        assert (done.status, len(model.asked)) == (2, 1)
        assert "another collection is writing to it" in done.err
    finally:
        first.kill()
        first.communicate()


def test_bad_rows_are_left_out_and_told_of(collection: Make, model: JudgeServer) -> None:
    model.answers = [FINE]
    rows = ["{not JSON", "[1]", {"query": "?"}, {"responses_create_params": {"input": []}}, row("good")]
    made = collection([*rows, {**row("x"), "agent_ref": 3}])
    done = made.run()
    assert (done.status, asked_for(model)) == (0, ["good"])
    assert [line.partition(": ")[0] for line in done.err.splitlines()] == [f"{made.rows}:{n}" for n in (1, 2, 3, 4, 6)]


def test_no_row_that_can_be_used(collection: Make, model: JudgeServer) -> None:
    made = collection([{"query": "?"}])
    done = made.run()
    assert (done.status, model.asked, list(made.output.parent.iterdir())) == (2, [], [])
    assert done.err.count("\n") == 2
    assert "no row can be collected" in done.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_and_gone_on_with(collection: Make, model: JudgeServer, number: signal.Signals) -> None:
    model.answers = [FINE, FINE, hangs]
    made = collection([row(str(place)) for place in range(10)], "--concurrency", 2)
    process = made.start()
    wait_for(lambda: len(model.asked) == 4)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, len(made.names), made.failures) == (130, 2, [])
    assert err.splitlines()[-1] == "stopped; resume with the same command and --resume"
    assert "2 of 10" in out
    model.answers = [FINE]
    assert (made.run("--resume").status, made.names) == (0, [(place, 0) for place in range(10)])


def test_killed_and_gone_on_with(collection: Make, model: JudgeServer) -> None:
    model.answers = [FINE] * 5 + [hangs]
    made = collection([row(str(place)) for place in range(12)], "--concurrency", 3)
    process = made.start()
    wait_for(lambda: len(model.asked) == 8)
    process.kill()
    process.communicate()
    model.answers = [FINE]
    model.asked.clear()
    assert (made.run("--resume").status, made.names) == (0, [(place, 0) for place in range(12)])
    assert len(model.asked) == 7


def rewarded(made: Collection) -> dict[tuple[int, int], float]:
    return {(line["_ng_task_index"], line["_ng_rollout_index"]): line["reward"] for line in made.rollouts}


class Crowd:
    """A model that answers when so many rollouts are under way, and from then on; even tasks get the right answer."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._asked = 0
        self._lock = threading.Lock()
        self.complete = threading.Event()
        self.go_on = threading.Event()

    def __call__(self, handler: Handler, asked: Asked) -> None:
        with self._lock:
            self._asked += 1
            if self._asked == self._size:
                self.complete.set()
        self.go_on.wait(PATIENCE_S)
        number = int(json.dumps(asked.body["input"]).partition("number (")[2].partition(")")[0])
        responds(message(WRONG if number % 2 else RIGHT))(handler, asked)


EXPECTED = {(task, repeat): float(task % 2 == 0) for task in range(6) for repeat in range(4)}


def test_the_server_is_killed_under_load_and_started_again(collection: Make, model: JudgeServer) -> None:
    """The collector waits for it: nothing is lost, nothing is doubled, every reward is right."""
    crowd = Crowd(20)
    model.answers = [crowd]
    server = Served()
    rows = [squares(number) for number in range(6)]
    made = collection(rows, "--server", server.url, "--num-repeats", 4, "--concurrency", 20, "--json")
    process = made.start()
    try:
        assert crowd.complete.wait(PATIENCE_S)
        crowd.go_on.set()
        wait_for(lambda: made.output.read_bytes().count(b"\n") >= 3)
        kill(server)
        server = Served(port=int(server.url.rpartition(":")[2]))
        out, _ = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
        kill(server)
    assert process.returncode == 0
    assert json.loads(out)["retries"] > 0
    assert (made.names, rewarded(made)) == (sorted(EXPECTED), EXPECTED)


def test_the_server_stays_away_until_the_collector_gives_up(
    collection: Make, model: JudgeServer, other: JudgeServer
) -> None:
    def gone(handler: Handler, asked: Asked) -> None:
        (verifies() if asked.path == "/seed_session" else closes)(handler, asked)

    model.answers = [FINE]
    other.answers = [gone]
    made = collection([row(str(number)) for number in range(15)], "--server", other.url, "--retries", 1)
    assert made.run().status == 1
    assert {failure["_ng_failure_class"] for failure in made.failures} == {"transport_unreachable"}
    assert len(made.failures) == 15
    other.answers = [verifies()]
    assert made.run("--resume").status == 0
    assert (made.names, made.failures) == ([(place, 0) for place in range(15)], [])


def kill(server: Served) -> None:
    if server.process.poll() is None:
        os.kill(server.process.pid, signal.SIGKILL)
    server.process.communicate()


def wait_for(condition: Callable[[], bool]) -> None:
    """Until it holds; what it waits for is another process's work."""
    over = threading.Event()
    for _ in range(PATIENCE_S * 50):
        if condition():
            return
        over.wait(0.02)
    raise AssertionError("it did not come to pass")
