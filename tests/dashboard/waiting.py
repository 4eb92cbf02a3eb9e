"""Rollouts whose grading surely still runs when a test looks: most of their programs wait for the time limit."""

import json
from pathlib import Path


def write(folder: Path, name: str, quick: int, slow: int) -> tuple[Path, Path]:
    """A rollouts file with `quick` right completions and then `slow` ones that sleep, and its dataset."""
    dataset = folder / f"{name}.dataset.jsonl"
    cases = {"inputs": ["1\n2"], "outputs": ["3"], "fn_name": "add"}
    dataset.write_text(json.dumps({"task_id": "add", "mode": "call", "entry_point": "add", "in_outs": cases}) + "\n")
    codes = [f"def add(a, b):\n    return a + b  # {i}\n" for i in range(quick)]
    codes += [f"import time\ndef add(a, b):\n    time.sleep({600 + i})\n" for i in range(slow)]
    rows = [{"task_id": "add", "sample_id": f"add#{i}", "completion": code} for i, code in enumerate(codes)]
    rollouts = folder / f"{name}.jsonl"
    rollouts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return rollouts, dataset
