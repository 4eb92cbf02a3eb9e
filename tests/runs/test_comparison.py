"""Two sides task by task, from verdicts written by hand."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from evaluator.model import Grade, Limits, Mode, Rollout, Task, TestCase, Verdict
from evaluator.runs.comparison import (
    Change,
    Comparison,
    Side,
    compare,
    headline,
    minor_settings,
    obstacles,
    settings_that_decide,
    side,
    task_hashes,
)
from evaluator.runs.metrics import mcnemar
from evaluator.runs.reading import Manifest, Run
from evaluator.runs.writing import RunWriter
from tests.manifests import manifest_of

LETTERS = {verdict.letter: verdict for verdict in Verdict}


def task(task_id: str, *, prompt: str = "Print.", expected: str = "1\n", **fields: object) -> Task:
    return Task(
        task_id=task_id, mode=Mode.STDIN, prompt=prompt, cases=(TestCase(0, "", expected),), **fields  # type: ignore[arg-type]
    )  # fmt: skip


def write(path: Path, letters: Mapping[str, str], tasks: Mapping[str, Task] | None = None, **manifest: object) -> Path:
    """A run whose samples of each task have these verdicts. A key may be `task model`."""
    row = 0
    with RunWriter.create(path, manifest_of(**manifest)) as writer:  # type: ignore[arg-type]
        for name in dict.fromkeys(key.split()[0] for key in letters):
            one = (tasks or {}).get(name, task(name))
            writer.add_task(one, one.cases)
        for key, verdicts in letters.items():
            name, _, model = key.partition(" ")
            for letter in verdicts:
                verdict, sample = LETTERS[letter], f"{name}#{row}"
                reward = float(verdict is Verdict.PASSED) if verdict.graded else None
                rollout = Rollout(task_id=name, sample_id=sample, completion="print(1)", model=model or None)
                writer.add(rollout, Grade(task_id=name, sample_id=sample, verdict=verdict, reward=reward), row)
                row += 1
        writer.close()
    return path


def read(path: Path, model: str = "") -> Side:
    with Run.open(path).connect() as connection:
        return side(connection, task_hashes(connection), model)


def compared(folder: Path, a: Mapping[str, str], b: Mapping[str, str]) -> Comparison:
    return compare(read(write(folder / "a", a)), read(write(folder / "b", b)))


def changes(found: Comparison) -> dict[str, Change]:
    return {each.task_id: each.change for each in found.tasks}


def test_every_task_has_one_change_and_the_largest_come_first(tmp_path: Path) -> None:
    a = {"same": "PWS", "half": "WW", "whole": "WW", "worse": "PP", "gone": "P", "broke": "PWW", "ungraded": "P"}
    b = {"same": "WPPW", "half": "PW", "whole": "PP", "worse": "WW", "new": "P", "broke": "WWW", "ungraded": "?S"}
    found = compared(tmp_path, a, b)
    assert list(changes(found).items()) == [
        ("whole", Change.FIXED), ("half", Change.FIXED), ("worse", Change.BROKEN), ("broke", Change.BROKEN),
        ("same", Change.SAME), ("gone", Change.ONLY_A), ("new", Change.ONLY_B), ("ungraded", Change.NOT_GRADED),
    ]  # fmt: skip
    assert sum(found.counts.values()) == len(found.tasks)
    assert found.difference.n == 5
    assert found.difference.value == pytest.approx((1 + 0.5 - 1 - 1 / 3) / 5)
    assert found.b_mean - found.a_mean == pytest.approx(found.difference.value)
    assert (found.a_left_out, found.b_left_out) == (1, 2), "they are no failures"
    assert found.p is None


def outcomes(fixed: int, broken: int, same: int) -> tuple[dict[str, str], dict[str, str]]:
    """One sample per task on each side."""
    a = "W" * fixed + "P" * broken + "P" * same
    b = "P" * fixed + "W" * broken + "P" * same
    return {f"t{i}": letter for i, letter in enumerate(a)}, {f"t{i}": letter for i, letter in enumerate(b)}


@pytest.mark.parametrize(
    ("fixed", "broken", "better", "starts"),
    [
        (9, 1, "b", "B is better by 40.0 points (95%: "),
        (1, 9, "a", "B is worse by 40.0 points (95%: "),
        (6, 4, None, "On average no difference beyond chance: B - A is 10.0 points (95%: -"),
        (0, 0, None, "No difference: the same pass rate on both sides in 10 shared tasks"),
    ],
)
def test_one_sample_per_task_is_decided_by_the_exact_test(
    tmp_path: Path, fixed: int, broken: int, better: str | None, starts: str
) -> None:
    found = compared(tmp_path, *outcomes(fixed, broken, 10))
    assert found.p == mcnemar(fixed, broken)
    assert found.better == better
    assert headline(found).startswith(starts)
    if fixed or broken:
        assert headline(found).endswith(f" over 20 shared tasks; exact McNemar p = {found.p:.2g}")


def test_several_samples_are_decided_by_the_interval(tmp_path: Path) -> None:
    worse, better = {f"t{i}": "PWWW" for i in range(40)}, {f"t{i}": "PPPW" if i % 4 else "PWWW" for i in range(40)}
    found = compared(tmp_path, worse, better)
    assert found.better == "b"
    assert found.difference.value == pytest.approx(0.375)
    assert 0.25 < found.difference.low < 0.375 < found.difference.high < 0.5
    assert "McNemar" not in headline(found)
    assert compare(read(tmp_path / "b"), read(tmp_path / "a")).better == "a"


def test_a_few_tasks_in_one_direction_are_not_more_than_chance(tmp_path: Path) -> None:
    few = compared(tmp_path / "few", {f"t{i}": "WW" for i in range(5)}, {f"t{i}": "PP" for i in range(5)})
    enough = compared(tmp_path / "enough", {f"t{i}": "WW" for i in range(6)}, {f"t{i}": "PP" for i in range(6)})
    assert (few.better, enough.better) == (None, "b")


def test_tasks_count_only_with_the_same_prompt_tests_and_grading(tmp_path: Path) -> None:
    letters = dict.fromkeys(["same", "prompt", "tests", "checker", "limits"], "P")
    other = {
        "same": task("same", reference="print(1)", source="elsewhere"),
        "prompt": task("prompt", prompt="Print it."),
        "tests": task("tests", expected="2\n"),
        "checker": task("checker", checker="exact"),
        "limits": task("limits", limits={"wall_s": 1.0}),
    }
    found = compare(read(write(tmp_path / "a", letters)), read(write(tmp_path / "b", letters, other)))
    assert changes(found)["same"] is Change.SAME
    assert found.counts[Change.OTHER_TESTS] == 4
    assert obstacles(found, []) == ["4 tasks with another prompt, other tests or other grading in B"]


def test_two_models_of_one_run_are_two_sides(tmp_path: Path) -> None:
    path = write(tmp_path / "run", {"t small": "W", "t large": "P", "u small": "P", "v": "P"})
    found = compare(read(path, "small"), read(path, "large"))
    assert changes(found) == {"t": Change.FIXED, "u": Change.ONLY_A}
    assert list(read(path, "no model named").outcomes) == ["v"]
    assert list(read(path).outcomes) == ["t", "u", "v"]
    assert read(path).outcomes["t"].rate == 0.5


def test_settings_that_decide_verdicts_stand_against_a_headline(tmp_path: Path) -> None:
    found = compared(tmp_path, {"t": "P"}, {"t": "P"})
    for changed, said in (
        (manifest_of(checker="tokens"), ["checker differs: not set in A, tokens in B"]),
        (manifest_of(grader="stored"), ["grader differs: not set in A, stored in B"]),
        (manifest_of(preamble=""), ["preamble differs: not set in A, empty in B"]),
        (manifest_of(unverified="unknown"), ["unverified differs: keep in A, unknown in B"]),
        (manifest_of(limits=Limits(wall_s=2)), ["wall_s differs: 10 in A, 2 in B"]),
        (manifest_of(limits=Limits(memory_mb=512)), ["memory_mb differs: 1024 in A, 512 in B"]),
        (Manifest(), []),
    ):
        assert obstacles(found, settings_that_decide(Manifest(), changed)) == said


def test_another_version_or_dataset_file_is_only_said() -> None:
    a = Manifest(python="3.11.2", dataset="/a/d.jsonl", dataset_hash="sha256:0123456789")
    b = Manifest(python="3.12.1", dataset="d.jsonl", dataset_hash="sha256:9876543210")
    assert settings_that_decide(a, b) == []
    assert [(each.name, each.a, each.b) for each in minor_settings(a, b)] == [
        ("python", "3.11.2", "3.12.1"),
        ("dataset", "d.jsonl (01234567)", "d.jsonl (98765432)"),
    ]
    assert minor_settings(a, a) == []


def test_sides_without_a_shared_task_have_no_headline(tmp_path: Path) -> None:
    found = compared(tmp_path, {"a": "P"}, {"b": "P"})
    assert obstacles(found, []) == ["no shared task has graded rollouts on both sides"]
    assert found.counts[Change.ONLY_A] == found.counts[Change.ONLY_B] == 1
