"""The sandbox and the short way to grade in it that the tests of graders have.

Run alone: .venv/bin/python -m pytest tests/suites -m "attacks or not attacks"
"""

from tests.graders.conftest import graded, sandbox  # noqa: F401
