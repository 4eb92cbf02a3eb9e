"""What those who run a server ask of it: `/healthz`, `/readyz`, `/metrics`, and its token."""

import re
from pathlib import Path

import pytest

from evaluator.interop.endpoints import got, service
from evaluator.interop.monitoring import Monitor
from evaluator.sandbox import SandboxUnavailable
from tests.interop.nemo_gym.client import fenced, request
from tests.interop.serving import Answer, ask, in_thread, served_here

SQUARES = request(fenced("print(int(input()) ** 2)"), {"inputs": ["2\n"], "outputs": ["4"]})
OK = (200, {"status": "ok"})


def test_a_server_with_a_token_is_watched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "token").write_text("sesame\n")
    token = {"authorization": "Bearer sesame"}

    def use(url: str) -> list[Answer]:
        assert ask(url, "POST", "/verify", SQUARES, **token).body["reward"] == 1.0
        return [
            *(ask(url, "GET", path) for path in ("/healthz", "/readyz", "/metrics", "/")),
            ask(url, "POST", "/verify", SQUARES, authorization="Bearer open"),
            ask(url, "GET", "/nowhere", **token),
            ask(url, "GET", "/metrics", **token),
        ]

    words = ("nemo-gym", "--port", 0, "--token-file", tmp_path / "token", "--host", "0.0.0.0")
    (*answers, refused, _, metrics), *said = served_here(capsys, use, *words)
    assert answers[:2] == [OK, OK]
    assert [answer.status for answer in (*answers[2:], refused)] == [401, 401, 401]
    assert "the token is missing or wrong" in refused.body["error"]
    assert said == ["", ""]
    figures = dict(line.rsplit(" ", 1) for line in metrics.body.splitlines() if not line.startswith("#"))
    assert figures['rollscope_requests_total{path="/verify",status="200"}'] == "1"
    assert figures['rollscope_requests_total{path="other",status="404"}'] == "1"
    assert figures['rollscope_request_seconds_bucket{path="/verify",le="+Inf"}'] == "1"
    assert int(figures['rollscope_grades_total{verdict="passed"}']) >= 1
    assert all(re.fullmatch(r'[a-z_]+(\{(\w+="[^"\\]*",?)+\})?', name) for name in figures)


def test_a_server_that_can_not_start_a_sandbox_is_not_ready() -> None:
    async def ready() -> None:
        raise SandboxUnavailable("no namespaces", "allow them")

    with in_thread(Monitor(service(got("/x", {})), ready=ready)) as url:
        assert ask(url, "GET", "/readyz") == (503, {"error": "no sandbox: no namespaces; allow them"})
        assert [ask(url, "GET", path) for path in ("/healthz", "/health", "/x")] == [OK, OK, (200, {})]
