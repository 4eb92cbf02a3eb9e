"""`rollscope collect` on rows of a test's own, and the files that it leaves."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evaluator.cli import main
from tests.interop.serving import environment

_PROGRESS = re.compile(r"[\d,]+ of [\d,]+ collected, ")


@dataclass
class Done:
    """How one call of the command ended."""

    status: int
    out: str
    err: str
    """But for the lines that tell every five seconds how far it is: how many there are is up to the machine."""

    @property
    def summary(self) -> dict[str, Any]:
        """What `--json` said."""
        found: dict[str, Any] = json.loads(self.out)
        return found


class Collection:
    """One output, which can be gone on with."""

    def __init__(
        self, folder: Path, rows: list[object], options: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.rows = folder / "rows.jsonl"
        self.output = folder / "out" / "rollouts.jsonl"
        self._options = options
        self._capsys = capsys
        self.rows.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))

    def run(self, *more: object) -> Done:
        """In this process."""
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(self.words(*more))
        captured = self._capsys.readouterr()
        assert isinstance(ended.value.code, int)
        lines = captured.err.splitlines(keepends=True)
        return Done(ended.value.code, captured.out, "".join(line for line in lines if not _PROGRESS.match(line)))

    def start(self, *more: object) -> subprocess.Popen[str]:
        """In a process of its own."""
        words = [sys.executable, "-m", "evaluator.cli", *self.words(*more)]
        return subprocess.Popen(words, env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def words(self, *more: object) -> list[str]:
        own = ["collect", "--input", str(self.rows), "--output", str(self.output), "--model", "m"]
        return [*own, *self._options, *map(str, more)]

    def beside(self, ending: str) -> Path:
        return self.output.with_name(f"rollouts_{ending}")

    @property
    def rollouts(self) -> list[dict[str, Any]]:
        """Sorted by what names them."""
        return sorted(lines(self.output), key=name_of)

    @property
    def names(self) -> list[tuple[int, int]]:
        """Of the rollouts that are there, as often as each is."""
        return [name_of(line) for line in self.rollouts]

    @property
    def inputs(self) -> list[dict[str, Any]]:
        return lines(self.beside("materialized_inputs.jsonl"))

    @property
    def failures(self) -> list[dict[str, Any]]:
        path = self.beside("failures.jsonl")
        return lines(path) if path.exists() else []

    @property
    def contents(self) -> dict[str, bytes]:
        """Of all files."""
        return {path.name: path.read_bytes() for path in self.output.parent.iterdir()}


def name_of(line: dict[str, Any]) -> tuple[int, int]:
    return line["_ng_task_index"], line["_ng_rollout_index"]


def lines(path: Path) -> list[dict[str, Any]]:
    text = path.read_text()
    assert text == "" or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def row(question: str = "Square the number.", **more: object) -> dict[str, Any]:
    """A row of a dataset."""
    return {"responses_create_params": {"input": [{"role": "user", "content": question}]}, **more}


def squares(number: int = 0) -> dict[str, Any]:
    """A row whose right answer is `RIGHT`."""
    tests = {"inputs": ["2\n", "5\n"], "outputs": ["4", "25"]}
    return row(f"Square the number ({number}).", verifier_metadata={"unit_tests": tests})
