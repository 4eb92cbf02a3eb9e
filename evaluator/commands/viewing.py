"""`rollscope view`: runs the dashboard as a child process, prints its address, and ends with it. It opens the bundled
example where nothing is given: that is graded once and kept.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Final

import evaluator
from evaluator.commands.given_files import found_dataset, tell_failures
from evaluator.commands.output import CommandError, Exit
from evaluator.extras import require
from evaluator.formats import Role, Source
from evaluator.formats.reading.dataset import map_of
from evaluator.formats.reading.registry import format_named
from evaluator.formats.reading.sources import resolve
from evaluator.runs.files import RunError, is_run, read_manifest
from evaluator.user_files import cache_folder

OPEN_VARIABLE: Final = "ROLLSCOPE_OPEN"
_PORTS_TRIED: Final = 100
_READY_WITHIN: Final = 60.0
_ENDS_WITHIN: Final = 5.0
_WILDCARDS: Final = {"0.0.0.0", "::", ""}  # noqa: S104 - recognised, not listened on
_LOOPBACK_NAMES: Final = ("127.0.0.1", "::1", "localhost")
_PR_SET_PDEATHSIG: Final = 1
_PACKAGE: Final = Path(__file__).resolve().parent.parent
_DATASET: Final = "example.dataset.jsonl"
_ROLLOUTS: Final = "example.rollouts.jsonl"
_STORED: Final = "example.run"


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
    no_browser: bool,
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
    if dataset is not None and not dataset.is_file():
        what = "is a folder" if dataset.is_dir() else "no such file"
        raise CommandError(f"{dataset}: {what}: give --dataset one file of tasks")
    runs = [word for word in words if is_run(word)]
    folders = [word for word in words if word not in runs and _holds_runs(Path(word))]
    found = {word: resolve(word, remote=True) for word in words if word not in (*runs, *folders)}
    files = [file for each in found.values() for file in each]
    for file in files:
        if not file.path.exists():
            raise CommandError(f"{file}: no such file or directory: give a run or rollouts")
    for file in files if len(files) == len(found) else ():
        tell_failures(file.path, format_name)
    rollouts, names = _local(found)
    own = {} if dataset else {word: found_dataset(resolve(word), format_name) for word in rollouts}
    opened = {
        "runs": [str(Path(run).resolve()) for run in runs] if words else [str(example_run().resolve())],
        "folders": [str(Path(folder).resolve()) for folder in folders],
        "rollouts": rollouts,
        "names": names,
        "format": format_name,
        "field_map": fields,
        "dataset": str(dataset.resolve()) if dataset else None,
        "datasets": {word: found[0].typed or str(found[0].path.resolve()) for word, found in own.items() if found},
        "dataset_format": dataset_format,
        "dataset_map": dataset_fields,
        "allow_rerun": allow_rerun,
        "follow": follow,
    }
    browser = not no_browser and os.environ.get("ROLLSCOPE_NO_BROWSER") != "1"
    return _serve(json.dumps(opened), host, _free_port(host, port), browser=browser)


def _holds_runs(path: Path) -> bool:
    return path.is_dir() and any(map(is_run, path.iterdir()))


def _local(found: Mapping[str, Sequence[Source]]) -> tuple[list[str], dict[str, str]]:
    """The words as the dashboard can resolve them again, and the names of the copies."""
    local: list[str] = []
    names: dict[str, str] = {}
    for word, files in found.items():
        is_copy = any(str(file.path) != file.name for file in files)
        local += [str(Path(path).absolute()) for path in ([file.path for file in files] if is_copy else [word])]
        names |= {str(file.path.absolute()): file.name for file in files if is_copy}
    return local, names


def _serve(opened: str, host: str, port: int, *, browser: bool) -> int:
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
            if host not in _LOOPBACK_NAMES:
                print("other machines can reach this page: it has no password", file=sys.stderr, flush=True)
            if browser and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
                webbrowser.open(url)
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


def app_root() -> Path:
    """The directory of `app.py`: the checkout when the package runs from one, else the wheel's copy."""
    for root in (_PACKAGE.parent, _PACKAGE / "_app"):
        if (root / "app.py").is_file() and (root / "pages").is_dir():
            return root
    raise CommandError("the dashboard is missing from this installation: install rollscope again")


def example_run() -> Path:
    """The example's run: graded now if it was not before, the stored one where there is no sandbox."""
    data = app_root() / "data"
    if not (data / _DATASET).is_file():
        raise CommandError("the bundled example is missing: give a run or a file of rollouts")
    kept = _kept_at(data)
    if _finished(kept):
        return kept
    from evaluator.commands.grading import grade_with_progress
    from evaluator.sandbox import SandboxUnavailable

    print("grading the bundled example, once", file=sys.stderr)
    try:
        done = grade_with_progress(resolve(data / _ROLLOUTS), data / _DATASET, out=kept, resume=True)
    except (SandboxUnavailable, RunError, OSError) as error:
        print(f"the example's stored grades are shown: {error}", file=sys.stderr)
        if not is_run(data / _STORED):
            raise CommandError(f"the bundled example can't be graded: {error}") from None
        return data / _STORED
    if done.stopped:
        raise CommandError("stopped", Exit.STOPPED)
    return kept


def _kept_at(data: Path) -> Path:
    """Named for what was graded and by which version, so that a change of either grades anew."""
    digest = hashlib.sha256(evaluator.__version__.encode())
    for name in (_DATASET, _ROLLOUTS):
        digest.update((data / name).read_bytes())
    name = f"example-{digest.hexdigest()[:8]}"
    if data.parent == _PACKAGE.parent and os.access(data.parent, os.W_OK):
        return data.parent / "runs" / name
    return cache_folder(name)


def _finished(run: Path) -> bool:
    if not is_run(run):
        return False
    try:
        return read_manifest(run).state == "finished"
    except RunError:  # made by another version, or damaged: it is only a copy, so it is made anew
        shutil.rmtree(run)
        return False
