"""The blocks of NeMo Gym's tutorial that run: as printed, with their import line changed, or with a named stub.

In process as its tests call them, and over HTTP with rows as NeMo Gym sends them.
"""

import asyncio
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel
from starlette.testclient import TestClient

from evaluator.formats import load_tasks
from evaluator.interop.nemo_gym import (
    BaseResourcesServer,
    BaseVerifyRequest,
    BaseVerifyResponse,
    CodeResourcesServer,
    ServerConfig,
)
from evaluator.interop.nemo_gym.config import config_from_file
from evaluator.interop.nemo_gym.server_folder import write_server
from evaluator.interop.nemo_gym.wire import ExecuteCodeRequest
from tests.documents import nemo_gym_custom_resource_server as document
from tests.graders.judge_server import JudgeServer, judge_server, own_environment, says
from tests.interop.nemo_gym.client import answer_of

ROOT = Path(__file__).resolve().parents[2]
RUN: set[tuple[str, str]] = set()
"""What a test here runs: a block, and the line that its row in docs/integrations/nemo-gym-document.md begins with."""

Test = TypeVar("Test", bound=Callable[..., Any])


def runs(block: str, line: str | None = None) -> Callable[[Test], Test]:
    RUN.add((block, line or block.splitlines()[0]))
    return lambda test: test


def changed(block: str) -> str:
    """The block with its import line changed."""
    theirs, ours = r"^( *)from nemo_gym\.base_resources_server import", r"\1from evaluator.interop.nemo_gym import"
    text, count = re.subn(theirs, ours, block, flags=re.M)
    assert count == block.count("nemo_gym.base")
    return text


def server_with(block: str, **stubs: object) -> Any:
    """A server whose methods are those that a block prints."""
    names: dict[str, Any] = {"BaseVerifyRequest": BaseVerifyRequest, "BaseVerifyResponse": BaseVerifyResponse, **stubs}
    exec(changed(block), names)
    is_method = {
        name: inspect.iscoroutinefunction(value) or name.startswith("_compute") for name, value in names.items()
    }
    methods = {name: value for name, value in names.items() if is_method[name]}
    return type("MyTaskResourcesServer", (BaseResourcesServer,), methods)()


def over_http(server: BaseResourcesServer, path: str, body: object) -> Any:
    with TestClient(server.setup_webserver()) as client:
        answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def row(text: str, **known: object) -> dict[str, Any]:
    return {"responses_create_params": {"input": "query"}, "response": answer_of(text), **known}


def conversation(text: str, **metadata: Any) -> BaseVerifyRequest:
    messages: list[Any] = [{"role": "user", "content": "query"}, {"role": "assistant", "content": text}]
    return BaseVerifyRequest(input=messages, metadata=metadata)


def shell(script: str, folder: Path) -> str:
    done = subprocess.run(["bash", "-euc", script], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


MKDIR = document.SETUP.splitlines()[1]


@runs(document.SETUP, MKDIR)
@runs(document.EXAMPLES)
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash, for which the document's steps are")
def test_the_shell_steps_make_the_folders_and_the_examples(tmp_path: Path) -> None:
    shell(MKDIR + "\n" + document.EXAMPLES, tmp_path)
    tasks = list(load_tasks(tmp_path / "resources_servers/my_task/data/example.jsonl"))
    assert [task.answer for task in tasks] == [f"Expected answer {number}" for number in range(1, 6)]


@runs(document.STRUCTURE)
def test_the_structure_is_that_of_a_new_server(tmp_path: Path) -> None:
    folder = tmp_path / "my_task"
    write_server(folder)
    named = re.findall(r"[\w.]+\.(?:py|yaml|jsonl|txt)", document.STRUCTURE)
    assert len(named) == 7
    assert set(named) <= {path.name for path in folder.rglob("*")}


@runs(document.SERVER)
@runs(document.TESTS)
@pytest.mark.slow
@pytest.mark.parametrize("verify", [None, document.EXACT_MATCH], ids=["as printed", "exact match"])
def test_the_server_passes_the_documents_own_tests(tmp_path: Path, verify: str | None) -> None:
    (tmp_path / "tests").mkdir()
    own = f"\n{verify}\nMyTaskResourcesServer.verify = verify\n" if verify else ""
    (tmp_path / "app.py").write_text(changed(document.SERVER) + own)
    (tmp_path / "tests" / "test_app.py").write_text(changed(document.TESTS))
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    settings = os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}
    done = subprocess.run(words, cwd=tmp_path, env=settings, capture_output=True, text=True, check=False)
    assert (done.returncode, "2 passed" in done.stdout) == (0, True), done.stdout + done.stderr


def test_the_server_answers_over_http() -> None:
    names: dict[str, Any] = {"__name__": "document"}
    exec(changed(document.SERVER), names)
    body = row("anything", verifier_metadata={"secret": 1})
    told = over_http(names["server"], "/verify", body)
    assert (told["reward"], told["responses_create_params"], told["mask_sample"]) == (1.0, {"input": "query"}, False)
    assert told["response"].items() >= body["response"].items()
    assert ("secret" in json.dumps(told), "input" in told) == (False, False)
    assert over_http(names["server"], "/my_tool", {"input_text": "test"}) == {"result": "Processed: test"}


class FetchRequest(BaseModel):
    query: str


class FetchResponse(BaseModel):
    data: dict[str, str]


@runs(document.EXTERNAL_API)
def test_a_tool_that_asks_another_service(monkeypatch: pytest.MonkeyPatch) -> None:
    import openai._base_client  # a second of every collection, if it stood above

    client = openai._base_client.httpx2 if hasattr(openai._base_client, "httpx2") else openai._base_client.httpx
    answers = client.MockTransport(lambda request: client.Response(200, json={"asked": str(request.url)}))
    stub = types.SimpleNamespace(AsyncClient=lambda: client.AsyncClient(transport=answers))
    monkeypatch.setitem(sys.modules, "httpx", stub)
    server = server_with(document.EXTERNAL_API, FetchRequest=FetchRequest, FetchResponse=FetchResponse)
    told = over_http(server, "/fetch_data", {"query": "paris"})
    assert told == {"data": {"asked": "https://api.example.com/data/paris"}}


class QueryRequest(BaseModel):
    record_id: int


class QueryResponse(BaseModel):
    records: list[tuple[int, str]]


class Connection:
    """What asyncpg's does: the one record of each id is `two`."""

    async def fetch(self, query: str, *values: object) -> list[tuple[object, ...]]:
        return [(*values, "two")]

    async def close(self) -> None: ...


@runs(document.DATABASE)
def test_a_tool_that_asks_a_database(monkeypatch: pytest.MonkeyPatch) -> None:
    async def connect(address: str) -> Connection:
        assert address.startswith("postgresql://")
        return Connection()

    monkeypatch.setitem(sys.modules, "asyncpg", types.SimpleNamespace(connect=connect))
    server = server_with(document.DATABASE, QueryRequest=QueryRequest, QueryResponse=QueryResponse)
    assert over_http(server, "/query_database", {"record_id": 2}) == {"records": [[2, "two"]]}


class CodeRequest(BaseModel):
    code: str


class CodeResponse(BaseModel):
    stdout: str
    stderr: str
    returncode: int


READS_SECRETS = "import os; print(os.environ.get('SERVERS_KEY')); print(os.path.exists({place!r})); print(6 * 7)"


@runs(document.CODE_EXECUTION)
def test_a_tool_that_runs_code_runs_it_beside_the_grader_and_ours_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVERS_KEY", "secret")
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    place = tmp_path / "answers.txt"
    place.write_text("42")
    code = READS_SECRETS.format(place=str(place))
    server = server_with(document.CODE_EXECUTION, CodeRequest=CodeRequest, CodeResponse=CodeResponse)
    printed = over_http(server, "/execute_code", {"code": code})
    assert printed == {"stdout": "secret\nTrue\n42\n", "stderr": "", "returncode": 0}
    ours = asyncio.run(CodeResourcesServer().execute_code(ExecuteCodeRequest(code=code)))
    assert (ours.stdout, ours.returncode) == ("None\nFalse\n42\n", 0)


@runs(document.EXACT_MATCH)
@pytest.mark.parametrize(("answer", "reward"), [("Paris", 1.0), ("London", 0.0), ("", 0.0)])
def test_exact_match(answer: str, reward: float) -> None:
    server = server_with(document.EXACT_MATCH)
    response = asyncio.run(server.verify(conversation(answer, answer="Paris")))
    assert (response.reward, response.metadata) == (reward, None)
    for known in ({"answer": "Paris"}, {"metadata": {"answer": "Paris"}}, {"verifier_metadata": {"answer": "Paris"}}):
        assert over_http(server, "/verify", row(answer, **known))["reward"] == reward
    assert over_http(server, "/verify", row(""))["reward"] == 0.0, "a row without an answer pays no empty one"


@pytest.fixture
def judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    with judge_server() as running:
        own_environment(monkeypatch, tmp_path)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        yield running


@runs(document.SIMILARITY)
def test_semantic_similarity_by_a_judge(judge: JudgeServer) -> None:
    server = server_with(document.SIMILARITY)
    judge.answers = [says("0.7")]
    told = over_http(server, "/verify", row("The city of Paris", reference_answer="Paris"))
    assert told["reward"] == 0.7
    assert judge.asked[-1].text == "Reference: Paris\nAgent: The city of Paris"
    judge.answers = [says("Score: 0.7")]
    told = over_http(server, "/verify", row("Paris", reference_answer="Paris"))
    assert (told["reward"], told["mask_sample"]) == (0.0, True)
    assert "could not convert string to float" in told["failure_reason"]


@runs(document.PROGRAMMATIC)
def test_programmatic_checks() -> None:
    server = server_with(document.PROGRAMMATIC)
    for answer, reward in (
        ('{"name": "a", "value": 7}', 1.0), ('{"name": "a", "value": 700}', 2 / 3), ('{"value": 7}', 2 / 3),
        ("no JSON", 0.0),
    ):  # fmt: skip
        assert over_http(server, "/verify", row(answer))["reward"] == pytest.approx(reward), answer
    told = over_http(server, "/verify", row("5"))
    assert (told["reward"], told["mask_sample"]) == (0.0, True)
    assert "iterable" in told["failure_reason"]


@runs(document.CONFIGURATION)
def test_the_configuration_is_read(tmp_path: Path) -> None:
    path = tmp_path / "my_task.yaml"
    path.write_text(document.CONFIGURATION)
    config = config_from_file(ServerConfig, path)
    assert (config.name, config.host) == ("my_task_resources_server", "127.0.0.1")


@runs(document.DATASET)
def test_the_dataset_is_read(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text(document.DATASET)
    tasks = list(load_tasks(path))
    assert [(task.answer, task.metadata["difficulty"]) for task in tasks] == [
        ("Paris", "easy"),
        ("345", "medium"),
        ("def reverse(s): return s[::-1]", "hard"),
    ]


CONFIG_PATHS = document.END_TO_END.splitlines()[1]


@runs(document.END_TO_END, CONFIG_PATHS)
def test_the_variable_of_paths_is_set(tmp_path: Path) -> None:
    assignment = "\n".join(document.END_TO_END.splitlines()[1:3])
    printed = shell(assignment + '\necho "$config_paths"', tmp_path)
    assert [Path(path).name for path in printed.strip().split(",")] == ["openai_model.yaml", "my_task.yaml"]


@runs(document.MULTI_TOOL)
def test_a_server_of_several_tools() -> None:
    names: dict[str, Any] = dict.fromkeys(
        ("Tool1Request", "Tool2Request", "Tool1Response", "Tool2Response"), FetchRequest
    )
    names |= {"BaseResourcesServer": BaseResourcesServer}
    names |= {"BaseVerifyRequest": BaseVerifyRequest, "BaseVerifyResponse": BaseVerifyResponse}
    exec(document.MULTI_TOOL, names)
    server = names["MyTaskResourcesServer"]()
    assert sorted(server.tools()) == ["tool_1", "tool_2"]
    assert over_http(server, "/tool_1", {"query": "x"}) is None
    told = over_http(server, "/verify", row("x"))
    assert (told["mask_sample"], "return a BaseVerifyResponse" in told["failure_reason"]) == (True, True)


@runs(document.MULTI_METRIC)
def test_several_metrics() -> None:
    stubs: dict[str, Any] = {
        "_compute_accuracy": lambda self, body: 1.0,
        "_compute_completeness": lambda self, body: 0.5,
        "_compute_efficiency": lambda self, body: 0.0,
    }
    told = over_http(server_with(document.MULTI_METRIC, **stubs), "/verify", row("x", metadata={"secret": 1}))
    assert told["reward"] == pytest.approx(0.65)
    assert told["metadata"] == {"accuracy": 1.0, "completeness": 0.5, "efficiency": 0.0}


@runs(document.REQUIREMENTS)
def test_requirements_of_ones_own_have_the_form_of_a_new_servers(tmp_path: Path) -> None:
    write_server(tmp_path / "my_task")
    lines = (tmp_path / "my_task" / "requirements.txt").read_text().splitlines()
    printed = document.REQUIREMENTS.splitlines()
    assert all(
        re.fullmatch(r"[a-z]+(>=[\d.]+)?|rollscope\[serve\](==[\w.]+)?|-e file:///\S+", line)
        for line in lines + printed
    )


LS = document.WONT_START.splitlines()[-1]


@runs(document.WONT_START, LS)
def test_a_new_server_is_where_it_is_looked_for(tmp_path: Path) -> None:
    write_server(tmp_path / "resources_servers" / "my_task")
    assert shell(LS, tmp_path) == "resources_servers/my_task/app.py\n"


@runs(document.INVALID_REWARDS)
def test_rewards_are_clamped_and_not_a_number_earns_all() -> None:
    for computed, reward in ((0.3, 0.3), (7.0, 1.0), (-1.0, 0.0), (float("inf"), 1.0), (float("nan"), 1.0)):
        server = server_with(document.INVALID_REWARDS, _compute_reward=lambda self, body, computed=computed: computed)
        assert over_http(server, "/verify", row("x"))["reward"] == reward


@pytest.mark.parametrize("computed", [float("nan"), float("inf")])
def test_a_reward_that_is_no_finite_number_is_masked_where_it_is_left_alone(computed: float) -> None:
    class Server(BaseResourcesServer):
        async def verify(self, body: BaseVerifyRequest) -> BaseVerifyResponse:
            return BaseVerifyResponse(**body.model_dump(), reward=computed)

    told = over_http(Server(), "/verify", row("x"))
    assert (told["reward"], told["mask_sample"], told["failure_kind"]) == (0.0, True, "verifier_error")
