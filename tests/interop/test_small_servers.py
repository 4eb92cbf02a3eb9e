"""The servers that take one program or completion, over HTTP: AgentFly's, ColossalAI's with its client, SandboxFusion's
with open-instruct's code API."""

import base64
import contextlib
import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from evaluator.interop import sandbox_fusion as fusion_server
from evaluator.interop.agentfly import server as agentfly_server
from evaluator.interop.colossalai import check_correctness_code_api
from evaluator.interop.colossalai import server as colossalai_server
from tests.interop.serving import Answer, Served, ask, in_thread
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def agentfly() -> Iterator[str]:
    with in_thread(agentfly_server.application()) as url:
        yield url


@pytest.fixture(scope="module")
def colossalai() -> Iterator[str]:
    with in_thread(colossalai_server.application(), colossalai_server.LONGEST) as url:
        yield url


@pytest.fixture(scope="module")
def fusion() -> Iterator[str]:
    with in_thread(fusion_server.application(), fusion_server.LONGEST) as url:
        yield url


def executed(url: str, code: str) -> Answer:
    return ask(url, "POST", "/exec", {"code": code})


def test_agentflys_answers(agentfly: str) -> None:
    answers = {
        "print('Hello, World!')": (200, {"output": "Hello, World!\n"}),
        "": (200, {"output": ""}),
        "print('x' * 20_000)": (200, {"output": "x" * 16_384}),
        "print(nope)": (400, {"detail": "NameError: name 'nope' is not defined\n"}),
        "raise SystemExit(3)": (400, {"detail": "SystemExit: 3"}),
        "b'x' * (1 << 33)": (400, {"detail": "Memory limit exceeded"}),
        "#" * (9 << 20): (413, {"detail": "the request is longer than 8 MiB"}),
    }
    assert {code: executed(agentfly, code) for code in answers} == answers


def test_agentflys_other_requests(agentfly: str) -> None:
    status, told = executed(agentfly, "raise ValueError('x' * 10**5)")
    assert (status, len(told["detail"]) <= 8_192) == (400, True)
    for body in ("", "{", "[]", "{}", '{"code": 1}', b"\xff"):
        status, told = ask(agentfly, "POST", "/exec", body)
        assert (status, told["detail"].startswith('give {"code": "..."}: ')) == (422, True)
    assert ask(agentfly, "GET", "/health") == (200, {"status": "ok"})
    assert ask(agentfly, "GET", "/exec").status == 405
    assert ask(agentfly, "GET", "/nope").status == 404


IN_OUTS = {"fn_name": "add", "inputs": ["1\n2", "3\n4"], "outputs": ["3", "7"]}
BROKEN = {**IN_OUTS, "inputs": ["{1", "2"]}


def test_colossalais_answers(colossalai: str) -> None:
    answers: dict[str, tuple[list[int], set[str]]] = {
        "def add(a, b): return a + b": ([1, 1], set()),
        "def add(a, b): return 3": ([1, 0], {"output", "expected", "inputs", "error_message"}),
        "def add(a, b): return a / 0": ([-1], {"error", "traceback"}),
        "def add(a, b) return": ([-2], {"error", "traceback"}),
    }
    for generation, (result, keys) in answers.items():
        body = {"in_outs": IN_OUTS, "generation": generation, "timeout": 60, "debug": False, "eval_mode": True}
        status, answer = ask(colossalai, "POST", "/check_correctness", body)
        assert (status, answer["result"], set(answer["metadata"][0])) == (200, result, keys)


def refuses(url: str, path: str, bodies: dict[str, object]) -> None:
    """Each body, with a part of the line that says what is wrong with it."""
    for message, body in bodies.items():
        status, answer = ask(url, "POST", path, body)
        assert (status, message in answer["detail"], "\n" in answer["detail"]) == (422, True, False), answer


def test_what_is_wrong_with_a_body_for_colossalai_is_told(colossalai: str) -> None:
    bodies: dict[str, object] = {
        "Expecting property name": "{",
        "Expected `object`, got `array`": [],
        "missing required field `generation`": {"in_outs": IN_OUTS},
        "inputs[0], line 1 is not JSON": {"in_outs": BROKEN, "generation": "def add(a): 0"},
        "timeout is -1.0: give seconds, or 0 for none": {"in_outs": IN_OUTS, "generation": "x", "timeout": -1},
        "in_outs must have two lists": {"in_outs": {"inputs": ["1"]}, "generation": "x"},
        "in_outs must have two lists, i": {"in_outs": {"inputs": ["1", "2"], "outputs": ["1"]}, "generation": "x"},
    }
    refuses(colossalai, "/check_correctness", bodies)


def test_colossalais_client_gives_what_check_correctness_gives(colossalai: str) -> None:
    url = f"{colossalai}/check_correctness"
    assert check_correctness_code_api(IN_OUTS, "def add(a, b): return a + b", 60, False, url) == ([1, 1], [{}])
    wrong = {"generation": "def add(a, b): return 3", "debug": False}
    results, metadata = check_correctness_code_api(in_outs=IN_OUTS, **wrong, url=url)
    assert (results, metadata[0]["expected"]) == ([1, 0], "7")
    results, metadata = check_correctness_code_api(BROKEN, "def add(a): 0", url=url)
    assert (results, metadata[0]["error"]) == ([-1, -1], "request")
    assert "inputs[0], line 1 is not JSON" in metadata[0]["error_message"]


def test_colossalais_client_says_what_no_completion_caused(colossalai: str) -> None:
    assert ask(colossalai, "GET", "/health") == (200, {"status": "ok"})
    assert ask(colossalai, "GET", "/check_correctness").status == 405
    not_there = r"is not a verifier \(HTTP Error 40[45]: .*it ends in /check_correctness"
    for elsewhere in (colossalai, f"{colossalai}/health"):
        with pytest.raises(ConnectionError, match=not_there):
            check_correctness_code_api(IN_OUTS, "", url=elsewhere)
    with pytest.raises(ConnectionError, match="is `rollscope serve colossalai` running"):
        check_correctness_code_api(IN_OUTS, "", url="http://127.0.0.1:1/check_correctness")


ADD = "def add(a, b): return a + b"
COUNTS = "calls = 0\ndef add(a, b):\n    global calls\n    calls += 1\n    return a + b + calls - 1"


def sent(url: str, code: str, **fields: object) -> Answer:
    return ask(url, "POST", "/run_code", {"code": code, "language": "python"} | fields)


def ran(url: str, code: str, **fields: object) -> dict[str, Any]:
    """The answer to a program, without times."""
    status, answer = sent(url, code, **fields)
    assert status == 200, answer
    assert isinstance(answer["run_result"].pop("execution_time"), float)
    return dict(answer)


def ended(return_code: int | None, stdout: str = "", stderr: str = "", status: str = "Finished") -> dict[str, Any]:
    return {"status": status, "return_code": return_code, "stdout": stdout, "stderr": stderr}


RAISED = """Traceback (most recent call last):
  File "main.py", line 1, in <module>
    1 / 0
ZeroDivisionError: division by zero
"""
UNCLOSED = """  File "main.py", line 2
    def f(
SyntaxError: '(' was never closed
"""


def test_a_program_is_run(fusion: str) -> None:
    programs: list[tuple[str, dict[str, object], dict[str, Any]]] = [
        ("print(input() * 2)", {"stdin": "ab"}, ended(0, "abab\n")),
        ("import sys; print(1, file=sys.stderr)", {"stdin": None}, ended(0, "", "1\n")),
        ("import sys; print(1); sys.exit(3)", {}, ended(3, "1\n")),
        ("import os, signal; os.kill(os.getpid(), 11)", {}, ended(-11, "", "Killed: ended by SIGSEGV\n")),
        ("while True: pass", {"run_timeout": 0.3}, ended(None, status="TimeLimitExceeded")),
        ("x = [0] * (1 << 28)", {"memory_limit_MB": 100}, ended(-9, "", "Killed: the memory limit was exceeded.\n")),
        ("x = [0] * (1 << 24)\nprint(1)", {"memory_limit_MB": -1}, ended(0, "1\n")),
        ("1 / 0", {}, ended(1, "", RAISED)),
        ("print(1)\ndef f(", {}, ended(1, "", UNCLOSED)),
    ]
    beside = {"message": "", "compile_result": None, "executor_pod_name": None, "files": {}}
    for code, fields, result in programs:
        status = "Success" if result["return_code"] == 0 else "Failed"
        assert ran(fusion, code, **fields) == {"status": status, "run_result": result} | beside


def test_files_come_and_go(fusion: str) -> None:
    code = "print(open('in/a.txt').read(), open('/tmp/b').read())\nopen('c', 'wb').write(bytes(3))"
    files = {"in/a.txt": base64.b64encode("ä".encode()).decode(), "/tmp/b": "Yg==", "none": None}
    answer = ran(fusion, code, files=files, fetch_files=["c", "absent"])
    assert (answer["run_result"], answer["files"]) == (ended(0, "ä b\n"), {"c": "AAAA"})
    failed = ran(fusion, "open('c', 'w').write('x')\nraise SystemExit(1)", fetch_files=["c"])
    assert (failed["run_result"], failed["files"]) == (ended(1), {"c": "eA=="})
    assert ran(fusion, "import os; print(os.listdir('.'))")["run_result"] == ended(0, "['main.py']\n")


def test_what_is_wrong_with_a_body_for_sandbox_fusion_is_told(fusion: str) -> None:
    program: dict[str, object] = {"code": "x", "language": "python"}
    bodies: dict[str, object] = {
        "Expecting property name": "{",
        "missing required field `language`": {"code": "x"},
        "run_timeout is 61 s, above 60": program | {"run_timeout": 61},
        "give seconds above 0": program | {"run_timeout": 0},
        "not in the program's folder": program | {"files": {"../x": ""}},
        "not in the program's": program | {"fetch_files": ["/etc/passwd"]},
        "file 'x' is not base64": program | {"files": {"x": "*"}},
    }
    refuses(fusion, "/run_code", bodies)
    tests: dict[str, object] = {
        "tests[0] is not valid Python: 'def'": ["def"],
        "tests[0] can't be graded: ": ["assert False"],
        "packed tests, which are pickles, are never loaded": "eJyLBQ==",
        "tests must be a list, not dict": {"a": 1},
    }
    refuses(fusion, "/test_program", {message: {"program": ADD, "tests": each} for message, each in tests.items()})
    too_long = {"program": ADD, "tests": [], "max_execution_time": 99}
    bodies = {"missing required field `tests`": {"program": ADD}, "max_execution_time is 99 s, above": too_long}
    refuses(fusion, "/test_program", bodies)
    asserts = {"program": ADD, "tests": ["assert 1"]}
    refuses(fusion, "/test_program_stdio", {"tests[0] must have an input and an output": asserts})


def results_of(url: str, path: str, program: str, tests: object, seconds: float = 60) -> list[int]:
    body = {"program": program, "tests": tests, "max_execution_time": seconds}
    status, answer = ask(url, "POST", path, body)
    assert (status, [seconds != -1 for seconds in answer["runtimes"]]) == (200, list(map(bool, answer["results"])))
    results: list[int] = answer["results"]
    return results


def test_asserts_are_tested(fusion: str) -> None:
    programs: list[tuple[str, object, list[int]]] = [
        (ADD, ["assert add(1, 2) == 3", "assert add(-1, 1) == 0", "assert add(0, 0) == 1"], [1, 1, 0]),
        (ADD, json.dumps(["assert add(1, 2) == 3"]), [1]),
        (ADD, [], []),
        (COUNTS, ["assert add(1, 1) == 2"] * 3, [1, 1, 1]),
        ("def add(a, b)", ["assert add(1, 1) == 2"] * 2, [0, 0]),
        (ADD, ["x = add(1, 2)\nassert x == 3", "try:\n    add(1)\n    assert 0\nexcept TypeError:\n    pass"], [1, 1]),
        ("class A:\n    x = 1\nmake = lambda: A()", ["assert A().x == 1", "assert make().x == 2"], [1, 0]),
        (ADD, ["assert add(1, 1) == 2", "assert sub(1, 1) == 0", "assert add(1, 1) == TWO"], [1, 0, 0]),
        (f"def one(): return 1\n{ADD}", ["def check(f):\n    assert f(one(), 1) == 2\ncheck(add)"], [1]),
        ("import os\ndef add(a, b): os._exit(0)", ["assert add(1, 1) == 3"], [0]),
    ]
    for program, tests, results in programs:
        assert results_of(fusion, "/test_program", program, tests) == results, program


def test_programs_that_read_stdin_are_tested(fusion: str) -> None:
    program = "n = int(input())\nprint(n + 1, 1 / (n - 9))"
    pairs = [("1", "2 -0.125"), ("1\n", "2 -0.1250\n"), ("1", "3 -0.125"), ("9", ""), ("5", "6 -0.25")]
    tests = [{"input": given, "output": output} for given, output in pairs]
    assert results_of(fusion, "/test_program_stdio", program, tests) == [1, 1, 0, 0, 1]


@pytest.mark.slow
def test_tests_that_hang_cost_no_other(fusion: str) -> None:
    program = "import time\ndef add(a, b):\n    if a > 1: time.sleep(600)\n    return a + b"
    tests: list[object] = [*["assert add(2, 1) == 3"] * 3, "assert add(1, 1) == 2"]
    assert results_of(fusion, "/test_program", program, tests, seconds=3) == [0, 0, 0, 1]
    program = "import time\nn = int(input())\nif n == 3: time.sleep(600)\nprint(n + 1)"
    tests = [*[{"input": "3", "output": ""}] * 3, {"input": "5", "output": "6"}]
    assert results_of(fusion, "/test_program_stdio", program, tests, seconds=3) == [0, 0, 0, 1]


def test_it_says_that_it_is_there_and_refuses_other_languages_as_sandbox_fusion_does(fusion: str) -> None:
    assert ask(fusion, "GET", "/v1/ping") == (200, '"pong"')
    assert ask(fusion, "GET", "/health") == (200, {"status": "ok"})
    status, answer = sent(fusion, "int main() {}", language="cpp")
    assert (status, answer["status"], answer["run_result"]) == (200, "SandboxError", None)
    assert answer["message"] == "language 'cpp' is not supported: this server runs only python"


@pytest.mark.slow  # since it waits for five seconds before it says so
def test_a_request_that_no_sandbox_could_take_is_to_be_sent_again() -> None:
    server = Served("sandbox-fusion")

    def sleep(_: object) -> None:
        with contextlib.suppress(OSError):  # the server ends before the answer
            sent(server.url, "import time\ntime.sleep(600)", run_timeout=60, compile_timeout=600)

    def refusal() -> Answer | None:
        answer = sent(server.url, "print(1)", compile_timeout=0)
        return None if answer.status == 200 else answer

    cores = os.sched_getaffinity(0)
    with ThreadPoolExecutor(len(cores)) as sleepers:
        sleepers.map(sleep, cores)
        answer = wait_until(refusal, "every request is taken")
        assert (answer.status, answer.body["detail"].startswith("no sandbox was free within 5 s")) == (504, True)
        assert server.end() == (0, "")
