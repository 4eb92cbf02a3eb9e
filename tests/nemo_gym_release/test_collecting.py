"""A real `ng_run` launches both forms of our server, and `ng_collect_rollouts` gets what each rollout deserves."""

import json
from typing import Any

import pytest

from tests.nemo_gym_release.conftest import REPEATS, Collected
from tests.nemo_gym_release.launched import Project, read_lines
from tests.nemo_gym_release.rollouts import ANSWERS, name_in

SHARE_RIGHT = sum(answer.reward for answer in ANSWERS.values()) / len(ANSWERS)


def name_of(rollout: dict[str, Any]) -> str:
    return name_in(str(rollout["responses_create_params"]["input"]))


def test_each_rollout_has_the_reward_that_it_deserves(collected: Collected) -> None:
    rollouts = read_lines(collected.rollouts)

    assert len(rollouts) == len(ANSWERS) * REPEATS
    for rollout in rollouts:
        answer = ANSWERS[name_of(rollout)]
        seen = (rollout["reward"], rollout["verdict"], rollout["result"], rollout["mask_sample"])
        assert seen == (answer.reward, answer.verdict, answer.result, False), name_of(rollout)
        assert "verifier_metadata" not in rollout, "the test cases are not repeated"
    assert not collected.failures.exists() or collected.failures.read_text() == ""


def test_the_aggregate_metrics_are_those_of_the_rollouts(collected: Collected) -> None:
    [figures] = json.loads(collected.figures.read_text())

    assert figures["agent_metrics"]["mean/reward"] == pytest.approx(SHARE_RIGHT)
    assert figures["key_metrics"][f"pass@1[avg-of-{REPEATS}]/accuracy"] == pytest.approx(100 * SHARE_RIGHT)
    assert len(figures["group_level_metrics"]) == len(ANSWERS)


@pytest.mark.parametrize("command", ["ng_reward_profile", "gym"])
def test_the_old_and_the_new_command_profile_the_rewards(project: Project, ours: Collected, command: str) -> None:
    if command == "gym":
        words = ["eval", "profile", "--inputs", str(ours.inputs), "--rollouts", str(ours.rollouts)]
    else:
        words = [f"+materialized_inputs_jsonl_fpath={ours.inputs}", f"+rollouts_jsonl_fpath={ours.rollouts}"]
    project.run(command, *words)
    profile = read_lines(ours.profile)
    ours.profile.unlink()  # the other command is to write its own
    assert {name_of(row["sample"]): row["mean/reward"] for row in profile} == {
        name: answer.reward for name, answer in ANSWERS.items()
    }
