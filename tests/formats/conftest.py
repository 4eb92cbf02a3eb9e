"""Run alone: .venv/bin/python -m pytest tests/formats"""

import io
import json
import unittest

import pytest

from evaluator.extraction import extract
from evaluator.formats import load_rollouts, sniff
from evaluator.model import Mode


def loaded(files, load=load_rollouts, **arguments):
    """The records, and the problems that were reported."""
    problems = []
    return list(load(files, on_problem=problems.append, **arguments)), problems


@pytest.fixture
def write(tmp_path):
    def write(data, name="rows.jsonl"):
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return write


@pytest.fixture
def read(tmp_path):
    """Writes rows as JSON lines and reads them back: the format, the records, the problems."""

    def read(load, *rows, **arguments):
        path = tmp_path / "rows.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        records, problems = loaded(path, load, **arguments)
        format_ = None if arguments else sniff(path).format
        return format_, records, [problem.message for problem in problems]

    return read


@pytest.fixture
def passes():
    """Whether a completion passes its task's test, both run as they come, in one namespace: for trusted rows."""

    def passes(task, completion, kind=None):
        code = extract(completion, task=task, kind=kind).code
        scope = {}
        exec(compile(task.preamble, "preamble", "exec"), scope)
        exec(compile(code, "completion", "exec"), scope)
        try:
            exec(compile(task.test, "test", "exec"), scope)
            if task.mode is Mode.UNITTEST:
                return run_test_classes(scope)
            if "check" in scope:
                scope["check"](scope[task.entry_point])
        except AssertionError:
            return False
        return True

    return passes


def run_test_classes(scope):
    classes = [v for v in scope.values() if isinstance(v, type) and issubclass(v, unittest.TestCase)]
    loader = unittest.defaultTestLoader
    suite = unittest.TestSuite(map(loader.loadTestsFromTestCase, classes))
    result = unittest.TextTestRunner(io.StringIO()).run(suite)
    assert result.testsRun
    return result.wasSuccessful()
