"""TRL: its `GRPOTrainer` trains two steps on the CPU with our rewards, and logs why they are what they are.

TRL has no grader of code. The rewards are compared to what its users write: a new Python for each test case.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from comparing import ENDLESS, compared, contest, timed

from evaluator.interop.trl import code_reward, make_acode_reward, make_code_reward

PACKAGES = ("trl==1.16.0", "torch==2.13.0")

WORDS = ("add", "one", "what", "is", "two")
PROGRAMS = ("print(int(input()) + 1)", "print(input())", "print(1 / 0)", "print(2", "while True: pass")
"""The model's vocabulary has each as one token: whatever it samples is one of these, or a word."""
VERDICTS = dict(zip(PROGRAMS, ("passed", "wrong_answer", "runtime_error", "compile_error", "time_limit"), strict=True))
TESTS = {"inputs": ["1", "1\n"], "outputs": ["2", "2\n"]}
LIMITS = {"wall_s": 1, "cpu_s": 1}


def main() -> None:
    calls()
    trains()
    compares()


def trains() -> None:
    """Code and maths in one dataset, a reward that is called, one that is awaited, and one for the maths."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import pyarrow.parquet
    from datasets import Dataset
    from trl import GRPOTrainer

    rows = Dataset.from_list([{"prompt": "add one", "in_outs": TESTS}, {"prompt": "what is two", "in_outs": None}] * 2)
    reward = make_code_reward(limits=LIMITS)
    share = make_acode_reward(continuous=True, limits=LIMITS, name="share")
    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model=model(), processing_class=tokenizer(), reward_funcs=[reward, share, maths_reward],
            args=arguments(folder), train_dataset=rows,
        )  # fmt: skip
        trainer.train()
        for step, log in enumerate(trainer.state.log_history[:2], 1):
            table = Path(folder) / f"completions/completions_{step:05d}.parquet"
            checked(pyarrow.parquet.read_table(table).to_pylist(), log)


def maths_reward(completions: list[str], in_outs: list[Any], **_: Any) -> list[float | None]:
    return [None if tests else 0.5 for tests in in_outs]


def checked(rows: list[dict[str, Any]], log: dict[str, Any]) -> None:
    """The rewards, the table's columns and the metrics of one step agree."""
    code = [row for row in rows if row["prompt"] == "add one"]
    assert len(rows) == 16, f"the table has {len(rows)} rows"
    assert len(code) == 8, f"{len(code)} of them are code"
    for row in rows:
        reward, verdict, error = (row[name] for name in ("code_reward", "code_reward/verdict", "code_reward/error"))
        if row not in code:
            assert verdict is error is None, f"a row without tests has {verdict}, {error}"
            assert reward is None, f"a row without tests has the reward {reward}"
            assert row["maths_reward"] == 0.5
            continue
        assert verdict == VERDICTS.get(row["completion"], verdict), f"{row['completion']!r} has {verdict}"
        assert reward == row["share"] == float(verdict == "passed"), f"{verdict} has the reward {reward}"
        assert row["share/verdict"] == verdict
        assert (error == "") == (verdict == "passed"), f"{verdict} has the error {error!r}"
    for verdict in VERDICTS.values():
        logged, share = log[f"code_reward/{verdict}"], sum(row["code_reward/verdict"] == verdict for row in code) / 8
        assert math.isclose(logged, share, abs_tol=1e-6), f"code_reward/{verdict} is {logged}, but {share} in the table"
    assert math.isclose(log["rewards/code_reward/mean"], log["code_reward/passed"], abs_tol=1e-6)
    assert log["code_reward/ungraded"] == 0


def tokenizer() -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {token: number for number, token in enumerate(("<pad>", "<eos>", "<unk>", *WORDS, *PROGRAMS))}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>")


def model() -> Any:
    from transformers import Qwen2Config, Qwen2ForCausalLM

    sizes = Qwen2Config(
        vocab_size=3 + len(WORDS) + len(PROGRAMS), hidden_size=16, intermediate_size=16, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=32, pad_token_id=0, eos_token_id=1,
    )  # fmt: skip
    return Qwen2ForCausalLM(sizes)


def arguments(folder: str) -> Any:
    from trl import GRPOConfig

    return GRPOConfig(
        output_dir=folder, max_steps=2, per_device_train_batch_size=16, num_generations=8, max_completion_length=1,
        logging_steps=1, log_completions=True, save_strategy="no", report_to="none", use_cpu=True, bf16=False,
    )  # fmt: skip


# --- the comparison


def compares() -> None:
    """Of the programs that end: how long the others take is only the limit."""
    code_reward(completions=["print(1)"], in_outs=[TESTS])  # the workers are started
    rows = [row for row in contest() if row["id"] not in ENDLESS]
    ours, ours_s = timed(partial(make_code_reward(limits=LIMITS), **columns(rows)))
    theirs, theirs_s = timed(partial(plain_rewards, **columns(rows)))
    compared("trl", "contest, a new Python for each test", rows, ours, theirs, ours_s, theirs_s)

    rows = contest()
    awaited = asyncio.run(make_acode_reward(limits=LIMITS)(**columns(rows)))
    rewards = dict(zip([row["id"] for row in rows], awaited, strict=True))
    assert [rewards.pop(name) for name in ENDLESS] == [0.0, 0.0], "endless programs have a reward"
    assert list(rewards.values()) == ours, "the awaited rewards are others"


def columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {"completions": [row["completion"] for row in rows], "in_outs": [row["tests"] for row in rows]}


def plain_rewards(completions: list[str], in_outs: list[dict[str, Any]]) -> list[float]:
    return [plain_reward(completion, tests) for completion, tests in zip(completions, in_outs, strict=True)]


def plain_reward(completion: str, tests: dict[str, Any]) -> float:
    """1.0 if the code prints each expected output."""
    blocks = re.findall(r"```(?:python)?\n(.*?)```", completion, re.DOTALL)
    code = blocks[-1] if blocks else completion
    for given, expected in zip(tests["inputs"], tests["outputs"], strict=True):
        program, sent = code, given
        if tests.get("fn_name"):
            arguments = ", ".join(f"json.loads({line!r})" for line in given.splitlines())
            called = f"Solution().{tests['fn_name']}" if "class Solution" in code else tests["fn_name"]
            program, sent = f"import json\nfrom typing import *\n{code}\nprint(json.dumps({called}({arguments})))", ""
        try:
            done = subprocess.run(
                [sys.executable, "-c", program], input=sent, capture_output=True, text=True,
                timeout=LIMITS["wall_s"], check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return 0.0
        if done.returncode or lines(done.stdout) != lines(expected):
            return 0.0
    return 1.0


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def calls() -> None:
    """Prints what a small call takes, the first of this process and later ones."""
    _, first = timed(lambda: code_reward(completions=["print(2)"], in_outs=[TESTS]))
    for count in (1, 8):
        batches = [[f"print(int(input()) + {n} - {n + m})" for m in range(count)] for n in range(20)]
        taken = sorted(timed(partial(code_reward, batch, in_outs=[TESTS] * count))[1] for batch in batches)
        print(json.dumps({"completions": count, "first_call_s": round(first, 3), "later_calls_s": round(taken[10], 4)}))


if __name__ == "__main__":
    main()
