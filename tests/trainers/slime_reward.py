"""slime's own `async_rm` and `batched_async_rm` with our reward function, on slime's samples.

slime has no reward for code, so the rewards are compared to the grades that the rows came with; there is no time.
"""

from __future__ import annotations

import asyncio
import json
from argparse import Namespace

from comparing import compared, contest, timed
from slime.rollout.rm_hub import async_rm, batched_async_rm
from slime.utils.types import Sample

PACKAGES = ("slime @ git+https://github.com/THUDM/slime.git@624b824a898ab0ec1fcb4d373004c7f3852bf515",)

ARGS = Namespace(custom_rm_path="evaluator.interop.slime.custom_rm", rm_type=None, reward_key=None)


def main() -> None:
    rows = contest()
    samples = [Sample(response=row["completion"], label=json.dumps(row["tests"])) for row in rows]
    asyncio.run(async_rm(ARGS, samples[0]))  # starts the workers
    single, single_s = timed(lambda: asyncio.run(each(samples)))
    group = asyncio.run(batched_async_rm(ARGS, samples))
    assert single == group, "one at a time and as a group"
    assert samples[0].metadata["rollscope"]["verdict"], samples[0].metadata
    compared("slime", "contest", rows, single, [float(row["expected"]) for row in rows], single_s, 0.0)


async def each(samples: list[Sample]) -> list[float]:
    return await asyncio.gather(*(async_rm(ARGS, sample) for sample in samples))


if __name__ == "__main__":
    main()
