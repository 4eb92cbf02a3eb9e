"""Tests that want a real NeMo Gym: `make test-nemo-gym` runs them (alone, too), `make test` does not collect them."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.nemo_gym_release.launched import OURS, SUBCLASS, Project, write_lines
from tests.nemo_gym_release.model_endpoint import model_endpoint
from tests.nemo_gym_release.releases import releases
from tests.nemo_gym_release.rollouts import rows

REPEATS = 2

collect_ignore_glob = [] if releases() else ["test_*.py"]


class Collected(NamedTuple):
    """What `ng_collect_rollouts` wrote."""

    inputs: Path
    rollouts: Path
    figures: Path
    failures: Path
    profile: Path
    """What the commands for profiles write."""


@pytest.fixture(scope="session")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Project]]:
    """By release; nothing is launched yet."""
    with model_endpoint() as url:
        made = {each.number: Project(tmp_path_factory.mktemp("gym"), each, url) for each in releases()}
        for project in made.values():
            project.add_ours()
            project.add_subclass()
            project.add_theirs()
        yield made


@pytest.fixture(params=releases(), ids=lambda each: each.number)
def project(request: pytest.FixtureRequest, projects: dict[str, Project]) -> Project:
    return projects[request.param.number]


@cache  # one launch for all tests, in whatever order they are run
def both_collected(project: Project) -> dict[str, Collected]:
    """The rollouts that one `ng_run` has collected with each of our servers."""
    configs = ",".join(project.configs(OURS, SUBCLASS))
    with project.launched("ng_run", f"+config_paths=[{configs}]", *project.settings(OURS, SUBCLASS)):
        return {server: _collect(project, server) for server in (OURS, SUBCLASS)}


@pytest.fixture(params=[OURS, SUBCLASS])
def collected(request: pytest.FixtureRequest, project: Project) -> Collected:
    return both_collected(project)[request.param]


@pytest.fixture
def ours(project: Project) -> Collected:
    return both_collected(project)[OURS]


def _collect(project: Project, server: str) -> Collected:
    given, out = project.folder / f"{server}_rows.jsonl", project.folder / f"{server}_out.jsonl"
    write_lines(given, rows())
    project.run(
        "ng_collect_rollouts", f"+agent_name={server}_simple_agent", f"+input_jsonl_fpath={given}",
        f"+output_jsonl_fpath={out}", f"+num_repeats={REPEATS}", "+num_samples_in_parallel=4",
    )  # fmt: skip
    beside = {
        "inputs": "materialized_inputs.jsonl", "figures": "aggregate_metrics.json", "failures": "failures.jsonl",
        "profile": "reward_profiling.jsonl",
    }  # fmt: skip
    return Collected(rollouts=out, **{what: out.with_name(f"{out.stem}_{name}") for what, name in beside.items()})
