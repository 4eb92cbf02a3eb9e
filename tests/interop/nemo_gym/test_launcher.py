"""A server that NeMo Gym has launched does not outlive the launcher."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from contextlib import suppress

from tests.interop.nemo_gym.serving import ENVIRONMENT, PATIENCE_S

SERVER = """
import os, signal
from evaluator.interop.nemo_gym.launcher import end_with_launcher
end_with_launcher()
print(os.getpid(), flush=True)
signal.pause()
"""
LAUNCHER = f"""
import subprocess, sys
server = subprocess.Popen([sys.executable, "-c", {SERVER!r}], stdout=subprocess.PIPE, text=True)
print(server.stdout.readline(), flush=True)
sys.stdin.read()
"""


def test_a_server_ends_when_its_launcher_does() -> None:
    launcher = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", LAUNCHER],
        env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert launcher.stdout
    number = int(launcher.stdout.readline())
    server = os.pidfd_open(number)
    try:
        launcher.kill()
        launcher.communicate()

        assert select.select([server], [], [], PATIENCE_S)[0], "it is still there"
    finally:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(server, signal.SIGKILL)
        os.close(server)
