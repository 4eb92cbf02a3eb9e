"""`run_webserver` of an `app.py`, as NeMo Gym starts it and by hand. It does not outlive the launcher."""

import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evaluator.interop.nemo_gym import CodeResourcesServer
from tests.interop.nemo_gym.client import Client, fenced, request
from tests.interop.serving import environment
from tests.waiting import HANG_S

SPACED = request(fenced("print(1)\nprint(2)"), {"inputs": ["\n"], "outputs": ["1 2"]})
"""Right by the checker `tokens`."""
NAME, WHOLE = "NEMO_GYM_CONFIG_PATH", "NEMO_GYM_CONFIG_DICT"
RESOLVED = """
policy_model: {responses_api_models: {openai_model: {entrypoint: app.py, openai_api_key: "secret"}}}
mine:
  resources_servers:
    mine: {entrypoint: app.py, domain: coding, host: 127.0.0.1, port: 0, checker: tokens, description: x}
other:
  resources_servers:
    other: {entrypoint: app.py, domain: coding, host: 203.0.113.1, port: 1}
"""
APP = """
from evaluator.interop.nemo_gym import CodeResourcesServer

if __name__ == "__main__":
    CodeResourcesServer.run_webserver()
"""


@pytest.mark.parametrize(
    ("variables", "words", "host"),
    [
        ({WHOLE: RESOLVED, NAME: "mine"}, [], "127.0.0.1"),
        pytest.param({}, ["--port", "0", "--host", "localhost"], "localhost", marks=pytest.mark.slow),
    ],
    ids=["by NeMo Gym", "by hand"],
)
def test_an_app_has_its_configuration(variables: dict[str, str], words: list[str], host: str, tmp_path: Path) -> None:
    """That of the environment, or its own one and the command line."""
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "mine.yaml").write_text(RESOLVED.partition("other:")[0])
    (tmp_path / "app.py").write_text(APP)
    process = subprocess.Popen(
        [sys.executable, "app.py", *words], cwd=tmp_path, env=environment(**variables), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout
    url = process.stdout.readline().strip().removeprefix("listening on ")
    assert url.startswith(f"http://{host}:")
    assert Client(url).post("/verify", SPACED).body["reward"] == 1.0
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=HANG_S)[1] == ""
    assert process.returncode == 0


TOKENS = "checker: tokens"
BAD: dict[str, tuple[dict[str, str], list[str], list[str], str]] = {
    "name": ({WHOLE: RESOLVED, NAME: "mien"}, [], [], "no resources server is called 'mien' (known: mine, other)"),
    "no name": ({WHOLE: RESOLVED}, [], [], "no resources server is called None"),
    "no YAML": ({WHOLE: "a:\n  {"}, [], [], "NEMO_GYM_CONFIG_DICT: can't be read: line 2, column 4: "),
    "checker": ({WHOLE: RESOLVED.replace("tokens", "token"), NAME: "mine"}, [], [], "checker 'token' is unknown"),
    "address": ({WHOLE: RESOLVED, NAME: "other"}, [], [], "203.0.113.1: not an address of this machine"),
    "no file": ({}, ["--config", "a.yaml"], [], "a.yaml: no such file or directory"),
    "two files": ({}, [], [TOKENS, TOKENS], "has 2 configurations: name one with --config"),
}
"""The environment, the command line and the files in `configs/`, and what is said."""


@pytest.mark.parametrize(("variables", "words", "configurations", "told"), BAD.values(), ids=BAD)
def test_what_an_app_can_not_be_started_with_is_one_line(
    variables: dict[str, str],
    words: list[str],
    configurations: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "configs").mkdir()
    for number, content in enumerate(configurations):
        (tmp_path / "configs" / f"{number}.yaml").write_text(content)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "argv", ["app.py", *words])
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(tmp_path / "app.py"), raising=False)
    with pytest.raises(SystemExit) as exited:
        CodeResourcesServer.run_webserver()
    assert exited.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("CodeResourcesServer: ")
    assert (told in error, error.count("\n"), "secret" in error) == (True, 1, False), error


SERVER = """
import os, signal
from evaluator.interop.nemo_gym.base_server import end_with_launcher
end_with_launcher()
print(os.getpid(), flush=True)
signal.pause()
"""
LAUNCHER = """
import os, subprocess, sys
command = sys.argv[1]
environment = os.environ if "NEMO_GYM" in command else os.environ | {"NEMO_GYM_CONFIG_DICT": "a: {}"}
shell = subprocess.Popen(["bash", "-c", command], env=environment, stdout=subprocess.PIPE, text=True)
print(shell.pid, shell.stdout.readline(), flush=True)
sys.stdin.read()
"""
# A shell's last command takes its place, or is its child, or its grandchild. `for-a-log` is how release 0.4.0 starts a
# server with `nemo_gym_log_dir`.
SHELLS = {
    "replaced": "cd . && {}",
    "kept": "{}; exit",
    "for-a-log": "set -o pipefail; (cd . && NEMO_GYM_CONFIG_DICT='a: {{}}' {}) 2>&1 | cat",
    "two-kept": "(cd . && {}; exit) 2>&1 | cat",
}
FAST = [("replaced", "launcher"), ("two-kept", "shell")]


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash, by which NeMo Gym starts its servers")
@pytest.mark.parametrize(
    ("shell", "killed"),
    [
        pytest.param(shell, killed, marks=[] if (shell, killed) in FAST else pytest.mark.slow)
        for shell in SHELLS
        for killed in ("launcher", "shell")
    ],
)
def test_a_server_ends_when_its_launcher_does(shell: str, killed: str) -> None:
    words = shlex.join([sys.executable, "-W", "ignore", "-c", SERVER])
    launcher = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", LAUNCHER, SHELLS[shell].format(words)],
        env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert launcher.stdout
    of_shell, of_server = map(int, launcher.stdout.readline().split())
    assert (of_shell == of_server) == (shell == "replaced")
    server = os.pidfd_open(of_server)
    try:
        os.kill(of_shell if killed == "shell" else launcher.pid, signal.SIGKILL)
        assert select.select([server], [], [], HANG_S)[0], "it is still there"
    finally:
        os.killpg(launcher.pid, signal.SIGKILL)  # of all that is there still
        os.close(server)
        launcher.communicate()
