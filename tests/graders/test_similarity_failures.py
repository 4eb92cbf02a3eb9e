"""A judge that is slow, wrong or gone, over real connections: a grade without a reward, and the reason."""

import os
import select
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate

import pytest

from evaluator.graders import get_grader
from evaluator.http_calls import retry_after_s
from evaluator.model import Mode, Rollout, Task, Verdict
from evaluator.options import Options
from evaluator.workers.grade_stream import grade_all
from tests.graders.judge_server import (
    PATIENCE_S,
    Answer,
    Asked,
    Handler,
    JudgeServer,
    breaks_off,
    closes,
    drips,
    floods,
    graded,
    hangs,
    refuses,
    says,
    sends,
    spec,
)

KEY = "sk-not-to-be-seen-anywhere"
GOOD = says("Score: 8")

FAILURES: dict[str, tuple[Answer, str, int]] = {
    "drips its body": (
        drips(b"X-Filler: x\r\n\r\n", b"\n"),
        "the judge did not answer in 3 s (2 tries)",
        2,
    ),
    "closes": (closes, "failed: Server disconnected without sending a response. (2 tries)", 2),
    "breaks off": (breaks_off, "failed: peer closed connection without sending complete message body", 2),
    "text": (sends("hello", kind="text/plain"), "the judge's reply is not a chat completion: 'hello' (2 tries)", 2),
    "deep json": (sends("[" * 500_000), "the judge's reply is not a chat completion: '[[[", 2),
    "no choice": (sends('{"choices": []}'), "the judge's reply has no text (2 tries)", 2),
    "no text": (says(None), "the judge's reply has no text (2 tries)", 2),
    "cut off": (says("Score: 1", finish_reason="length"), "the judge's answer was cut off: raise `max_tokens`", 2),
    "no score": (says("8/10 great"), "its last line is '8/10 great', not 'Score: N' (2 tries)", 2),
    "429": (refuses(429, "slow down"), "the judge answered 429: slow down (2 tries)", 2),
    "500": (refuses(500, "oh\nno"), "the judge answered 500: oh no (2 tries)", 2),
    "503 page": (sends("<h1>busy</h1>", 503, "text/html"), "the judge answered 503: <h1>busy</h1> (2 tries)", 2),
    "408": (refuses(408, ""), "the judge answered 408 (2 tries)", 2),
    "409": (refuses(409, "locked"), "the judge answered 409: locked (2 tries)", 2),
    "400": (refuses(400, "no temperature"), "the judge answered 400: no temperature", 1),
    "401": (refuses(401, "bad key"), "the judge answered 401: bad key (check the key in OPENAI_API_KEY)", 1),
    "403": (refuses(403, "not you"), "the judge answered 403: not you (check the key in OPENAI_API_KEY)", 1),
    "404": (refuses(404, "no m"), "the judge answered 404: no m (check `model` and `base_url`)", 1),
    "307": (sends("", 307, Location="/v2"), "the judge answered 307 (a redirect: check `base_url`)", 1),
    "no money": (refuses(429, "quota", "insufficient_quota"), "the judge answered 429: quota", 1),
    "come later": (refuses(503, "soon", Retry_After="61"), "the judge answered 503: soon; it asks to wait for 61 s", 1),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if "in 3 s" in FAILURES[name][1] else ()) for name in FAILURES]
)
def test_a_judge_that_fails_leaves_no_reward_but_a_reason_and_may_be_asked_again(judge: JudgeServer, name: str) -> None:
    answer, reason, calls = FAILURES[name]
    judge.answers = [answer]
    timeout_s = 3 if "in 3 s" in reason else PATIENCE_S
    grade = graded(judge, timeout_s=timeout_s)
    assert (grade.verdict, grade.reward, grade.cases, grade.pass_rate) == (Verdict.UNKNOWN, None, (), None)
    assert reason in str(grade.error_message)
    assert [(flag.word, flag.evidence) for flag in grade.flags] == [("judge_failed", grade.error_message)]
    assert len(judge.asked) == calls
    if calls == 2:
        judge.answers = [answer, GOOD]
        grade = graded(judge, timeout_s=timeout_s)
        assert (grade.verdict, grade.reward, grade.flags) == (Verdict.PASSED, 0.8, ())
        assert len(judge.asked) == 4


@pytest.mark.parametrize("status", [200, 500])
def test_an_answer_without_an_end_is_not_read_to_its_end(judge: JudgeServer, status: int) -> None:
    judge.answers = [floods(status)]
    grade = graded(judge, retries=0)
    reason = {200: "the judge's answer is larger than 4 MiB", 500: 'the judge answered 500: {"choices": ['}[status]
    assert (grade.verdict, grade.error_message) == (Verdict.UNKNOWN, reason)


def test_a_server_that_is_missing_or_silent_is_reported(judge: JudgeServer) -> None:
    grade = graded(judge, base_url="http://127.0.0.1:9/v1", retries=0)
    assert str(grade.error_message).startswith("the connection to the judge at 127.0.0.1:9 failed: ")
    judge.answers = [hangs]
    assert graded(judge, timeout_s=0.5, retries=0).error_message == "the judge did not answer in 0.5 s"


def test_a_server_that_asks_to_wait_is_asked_again_after_it(judge: JudgeServer) -> None:
    judge.answers = [refuses(429, "slow down", Retry_After="0.01"), GOOD]
    assert graded(judge).reward == 0.8
    waits = {"0": 0, "0.01": 0.01, formatdate(0, usegmt=True): 0, "soon": None, "nan": None, "-5": 0, None: None}
    assert {header: retry_after_s(header) for header in waits} == waits


def test_there_are_as_many_retries_as_requested(judge: JudgeServer) -> None:
    judge.answers = [refuses(500, "no")]
    assert "(4 tries)" in str(graded(judge, retries=3).error_message)
    assert len(judge.asked) == 4


@pytest.mark.parametrize(
    "answer",
    [refuses(401, f"Incorrect API key: {KEY}"), refuses(400, f"Bearer {KEY}"), sends(f"you sent {KEY}"), says(KEY)],
)
def test_a_key_that_the_server_quotes_is_not_shown(
    judge: JudgeServer, monkeypatch: pytest.MonkeyPatch, answer: Answer
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    judge.answers = [answer]
    grade = graded(judge)
    assert judge.asked[0].authorization == f"Bearer {KEY}"
    assert "[key]" in str(grade.error_message)
    assert KEY not in repr(grade)


# several at once


class Crowd:
    """Answers only once `size` calls are under way."""

    def __init__(self, size: int) -> None:
        self.together = threading.Barrier(size)
        self.lock = threading.Lock()
        self.at_once = self.most_at_once = 0

    def __call__(self, handler: Handler, asked: Asked) -> None:
        with self.lock:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        self.together.wait(PATIENCE_S)
        with self.lock:
            self.at_once -= 1
        GOOD(handler, asked)


@pytest.mark.parametrize("models", [1, 2], ids=["one grader", "graders with options of their own"])
def test_as_many_calls_of_a_server_are_under_way_as_are_allowed(judge: JudgeServer, models: int) -> None:
    judge.answers = [crowd := Crowd(3)]
    with ThreadPoolExecutor(12) as pool:
        asked = [pool.submit(graded, judge, f"Paris {n}", concurrency=3, model=f"m{n % models}") for n in range(12)]
        assert [one.result().reward for one in asked] == [0.8] * 12
    assert crowd.most_at_once == 3


def test_a_run_that_is_stopped_does_not_wait_for_its_judge(judge: JudgeServer) -> None:
    stop = threading.Event()

    def hangs_and_stops(handler: Handler, asked: Asked) -> None:
        stop.set()
        hangs(handler, asked)

    judge.answers = [hangs_and_stops]
    tasks = [Task(task_id="t", mode=Mode.ANSWER, prompt="?", answer="Paris")]
    rollouts = [Rollout(task_id="t", completion=f"Paris {n}") for n in range(4)]
    options = Options(grader=spec(judge, timeout_s=100_000, retries=20))
    ended = threading.Event()

    def run() -> None:
        assert list(grade_all(tasks, rollouts, options, workers=2, stop=stop)) == []
        ended.set()

    threading.Thread(target=run, daemon=True).start()
    assert ended.wait(PATIENCE_S)


def test_a_forked_process_has_a_connection_of_its_own(judge: JudgeServer) -> None:
    assert graded(judge, cache=False).reward == 0.8
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(write, str(graded(judge, cache=False).reward).encode())
        finally:
            os._exit(0)
    os.close(write)
    try:
        assert select.select([read], [], [], PATIENCE_S)[0], "the child waits in vain"
        assert os.read(read, 100) == b"0.8"
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(read)
    assert graded(judge, cache=False).reward == 0.8


def test_a_grader_reports_its_concurrency_and_that_it_runs_no_code(judge: JudgeServer) -> None:
    grader = get_grader(spec(judge, concurrency=5))
    assert (grader.waits, grader.runs_code) == (5, False)
