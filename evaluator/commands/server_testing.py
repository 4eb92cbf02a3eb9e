"""`rollscope test-server`: starts a resource server, or uses a running one, and tries what a trainer asks of it.
`rollscope init-server` writes the folder of a new one.
"""

from __future__ import annotations

import shlex
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from evaluator.commands.output import CommandError, Exit, counted, one_line, print_json, print_table
from evaluator.interop.nemo_gym.server_checks import Finding, Status, check_server, check_tools
from evaluator.interop.nemo_gym.server_folder import (
    check_configuration,
    check_data,
    check_readable,
    rows_of_file,
    rows_of_folder,
)
from evaluator.interop.nemo_gym.tried_server import (
    ENDS_WITHIN_S,
    NoAnswerError,
    Row,
    Server,
    ServerProcess,
    StartError,
)
from evaluator.runs.resuming import program

_SHOWN: Final = 300
_START: Final = '; end it with: if __name__ == "__main__": YOUR_SERVER.run_webserver()'
_SQUARES: Final = Row(
    "a row of test-server's own",
    {
        "responses_create_params": {"input": [{"role": "user", "content": "Read a number and print its square."}]},
        "verifier_metadata": {
            "unit_tests": {"inputs": ["2\n", "-3\n"], "outputs": ["4\n", "9\n"]},
            "reference": "print(int(input()) ** 2)",
        },
    },
)
"""For a running server whose rows are not known: in code_gen's form."""


def try_server(server: str, *, rows: Path | None, validate_data: bool, timeout: float, as_json: bool) -> int:
    """Tries a server and prints one row per check. A warning does not count as a failure."""
    given = _rows(rows) if rows else None
    if "://" in server:
        if validate_data:
            raise CommandError("--validate-data needs a folder: give DIR in place of URL")
        checks = _of_url(server, given or [_SQUARES], timeout)
    else:
        checks = _of_folder(_folder(server), given, timeout, validate_data=validate_data)
    found = list(_shown(checks, quiet=as_json))
    if as_json:
        print_json([asdict(finding) for finding in found])
    else:
        _print(found)
    return Exit.FINDING if any(finding.status is Status.FAILED for finding in found) else Exit.DONE


def _rows(path: Path) -> list[Row]:
    if not path.is_file():
        raise CommandError(f"{path}: no such file")
    rows = rows_of_file(path)
    if not rows:
        raise CommandError(f"{path}: none of its lines is a JSON object: give rows with responses_create_params")
    return rows


def _folder(given: str) -> Path:
    folder = Path(given)
    if not (folder / "app.py").is_file():
        raise CommandError(
            f"{given}: not a server's folder (no app.py): give DIR, or URL as http://HOST:PORT; "
            "`rollscope init-server DIR` writes one"
        )
    return folder


def _of_url(url: str, rows: list[Row], timeout: float) -> Iterator[Finding]:
    parts = urlsplit(url)
    if parts.scheme != "http" or not parts.hostname:
        raise CommandError(f"{url}: only plain HTTP is supported: give http://HOST:PORT")
    server = Server(url, rows, timeout)
    try:
        server.get("/")
    except NoAnswerError as error:
        raise CommandError(f"{url}: {error}: is the server running?") from None
    yield from check_server(server)
    yield from check_tools(server)


def _of_folder(folder: Path, given: list[Row] | None, timeout: float, *, validate_data: bool) -> Iterator[Finding]:
    if validate_data:
        yield from check_configuration(folder)
        yield from check_data(folder)
    else:
        yield from check_readable(folder)
    rows = given or rows_of_folder(folder) or [_SQUARES]
    by_its_class = False
    try:
        process = ServerProcess(folder, timeout)
    except StartError as error:
        text = (folder / "app.py").read_text(encoding="utf-8", errors="replace")
        fix = "" if "run_webserver" in text else _START
        yield Finding("starts", Status.FAILED, f"{error}{fix}")
        by_its_class = True
        try:
            process = ServerProcess(folder, timeout, by_its_class=True)
        except StartError:
            return
        yield Finding("starts by its class", Status.WARNING, "for the checks below; NeMo Gym runs app.py alone")
    else:
        yield Finding("starts", Status.OK, f"listens after {process.started_in_s:.1f} s")
    with process:
        server = Server(process.url, rows, timeout)
        yield from check_server(server)
        yield from check_tools(server)
        yield _ended(process, signal.SIGTERM)
    with ServerProcess(folder, timeout, by_its_class=by_its_class) as process:
        yield _ended(process, signal.SIGINT)


def _ended(process: ServerProcess, number: signal.Signals) -> Finding:
    seconds = process.end(number)
    check = f"ends on {number.name}"
    if seconds is None:
        return Finding(check, Status.FAILED, f"still running after {ENDS_WITHIN_S} s: a launcher would leave it behind")
    return Finding(check, Status.OK, f"within {max(1, round(seconds + 0.5))} s")


def _shown(checks: Iterator[Finding], *, quiet: bool) -> Iterator[Finding]:
    """The findings, with a progress line for each on a terminal."""
    lively = sys.stderr.isatty() and not quiet
    for number, finding in enumerate(checks, 1):
        if lively:
            print(f"\r{number} checks done: {finding.check:<40.40}", end="", file=sys.stderr, flush=True)
        yield finding
    if lively:
        print(f"\r{'':<60}\r", end="", file=sys.stderr, flush=True)


def _print(found: list[Finding]) -> None:
    results = [each.status.upper() if each.status is Status.FAILED else each.status for each in found]
    rows = [
        (one_line(each.check, 60), result, one_line(each.seen, _SHOWN))
        for each, result in zip(found, results, strict=True)
    ]
    print_table(("check", "result", "seen"), rows)
    counts = Counter(finding.status for finding in found)
    results = [f"{counts[status]} {status}" for status in Status if counts[status]]
    print(f"{counted(len(found), 'check')}: {', '.join(results)}")


_PYTEST: Final = " (pip install pytest)"


def init_server(folder: Path, *, name: str | None) -> int:
    """Writes the folder and prints the next steps."""
    from evaluator.interop.nemo_gym.server_folder import NewServerError, write_server

    try:
        written = write_server(folder, name)
    except NewServerError as error:
        raise CommandError(str(error)) from None
    python, command = shlex.quote(sys.executable), shlex.quote(program())
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
