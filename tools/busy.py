"""Runs a command again and again, beside processes that keep the cores busy.

    .venv/bin/python tools/busy.py --times 20 -- .venv/bin/python -m pytest tests/checkers
    .venv/bin/python tools/busy.py --spinning 0 -- make test      # the same on a quiet machine

Standard library only. The exit status is that of the first run that failed, else 0.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence

SPIN = "import os, sys\nparent = int(sys.argv[1])\nwhile os.getppid() == parent:\n    sum(range(10**6))"
"""Ends with its parent, however that ends."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spinning", type=int, default=2, help="processes that spin meanwhile (default: 2)")
    parser.add_argument("--times", type=int, default=1, help="how often the command runs (default: 1)")
    parser.add_argument("command", nargs="+")
    asked = parser.parse_args(arguments)
    this = str(os.getpid())
    spinning = [subprocess.Popen([sys.executable, "-I", "-c", SPIN, this]) for _ in range(asked.spinning)]
    try:
        statuses = [run(asked.command, number, asked.times) for number in range(1, asked.times + 1)]
    finally:
        for process in spinning:
            process.kill()
            process.wait()
    if asked.times > 1:
        print(f"busy: {statuses.count(0)} of {asked.times} runs ended with status 0", file=sys.stderr)
    return next((status for status in statuses if status), 0)


def run(command: Sequence[str], number: int, times: int) -> int:
    began = time.monotonic()
    status = subprocess.run(command, check=False).returncode
    print(f"busy: run {number} of {times}: status {status} after {time.monotonic() - began:.0f} s", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
