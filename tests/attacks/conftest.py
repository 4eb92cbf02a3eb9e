"""Says at the end in which environments nothing was graded: only root can become another user.

Run alone: .venv/bin/python -m pytest tests/attacks -m "attacks or not attacks"
"""

from typing import Any

from tests.attacks.surroundings import NOT_OURS


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if NOT_OURS:
        names = " and ".join(map(str, NOT_OURS))
        terminalreporter.write_line(f"the attack suite was not graded {names}: run the tests as root for these")
