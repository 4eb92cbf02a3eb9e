"""`rollscope serve sandbox-fusion` as people run it: SandboxFusion's `/run_code` and open-instruct's code API."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.interop.serving import PATIENCE_S, Answer, Served, ask

ADD = "def add(a, b): return a + b"
COUNTS = "calls = 0\ndef add(a, b):\n    global calls\n    calls += 1\n    return a + b + calls - 1"
HANGS = "def add(a, b):\n    while a > 1: pass\n    return a + b"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = Served(system="sandbox-fusion")
    yield server.url
    assert server.end() == (0, "")


def sent(url: str, code: str, **fields: object) -> Answer:
    return ask(url, "POST", "/run_code", {"code": code, "language": "python"} | fields)


def ran(url: str, code: str, **fields: object) -> dict[str, Any]:
    """The answer to a program, without times."""
    status, answer = sent(url, code, **fields)
    assert status == 200, answer
    assert answer["run_result"].pop("execution_time") >= 0
    return dict(answer)


def ended(return_code: int | None, stdout: str = "", stderr: str = "", status: str = "Finished") -> dict[str, Any]:
    return {"status": status, "return_code": return_code, "stdout": stdout, "stderr": stderr}


@pytest.mark.parametrize(
    ("code", "fields", "status", "result"),
    [
        ("print(input() * 2)", {"stdin": "ab"}, "Success", ended(0, "abab\n")),
        ("import sys; print(1, file=sys.stderr)", {"stdin": None}, "Success", ended(0, "", "1\n")),
        ("import sys; print(1); sys.exit(3)", {}, "Failed", ended(3, "1\n")),
        ("import os, signal; os.kill(os.getpid(), 11)", {}, "Failed", ended(-11, "", "Killed: ended by SIGSEGV\n")),
        ("while True: pass", {"run_timeout": 0.3}, "Failed", ended(None, status="TimeLimitExceeded")),
        (
            "x = [0] * (1 << 28)", {"memory_limit_MB": 100}, "Failed",
            ended(-9, "", "Killed: the memory limit was exceeded.\n"),
        ),
        ("x = [0] * (1 << 24)\nprint(1)", {"memory_limit_MB": -1}, "Success", ended(0, "1\n")),
        (
            "1 / 0", {}, "Failed",
            ended(1, "", 'Traceback (most recent call last):\n  File "main.py", line 1, in <module>\n    1 / 0\n'
                         "ZeroDivisionError: division by zero\n"),
        ),
        (
            "print(1)\ndef f(", {}, "Failed",
            ended(1, "", "  File \"main.py\", line 2\n    def f(\nSyntaxError: '(' was never closed\n"),
        ),
    ],
)  # fmt: skip
def test_a_program_is_run(url: str, code: str, fields: dict[str, Any], status: str, result: dict[str, Any]) -> None:
    assert ran(url, code, **fields) == {
        "status": status, "message": "", "compile_result": None, "run_result": result, "executor_pod_name": None,
        "files": {},
    }  # fmt: skip


def test_files_come_and_go(url: str) -> None:
    code = (
        "print(open('in/a.txt').read(), open('/tmp/b').read())\nopen('c', 'wb').write(bytes(3))\nprint('end', end='')"
    )
    files = {"in/a.txt": base64.b64encode("ä".encode()).decode(), "/tmp/b": "Yg==", "none": None}
    answer = ran(url, code, files=files, fetch_files=["c", "absent"])
    assert (answer["run_result"], answer["files"]) == (ended(0, "ä b\nend"), {"c": "AAAA"})
    failed = ran(url, "open('c', 'w').write('x')\nraise SystemExit(1)", fetch_files=["c"])
    assert (failed["run_result"], failed["files"]) == (ended(1), {"c": "eA=="})
    assert ran(url, "import os; print(os.listdir('.'))")["run_result"] == ended(0, "['main.py']\n")


def test_another_language_is_refused_as_sandbox_fusion_refuses(url: str) -> None:
    status, answer = sent(url, "int main() {}", language="cpp")
    assert (status, answer["status"], answer["run_result"]) == (200, "SandboxError", None)
    assert answer["message"] == "language 'cpp' is not supported: this server runs only python"


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("/run_code", "{", "Expecting property name"),
        ("/run_code", {"code": "x"}, "missing required field `language`"),
        ("/run_code", {"code": "x", "language": "python", "run_timeout": 61}, "run_timeout is 61 s, above 60"),
        ("/run_code", {"code": "x", "language": "python", "run_timeout": 0}, "give seconds above 0"),
        ("/run_code", {"code": "x", "language": "python", "files": {"../x": ""}}, "not in the program's folder"),
        ("/run_code", {"code": "x", "language": "python", "fetch_files": ["/etc/passwd"]}, "not in the program's"),
        ("/run_code", {"code": "x", "language": "python", "files": {"x": "*"}}, "file 'x' is not base64"),
        ("/test_program", {"program": ADD}, "missing required field `tests`"),
        ("/test_program", {"program": ADD, "tests": ["def"]}, "tests[0] is not valid Python: 'def'"),
        (
            "/test_program",
            {"program": ADD, "tests": ["assert False"]},
            "tests[0] can't be graded: ",
        ),
        ("/test_program", {"program": ADD, "tests": "eJyLBQ=="}, "packed tests, which are pickles, are never loaded"),
        ("/test_program", {"program": ADD, "tests": {"a": 1}}, "tests must be a list, not dict"),
        ("/test_program", {"program": ADD, "tests": [], "max_execution_time": 99}, "max_execution_time is 99 s, above"),
        ("/test_program_stdio", {"program": ADD, "tests": ["assert 1"]}, "tests[0] must have an input and an output"),
    ],
)
def test_a_bad_request_is_one_line(url: str, path: str, body: object, message: str) -> None:
    status, answer = ask(url, "POST", path, body)
    assert (status, message in answer["detail"], "\n" in answer["detail"]) == (422, True, False), answer


@pytest.mark.parametrize(
    ("program", "tests", "results"),
    [
        (ADD, ["assert add(1, 2) == 3", "assert add(-1, 1) == 0", "assert add(0, 0) == 1"], [1, 1, 0]),
        (ADD, json.dumps(["assert add(1, 2) == 3"]), [1]),
        (ADD, [], []),
        (COUNTS, ["assert add(1, 1) == 2"] * 3, [1, 1, 1]),
        (HANGS, ["assert add(2, 1) == 3"] * 3 + ["assert add(1, 1) == 2"], [0, 0, 0, 1]),
        ("def add(a, b)", ["assert add(1, 1) == 2"] * 2, [0, 0]),
        (
            ADD,
            ["x = add(1, 2)\nassert x == 3", "try:\n    add(1)\n    assert False\nexcept TypeError:\n    pass"],
            [1, 1],
        ),
        ("class A:\n    x = 1\nmake = lambda: A()", ["assert A().x == 1", "assert make().x == 2"], [1, 0]),
        (ADD, ["assert add(1, 1) == 2", "assert sub(1, 1) == 0", "assert add(1, 1) == TWO"], [1, 0, 0]),
        (
            f"def one(): return 1\n{ADD}",
            ["def check(candidate):\n    assert candidate(one(), 1) == 2\ncheck(add)"],
            [1],
        ),
        ("import os\ndef add(a, b): os._exit(0)", ["assert add(1, 1) == 3"], [0]),
    ],
)
def test_asserts_are_tested(url: str, program: str, tests: object, results: list[int]) -> None:
    body = {"program": program, "tests": tests, "max_execution_time": 0.5}
    status, answer = ask(url, "POST", "/test_program", body)
    assert (status, answer["results"]) == (200, results)
    assert [seconds >= 0 for seconds in answer["runtimes"]] == [bool(result) for result in results]


def test_programs_that_read_stdin_are_tested(url: str) -> None:
    program = "n = int(input())\nwhile n == 3: pass\nprint(n + 1, 1 / (n - 9))"
    inputs_and_outputs = [
        ("1", "2 -0.125"),
        ("1\n", "2 -0.1250\n"),
        ("1", "3 -0.125"),
        ("9", ""),
        *[("3", "")] * 3,
        ("5", "6 -0.25"),
    ]
    tests = [{"input": given, "output": output} for given, output in inputs_and_outputs]
    status, answer = ask(url, "POST", "/test_program_stdio", {"program": program, "tests": tests})
    assert (status, answer["results"]) == (200, [1, 1, 0, 0, 0, 0, 0, 1])


def test_it_says_that_it_is_there(url: str) -> None:
    assert ask(url, "GET", "/v1/ping") == (200, '"pong"')
    assert ask(url, "GET", "/health") == (200, {"status": "ok"})


def test_a_request_that_no_sandbox_could_take_is_to_be_sent_again() -> None:
    server = Served(system="sandbox-fusion")

    def sleep() -> None:
        with contextlib.suppress(OSError):  # the server ends before the answer
            sent(server.url, "import time\ntime.sleep(600)", run_timeout=60, compile_timeout=600)

    sleepers = [threading.Thread(target=sleep) for _ in os.sched_getaffinity(0)]
    for each in sleepers:
        each.start()
    deadline = time.monotonic() + PATIENCE_S
    while (answer := sent(server.url, "print(1)", compile_timeout=0)).status == 200 and time.monotonic() < deadline:
        pass
    assert (answer.status, answer.body["detail"].startswith("no sandbox was free within 5 s")) == (504, True)
    assert server.end() == (0, "")
    for each in sleepers:
        each.join(PATIENCE_S)


def test_limits_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "limits.toml").write_text("[limits]\nmemory_mb = 100\n")
    server = Served("--config", tmp_path / "limits.toml", "--max-timeout", 90, system="sandbox-fusion")
    assert ran(server.url, "x = [0] * (1 << 28)", run_timeout=90)["run_result"]["return_code"] == -9
    assert ran(server.url, "x = [0] * (1 << 25)", memory_limit_MB=1000)["run_result"] == ended(0)
    assert server.end() == (0, "")
