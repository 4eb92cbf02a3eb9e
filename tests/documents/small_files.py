"""Small files as other programs write them, under the names that README.md and the how-to guides use."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

SUM = "Read two integers and print their sum."
RIGHT = "```python\na, b = map(int, input().split())\nprint(a + b)\n```"
WRONG = "```python\nprint(input())\n```"
TESTS = {"inputs": ["1 2\n", "5 6\n"], "outputs": ["3\n", "11\n"]}
ADD = 'def add(a: int, b: int) -> int:\n    """The sum of two numbers."""\n'


def write_into(folder: Path) -> None:
    """Writes all of them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    turns = [{"role": "user", "content": SUM}]
    for step in (10, 20):
        dumped = [
            {"input": SUM, "output": text, "gts": json.dumps(TESTS), "score": score, "step": step}
            for text, score in ((RIGHT, 1.0), (WRONG, 0.0))
        ]
        _lines(folder / f"rollout_data/{step}.jsonl", dumped)
    _lines(folder / "rollout_data.corrected.jsonl", [{"prompt": SUM, "verification_info": TESTS}])

    logged = [
        {"step": 10, "prompt": turns, "completion": [{"role": "assistant", "content": text}], "code_reward": reward}
        for text, reward in ((RIGHT, 1.0), (WRONG, 0.0))
    ]
    path = folder / "output/completions/completions_00010.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(logged), path)
    info = {"language": "python", "test_cases": [{"input": "1 2\n", "output": "3\n"}]}
    _lines(folder / "train.jsonl", [{"prompt": SUM, "verification_info": info}])

    case = {"input": "1 2\n", "output": "3\n", "testtype": "stdin"}
    task = {"question_id": "abc1", "question_content": SUM, "starter_code": "", "metadata": "{}"}
    _lines(
        folder / "test6.jsonl",
        [task | {"public_test_cases": json.dumps([case]), "private_test_cases": json.dumps([case])}],
    )
    codes = ["a, b = map(int, input().split())\nprint(a + b)", "print(input())"]
    failure = {
        "error_code": -2,
        "error_message": "Wrong answer",
        "inputs": "1 2\n",
        "output": "1 2\n",
        "expected": "3\n",
    }
    evaluated = {
        "question_id": "abc1",
        "question_content": SUM,
        "output_list": [RIGHT, WRONG],
        "code_list": codes,
        "graded_list": [True, False],
        "metadata": [json.dumps({}), json.dumps(failure)],
    }
    (folder / "codegeneration_10_0.2_eval_all.json").write_text(json.dumps([evaluated]))

    problem = {
        "task_id": "HumanEval/0",
        "prompt": ADD,
        "entry_point": "add",
        "canonical_solution": "    return a + b\n",
        "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n",
    }
    with gzip.open(folder / "HumanEval.jsonl.gz", "wt") as stream:
        stream.write(json.dumps(problem) + "\n")
    bodies = ("    return a + b\n", "    return a - b\n")
    _lines(folder / "samples.jsonl", [{"task_id": "HumanEval/0", "completion": body} for body in bodies])

    samples = [
        {
            "id": number,
            "epoch": 1,
            "input": "Write add(a, b).",
            "target": "assert add(1, 2) == 3",
            "output": {"model": "m", "choices": [{"message": {"role": "assistant", "content": text}}]},
            "messages": [{"role": "user", "content": "Write add(a, b)."}, {"role": "assistant", "content": text}],
            "scores": {"verify": {"value": value}},
        }
        for number, (text, value) in enumerate(
            (("```python\ndef add(a, b):\n    return a + b\n```", "C"), ("def add(a, b): return 3", "C"))
        )
    ]
    (folder / "logs").mkdir()
    with zipfile.ZipFile(folder / "logs/2026-01-16T15-23-47_adding.eval", "w") as log:
        log.writestr("header.json", json.dumps({"version": 2, "eval": {"task": "adding", "model": "m"}}))
        for sample in samples:
            log.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))

    _lines(folder / "mine.jsonl", [{"uid": "add", "response": {"text": "def add(a, b):\n    return a + b\n"}}])
    _lines(folder / "mine_tasks.jsonl", [{"uid": "add", "checks": "assert add(1, 2) == 3"}])

    traces = [
        {
            "task": {"data": {"prompt": SUM, "in_outs": TESTS}},
            "nodes": [
                {"parent": None, "message": {"role": "user", "content": SUM}},
                {"parent": 0, "message": {"role": "assistant", "content": text}, "sampled": True},
            ],
            "rewards": {"passed": reward},
        }
        for text, reward in ((RIGHT, 1.0), (WRONG, 0.0))
    ]
    _lines(folder / "rollouts/step_3/train_rollouts.jsonl", traces)


def _lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
