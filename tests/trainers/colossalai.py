"""ColossalAI's reward function and verifier with our imports, and its own grader beside ours.

It is on no package index: COLOSSALAI=/path/to/checkout says where it is; without that nothing is tried.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from comparing import ENDLESS, compared, contest, fenced, served, stand_in_for_pyext, timed

from evaluator.interop import colossalai

PACKAGES = ("math-verify==0.9.0", "latex2sympy2_extended", "requests", "numpy", "torch==2.13.0")
EXTRAS = ("serve",)

CLIENT = "colossalai"
CHECKOUTS = ("COLOSSALAI",)
REWARD = "coati.distributed.reward"


def main() -> None:
    rows = [row for row in contest() if row["id"] not in ENDLESS]
    open_checkout(Path(os.environ["COLOSSALAI"]) / "applications" / "ColossalChat")
    own = importlib.import_module(f"{REWARD}.code_reward.utils")
    check_graders(rows, own)
    with served("colossalai") as url:
        check_reward_function(rows, own, f"{url}/check_correctness")
    check_verifier(rows)


def check_graders(rows: list[dict[str, Any]], own: ModuleType) -> None:
    for program in ("", "import numpy"):  # it starts its sandboxes
        colossalai.check_correctness(rows[0]["tests"], program, debug=False)
    ours, ours_s = timed(partial(rewards, colossalai.check_correctness, rows))
    theirs, theirs_s = timed(partial(rewards, own.check_correctness, rows))
    compared(CLIENT, "check_correctness", rows, ours, theirs, ours_s, theirs_s)
    compared(CLIENT, "check_correctness, by the rows", rows, ours, [float(row["expected"]) for row in rows], ours_s, 0)


def check_reward_function(rows: list[dict[str, Any]], own: ModuleType, url: str) -> None:
    """`code_reward_fn` with our client of our server, and with its own grader in this process: its server answers 500.

    Its own client gets the same from our server.
    """
    module = importlib.import_module(f"{REWARD}.reward_fn")

    def rewarded_by(check: Callable[..., Any]) -> tuple[list[float], float]:
        module.check_correctness_code = check
        return timed(partial(rewards_of_function, module.code_reward_fn, rows, url))

    ours, _ = rewarded_by(own.check_correctness_code_api)  # it starts the server's sandboxes
    again, ours_s = rewarded_by(colossalai.check_correctness_code_api)
    assert again == ours
    theirs, theirs_s = rewarded_by(lambda url, **given: own.check_correctness(**given))
    compared(CLIENT, "code_reward_fn, ours by our server", rows, ours, theirs, ours_s, theirs_s)
    expected = [10.0 * row["expected"] for row in rows]
    compared(CLIENT, "code_reward_fn, by the rows", rows, ours, expected, ours_s, 0)
    assert module.verify_math_representation("1/2", "0.5") == module.SUCCESS


def check_verifier(rows: list[dict[str, Any]]) -> None:
    """The script that serves `check_correctness`, over our import."""
    sys.modules[f"{REWARD}.code_reward.utils"] = importlib.import_module("evaluator.interop.colossalai")
    verifier = importlib.import_module("start_code_verifier")
    for row in rows[:10]:
        request = verifier.CheckCorrectnessRequest(in_outs=row["tests"], generation=code(row), eval_mode=True)
        answer = verifier.check_correctness_api(request)
        assert all(each == 1 for each in answer.result) == row["expected"], (row["id"], answer)


def rewards(check: Callable[..., Any], rows: list[dict[str, Any]]) -> list[float]:
    return [
        float(all(each == 1 for each in check(row["tests"], code(row), timeout=10, debug=False)[0])) for row in rows
    ]


def rewards_of_function(reward: Callable[..., Any], rows: list[dict[str, Any]], url: str) -> list[float]:
    import torch

    class Characters:
        """A tokenizer with a token for each character."""

        def decode(self, tokens: torch.Tensor, **_: object) -> str:
            return "".join(map(chr, tokens.tolist()))

    found = []
    for row in rows:
        tokens = torch.tensor([ord(character) for character in row["completion"]])
        span = torch.tensor([0, len(tokens) - 1])
        given = reward(tokens, row["tests"], span, tokenizer=Characters(), max_new_tokens=10**6, url=url)
        found.append(given[0].item())
    return found


def code(row: dict[str, Any]) -> str:
    return fenced(row["completion"])


def open_checkout(folder: Path) -> None:
    """Makes its modules importable, without what the packages above them import."""
    sys.path.insert(0, str(folder))
    for name in ("coati", "coati.distributed", REWARD):
        package = sys.modules[name] = ModuleType(name)
        package.__path__ = [str(folder / name.replace(".", "/"))]
    stand_in_for_pyext()


if __name__ == "__main__":
    main()
