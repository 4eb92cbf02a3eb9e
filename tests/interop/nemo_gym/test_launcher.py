"""A server that NeMo Gym has launched does not outlive the launcher."""

from __future__ import annotations

import os
import select
import shlex
import shutil
import signal
import subprocess
import sys

import pytest

from tests.interop.serving import ENVIRONMENT, PATIENCE_S

SERVER = """
import os, signal
from evaluator.interop.nemo_gym.launcher import end_with_launcher
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


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash, by which NeMo Gym starts its servers")
@pytest.mark.parametrize("killed", ["launcher", "shell"])
@pytest.mark.parametrize("shell", SHELLS)
def test_a_server_ends_when_its_launcher_does(shell: str, killed: str) -> None:
    words = shlex.join([sys.executable, "-W", "ignore", "-c", SERVER])
    launcher = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", LAUNCHER, SHELLS[shell].format(words)],
        env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert launcher.stdout
    of_shell, of_server = map(int, launcher.stdout.readline().split())
    assert (of_shell == of_server) == (shell == "replaced")
    server = os.pidfd_open(of_server)
    try:
        os.kill(of_shell if killed == "shell" else launcher.pid, signal.SIGKILL)
        assert select.select([server], [], [], PATIENCE_S)[0], "it is still there"
    finally:
        os.killpg(launcher.pid, signal.SIGKILL)  # of all that is there still
        os.close(server)
        launcher.communicate()
