"""Tasks that need more of the machine than most: processes, loopback, a site on the internet, the test's imports."""

from pathlib import Path

import pytest

from evaluator.graders import Bench, get_grader
from evaluator.model import Kind, Mode, Rollout, Task, TestCase, Verdict
from evaluator.options import Options
from evaluator.sandbox import Sandbox, Settings, Way
from tests.graders.conftest import PATIENT, Graded
from tests.graders.split_tasks import suite_task

SERVED = suite_task(
    """
    import http.server, threading, unittest

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"hello")
        def log_message(self, *_): pass

    class Test(unittest.TestCase):
        def test_get(self):
            server = http.server.HTTPServer(("localhost", 0), Handler)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.assertEqual(f(f"http://localhost:{server.server_port}/"), b"hello")
            server.shutdown()
            server.server_close()
    """
)
FETCHES = "import urllib.request\ndef f(url): return urllib.request.urlopen(url).read()\n"


def suite_that(statement: str, before: str = "import unittest") -> Task:
    return suite_task(f"{before}\nclass Test(unittest.TestCase):\n    def test_it(self): {statement}")


def answering(libs: list[str], reference: str | None = None) -> Task:
    task = suite_that("self.assertEqual(f(), 'ok')")
    task.metadata, task.reference = {"libs": libs}, reference
    return task


def test_a_test_may_serve_what_the_completion_fetches(graded: Graded) -> None:
    grade = graded(SERVED, FETCHES)
    assert (grade.verdict, grade.reward) == (Verdict.PASSED, 1.0), grade
    assert graded(SERVED, FETCHES.replace("read()", "read(2)")).verdict is Verdict.WRONG_ANSWER


TALKS = """
import socket
def f():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        there, _ = server.accept()
        with there:
            there.sendall(b"ok")
            return client.recv(2).decode()
"""
LEAVES = {
    "a host of the internet": 'socket.create_connection(("1.1.1.1", 80), timeout=5)',
    "another kind of socket": "socket.socket(socket.AF_UNIX)",
    "raw packets": "socket.socket(socket.AF_INET, socket.SOCK_RAW)",
    "the machine's interfaces": "assert_only_loopback()",
}
ONLY_LOOPBACK = """
def assert_only_loopback():
    with open("/proc/net/dev") as file: lines = file.readlines()[2:]
    if all(line.strip().startswith("lo:") for line in lines): raise OSError
"""


def test_a_completion_may_speak_with_itself_where_its_task_lists_sockets(graded: Graded) -> None:
    grade = graded(answering(["socket"]), TALKS)
    assert (grade.verdict, grade.verified) == (Verdict.PASSED, True), grade
    assert graded(answering(["json"]), TALKS).reward == 0.0


@pytest.mark.parametrize("attempt", LEAVES.values(), ids=LEAVES)
def test_nothing_but_loopback_is_reached(graded: Graded, attempt: str) -> None:
    tries = f"import socket\n{ONLY_LOOPBACK}\ndef f():\n    {attempt}\n    return 'ok'\n"
    grade = graded(answering(["socket"]), tries)
    assert (grade.verdict, grade.reward) == (Verdict.RUNTIME_ERROR, 0.0), grade
    assert grade.error_type in ("OSError", "PermissionError", "TimeoutError")


STARTS = {
    "python": "subprocess.run(['python', '-c', 'print(\"ok\")'], capture_output=True, text=True).stdout.strip()",
    "a shell": "subprocess.run('echo OK | tr A-Z a-z', shell=True, capture_output=True, text=True).stdout.strip()",
    "a pool": "multiprocessing.Pool(2).map(str.lower, ['O', 'K'])[0] + 'k'",
}


@pytest.mark.parametrize("expression", STARTS.values(), ids=STARTS)
def test_a_completion_may_start_programs_where_its_task_lists_subprocess(graded: Graded, expression: str) -> None:
    program = f"import multiprocessing, subprocess\ndef f(): return {expression}\n"
    grade = graded(answering(["subprocess", "multiprocessing"]), program)
    assert (grade.verdict, grade.verified) == (Verdict.PASSED, True), grade
    assert graded(answering(["json"]), program).reward == 0.0


def test_child_processes_see_none_of_the_users_files(graded: Graded, tmp_path: Path) -> None:
    private = tmp_path / "private.txt"
    private.write_text("secret")
    program = f"""
import subprocess
def f():
    got = subprocess.run("cat {private} /etc/passwd /proc/1/environ", shell=True, capture_output=True, text=True)
    return got.stdout or "ok"
"""
    grade = graded(answering(["subprocess"]), program)
    assert grade.verdict is Verdict.PASSED, grade


REFERENCE = "import urllib.request\ndef f(): return urllib.request.urlopen('http://example.com', timeout=9).read()\n"


def test_a_task_is_unknown_only_if_its_own_reference_is_refused_something(graded: Graded) -> None:
    grade = graded(answering(["urllib"], REFERENCE), "def f(): return 'no'\n")
    assert (grade.verdict, grade.reward) == (Verdict.UNKNOWN, None)
    assert "the task's own reference" in (grade.error_message or "")
    assert "example.com" in (grade.error_message or "")
    grade = graded(answering(["urllib"], "def f(): return 'ok'\n"), REFERENCE)
    assert (grade.verdict, grade.reward) == (Verdict.RUNTIME_ERROR, 0.0)


CHILD = Task(task_id="t", mode=Mode.STDIN, cases=(TestCase(0, "", "child\n"),), limits={"processes": 1})
STARTS_CHILD = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'print(\"child\")'])\n"


def test_what_needs_namespaces_is_unknown_without_them(graded: Graded) -> None:
    assert graded(CHILD, STARTS_CHILD).reward == 1.0
    with Sandbox(Settings(way=Way.LANDLOCK)) as sandbox:
        bench = Bench(sandbox, Options(limits=PATIENT))
        for task, program in ((answering(["socket"]), TALKS), (CHILD, STARTS_CHILD)):
            rollout = Rollout(task_id="t", completion=program, kind=Kind.FULL)
            grade = get_grader("tests").grade(task, rollout, bench)
            assert (grade.verdict, grade.reward) == (Verdict.UNKNOWN, None)
            assert "user namespaces" in (grade.error_message or "")


def test_the_tests_imports_are_the_completions_too(graded: Graded) -> None:
    """In a benchmark's own grader both are one module."""
    before = "import json, unittest\nfrom collections import Counter as Counts"
    task = suite_that("self.assertEqual(f('aab'), json.dumps({'a': 2, 'b': 1}))", before)
    grade = graded(task, "def f(text): return json.dumps(Counts(text))\n")
    assert (grade.verdict, grade.verified) == (Verdict.PASSED, True), grade
    assert graded(task, "def f(text): return json.dumps(Other(text))\n").verdict is Verdict.RUNTIME_ERROR


EMPTY = [
    ("numpy", "np.testing.assert_allclose(f([1, 2]), [2, 4])", "np.array(x) * 2", "np.array([])"),
    ("numpy all", "self.assertTrue((f([1, 2]) == np.array([2, 4])).all())", "np.array(x) * 2", "np.ones((0, 1, 2))"),
]


@pytest.mark.parametrize(("check", "right", "empty"), [row[1:] for row in EMPTY], ids=[row[0] for row in EMPTY])
def test_nothing_that_is_compared_with_something_is_not_verified(
    graded: Graded, check: str, right: str, empty: str
) -> None:
    task = suite_that(check, "import unittest\nimport numpy as np")
    grade = graded(task, f"def f(x): return {right}\n")
    assert (grade.verdict, grade.verified) == (Verdict.PASSED, True), grade
    assert not graded(task, f"def f(x): return {empty}\n").verified
