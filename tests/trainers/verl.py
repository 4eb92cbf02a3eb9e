"""Runs verl's reward managers and its Ray reward loop with our reward functions, loaded as its configuration says.

The rewards and times are compared to those of verl's own grader, `prime_code`, on the same rows. Programs that run out
of time are compared apart: they take the time that the limits say.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from comparing import ENDLESS, HERE, compared, contest, served, timed

sys.path.remove(str(HERE))  # also those of Ray's workers, or this file would be the module `verl`

import numpy as np
import ray
import torch
import verl.trainer
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from verl import DataProto
from verl.experimental.reward_loop import RewardLoopManager, migrate_legacy_reward_impl
from verl.trainer.ppo.reward import get_custom_reward_fn, load_reward_manager
from verl.utils.reward_score import default_compute_score
from verl.workers.reward_manager import get_reward_manager_cls

PACKAGES = ("verl==0.9.1", "torch==2.13.0", "cachetools", "fastapi", "uvicorn")

Row = dict[str, Any]
UNREADABLE = {"id": "none", "completion": "print(1)", "tests": {"inputs": ["1"], "outputs": []}, "expected": False}
SHARE = {"continuous": True}


def main() -> None:
    rows = contest()
    ends, endless = ([row for row in rows if (row["id"] in ENDLESS) is never] for never in (False, True))
    unreadable = [*ends[:7], UNREADABLE]
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(folder)
        managers(trainer, ends)
        managers_pass(trainer, unreadable)
        ray.init(num_cpus=32, include_dashboard=False, log_to_driver=False)
        loops(trainer, ends, {"compute_score": SHARE, "acompute_score": SHARE})
        loops(trainer, endless, {"acompute_score": SHARE | {"limits.cpu_s": 5}}, " with programs that do not end")
        loop_managers(trainer, ends[:8])
        ray.shutdown()


# --- verl


class Trainer:
    """verl without a model: a tokenizer, and the configuration for reward functions."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
        backend = Tokenizer(models.BPE({letter: number for number, letter in enumerate(alphabet)}, []))
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        backend.decoder = decoders.ByteLevel()
        self.tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<end>", pad_token="<pad>")
        self.tokenizer.save_pretrained(folder)

    def configuration(
        self, name: str | None, kwargs: Mapping[str, object], manager: str = "naive", workers: int = 2
    ) -> DictConfig:
        """As `python -m verl.trainer.main_ppo` makes it. `name`: of our function; None: verl's own."""
        words = [
            f"actor_rollout_ref.model.path={self.folder}",
            f"reward.num_workers={workers}",
            f"reward.reward_manager.name={manager}",
        ]
        if name:
            ours = "reward.custom_reward_function"
            words += [f"{ours}.path=pkg://evaluator.interop.verl", f"{ours}.name={name}"]
            words += [f"+{ours}.reward_kwargs.{key}={value}" for key, value in kwargs.items()]
        with initialize_config_dir(str(Path(verl.trainer.__file__).parent / "config"), version_base=None):
            return migrate_legacy_reward_impl(compose("ppo_trainer", words))

    def function(self, name: str, **kwargs: object) -> Callable[..., Any]:
        found = get_custom_reward_fn(self.configuration(name, kwargs))
        assert found is not None
        return found

    def batch(self, rows: Sequence[Row]) -> DataProto:
        """A batch as it comes from the rollout: texts as tokens, padded; the prompt is one token."""
        texts = [self.tokenizer.encode(row["completion"]) for row in rows]
        most = max(map(len, texts))
        responses = torch.tensor([text + [self.tokenizer.pad_token_id] * (most - len(text)) for text in texts])
        lengths = torch.tensor([[len(text)] for text in texts])
        mask = torch.cat([torch.ones(len(rows), 1), torch.arange(most)[None] < lengths], dim=1).long()
        return DataProto.from_dict(
            tensors={"prompts": torch.zeros(len(rows), 1).long(), "responses": responses, "attention_mask": mask},
            non_tensors={
                "data_source": objects(["taco"] * len(rows)),
                "reward_model": objects([{"ground_truth": json.dumps(row["tests"])} for row in rows]),
                "extra_info": objects([{"index": number} for number in range(len(rows))]),
            },
        )

    def rewards(self, manager: str, function: Callable[..., Any], rows: Sequence[Row]) -> tuple[list[float], Any]:
        """Those of a manager of `verl.workers`, and what it logs."""
        found = get_reward_manager_cls(manager)(self.tokenizer, 0, function)(self.batch(rows), return_dict=True)
        return found["reward_tensor"].sum(-1).tolist(), found.get("reward_extra_info", {})


def objects(values: list[Any]) -> Any:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


# --- rewards and times, beside those of verl's own grader


def managers(trainer: Trainer, rows: list[Row]) -> None:
    """The managers of `verl.workers`; verl's grader knows no batches, so that one is compared to one after another."""
    share = trainer.function("compute_score", **SHARE)
    plain = trainer.function("compute_score", **SHARE, plain=True)
    together = trainer.function("compute_score_batch", **SHARE)
    trainer.rewards("naive", share, rows[:1])  # starts the workers, which then stay warm
    theirs, theirs_s = timed(lambda: trainer.rewards("naive", default_compute_score, rows))
    for name, function in {"naive": share, "dapo": share, "batch": together}.items():
        ours, ours_s = timed(lambda name=name, function=function: trainer.rewards(name, function, rows))
        check(f"{name} manager", rows, ours[0], theirs[0], ours_s, theirs_s)
    theirs, theirs_s = timed(lambda: trainer.rewards("prime", default_compute_score, rows))
    ours, ours_s = timed(lambda: trainer.rewards("prime", plain, rows))
    # It starts 64 processes for each batch, each of which starts a sandbox for one or two programs, or asks a server.
    check("prime manager", rows, ours[0], theirs[0], ours_s, theirs_s)
    with served("grades") as os.environ["ROLLSCOPE_SERVER"]:
        trainer.rewards("prime", plain, rows[:1])  # starts the server's sandboxes
        ours, ours_s = timed(lambda: trainer.rewards("prime", plain, rows))
    del os.environ["ROLLSCOPE_SERVER"]
    check("prime manager with a server of grades", rows, ours[0], theirs[0], ours_s, theirs_s)


def loops(trainer: Trainer, rows: list[Row], functions: Mapping[str, Mapping[str, object]], what: str = "") -> None:
    theirs, theirs_s = Loop(trainer, None, {}).timed(rows)
    for name, kwargs in functions.items():
        ours, ours_s = Loop(trainer, name, kwargs).timed(rows)
        check(f"reward loop, {name}{what}", rows, ours, theirs, ours_s, theirs_s)


class Loop:
    """verl's reward loop, with workers of its own."""

    def __init__(self, trainer: Trainer, name: str | None, kwargs: Mapping[str, object], workers: int = 2) -> None:
        self.trainer = trainer
        self.workers = workers
        self.manager = RewardLoopManager(trainer.configuration(name, kwargs, workers=workers))

    def timed(self, rows: list[Row]) -> tuple[list[float], float]:
        self.scored(contest()[: self.workers])  # so that the processes have started
        found, seconds = timed(lambda: self.scored(rows))
        self.end()
        return found.batch["rm_scores"].sum(-1).tolist(), seconds

    def scored(self, rows: list[Row]) -> DataProto:
        return self.manager.compute_rm_score(self.trainer.batch(rows))

    def end(self) -> None:
        for worker in self.manager.reward_loop_workers:
            ray.kill(worker)


def check(what: str, rows: list[Row], ours: list[float], theirs: list[float], ours_s: float, theirs_s: float) -> None:
    compared("verl", what, rows, ours, theirs, ours_s, theirs_s)
    for row, our, their in zip(rows, ours, theirs, strict=True):
        assert our == their or explained(row, our, their), f"{what}: {row['id']}: ours {our}, theirs {their}"


def explained(row: Row, our: float, their: float) -> bool:
    """Whether ours is what the row's source says, and `prime_code` gave less, as it does for three reasons.

    Test by test it leaves out the function's name, so that a function's share is 0. It reads the output without waiting
    for the program's threads, so that the result is another one each time. And it counts the time in which the program
    had no CPU, so that honest programs fail on a busy machine.
    """
    return their < our and (our == 1) is row["expected"]


# --- what else must hold


def loop_managers(trainer: Trainer, rows: list[Row]) -> None:
    """The other managers of the reward loop give the same rewards."""
    wanted = [float(row["expected"]) for row in rows]

    async def scored(manager: str, name: str) -> list[float]:
        found = load_reward_manager(trainer.configuration(name, {}, manager), trainer.tokenizer)
        data = trainer.batch(rows)
        results = await asyncio.gather(*(found.run_single(data[number : number + 1]) for number in range(len(rows))))
        return [each["reward_score"] for each in results]

    async def all_scored() -> None:  # in one event loop, to which verl's limiter binds itself
        for manager in ("dapo", "gdpo", "rate_limited", "remote"):
            for name in ("compute_score", "acompute_score"):
                if (manager, name) != ("remote", "acompute_score"):  # which verl refuses
                    found = await scored(manager, name)
                    assert found == wanted, f"{manager} with {name}: {found}, not {wanted}"

    asyncio.run(all_scored())


def managers_pass(trainer: Trainer, rows: list[Row]) -> None:
    """A row whose tests can't be read, the last one, does not end the batch if it is given a score."""
    wanted, graded = expected(rows)
    for manager, name in {"naive": "compute_score", "dapo": "compute_score", "batch": "compute_score_batch"}.items():
        scores, logged = trainer.rewards(manager, trainer.function(name, ungraded=0.0), rows)
        assert (scores, logged["graded"]) == (wanted, graded), f"{manager}: {scores}, {logged['graded']}"
    plain, _ = trainer.rewards("prime", trainer.function("compute_score", plain=True, ungraded=0.0), rows)
    assert plain == wanted, f"prime: {plain}"
    try:
        trainer.rewards("batch", trainer.function("compute_score_batch"), rows)
    except RuntimeError as error:
        assert str(error).startswith("taco, index 7: "), error  # noqa: PT017
    else:
        raise AssertionError("a row that can't be graded does not raise by default")


def expected(rows: list[Row]) -> tuple[list[float], list[float]]:
    return [float(row["expected"]) for row in rows], [float(row is not UNREADABLE) for row in rows]


if __name__ == "__main__":
    main()
