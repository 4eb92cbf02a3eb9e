"""On a machine where no sandbox starts: no client grades, no server that runs code starts, and answers are graded."""

import subprocess
import sys

import pytest

from tests.interop.serving import ROOT
from tests.sandbox.refusing import command
from tests.waiting import HANG_S

CLIENTS = """
import asyncio
import sys

from evaluator import SandboxUnavailable
from evaluator.cli import main
from evaluator.interop import colossalai, trl, verl
from evaluator.interop.agentfly import Context, code_reward_test

tests = {"inputs": ["1"], "outputs": ["1"]}
batch = {"completions": ["print(1)", "print(2)"], "in_outs": [tests] * 2}
for use in sys.argv[1:]:
    try:
        print(eval(use))
    except (SandboxUnavailable, SystemExit) as error:
        print(error)
"""
GRADES_NOTHING = (
    "trl.code_reward(**batch)",
    "asyncio.run(trl.acode_reward(**batch))",
    'asyncio.run(code_reward_test(prediction="print(1)", context=Context("r")))',
    'colossalai.run_test(tests, test="print(1)")',
)
DOES_NOT_START = ('main(["serve", "agentfly", "--port", "0"])', 'main(["serve", "nemo-gym", "--port", "0"])')
SERVER = """
from starlette.testclient import TestClient

from evaluator.interop.nemo_gym import CodeResourcesServer, ServerConfig
from tests.interop.nemo_gym.client import request

server = CodeResourcesServer(ServerConfig(grader="exact_match"))
server.prove()
with TestClient(server.setup_webserver()) as client:
    answered = request("Paris", None) | {"verifier_metadata": {"answer": "Paris"}}
    print(client.post("/verify", json=answered).json()["reward"])
"""
CODE = """
    told = client.post("/verify", json=request("```\\nprint(1)\\n```", tests, grader="tests")).json()
    print(told["reward"], told["mask_sample"], told["verdict"], told["failure_kind"])
    tool = client.post("/execute_code", json={"code": "print(1)"})
    print(tool.status_code, tool.json()["error"])
"""


def ran(program: str, *words: str) -> subprocess.CompletedProcess[str]:
    command_line = command(["namespaces", "landlock"], sys.executable, "-c", program, *words)
    return subprocess.run(command_line, cwd=ROOT, capture_output=True, text=True, check=True, timeout=HANG_S)


def test_a_client_grades_nothing_and_answers_are_graded() -> None:
    out = ran(CLIENTS + SERVER, 'verl.compute_score("apps", "print(1)", tests, {}, ungraded=0.0)').stdout
    client, answer = out.splitlines()
    assert client.startswith("no sandbox: ")
    assert answer == "1.0"


@pytest.mark.slow
def test_no_other_client_grades_no_server_starts_and_one_that_grades_answers_masks_code() -> None:
    done = ran(CLIENTS + SERVER + CODE, *GRADES_NOTHING, *DOES_NOT_START)
    *clients, agentfly, nemo_gym, _, code, tool = done.stdout.splitlines()
    assert [told.startswith("no sandbox: ") for told in clients] == [True] * len(GRADES_NOTHING), clients
    assert (agentfly, nemo_gym) == ("3", "3")
    assert [told.startswith("rollscope: no sandbox: ") for told in done.stderr.splitlines()] == [True, True]
    assert code == "0.0 True sandbox_error provider_unavailable"
    assert (tool.startswith("400 "), "sandbox" in tool) == (True, True)
