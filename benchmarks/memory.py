"""The parent's peak resident memory while it grades few and many distinct completions: it should be the same.

Each figure is the kernel's peak (VmHWM) of a separate process: `grade_all` fed by a generator, which keeps nothing; and
`rollscope grade` on a file, which also writes a run directory. The sandboxes' processes are not included.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import _report

_LOOK_S = 0.02
_TESTS = 2


def peak_mb(command: list[str]) -> tuple[float, float]:
    """Peak resident memory in MiB of the command's own process, and its duration in seconds."""
    began = time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        status = Path(f"/proc/{process.pid}/status")
        peak = 0
        while process.poll() is None:
            peak = max(peak, _high_water_kib(status))
            time.sleep(_LOOK_S)
        if process.returncode:
            errors.seek(0)
            raise SystemExit(f"{command[-1]}: {errors.read().decode(errors='replace')[-2000:]}")
    return peak / 1024, time.perf_counter() - began


def _high_water_kib(status: Path) -> int:
    with contextlib.suppress(OSError):
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return 0


def grade_generated(number: int) -> None:
    """Grades that many completions, generated on demand; runs in a separate process."""
    import _workloads

    from evaluator import grade_all

    tasks = _workloads.call_tasks(_TESTS)
    passed = sum(grade.passed for grade in grade_all(tasks, _workloads.completions(tasks, number), cache=None))
    if passed != number:
        raise SystemExit(f"{number - passed} of {number} did not pass")


def write_files(number: int, folder: Path) -> None:
    """Writes a dataset and a file of that many rollouts; runs in a separate process, so this one stays small."""
    import _workloads

    tasks = _workloads.call_tasks(_TESTS)
    with (folder / "dataset.jsonl").open("w") as file:
        for task in tasks:
            inputs, outputs = [case.input for case in task.cases], [case.expected for case in task.cases]
            in_outs = {"fn_name": task.entry_point, "inputs": inputs, "outputs": outputs}
            file.write(json.dumps({"task_id": task.task_id, "mode": "call", "in_outs": in_outs}) + "\n")
    with (folder / f"{number}.jsonl").open("w") as file:
        for rollout in _workloads.completions(tasks, number):
            row = {"task_id": rollout.task_id, "sample_id": rollout.sample_id, "completion": rollout.completion}
            file.write(json.dumps(row) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--numbers", type=int, nargs="+", default=[1000, 20000], help="completions to grade")
    parser.add_argument("--generate", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--write", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.generate:
        grade_generated(options.generate)
    elif options.write:
        write_files(options.write, options.folder)
    else:
        _measure(options.numbers)


def _measure(numbers: list[int]) -> None:
    print(f"{_report.machine()}; {_TESTS} tests per completion\n")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in numbers:
            print(f"{number} completions", file=sys.stderr, flush=True)
            this = [sys.executable, __file__]
            library = peak_mb([*this, "--generate", str(number)])
            subprocess.run([*this, "--write", str(number), "--folder", name], check=True)
            grade = [sys.executable, "-m", "evaluator.cli", "grade", "--cache", "none", str(folder / f"{number}.jsonl")]
            command = peak_mb(
                [*grade, "--dataset", str(folder / "dataset.jsonl"), "--output", str(folder / f"run{number}")]
            )
            for what, (peak, seconds) in (("grade_all", library), ("rollscope grade", command)):
                rows.append([what, str(number), f"{peak:.1f}", f"{seconds:.0f}"])
    _report.table(["process", "completions", "peak MiB", "seconds"], sorted(rows, key=lambda row: row[0]))


if __name__ == "__main__":
    main()
