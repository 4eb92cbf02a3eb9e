"""Bad files and arguments, missing sandboxes, `export`, `formats`, `doctor`, `--help` and `view`."""

import csv
import http.client
import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.commands.command_line import (
    COMMAND,
    RIGHT,
    Done,
    environment,
    one_line,
    rollscope,
    running,
    sample,
    write_rows,
)
from tests.sandbox.refusing import command
from tests.waiting import HANG_S
from tests.workers.processes import descendants, wait_until_none


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file"),
        (b"", "empty"),
        (b'{"a": 1}\n', "format"),
    ],
)
@pytest.mark.parametrize("which", ["rollouts", "dataset"])
def test_a_file_without_a_usable_row_ends_it(
    tmp_path: Path, dataset: Path, which: str, content: bytes | None, said: str
) -> None:
    good = write_rows(tmp_path / "r.jsonl", sample("a", RIGHT))
    bad = tmp_path / "bad.jsonl"
    if content is not None:
        bad.write_bytes(content)
    pair = (bad, dataset) if which == "rollouts" else (good, bad)
    done = rollscope("grade", pair[0], "--dataset", pair[1], "--output", "run", cwd=tmp_path)
    assert done.returncode == 2
    line = one_line(done.stderr)
    assert "bad.jsonl" in line
    assert said.lower() in line.lower()
    assert not (tmp_path / "run").exists()


def test_a_file_of_bad_rows_alone_ends_it(tmp_path: Path, dataset: Path) -> None:
    rollouts = write_rows(tmp_path / "r.jsonl", {"task_id": "add", "completion": 5})
    done = rollscope("grade", rollouts, "--dataset", dataset, "--output", "run", cwd=tmp_path)
    row, end = done.stderr.splitlines()
    assert done.returncode == 2
    assert row.startswith(f"{rollouts}:1: ")
    assert "no usable row" in end


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["grade", "r.jsonl", "--dataset", "d.jsonl", "--workers", "0"], "--workers"),
        (["grade", "r.jsonl", "--dataset", "d.jsonl", "--timeout", "-1"], "wall_s"),
        (["grade", "r.jsonl", "--dataset", "d.jsonl", "--map", "x"], "ours=theirs"),
        (["grade", "r.jsonl", "--dataset", "d.jsonl", "--dataset-map", "x"], "--dataset-map: 'x' is not a pair"),
        (["grade", "r.jsonl", "--dataset", "d.jsonl", "--output", "d.jsonl"], "--output"),
        (["grade", "r.jsonl", "--dataset", "d.jsonl", "--unverified", "maybe"], "--unverified"),
        (["export", "absent"], "absent"),
        (["view", "absent"], "absent"),
        (["view", "empty"], "empty"),
        (["view", "r.jsonl", "--dataset", "absent"], "absent"),
        (["view", "r.jsonl", "--dataset-map", "a=b,a=c"], "--dataset-map: a is given twice"),
        (["view", "r.jsonl", "--dataset-format", "csv"], "for tasks, use one of"),
        (["view", "r.jsonl", "--format", "mbpp"], "has no rollouts"),
        (["view", "r.jsonl", "--map", "x"], "ours=theirs"),
        (["view", "r.jsonl", "--host", "203.0.113.7"], "203.0.113.7"),
        (["view", "r.jsonl", "--host", "no.such.host.invalid"], "no.such.host.invalid"),
        (["formats", "d.jsonl", "--format", "csv"], "native"),
        (["fly"], "fly"),
    ],
)
def test_bad_arguments_are_told_in_one_line(tmp_path: Path, dataset: Path, arguments: list[str], said: str) -> None:
    write_rows(tmp_path / "r.jsonl", sample("a", RIGHT))
    (tmp_path / "empty").mkdir()
    done = rollscope(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in one_line(done.stderr)
    assert done.stderr.startswith("rollscope: ")
    assert dataset.read_text().startswith('{"task_id"')


def grade_where(
    refused: list[str], tmp_path: Path, dataset: Path, *options: str
) -> tuple[subprocess.CompletedProcess[str], list[dict[str, object]]]:
    """Grades right completions on a machine that refuses these; and what was exported, equal rows once."""
    write_rows(tmp_path / "r.jsonl", *(sample(f"s{number}", f"{RIGHT}# {number}") for number in range(8)))
    words = [*COMMAND, "grade", "r.jsonl", "--dataset", str(dataset), "--output", "run", "--workers", "2", *options]
    done = subprocess.run(
        command(refused, *words), cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    if not (tmp_path / "run").exists():
        return done, []
    exported = rollscope("export", "run", "--columns", "reward,layers", cwd=tmp_path)
    return done, [json.loads(line) for line in dict.fromkeys(exported.stdout.splitlines())]


@pytest.mark.slow
def test_without_a_sandbox_nothing_is_graded(tmp_path: Path, dataset: Path) -> None:
    done, rows = grade_where(["namespaces", "landlock"], tmp_path, dataset)
    assert (done.returncode, rows) == (3, [])
    told = one_line(done.stderr)
    assert "no sandbox" in told
    assert "sysctl -w" in told, "it names what mends it"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("refused", "options", "layers"),
    [
        (["namespaces"], (), ["rlimits", "seccomp", "landlock"]),
        (
            ["namespaces", "landlock"],
            ("--sandbox", "degraded"),
            ["rlimits", "seccomp", "degraded", "unproved: files", "unproved: process tree"],
        ),
    ],
    ids=["strict all the same", "degraded"],
)
def test_without_user_namespaces_grading_goes_on_and_says_with_what(
    tmp_path: Path, dataset: Path, refused: list[str], options: tuple[str, ...], layers: list[str]
) -> None:
    done, rows = grade_where(refused, tmp_path, dataset, *options)
    assert done.returncode == 0
    assert rows == [{"reward": 1.0, "layers": layers}]


# export, formats, doctor, help


def test_export_writes_the_file_that_is_named(graded: tuple[Path, Done]) -> None:
    folder, _ = graded
    done = rollscope("export", "run", "--to", "out.csv", "--where", "reward = 1", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "")
    assert "out.csv: 3 rollouts" in done.stderr
    with (folder / "out.csv").open(newline="") as file:
        assert [row["sample_id"] for row in csv.DictReader(file)] == ["a", "c", "e"]
    cases = rollscope("export", "run", "--per", "case", "--columns", "sample_id,test_index,verdict", cwd=folder)
    first = json.loads(cases.stdout.splitlines()[0])
    assert first == {"sample_id": "a", "test_index": 0, "verdict": "passed"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--columns", "verdit"], "verdict"),
        (["--where", "reward >"], "syntax error"),
        (["--per", "line"], "--per"),
    ],
)
def test_a_bad_export_is_told_in_one_line(
    graded: tuple[Path, Done], options: list[str], said: str,
) -> None:  # fmt: skip
    done = rollscope("export", "run", *options, cwd=graded[0])
    assert done.returncode == 2
    assert done.stdout == ""
    assert said in one_line(done.stderr)


@pytest.mark.slow
def test_a_pipe_that_closes_early_is_no_error(graded: tuple[Path, Done]) -> None:
    process = subprocess.Popen(
        [*COMMAND, "export", "run"], cwd=graded[0], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout
    assert process.stdout.read(1)
    process.stdout.close()
    _, told = process.communicate()
    assert (process.returncode, told) == (0, b"")


@pytest.mark.parametrize("arguments", [["grade", "--help"], pytest.param([], marks=pytest.mark.slow)])
def test_help_answers_without_loading_what_it_does_not_need(arguments: list[str]) -> None:
    code = (
        "import sys; from evaluator.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: print(sorted({m.partition('.')[0] for m in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=environment(), capture_output=True, text=True, check=True
    )
    assert "sage: rollscope" in done.stdout
    loaded = set(done.stdout.splitlines()[-1].strip("[]").replace("'", "").split(", "))
    assert not loaded & {"pandas", "pyarrow", "duckdb", "streamlit", "plotly", "numpy", "rich"}


# view


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=60) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def asked(url: str, path: str, **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
    connection.request("GET", path, headers=headers)
    return connection.getresponse()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_view_takes_the_next_free_port_and_ends_with_its_process(
    graded: tuple[Path, Done], number: signal.Signals
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = subprocess.Popen(
            [*COMMAND, "view", "run", "--port", str(port)], cwd=graded[0], env=environment(), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout
        url = process.stdout.readline().strip().removeprefix("listening on ")
    try:
        assert url.startswith("http://127.0.0.1:")
        assert int(url.rpartition(":")[2]) > port
        assert answers(url)
        assert asked(url, "/").headers["x-frame-options"] == "DENY"
        page = asked(url, "/rollouts", Accept="text/html", **{"Accept-Encoding": "gzip"}).read()
        assert b"prefers-color-scheme: dark" in page.partition(b"</head>")[0], "no white page before the scripts run"
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
        for origin, status in ((url, 101), ("http://localhost:1", 403)):
            key = {"Sec-WebSocket-Key": "MDEyMzQ1Njc4OTAxMjM0NQ==", "Origin": origin}
            assert asked(url, "/_stcore/stream", **upgrade, **key).status == status
        below = descendants(process.pid)
        assert below
        process.send_signal(number)
        assert process.wait(timeout=HANG_S) == (0 if number is signal.SIGTERM else -number)
        wait_until_none(lambda: [pid for pid in below if running(pid)])
        assert not answers(url)
    finally:
        process.kill()
        process.communicate()
