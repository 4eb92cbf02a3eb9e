"""`rollscope init-server`: writes the folder of a new resource server."""

from __future__ import annotations

from pathlib import Path

from evaluator.commands.failure import CommandError, Exit
from evaluator.commands.tables import counted


def init_server(folder: Path, *, name: str | None) -> int:
    """Writes the folder and says what to do next."""
    from evaluator.interop.nemo_gym.new_server import NewServerError, write_server

    try:
        written = write_server(folder, name)
    except NewServerError as error:
        raise CommandError(str(error)) from None
    print(f"{folder}: {counted(len(written), 'file')}; next, in that folder:")
    print("  python -m pytest                           # its tests")
    print("  rollscope test-server . --validate-data    # start it, and try all that a trainer will ask of it")
    print("  python app.py                              # serve; your own tools and rule go into app.py")
    return Exit.DONE
