"""What a person may name: files, folders, patterns, pipes and S3, and several of them as one."""

import gzip
import importlib.util
import json
import os
import threading

import pytest

from evaluator.formats import FormatError, sniff
from evaluator.formats.reading.sources import resolve, source_names
from tests.formats.conftest import loaded

ROWS = "".join(json.dumps({"task_id": "t", "completion": f"x = {n}"}) + "\n" for n in range(2))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("steps/step_9.jsonl", "steps/step_10.jsonl.gz", "steps/more/step_2.json", "steps/.cache/x.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(gzip.compress(ROWS.encode()) if name.endswith(".gz") else ROWS.encode())
    (tmp_path / "steps/notes.txt").write_text("no rows")
    (tmp_path / "steps/step_9_failures.jsonl").write_text(ROWS)
    run = tmp_path / "steps/run"
    run.mkdir()
    (run / "run.json").write_text("{}")
    (run / "rows.jsonl").write_text(ROWS)
    return tmp_path


def test_a_folder_is_its_files_in_natural_order(folder):
    assert [str(found) for found in resolve("steps")] == [
        "steps/more/step_2.json", "steps/step_9.jsonl", "steps/step_10.jsonl.gz",
    ]  # fmt: skip
    assert source_names(resolve("steps")) == ["steps"]


def test_a_pattern_and_words_are_taken_once_each(folder):
    found = resolve(["steps/*.jsonl*", "steps/step_9.jsonl", "steps/more"])
    names = ["steps/step_9.jsonl", "steps/step_9_failures.jsonl", "steps/step_10.jsonl.gz", "steps/more/step_2.json"]
    assert [str(source) for source in found] == names


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("*.csv", "no file matches"),
        ("gone.jsonl", "no such file"),
        ("a\0b", "no such file"),
        ("empty", "holds no file of rows"),
        ("run", r"^run: a run, not rows: name the files that it was made of \(r.jsonl, d.jsonl\)$"),
        ("broken", "^broken: a run, not rows: name the files that it was made of$"),
        ("s3://b/k", "only read where it is named"),
    ],
)
def test_a_word_that_means_no_file_is_refused_in_one_line(folder, word, message):
    (folder / "empty").mkdir()
    for name, manifest in (("run", '{"rollouts": "r.jsonl", "dataset": "d.jsonl"}'), ("broken", "[")):
        (folder / name).mkdir()
        (folder / name / "run.json").write_text(manifest)
    with pytest.raises(FormatError, match=message):
        resolve(word)


def test_ids_are_unique_over_all_files_and_problems_name_their_own(folder):
    own = json.dumps({"task_id": "t", "sample_id": "a", "completion": "x"}) + "\n"
    for name in ("a.jsonl", "b.jsonl"):
        (folder / name).write_text(ROWS + own)
    rollouts, (problem,) = loaded(resolve(["a.jsonl", "b.jsonl"]))
    assert [r.sample_id for r in rollouts] == ["t#0", "t#1", "a", "t#3", "t#4"]
    assert str(problem).startswith("b.jsonl:3: sample_id 'a' is already on line 3 of a.jsonl")
    assert problem.reason == "repeated id"


def test_of_several_files_one_that_is_something_else_is_a_problem(folder):
    (folder / "other.json").write_text('{"a": 1}\n')
    rollouts, (problem,) = loaded(resolve(["other.json", "steps/step_9.jsonl"]))
    assert len(rollouts) == 2
    assert str(problem).startswith("other.json:1: this file is skipped: no known format has these fields (a)")
    with pytest.raises(FormatError, match="no known format"):
        loaded(["other.json", "other.json"])


def test_a_pipe_is_read_once_and_nothing_is_lost(folder):
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: (folder / "pipe").write_text(ROWS))
    writer.start()
    assert sniff("pipe").format == "native"
    rollouts, problems = loaded("pipe")
    writer.join()
    assert ([r.completion for r in rollouts], problems) == (["x = 0", "x = 1"], [])


@pytest.fixture
def piped_in():
    """Gives the process another standard input, which holds this text."""
    before = os.dup(0)

    def piped_in(text):
        reading, writing = os.pipe()
        os.write(writing, text.encode())
        os.close(writing)
        os.dup2(reading, 0)
        os.close(reading)

    yield piped_in
    os.dup2(before, 0)
    os.close(before)


@pytest.mark.parametrize("word", ["-", "/dev/stdin"])
def test_standard_input_is_named_as_it_was(piped_in, word):
    piped_in(ROWS + "{\n")
    rollouts, (problem,) = loaded(resolve(word))
    assert len(rollouts) == 2
    assert str(problem).startswith(f"{word}:3: not JSON")
    piped_in("PAR1")
    with pytest.raises(FormatError, match=f"^{word}: is a Parquet file that is cut off or damaged"):
        loaded(resolve(word))


@pytest.fixture
def bucket(tmp_path, monkeypatch):
    """A client of a server on this machine that speaks as S3, with a bucket."""
    for package in ("s3fs", "moto", "flask_cors"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: it is in the development requirements")
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b",
        "AWS_DEFAULT_REGION": "us-east-1", "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    import boto3

    client = boto3.client("s3")
    client.create_bucket(Bucket="rollouts")
    yield lambda key, data: client.put_object(Bucket="rollouts", Key=key, Body=data)
    server.stop()


@pytest.mark.slow
def test_objects_of_s3_are_read_and_kept_until_they_change(bucket, tmp_path):
    for name in ("steps/step_10.jsonl", "steps/step_9.jsonl", "steps/notes.txt"):
        bucket(name, ROWS.encode())
    found = resolve("s3://rollouts/steps/", remote=True)
    names = ["s3://rollouts/steps/step_9.jsonl", "s3://rollouts/steps/step_10.jsonl"]
    assert [str(source) for source in found] == names
    assert [str(source) for source in resolve("s3://rollouts/steps/*.jsonl", remote=True)] == names
    assert len(loaded(found)[0]) == 4
    assert all(source.path.is_relative_to(tmp_path / "cache" / "rollscope") for source in found)
    assert resolve(names[0], remote=True)[0].path == found[0].path
    bucket("steps/step_9.jsonl", ROWS.encode() * 2)
    assert len(loaded(resolve(names[0], remote=True))[0]) == 4


@pytest.mark.slow
def test_an_object_that_is_not_there_is_one_line(bucket):
    with pytest.raises(FormatError, match=r"^s3://rollouts/none.jsonl: there is no such object"):
        resolve("s3://rollouts/none.jsonl", remote=True)
    with pytest.raises(FormatError, match=r"^s3://elsewhere/x: "):
        resolve("s3://elsewhere/x", remote=True)
