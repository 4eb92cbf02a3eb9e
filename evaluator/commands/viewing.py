"""`rollscope view`: runs the dashboard as a child process, prints its address, and ends with it."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import FrameType
from typing import Final

from evaluator.commands.example import app_root, example_run
from evaluator.commands.failure import CommandError, Exit
from evaluator.commands.given_files import found_dataset, tell_failures
from evaluator.extras import require
from evaluator.formats import Role
from evaluator.formats.reading.dataset import map_of
from evaluator.formats.reading.registry import format_named
from evaluator.formats.reading.sources import resolve
from evaluator.runs.files import is_run

OPEN_VARIABLE: Final = "ROLLSCOPE_OPEN"
_PORTS_TRIED: Final = 100
_READY_WITHIN: Final = 60.0
_ENDS_WITHIN: Final = 5.0
_WILDCARDS: Final = {"0.0.0.0", "::", ""}  # noqa: S104 - recognised, not listened on
_LOOPBACK_NAMES: Final = ("127.0.0.1", "::1", "localhost")
_PR_SET_PDEATHSIG: Final = 1


def view(
    words: Sequence[str],
    *,
    format_name: str | None,
    field_map: str | None,
    dataset: Path | None,
    dataset_format: str | None,
    dataset_map: str | None,
    host: str,
    port: int,
    follow: bool,
    allow_rerun: bool,
) -> int:
    """Serve the dashboard until stopped. Without a word: the bundled example.

    `words`: runs, directories of runs, and rollouts as `evaluator.formats.reading.sources` takes them.
    """
    require("streamlit", "dashboard", "the dashboard needs streamlit and more")
    fields, dataset_fields = map_of(field_map), map_of(dataset_map, "--dataset-map")
    for name, role in ((format_name, Role.ROLLOUTS), (dataset_format, Role.TASKS)):
        if name is not None:
            format_named(name, role)  # refused now, not on a page
    runs, folders, rollouts = _sorted(words)
    if dataset is not None and not dataset.is_file():
        raise CommandError(f"{dataset}: no such file: give --dataset a file of tasks")
    if not words:
        runs = [example_run()]
    files = [file for word in rollouts for file in resolve(word, remote=True)]
    for file in files:
        if not file.path.exists():
            raise CommandError(f"{file}: no such file or directory: give a run or rollouts")
    if len(files) == 1 and dataset is None:
        dataset = found_dataset(files[0], format_name)
    for file in files if len(files) == len(rollouts) else ():
        tell_failures(file.path, format_name)
    words, names = _local(rollouts)
    opened = {
        "runs": [str(run.resolve()) for run in runs],
        "folders": [str(folder.resolve()) for folder in folders],
        "rollouts": words,
        "names": names,
        "format": format_name,
        "field_map": fields,
        "dataset": str(dataset.resolve()) if dataset else None,
        "dataset_format": dataset_format,
        "dataset_map": dataset_fields,
        "allow_rerun": allow_rerun,
        "follow": follow,
    }
    return _serve(json.dumps(opened), host, _free_port(host, port))


def _sorted(words: Iterable[str]) -> tuple[list[Path], list[Path], list[str]]:
    """Runs, directories of runs, and rollouts."""
    runs: list[Path] = []
    folders: list[Path] = []
    rollouts: list[str] = []
    for word in words:
        path = Path(word)
        if is_run(path):
            runs.append(path)
        elif path.is_dir() and any(is_run(child) for child in path.iterdir()):
            folders.append(path)
        else:
            rollouts.append(word)
    return runs, folders, rollouts


def _local(words: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """The words as the dashboard can resolve them again, and the names of the copies."""
    local: list[str] = []
    names: dict[str, str] = {}
    for word in words:
        found = resolve(word, remote=True)
        is_copy = any(str(file.path) != file.name for file in found)
        for path in [str(file.path) for file in found] if is_copy else [word]:
            local.append(str(Path(path).absolute()))
        names |= {str(file.path.absolute()): file.name for file in found if is_copy}
    return local, names


def _serve(opened: str, host: str, port: int) -> int:
    url = f"http://{_shown_host(host)}:{port}"
    child = subprocess.Popen(
        _command(host, port),
        env=os.environ | {OPEN_VARIABLE: opened},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,  # Streamlit's greeting names other addresses
        start_new_session=True,
        preexec_fn=_dies_with(os.getpid()),  # noqa: PLW1509 - no thread runs yet
    )
    received = _forward_signals(child)
    try:
        if _answers(child, url):
            print(f"listening on {url}", flush=True)
            _warn_of_strangers(host)
            _open_browser(url)
        status = child.wait()
    finally:
        _end(child)
    if received or status in (0, -signal.SIGTERM, -signal.SIGINT):
        return Exit.DONE
    raise CommandError(f"the dashboard exited with status {status}: see its message above")


def _command(host: str, port: int) -> list[str]:
    settings = {
        "server.address": host or "0.0.0.0",  # noqa: S104 - only when the user requested it
        "server.port": port,
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "browser.gatherUsageStats": "false",
        "browser.serverAddress": _shown_host(host).strip("[]"),
        "client.toolbarMode": "minimal",
        "client.showErrorDetails": "none",
        "logger.level": "error",
    }
    options = [word for name, value in settings.items() for word in (f"--{name}", str(value))]
    if host in _LOOPBACK_NAMES:
        # Against DNS rebinding: a foreign page whose host name resolves here must not reach the box that runs code.
        options += [word for name in _LOOPBACK_NAMES for word in ("--server.allowedHosts", name)]
    root = app_root()
    # -P: import nothing from the current folder, whatever its files are called.
    return [sys.executable, "-P", str(root / "dashboard" / "serve.py"), "run", str(root / "app.py"), *options]


def _dies_with(parent: int) -> Callable[[], None]:
    """Runs in the child before it starts: the kernel will end it when we end, even by SIGKILL."""
    prctl = ctypes.CDLL(None).prctl

    def arrange() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)

    return arrange


def _forward_signals(child: subprocess.Popen[bytes]) -> list[int]:
    """Pass Ctrl-C and SIGTERM on to the child; the list holds the signals that came."""
    received: list[int] = []

    def forward(number: int, frame: FrameType | None) -> None:
        del frame
        received.append(number)
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGTERM if len(received) == 1 else signal.SIGKILL)

    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, forward)
    return received


def _answers(child: subprocess.Popen[bytes], url: str) -> bool:
    """Wait until the server answers. False if it ended instead."""
    deadline = time.monotonic() + _READY_WITHIN
    while child.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1):  # noqa: S310 - our own server
                return True
        except (urllib.error.URLError, OSError):
            if time.monotonic() >= deadline:
                raise CommandError(f"the dashboard did not answer on {url} within {_READY_WITHIN:.0f} s") from None
            time.sleep(0.05)
    return False


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the child and its own children."""
    if child.poll() is None:
        child.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_ENDS_WITHIN)
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    child.wait()


def _free_port(host: str, port: int) -> int:
    """The port, or the next free one. 0 stands for any."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in range(port, min(port + _PORTS_TRIED, 65536)):
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, candidate))
            except OverflowError:
                break
            except OSError as error:
                if isinstance(error, socket.gaierror) or error.errno in (errno.EADDRNOTAVAIL, errno.EINVAL):
                    raise CommandError(f"--host {host}: not an address of this machine") from None
                continue
            return int(probe.getsockname()[1])
    raise CommandError(f"no free port at or after {port}: give another --port")


def _shown_host(host: str) -> str:
    if host in _WILDCARDS:
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def _warn_of_strangers(host: str) -> None:
    if host not in _LOOPBACK_NAMES:
        print("other machines can reach this page: it has no password", file=sys.stderr, flush=True)


def _open_browser(url: str) -> None:
    display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if display and os.environ.get("ROLLSCOPE_NO_BROWSER") != "1":
        webbrowser.open(url)
