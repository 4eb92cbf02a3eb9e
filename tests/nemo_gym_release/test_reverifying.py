"""`gym eval reverify`: stored rollouts verified once more, by our servers and by the release's own code_gen."""

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.nemo_gym_release.conftest import both_collected
from tests.nemo_gym_release.launched import OURS, SUBCLASS, THEIRS, Project, read_lines, write_lines
from tests.nemo_gym_release.releases import release

FIVE = Path(__file__).parents[1] / "interop" / "nemo_gym" / "code_gen_five.jsonl"

Place = tuple[int, int]

pytestmark = pytest.mark.parametrize("project", release("0.7.0"), indirect=True, ids=lambda each: each.number)


@cache
def stored_in(project: Project) -> tuple[Path, Path]:
    """The rows and the rollouts: those that were collected with our server, and the five that code_gen ships."""
    ours = both_collected(project)[OURS]
    rows, rollouts = read_lines(ours.inputs), read_lines(ours.rollouts)
    for number, line in enumerate(FIVE.read_text().splitlines()):
        place = {"_ng_task_index": 1000 + number, "_ng_rollout_index": 0}
        each = json.loads(line)
        rows.append(each["row"] | place)
        rollouts.append(each["rollout"] | place)
    paths = project.folder / "stored_inputs.jsonl", project.folder / "stored.jsonl"
    for path, lines in zip(paths, (rows, rollouts), strict=True):
        write_lines(
            path, [{key: each[key] for key in each if key not in ("agent_ref", "task_source")} for each in lines]
        )
    return paths


class Again(NamedTuple):
    """What came of verifying once more."""

    rollouts: dict[Place, dict[str, Any]]
    """By task and repeat."""
    left: int
    """How many server processes the command has left behind."""


@cache
def reverified(project: Project, server: str) -> Again:
    stored, out = stored_in(project), project.folder / f"by_{server}.jsonl"
    words = ["--inputs", str(stored[0]), "--rollouts", str(stored[1]), "--output", str(out)]
    forced = ["--force"] if server == THEIRS else []  # it does not say that this can be done
    left = project.run(
        "gym", "eval", "reverify", "--config", project.alone(server), *words, *forced, *project.settings(server)
    )
    return Again(by_place(read_lines(out.with_name(f"unsafe_{out.name}") if forced else out)), left)


@pytest.fixture(params=[OURS, SUBCLASS, THEIRS])
def server(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def by_place(rollouts: list[dict[str, Any]]) -> dict[Place, dict[str, Any]]:
    return {(each["_ng_task_index"], each["_ng_rollout_index"]): each for each in rollouts}


def test_every_reward_and_every_code_of_a_test_case_is_the_stored_one(project: Project, server: str) -> None:
    expected, found = by_place(read_lines(stored_in(project)[1])), reverified(project, server).rollouts

    for what in ("reward", "result"):
        assert {place: each[what] for place, each in found.items()} == {
            place: each[what] for place, each in expected.items()
        }


def test_a_server_of_ours_ends_with_the_command_that_started_it(project: Project, server: str) -> None:
    assert server == THEIRS or reverified(project, server).left == 0
