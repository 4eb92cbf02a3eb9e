"""A kind of container is one new file, and so is a format."""

import subprocess
import sys

import pytest

from evaluator.formats import FormatError, Problem, sniff
from evaluator.formats.reading import registry
from evaluator.formats.reading.registry import ContainerKind, Row
from tests.formats.conftest import loaded


def boxed(path):
    with path.open("rb") as file:
        for number, line in enumerate(file.read().split(b"|")[1:], start=1):
            if line == b"damaged":
                raise OSError("a bad block")
            if line == b"refused":
                raise FormatError(f"{path}: is locked: unlock it")
            if line:
                yield Row(number, {"task_id": "t", "completion": line.decode(), "kind": "full"})
            else:
                yield Problem(str(path), number, "nothing here")


@pytest.fixture(autouse=True)
def kind(monkeypatch):
    box = ContainerKind("box", lambda head, path: head.startswith(b"BOX|"), boxed)
    monkeypatch.setattr("evaluator.formats.reading.containers.known_containers", lambda: (box,))


def boxed_rows(tmp_path, data):
    (tmp_path / "rows.box").write_bytes(data)
    rollouts, problems = loaded(tmp_path / "rows.box")
    return [r.completion for r in rollouts], [str(p) for p in problems]


def test_its_rows_are_read_like_any_other(tmp_path):
    assert boxed_rows(tmp_path, b"BOX|a||c") == (["a", "c"], [f"{tmp_path}/rows.box:2: nothing here"])
    assert sniff(tmp_path / "rows.box").container == "box"


def test_what_comes_before_damage_counts(tmp_path):
    rows, (problem,) = boxed_rows(tmp_path, b"BOX|a|damaged")
    assert rows == ["a"]
    assert problem.startswith(f"{tmp_path}/rows.box:2: the rest of the file can't be read: a bad block; the rows")


def test_it_may_refuse_a_file(tmp_path):
    with pytest.raises(FormatError, match="is locked"):
        boxed_rows(tmp_path, b"BOX|refused")


def test_the_package_is_scanned():
    assert all(isinstance(kind, ContainerKind) for kind in registry.known_containers())


def test_a_format_is_one_new_file(tmp_path):
    (tmp_path / "ours.py").write_text(
        "from evaluator.formats.reading.registry import Format\n"
        "from evaluator.formats.reading.spec import Rollouts, claims\n"
        "FORMAT = Format(\n"
        "    name='ours', title='our rows',\n"
        "    rollouts=Rollouts(claim=claims('3: our_text'), completion='our_text', task_id=lambda _: 't'),\n"
        ")\n"
    )
    (tmp_path / "rows.jsonl").write_text('{"our_text": "x = 1"}\n')
    program = (
        "import sys, evaluator.formats as formats\n"
        "formats.__path__.append(sys.argv[1])\n"
        "path = sys.argv[1] + '/rows.jsonl'\n"
        "print(formats.sniff(path).format, [rollout.completion for rollout in formats.load_rollouts(path)])\n"
    )
    shown = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True)
    assert shown.stdout == "ours ['x = 1']\n"
