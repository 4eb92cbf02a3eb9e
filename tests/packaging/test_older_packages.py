"""The wheel goes into an environment of a trainer with older packages, and pip changes none of them."""

import json
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from tests.packaging.conftest import empty_environment, pip, run

INSTALLED = {
    "numpy 1.26.4": [],
    "pandas 2.1.4": ["numpy<2,>=1.23.2", "python-dateutil>=2.8.2", "pytz>=2020.1", "tzdata>=2022.1"],
    "pyarrow 17.0.0": ["numpy>=1.16.6"],
    "openai 1.99.9": [
        "anyio<5,>=3.5.0", "distro<2,>=1.7.0", "httpx<1,>=0.23.0", "jiter<1,>=0.4.0", "pydantic<3,>=1.9.0", "sniffio",
        "tqdm>4", "typing-extensions<5,>=4.11",
    ],
    "pydantic 2.8.2": ["annotated-types>=0.4.0", "pydantic-core==2.20.1", "typing-extensions>=4.6.1"],
    "pydantic-core 2.20.1": ["typing-extensions!=4.7.0,>=4.6.0"],
    "fastapi 0.110.3": ["pydantic<3.0.0,>=1.7.4", "starlette<0.38.0,>=0.37.2", "typing-extensions>=4.8.0"],
    "starlette 0.37.2": ["anyio<5,>=3.4.0"],
    "click 8.1.8": [],
    "anyio 4.10.0": ["idna>=2.8", "sniffio>=1.1"],
    "typing-extensions 4.12.2": [],
}  # fmt: skip
"""What a trainer's environment may have, and what each asks for."""


@pytest.fixture
def trainer(tmp_path: Path) -> Path:
    """An environment in which pip finds these: their metadata is there, of which it makes its plan, and no code."""
    folder = empty_environment(tmp_path / "venv")
    (packages,) = folder.glob("lib/python3*/site-packages")
    for package, requirements in INSTALLED.items():
        name, version = package.split()
        about = packages / f"{name.replace('-', '_')}-{version}.dist-info"
        about.mkdir()
        asks = "".join(f"Requires-Dist: {one}\n" for one in requirements)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{asks}")
        (about / "RECORD").touch()
    return folder


@pytest.mark.slow
def test_pip_changes_none_of_them(trainer: Path, wheel: Path) -> None:
    report = run(*pip(trainer), "install", "--dry-run", "--report", "-", f"{wheel}[runs,schema,judge,serve]")
    planned = {canonicalize_name(one["metadata"]["name"]) for one in json.loads(report)["install"]}
    assert {"rollscope", "msgspec", "duckdb", "jsonschema", "uvicorn"} <= planned
    assert planned.isdisjoint(package.split()[0] for package in INSTALLED)
