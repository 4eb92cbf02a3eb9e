"""Grading by `rollscope serve grades`: the grades are those of this machine, and a lost server costs no reward."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evaluator import Limits, Rollout, Task, agrade, grade, grade_all, grade_file
from evaluator.model import Grade, Kind, Verdict
from evaluator.options import Options
from evaluator.version import VERSION
from evaluator.workers import pool
from evaluator.workers.engine import EngineError
from evaluator.workers.server import client
from evaluator.workers.server.wire import SERVER, TOKEN, Asked, Request, task_key, text_of
from tests.commands.command_line import write_rows
from tests.interop.serving import ROOT, Served, ask, refused
from tests.waiting import HANG_S, wait_until
from tests.workers.processes import runs_code, workers, zygotes_below

ECHO = {"task_id": "echo", "in_outs": {"inputs": ["7"], "outputs": ["7"]}}
TASK = Task.from_row(ECHO)
WORK = "import time\nwhile time.process_time() < 0.2: pass\nprint(input())"
LONG = Limits(wall_s=240, total_s=240)
ENDLESS = Limits(wall_s=900, cpu_s=900, total_s=900)
ENDLESS_CALL = f"""
from evaluator import Limits, Task, grade
grade(Task.from_row({ECHO!r}), "while True: pass", limits=Limits(wall_s=900, cpu_s=900, total_s=900), kind="full")
"""


def served(*words: object) -> Served:
    found = Served("grades", *words)
    assert found.url.startswith("http"), found.end()
    return found


@pytest.fixture(autouse=True)
def _no_workers_before() -> Iterator[None]:
    pool.close()
    yield
    pool.close()


@pytest.fixture(scope="module")
def shared_server() -> Iterator[Served]:
    found = served()
    yield found
    found.end()


@pytest.fixture
def server(shared_server: Served, monkeypatch: pytest.MonkeyPatch) -> Served:
    monkeypatch.setenv(SERVER, shared_server.url)
    return shared_server


def graded(code: str = "print(input())", **given: Any) -> Grade:
    return grade(TASK, code, limits=LONG, kind=Kind.FULL, **given)


def is_running_code(server: Served) -> bool:
    return any(runs_code(zygote) for zygote in zygotes_below(server.process.pid))


def decided(grades: list[Grade]) -> list[object]:
    """What grades say that does not change from one time to the next."""
    rows = sorted((msgspec.to_builtins(each) for each in grades), key=lambda row: row["sample_id"])
    for row in rows:
        for part in (row, *row["cases"]):
            for name in ("wall_s", "cpu_s", "memory_mb", "duplicate_of"):
                part.pop(name, None)
    return rows


def test_the_grades_are_those_of_this_machine(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    call = {"fn_name": "same", "inputs": [["\ud800"], [2**70], [10**5000]], "outputs": ["\ud800", 2**70, 10**5000]}
    tasks = [TASK, Task.from_row({"task_id": "call", "mode": "call", "in_outs": call})]
    programs = ("print(input())", "print(8)", "1 / 0", "while", "", "print(input())")
    rollouts = [Rollout(task_id="echo", completion=each, sample_id=str(n)) for n, each in enumerate(programs)]
    rollouts += [Rollout(task_id="call", completion="def same(x): return x", sample_id="s")]
    there = list(grade_all(tasks, rollouts, cache=None))
    assert workers() == []
    monkeypatch.delenv(SERVER)
    assert decided(there) == decided(list(grade_all(tasks, rollouts, cache=None)))
    assert next(each for each in there if each.sample_id == "s").verdict is Verdict.PASSED


@pytest.mark.slow
def test_several_servers_share_the_work_and_do_that_of_a_lost_one(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_PATIENCE_S", 0.0)
    other = served()
    monkeypatch.setenv(SERVER, f"{other.url},{server.url}")
    with ThreadPoolExecutor(40) as threads:  # more than one server takes at once
        grading = [threads.submit(graded, f"{WORK}  # {number}") for number in range(40)]
        wait_until(lambda: is_running_code(other), "the first server has nothing to do")
        other.process.kill()
        assert [each.result(HANG_S).verdict for each in grading] == [Verdict.PASSED] * 40
    assert workers() == []


def test_one_of_several_that_is_left_out_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    servers = [client.Server("http://a"), client.Server("http://b")]
    lost = client.Servers(servers, "fix", 0.0).lost(servers[0], EngineError("http://a: no token"))
    assert (str(lost), caplog.messages) == ("http://a: no token", ["http://a is left out: no token"])


def test_without_an_answer_there_is_one_line_and_no_grade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_PATIENCE_S", 0.0)
    monkeypatch.setenv(SERVER, "http://127.0.0.1:9")
    line = "http://127.0.0.1:9 does not answer .*: start `rollscope serve grades` there, or unset ROLLSCOPE_SERVER"
    with pytest.raises(EngineError, match=line):
        graded()
    write_rows(tmp_path / "tasks.jsonl", ECHO)
    write_rows(tmp_path / "rollouts.jsonl", {"task_id": "echo", "completion": "print(7)"})
    with pytest.raises(EngineError, match=line):
        grade_file(tmp_path / "rollouts.jsonl", tmp_path / "tasks.jsonl", out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    monkeypatch.setenv(SERVER, "gpu-box:8000")
    with pytest.raises(EngineError, match="give the address of a `rollscope serve grades`, such as http://"):
        graded()


def test_a_server_of_another_version_is_named(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "VERSION", "0.0.1")
    with pytest.raises(EngineError, match=f"has Rollscope {VERSION}, and this is 0.0.1: install the same"):
        graded()


def test_a_token_is_needed_beyond_this_machine(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert "give --token-file FILE" in refused(capsys, "grades", "--host", "0.0.0.0")
    secret = tmp_path / "token"
    secret.write_text("sesame\n")
    guarded = served("--token-file", secret)
    monkeypatch.setenv(SERVER, guarded.url)
    with pytest.raises(EngineError, match="the token is missing or wrong"):
        graded()
    assert not caplog.messages, "one line says it: no other server is there that it could be left out of"
    monkeypatch.setenv(TOKEN, "sesame")
    assert graded().verdict is Verdict.PASSED
    guarded.end()


def test_a_grader_of_ones_own_runs_here_and_no_server_opens_it(server: Served, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def judged(task, rollout, bench): return 0.25\n")
    grader = f"{tmp_path}/own.py:judged"
    assert graded(grader=grader).reward == 0.25
    status, said = posted(server, request(Options(grader=grader)))
    assert (status, said["error"]) == (
        422, f"grader {grader}: a server only runs code, with Rollscope's own graders",
    )  # fmt: skip


def test_a_task_is_sent_once(server: Served) -> None:
    fresh = request(Options(), task=msgspec.structs.replace(TASK, prompt="once"))
    without = msgspec.structs.replace(fresh, tasks=[])
    assert posted(server, without) == (409, {"missing": [task_key(fresh.tasks[0])]})
    for each in (fresh, without):
        status, said = posted(server, each)
        assert (status, said["number"], said["grade"]["verdict"]) == (200, 5, "passed")


@pytest.mark.parametrize("text", ["", "[]", "{}", "[" * 100_000])
def test_a_task_that_is_none_gets_one_line(server: Served, text: str) -> None:
    status, said = posted(server, msgspec.structs.replace(request(Options()), tasks=[text]))
    assert status == 422
    assert said["error"].startswith("a task can't be read: ")


@pytest.mark.parametrize("body", [b"", b"[]", b"\xff", b"{}", b'{"version": "0.0.1"}'])
def test_what_is_not_a_request_gets_one_line(server: Served, body: bytes) -> None:
    status, said = posted(server, body)
    assert status == 422
    assert "\n" not in said["error"]


@pytest.mark.slow  # it waits until the server notices
def test_what_a_client_that_is_gone_wanted_is_ended(server: Served) -> None:
    with subprocess.Popen([sys.executable, "-c", ENDLESS_CALL], cwd=ROOT) as caller:
        wait_until(lambda: is_running_code(server), "no completion runs")
        caller.send_signal(signal.SIGKILL)
    wait_until(lambda: not is_running_code(server), "the completion goes on")
    assert graded().verdict is Verdict.PASSED


def test_a_call_that_is_cancelled_ends_there_and_the_others_go_on(server: Served) -> None:
    async def other() -> Grade:
        endless = asyncio.create_task(agrade(TASK, "while True: pass", limits=ENDLESS))
        await asyncio.to_thread(wait_until, lambda: is_running_code(server), "no completion runs")
        going_on = asyncio.create_task(agrade(TASK, WORK, limits=LONG))
        await asyncio.sleep(0)  # so that it is under way
        endless.cancel()
        return await going_on

    assert asyncio.run(other()).verdict is Verdict.PASSED
    wait_until(lambda: not is_running_code(server), "the completion goes on")


def request(options: Options, task: Task = TASK) -> Request:
    text = text_of(task)
    rollout = Rollout(task_id="echo", completion="print(input())", kind=Kind.FULL, sample_id="echo#0")
    return Request(VERSION, options, [Asked(5, task_key(text), rollout)], [text])


def posted(server: Served, body: Request | bytes) -> tuple[int, Any]:
    """The status and the answer."""
    answer = ask(server.url, "POST", "/grade", body if isinstance(body, bytes) else text_of(body))
    return answer.status, answer.body
