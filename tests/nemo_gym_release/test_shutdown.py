"""`gym env start` launches our server, and whichever way it is ended nothing of ours is left behind."""

import signal
from pathlib import Path

import pytest

from tests.nemo_gym_release.launched import OURS, Project, still_there, watched
from tests.nemo_gym_release.model_endpoint import model_endpoint
from tests.nemo_gym_release.releases import Release, releases


@pytest.mark.parametrize(
    ("number", "options"),
    [(signal.SIGINT, ()), (signal.SIGTERM, ()), (signal.SIGINT, ("+nemo_gym_log_dir=logs",))],
    ids=["SIGINT", "SIGTERM", "SIGINT-with-a-log"],
)
@pytest.mark.parametrize("release", releases(), ids=lambda each: each.number)
def test_no_process_is_left(release: Release, number: signal.Signals, options: tuple[str, ...], tmp_path: Path) -> None:
    with model_endpoint() as url:
        project = Project(tmp_path, release, url)
        project.add_ours()
        configs = [word for path in project.configs(OURS) for word in ("--config", path)]
        with project.launched("gym", "env", "start", *configs, *project.settings(OURS), *options) as servers:
            ours = watched(servers.of_server(OURS))
            assert len(ours) > 1, "the server and its sandbox"
            servers.send(number)
            assert still_there(ours) == 0, servers.told()
