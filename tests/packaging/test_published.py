"""What is beside the code for those who get it elsewhere agrees with the code."""

import re
from typing import Any

import pytest
import yaml

from evaluator.cli import COMMANDS
from evaluator.version import VERSION
from tests.packaging.conftest import ROOT
from tests.test_requirements import PROJECT

SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]


def test_the_version_is_the_same_everywhere() -> None:
    assert PROJECT["project"]["version"] == VERSION
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == VERSION


def test_each_python_that_is_named_as_supported_is_tested() -> None:
    named = [each.rpartition(" ")[2] for each in PROJECT["project"]["classifiers"] if ":: Python :: 3." in each]
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())["jobs"]
    assert jobs["test"]["strategy"]["matrix"]["python"] == named
    assert re.search(r"^ARG PYTHON=(.+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)[1] in named


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_runs_a_command_that_there_is(service: str) -> None:
    name, *words = SERVICES[service]["command"].split()
    known = {flag for flags, _ in COMMANDS[name].options for flag in flags}
    assert {word for word in words if word.startswith("-")} <= known
