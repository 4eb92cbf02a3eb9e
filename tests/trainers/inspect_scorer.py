"""inspect_ai's `eval` with our scorer, and with the scorer of inspect_evals' humaneval in inspect's local sandbox."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from tempfile import TemporaryDirectory
from typing import Any

from comparing import compared, functions, timed
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, Scorer
from inspect_evals.apps.apps import record_to_sample as apps_sample
from inspect_evals.humaneval.humaneval import record_to_sample as humaneval_sample
from inspect_evals.humaneval.humaneval import verify
from inspect_evals.mbpp.mbpp import record_to_sample as mbpp_sample

from evaluator.interop.inspect import code_tests

PACKAGES = ("inspect_ai==0.3.285", "inspect_evals==0.26.0")

SUM = "def total(numbers):\n    return sum(numbers)\n"
MBPP = {
    "task_id": 1, "prompt": "Add them.", "source_file": "", "code": SUM, "test_imports": ["import math"],
    "test_list": ["assert total([1, 2]) == 3", "assert math.isclose(total([0.1, 0.2]), 0.3)"],
}  # fmt: skip
APPS = {
    "problem_id": 2, "question": "Add them.", "difficulty": "interview",
    "input_output": '{"inputs": [[1, 2], [3, 4]], "outputs": [3, 7]}',
}  # fmt: skip
ENDS_EARLY = "import sys\nsys.exit(0)\n"


def main() -> None:
    rows = functions()
    samples = [humaneval_sample()({"canonical_solution": "", **row, "task_id": row["id"]}) for row in rows]
    texts = [row["completion"] for row in rows]
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        scores(samples[:1], texts[:1], code_tests())  # starts the workers
        _, idle_s = timed(lambda: run(samples, texts, None))
        ours, ours_s = timed(lambda: values(samples, texts, code_tests()))
        theirs, theirs_s = timed(lambda: values(samples, texts, verify(), "local"))
        compared("inspect_ai", "humaneval", rows, ours, theirs, ours_s - idle_s, theirs_s - idle_s)
        check_other_samples(samples[0])


def check_other_samples(humaneval: Sample) -> None:
    mbpp, apps = mbpp_sample(MBPP), apps_sample(APPS)
    solution = "def solution(numbers):\n    return 3\n"
    assert values([mbpp], [SUM], code_tests()) == [1.0], "a sample of mbpp"
    assert values([apps], [solution], code_tests(grader="tests:reward=fraction")) == [0.5], "a sample of apps"
    assert values([humaneval], [ENDS_EARLY], verify(), "local") == [1.0], "verify is fooled by an early end"
    assert values([humaneval], [ENDS_EARLY], code_tests()) == [0.0], "an early end is no pass"
    imports = f"import inspect_ai\n{SUM}"
    assert values([mbpp], [imports], code_tests()) == [0.0], "packages are hidden"
    assert values([mbpp], [imports], code_tests(python=sys.executable)) == [1.0], "the packages of this Python"
    [score] = scores([Sample(id=3, input="?", target="42")], ["42"], code_tests())
    assert isinstance(score.value, float), score
    assert math.isnan(score.value), score
    assert "neither metadata nor target has tests" in (score.explanation or ""), score


def values(samples: Sequence[Sample], texts: Sequence[str], scorer: Scorer, sandbox: str | None = None) -> list[float]:
    found = (score.value for score in scores(samples, texts, scorer, sandbox))
    return [{"C": 1.0, "I": 0.0}.get(value, value) for value in found]


def scores(samples: Sequence[Sample], texts: Sequence[str], scorer: Scorer, sandbox: str | None = None) -> list[Score]:
    """The score of each text, by inspect's own evaluation with a model that answers with these texts."""
    done = run(samples, texts, scorer, sandbox).samples or ()
    found = {sample.id: next(iter(sample.scores.values())) for sample in done}
    return [found[sample.id] for sample in samples]


def run(samples: Sequence[Sample], texts: Sequence[str], scorer: Scorer | None, sandbox: str | None = None) -> EvalLog:
    asked = [sample.model_copy(update={"input": str(number)}) for number, sample in enumerate(samples)]

    def answer(messages: Sequence[Any], *_: Any) -> ModelOutput:
        output = ModelOutput.from_content("mockllm/model", texts[int(messages[-1].text)])
        # Else tokens are counted, by a download.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    task = Task(dataset=MemoryDataset(asked), scorer=scorer, sandbox=sandbox)
    [log] = evaluate(task, model=model, display="none", log_dir="logs")
    assert log.status == "success", log.error
    return log


if __name__ == "__main__":
    main()
