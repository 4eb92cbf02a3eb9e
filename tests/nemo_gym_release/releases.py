"""The releases of NeMo Gym that there are to test with: `tools/nemo_gym_release.py` says so."""

import json
import os
from pathlib import Path
from typing import NamedTuple

TOLD = "ROLLSCOPE_NEMO_GYM_RELEASES"


class Release(NamedTuple):
    """An environment in which a release and Rollscope are installed."""

    number: str
    environment: Path
    """Its own."""
    commands: Path
    """Where `ng_run`, `gym` and the like are."""
    library: Path
    """Where the release's packages are."""

    @property
    def python(self) -> Path:
        return self.environment / "bin" / "python"


def releases() -> list[Release]:
    told: dict[str, dict[str, str]] = json.loads(os.environ.get(TOLD, "{}"))
    return [
        Release(number, Path(each["environment"]), Path(each["commands"]), Path(each["library"]))
        for number, each in told.items()
    ]


def release(number: str) -> list[Release]:
    """For `pytest.mark.parametrize`: the release, or nothing."""
    return [each for each in releases() if each.number == number]
