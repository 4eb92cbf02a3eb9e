"""`rollscope serve sandbox-fusion` with the real clients: verl's, SandboxFusion's own, and open-instruct's requests.

SandboxFusion itself is on no package index, so verl's client is also pointed at a server that starts Python for each
request, as SandboxFusion does. open-instruct is on none either: with OPEN_INSTRUCT=/path/to/checkout its own grader
runs beside ours.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import requests
from comparing import ENDLESS, answering, compared, contest, fenced, functions, served, timed

PACKAGES = ("sandbox-fusion==0.3.7", "requests")
NO_DEPS = ("verl==0.9.1",)
EXTRAS = ("serve",)

AT_ONCE = len(os.sched_getaffinity(0))
CLIENT = "sandbox_fusion"
OPEN_INSTRUCT = os.environ.get("OPEN_INSTRUCT")
SECONDS = 3.0
"""Per test, for open-instruct."""

Case = tuple[dict[str, Any], str, list[Any]]
"""A row, its program, and its tests as open-instruct has them."""


def main() -> None:
    with served("sandbox-fusion") as url:
        with answering(by_a_new_python) as theirs:
            check_verl(url, theirs)
        check_own_client(url)
        check_open_instruct(url)


# --- verl


def check_verl(url: str, theirs: str) -> None:
    compute_score = loaded("verl/utils/reward_score/sandbox_fusion").compute_score
    rows = [row for row in contest() if row["id"] not in ENDLESS]
    enough = threading.Semaphore(AT_ONCE)

    def scores(server: str) -> list[float]:
        def score(row: dict[str, Any]) -> float:
            return float(compute_score(f"{server}/run_code", enough, 1024, row["completion"], row["tests"])[0])

        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(score, rows))

    scores(url)  # it starts its sandboxes
    ours, ours_s = timed(partial(scores, url))
    started, theirs_s = timed(partial(scores, theirs))
    by_rows("verl", rows, ours, ours_s)
    compared(CLIENT, "verl, by a server that starts Python per request", rows, ours, started, ours_s, theirs_s)


# --- SandboxFusion's own client


def check_own_client(url: str) -> None:
    client = loaded("sandbox_fusion")
    client.set_endpoint(url)
    code = "print(open('in.txt').read() + input())\nopen('out', 'w').write('x')"
    more = {"stdin": "!", "files": {"in.txt": "aGk="}, "fetch_files": ["out"]}
    request = client.RunCodeRequest(code=code, language="python", **more)
    answer = client.run_code(request)
    assert (answer.status, answer.run_result.stdout, answer.files) == ("Success", "hi!\n", {"out": "eA=="}), answer
    slow = client.run_code(client.RunCodeRequest(code="while True: pass", language="python", run_timeout=1))
    assert (slow.status, slow.run_result.status) == ("Failed", "TimeLimitExceeded"), slow
    other = client.RunCodeRequest(code="1", language="cpp")
    try:
        client.run_code(other, max_attempts=1)
    except Exception as error:
        refusal = str(error)
    assert "runs only python" in refusal, refusal


# --- open-instruct


def check_open_instruct(url: str) -> None:
    """Pass rates as its verifier makes them of an answer, against its own grader if there is a checkout."""
    asserts = [(row, program(row), [f"{row['test']}\ncheck({row['entry_point']})"]) for row in functions()]
    stdio = [(row, fenced(row["completion"]), pairs(row["tests"])) for row in contest() if reads_stdin(row)]
    graders = own_graders() if OPEN_INSTRUCT else {}
    if not graders:
        print("open-instruct's own grader was not tried: set OPEN_INSTRUCT=/path/to/checkout")
    for path, cases in (("test_program", asserts), ("test_program_stdio", stdio)):
        rows = [row for row, *_ in cases]
        rates(f"{url}/{path}", cases)  # it starts its sandboxes
        ours, ours_s = timed(partial(rates, f"{url}/{path}", cases))
        by_rows(f"open-instruct's {path}", rows, ours, ours_s)
        if path in graders:
            theirs, theirs_s = timed(partial(own_rates, graders[path], cases))
            compared(CLIENT, f"open-instruct's {path}", rows, ours, theirs, ours_s, theirs_s)


def reads_stdin(row: dict[str, Any]) -> bool:
    return not row["tests"].get("fn_name") and row["id"] not in ENDLESS


def rates(url: str, cases: list[Case]) -> list[float]:
    def rate(case: Case) -> float:
        body = {"program": case[1], "tests": case[2], "max_execution_time": SECONDS}
        answer = requests.post(url, json=body, timeout=300)
        assert answer.status_code == 200, (case[0]["id"], answer.text)
        return mean(answer.json()["results"])

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(rate, cases))


def own_rates(grade: Callable[..., tuple[list[int], list[float]]], cases: list[Case]) -> list[float]:
    return [mean(grade(code, tests, SECONDS)[0]) for _, code, tests in cases]


def program(row: dict[str, Any]) -> str:
    before = row["prompt"] if row["kind"] == "continuation" else ""
    return f"{row['preamble']}\n{before}{row['completion']}"


def pairs(tests: dict[str, Any]) -> list[dict[str, str]]:
    return [{"input": given, "output": output} for given, output in zip(tests["inputs"], tests["outputs"], strict=True)]


def own_graders() -> dict[str, Callable[..., tuple[list[int], list[float]]]]:
    """open-instruct's functions behind its two endpoints. They make a folder in the current one."""
    os.chdir(tempfile.mkdtemp())
    package = ModuleType("open_instruct")  # without what its __init__ imports
    package.__path__ = [f"{OPEN_INSTRUCT}/open_instruct"]
    sys.modules["open_instruct"] = package
    own = importlib.import_module("open_instruct.code_utils.code_utils")
    logging.disable()  # it logs each program that it refuses
    return {"test_program": own.get_successful_tests_fast, "test_program_stdio": own.get_successful_tests_stdio}


def mean(results: list[int]) -> float:
    return sum(results) / len(results)


# --- servers and packages


def by_rows(what: str, rows: list[dict[str, Any]], scores: list[float], seconds: float) -> None:
    passed, expected = [float(score == 1) for score in scores], [float(row["expected"]) for row in rows]
    compared(CLIENT, f"{what}, by the rows", rows, passed, expected, seconds, 0)


def by_a_new_python(body: dict[str, Any]) -> dict[str, Any]:
    """The answer of a server that starts Python for each request."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "main.py")
        file.write_text(body["code"], encoding="utf-8")
        try:
            done = subprocess.run(
                [sys.executable, str(file)], input=body["stdin"] or "", capture_output=True, text=True, cwd=folder,
                timeout=body["run_timeout"], check=False,
            )  # fmt: skip
            result = {"status": "Finished", "return_code": done.returncode, "stdout": done.stdout}
        except subprocess.TimeoutExpired:
            result = {"status": "TimeLimitExceeded", "return_code": None, "stdout": ""}
    result |= {"stderr": "", "execution_time": 0.0}
    status = "Success" if result["return_code"] == 0 else "Failed"
    return {"status": status, "message": "", "compile_result": None, "run_result": result}


def loaded(folder: str) -> ModuleType:
    """An installed package without its parents, which import torch; this script has the name of one."""
    name = f"installed_{Path(folder).name}"
    path = Path(sysconfig.get_paths()["purelib"], folder)
    spec = importlib.util.spec_from_file_location(name, path / "__init__.py", submodule_search_locations=[str(path)])
    assert spec
    assert spec.loader
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
