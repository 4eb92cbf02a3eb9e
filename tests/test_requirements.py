"""The requirement files install the same things on every machine, from whatever index that machine uses."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
FILES = ("requirements.txt", "requirements-dev.txt", "requirements-docs.txt")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def pins(name: str) -> dict[str, Requirement]:
    lines = (line.partition("#")[0].strip() for line in (ROOT / name).read_text().splitlines())
    found = [Requirement(line) for line in lines if line]
    assert len({canonicalize_name(one.name) for one in found}) == len(found), "a package is named twice"
    return {canonicalize_name(one.name): one for one in found}


def ranges_of(extra: str) -> list[str]:
    """What `rollscope[extra]` asks for."""
    found = list(PROJECT["project"]["dependencies"])
    for wanted in map(Requirement, PROJECT["project"]["optional-dependencies"][extra]):
        own = wanted.name == PROJECT["project"]["name"]
        found += [each for inner in sorted(wanted.extras) for each in ranges_of(inner)] if own else [str(wanted)]
    return found


@pytest.mark.parametrize("name", FILES)
def test_each_requirement_is_pinned_to_one_exact_version(name: str) -> None:
    for requirement in pins(name).values():
        (specifier,) = requirement.specifier
        assert specifier.operator == "==", requirement
        assert "*" not in specifier.version, requirement


@pytest.mark.parametrize("name", FILES)
def test_no_index_link_folder_or_local_file_is_named(name: str) -> None:
    text = (ROOT / name).read_text()
    assert not re.search(r"^\s*-", text, re.MULTILINE), "an option of pip, such as an index"
    assert "://" not in text
    assert not re.search(r"(^|\s)[./~][\w./-]*/", text), "a path"
    assert all(requirement.url is None for requirement in pins(name).values())


@pytest.mark.parametrize(
    ("name", "ranges"),
    [
        ("requirements.txt", [*ranges_of("all"), *PROJECT["dependency-groups"]["build"]]),
        ("requirements-dev.txt", [*ranges_of("all"), *ranges_of("dev")]),
        ("requirements-docs.txt", PROJECT["dependency-groups"]["docs"]),
    ],
)
def test_every_range_of_pyproject_is_pinned_inside_it(name: str, ranges: list[str]) -> None:
    pinned = pins(name)
    for wanted in map(Requirement, ranges):
        pin = pinned.get(canonicalize_name(wanted.name))
        assert pin is not None, f"{wanted.name} is missing: type 'make lock'"
        (specifier,) = pin.specifier
        assert wanted.specifier.contains(specifier.version), f"{pin} is outside {wanted}: type 'make lock'"


def test_the_development_pins_are_those_of_the_command_and_more() -> None:
    command, development = pins("requirements.txt"), pins("requirements-dev.txt")
    assert {name: development[name].specifier for name in command} == {
        name: pin.specifier for name, pin in command.items()
    }


CLIENTS = {"evaluate", "inspect_ai", "opencompass"}
"""Who calls an adapter for one has it: the adapter imports it when it is called."""


@pytest.mark.slow
def test_what_the_library_and_the_pages_import_is_in_an_extra() -> None:
    wanted = [*ranges_of("all"), *ranges_of("ray")]
    known = {canonicalize_name(Requirement(each).name) for each in wanted} | {"referencing"}  # jsonschema's
    ours = {"evaluator", "dashboard", "nemo_gym", *CLIENTS, *sys.stdlib_module_names}
    for folder in ("evaluator", "dashboard", "pages"):
        for path in (ROOT / folder).rglob("*.py"):
            names = imported_by(path) - ours if "inside" not in path.parts else set()
            assert {canonicalize_name({"yaml": "pyyaml"}.get(name, name)) for name in names} <= known, path


def imported_by(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found
