"""`rollscope init-server`: writes the folder of a new resource server."""

from __future__ import annotations

import shlex
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from evaluator.commands.failure import CommandError, Exit
from evaluator.commands.tables import counted

_PYTEST: Final = " (pip install pytest)"


def init_server(folder: Path, *, name: str | None) -> int:
    """Writes the folder and prints the next steps."""
    from evaluator.interop.nemo_gym.new_server import NewServerError, write_server

    try:
        written = write_server(folder, name)
    except NewServerError as error:
        raise CommandError(str(error)) from None
    python, command = shlex.quote(sys.executable), shlex.quote(_command())
    steps = {
        f"{python} -m pytest": f"its tests{_PYTEST if find_spec('pytest') is None else ''}",
        f"{command} test-server . --validate-data": "start it, and try everything a trainer asks of it",
        f"{python} app.py": "serve; your own tools and reward rule go into app.py",
    }
    width = max(map(len, steps))
    print(f"{folder}: {counted(len(written), 'file')}; next, in that folder:")
    for step, what in steps.items():
        print(f"  {step:{width}}   # {what}")
    return Exit.DONE


def _command() -> str:
    """The command's name, or its path where it is not on PATH."""
    return "rollscope" if shutil.which("rollscope") else str(Path(sys.executable).with_name("rollscope"))
