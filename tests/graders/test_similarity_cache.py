"""A judge's answers are kept, by request."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from evaluator.model import Verdict
from tests.graders.judge_server import PATIENCE_S, Answer, Asked, Handler, JudgeServer, graded, refuses, says, spec

ROOT = Path(__file__).resolve().parent.parent.parent
IN_ANOTHER_PROCESS = """
import sys
from evaluator import Task, grade
task = Task.from_row({"task_id": "t", "prompt": sys.argv[2], "answer": "Paris"})
print(grade(task, "Paris", grader=sys.argv[1]).reward)
"""


@pytest.fixture
def kept(judge: JudgeServer) -> Path:
    return Path(os.environ["XDG_CACHE_HOME"]) / "rollscope" / "judge.sqlite"


def elsewhere(judge: JudgeServer) -> str:
    """The reward that another process comes to."""
    command = [sys.executable, "-W", "error", "-c", IN_ANOTHER_PROCESS, spec(judge), "Which is the capital of France?"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.mark.slow
def test_no_process_requests_a_judgement_again(judge: JudgeServer) -> None:
    judge.answers = [says("It is.\nScore: 8"), says("Score: 1")]
    assert elsewhere(judge) == "0.8"
    assert graded(judge).cases[0].stderr == "It is.\nScore: 8"
    assert elsewhere(judge) == "0.8"
    assert len(judge.asked) == 1


def test_another_request_is_another_judgement(judge: JudgeServer) -> None:
    others: list[dict[str, object]] = [
        {}, {"model": "n"}, {"temperature": 1}, {"max_tokens": 5}, {"extra": {"seed": 1}}, {"system": "Be kind."},
        {"scale": 9}, {"prompt": "{answer}? {completion}"}, {"completion": "paris"}, {"answer": "Lyon"},
    ]  # fmt: skip
    for number, other in enumerate(others, 1):
        graded(judge, **other)  # type: ignore[arg-type]
        assert len(judge.asked) == number, other


def test_the_way_of_asking_makes_no_other_judgement(judge: JudgeServer) -> None:
    graded(judge)
    for other in ({"timeout_s": 700}, {"retries": 5}, {"concurrency": 2}, {"pass_at": 0.9}):
        assert graded(judge, **other).reward == 0.8  # type: ignore[arg-type]
    assert len(judge.asked) == 1


def test_without_the_cache_each_is_sent_and_none_is_kept(judge: JudgeServer, kept: Path) -> None:
    assert [graded(judge, cache=False).reward for _ in range(2)] == [0.8, 0.8]
    assert len(judge.asked) == 2
    assert not kept.exists()


def test_a_failure_is_not_kept(judge: JudgeServer) -> None:
    judge.answers = [refuses(500, "no"), says("8/10"), says("Score: 8")]
    assert graded(judge).verdict is Verdict.UNKNOWN
    assert graded(judge).reward == 0.8


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (says("Score: 8"), (0.8, None)),
        (refuses(401, "bad key"), (None, "the judge answered 401: bad key (check the key in OPENAI_API_KEY)")),
    ],
    ids=["judgement", "failure"],
)
def test_equal_requests_at_the_same_time_are_sent_once_and_share_what_comes(
    judge: JudgeServer, given: Answer, found: tuple[float | None, str | None]
) -> None:
    threads = 6
    begun = threading.Barrier(threads + 1)

    def answer(handler: Handler, asked: Asked) -> None:
        begun.wait(PATIENCE_S)  # all of them are on their way before the first is answered
        given(handler, asked)

    def grade(number: int) -> tuple[float | None, str | None]:
        if number:
            begun.wait(PATIENCE_S)
        grade = graded(judge)
        return grade.reward, grade.error_message

    judge.answers = [answer, given]
    with ThreadPoolExecutor(threads + 1) as pool:
        assert list(pool.map(grade, range(threads + 1))) == [found] * (threads + 1)
    assert found[0] is None or len(judge.asked) == 1


@pytest.mark.parametrize("content", [b"no database, " * 100, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_broken_cache_is_replaced(judge: JudgeServer, kept: Path, content: bytes) -> None:
    kept.parent.mkdir(parents=True)
    kept.write_bytes(content)
    for _ in range(3):
        assert graded(judge).reward == 0.8
    assert len(judge.asked) < 3
    with closing(sqlite3.connect(kept)) as connection:
        assert connection.execute("SELECT answer FROM answers").fetchall() == [("Fine.\nScore: 8",)]


def test_a_changed_answer_is_not_taken_from_the_cache(judge: JudgeServer, kept: Path) -> None:
    graded(judge)
    with closing(sqlite3.connect(kept)) as connection, connection:
        connection.execute("UPDATE answers SET answer = 'Score: 1000'")
    assert graded(judge).reward == 0.8
    assert len(judge.asked) == 2


def test_a_cache_that_can_not_be_written_is_done_without(
    judge: JudgeServer, kept: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert [graded(judge).reward, graded(judge).reward] == [0.8, 0.8]
    assert len(judge.asked) == 2


@pytest.mark.slow
def test_a_cache_that_another_process_holds_is_not_waited_for_long(judge: JudgeServer, kept: Path) -> None:
    graded(judge)
    with closing(sqlite3.connect(kept, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        assert graded(judge, "Lyon").reward == 0.8
        connection.execute("ROLLBACK")


def test_the_cache_holds_neither_what_was_asked_nor_the_key(
    judge: JudgeServer, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-kept")
    graded(judge, "Paris it is")
    held = kept.read_bytes()
    assert b"Score: 8" in held
    assert b"sk-not-to-be-kept" not in held
    assert b"Paris it is" not in held
    assert json.dumps(judge.url).encode() not in held
