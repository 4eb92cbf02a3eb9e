"""A test run that is killed leaves nothing that it started."""

import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

from tests.lifeline import MARK
from tests.waiting import HANG_S

LIFELINE = Path(__file__).with_name("lifeline.py")
RUN = """
import os, subprocess, sys
subprocess.Popen([sys.executable, "-I", *sys.argv[1:]], stdin=subprocess.PIPE, start_new_session=True)
server = "import sys, time; print(flush=True); time.sleep(600)"
subprocess.Popen([sys.executable, "-I", "-c", server], env=os.environ | {%r: sys.argv[2]}, start_new_session=True)
sys.stdin.read()
"""


def test_what_a_killed_run_started_ends() -> None:
    words = [sys.executable, "-I", "-c", RUN % MARK, str(LIFELINE), uuid.uuid4().hex]
    run = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert run.stdin is not None
    assert run.stdout is not None
    run.stdout.readline()  # the server is there, and holds the other end
    os.kill(run.pid, signal.SIGKILL)
    assert run.communicate(timeout=HANG_S)[0] == b"", "the server still holds its end"
