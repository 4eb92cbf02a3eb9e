"""Opens a file of many rollouts: the index against the readers of DuckDB, Polars and pandas, on the same file.

    .venv/bin/python benchmarks/index.py [--rollouts 1000000]

Each way runs in a process of its own. Peak memory is the proportional set size of the process and its children. DuckDB,
Polars and pandas read all columns, with the texts, which they keep. Polars is measured where it is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from evaluator.runs.indexing import File, Indexer, RolloutSource, update
from evaluator.runs.ungraded import IndexedFile

_LOOKS: Final = 200
_QUERIES: Final = {
    "group by model and verdict": "SELECT model, verdict, count(*), avg(reward) FROM rollouts GROUP BY ALL",
    "filter: failed at a step": "SELECT count(*) FROM rollouts WHERE verdict <> 'passed' AND step = 3",
    "sort by length, last page": "SELECT task_id, sample_id FROM rollouts ORDER BY length LIMIT 100 OFFSET 999000",
}
_PEERS: Final = {
    "DuckDB": "import duckdb; duckdb.execute(\"CREATE TABLE t AS FROM read_json('{path}')\")",
    "Polars": "import polars; polars.read_ndjson({path!r})",
    "pandas": "import pandas; pandas.read_json({path!r}, lines=True)",
}


def write(path: Path, rollouts: int) -> None:
    """Rows of about 1 KB, 200 samples a task, of four models."""
    draw = random.Random(5)
    words = [f"value_{number} = total + {number}\n    " for number in range(200)]
    with path.open("w") as file:
        for number in range(rollouts):
            body = "".join(draw.choices(words, k=draw.randrange(12, 58)))
            row = {
                "task_id": f"task/{number // 200}", "sample_id": f"task/{number // 200}#{number % 200}",
                "model": f"model-{number % 4}", "step": number % 200 // 20, "reward": float(draw.random() < 0.4),
                "completion": f"def solve(total):\n    {body}return total\n",
            }  # fmt: skip
            file.write(json.dumps(row) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rollouts", type=int, default=1_000_000)
    parser.add_argument("--only", choices=["index"], help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help="measure this file of rollouts, in place of one that is made")
    arguments = parser.parse_args()
    if arguments.only:
        _build(arguments.file)
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        path = arguments.file or Path(folder) / "rollouts.jsonl"
        if arguments.file is None:
            write(path, arguments.rollouts)
        _report(path)


def _report(path: Path) -> None:
    print(f"{path.stat().st_size / 1e9:.2f} GB\n")
    print("| way | s | peak MiB |\n|---|---:|---:|")
    own = [sys.executable, __file__, "--only", "index", "--file", str(path)]
    seconds, memory = _run(own)
    print(f"| index, new | {seconds:.1f} | {memory:.0f} |")
    for name, script in _PEERS.items():
        if find_spec(name.lower()) is None:
            print(f"| {name} | not installed | |")
            continue
        peer_seconds, peer_memory = _run([sys.executable, "-c", script.format(path=str(path))])
        print(f"| {name} | {peer_seconds:.1f} | {peer_memory:.0f} |")
    print("\n| afterwards, with the index | ms |\n|---|---:|")
    began = time.perf_counter()
    run = IndexedFile.of(_source(path))
    Indexer(_source(path)).update()
    connection = run.connect(parts=True)
    print(f"| open again | {_ms(began):.0f} |")
    for name, sql in _QUERIES.items():
        began = time.perf_counter()
        connection.sql(sql).fetchall()
        print(f"| {name} | {_ms(began):.0f} |")
    places = connection.sql('SELECT file, "at", size, nth FROM rollouts USING SAMPLE 200 ROWS').fetchall()
    began = time.perf_counter()
    run.texts.sample(*places[0])
    print(f"| the first rollout's text | {_ms(began):.1f} |")
    times = []
    for place in places[1:_LOOKS]:
        began = time.perf_counter()
        run.texts.sample(*place)
        times.append(_ms(began))
    print(f"| one rollout's text, median | {sorted(times)[len(times) // 2]:.2f} |")
    print(f"| one rollout's text, longest of {len(times)} | {max(times):.2f} |")
    connection.close()


def _source(path: Path) -> RolloutSource:
    return RolloutSource(str(path), (File(str(path), str(path)),))


def _build(path: Path) -> None:
    update(_source(path))


def _ms(began: float) -> float:
    return (time.perf_counter() - began) * 1000


def _run(command: list[str]) -> tuple[float, float]:
    """Seconds and peak MiB of a command."""
    began, peak = time.perf_counter(), 0.0
    process = subprocess.Popen(command)
    while process.poll() is None:
        peak = max(peak, _memory(process.pid))
        time.sleep(0.1)
    if process.returncode:
        raise SystemExit(f"{command[:3]} ended with status {process.returncode}")
    return time.perf_counter() - began, peak


def _memory(pid: int) -> float:
    """The proportional set size of a process and its children, in MiB."""
    total = 0.0
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for each in (pid, *children):
            for line in Path(f"/proc/{each}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) / 1024
    except OSError:
        return total
    return total


if __name__ == "__main__":
    main()
