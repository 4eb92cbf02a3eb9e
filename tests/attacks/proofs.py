"""Shows what an attack does to a grader without a sandbox: plain `exec`, in throw-away processes.

Run as `python -m tests.attacks.proofs`: reads attacks as lines of JSON on standard input, and writes such a line for
each. Whatever an attack starts becomes a child of this process, and is ended before the next one.
"""

import contextlib
import ctypes
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.attacks.corpus import MARK, Attack, tasks
from tests.attacks.process_tree import kill_descendants
from tests.waiting import wait_until

_ROOT = Path(__file__).resolve().parents[2]
_GRADER = Path(__file__).with_name("plain_exec.py")
_LIMIT_S, _LONG_S = 0.3, 30.0
"""The grader's own limit: for what is said to hang, and for all else."""
_GRACE_S, _LONG_GRACE_S = 0.9, 240.0
"""What hangs outlives both; nothing else does, on however busy a machine."""
_PR_SET_CHILD_SUBREAPER = 36
_MIB = 1 << 20
_TASKS = tasks()


class Proof(NamedTuple):
    """What plain exec made of an attack."""

    name: str
    paid: bool
    hung: bool
    marked: bool
    said: str

    def shows(self, attack: Attack) -> bool:
        return {"reward": self.paid, "hangs": self.hung, "mark": self.marked}[attack.shown]


def proofs(chosen: Iterable[Attack], at_once: int = 4) -> dict[str, Proof]:
    """By name. The memory of one resource attack at a time is enough for a small machine, so these come last, alone."""
    named = list(chosen)
    light = [attack for attack in named if attack.group != "resource"]
    heavy = [attack for attack in named if attack.group == "resource"]
    with ThreadPoolExecutor(at_once) as pool:
        shares = pool.map(_proved, (light[n::at_once] for n in range(at_once)))
        found = [proof for share in shares for proof in share]
    return {proof.name: proof for proof in [*found, *_proved(heavy)]}


def _proved(chosen: list[Attack]) -> list[Proof]:
    if not chosen:
        return []
    lines = "".join(json.dumps(attack._asdict()) + "\n" for attack in chosen)
    command = [sys.executable, "-m", __spec__.name]
    ended = subprocess.run(command, cwd=_ROOT, input=lines, stdout=subprocess.PIPE, text=True, check=True, timeout=3600)
    return [Proof(**json.loads(line)) for line in ended.stdout.splitlines()]


def proved(attack: Attack) -> Proof:
    """Runs one attack by plain exec in a scratch folder, and ends all that it started."""
    with _scratch() as folder:
        mark = folder / "mark"
        task = _TASKS[attack.task]
        cases = [{"input": case.input, "expected": case.expected} for case in task.cases]
        (folder / "task.json").write_text(
            json.dumps({"entry_point": task.entry_point, "cases": cases, "grades": attack.grades})
        )
        (folder / "code.py").write_bytes(attack.code.replace(MARK, str(mark)).encode("utf-8", "surrogatepass"))
        try:
            limits = (_LIMIT_S, _GRACE_S) if attack.shown == "hangs" else (_LONG_S, _LONG_GRACE_S)
            status = _graded(folder, *limits)
            if attack.shown == "mark":  # what it left running may take a moment
                with contextlib.suppress(AssertionError):
                    wait_until(mark.exists, "its mark")
        finally:
            kill_descendants()
        output = (folder / "output").read_bytes()
        passed = status == 0 or b'"passed": true' in output
        return Proof(attack.name, passed, status is None, mark.exists(), output.decode("utf-8", "replace")[-300:])


def _graded(folder: Path, limit: float, grace: float) -> int | None:
    """The grader's exit status; None where it outlives its limit by `grace`."""
    arguments = [str(folder / "task.json"), str(folder / "code.py"), str(limit)]
    with (folder / "output").open("wb") as output:
        started = subprocess.Popen(
            [sys.executable, "-I", str(_GRADER), *arguments],
            cwd=folder,
            env={**os.environ, "TASK_FOLDER": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=_limit_what_it_uses,  # noqa: PLW1509 - this process has one thread
        )
        try:
            return started.wait(limit + grace)
        except subprocess.TimeoutExpired:
            return None


def _limit_what_it_uses() -> None:
    limits = {
        resource.RLIMIT_AS: 6144 * _MIB,
        resource.RLIMIT_FSIZE: 256 * _MIB,
        resource.RLIMIT_CPU: 30,
        resource.RLIMIT_CORE: 0,
    }
    for limit, value in limits.items():
        resource.setrlimit(limit, (value, value))


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="attack-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for line in sys.stdin:
        proof = proved(Attack(**json.loads(line)))
        print(json.dumps(proof._asdict()), flush=True)


if __name__ == "__main__":
    main()
