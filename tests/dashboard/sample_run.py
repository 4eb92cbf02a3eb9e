"""A small run written by hand, with every verdict and with texts that would be markup if they were not escaped."""

from pathlib import Path

import evaluator
from evaluator.model import (
    CaseResult,
    Difference,
    Flag,
    Frame,
    Grade,
    Kind,
    Mode,
    Rollout,
    Task,
    TestCase,
    Traceback,
    Verdict,
)
from evaluator.runs.reading import Manifest
from tests.dashboard import rows

HOSTILE = "<img src=x onerror=\"document.title='owned'\"> **bold** :red[x] $x^2$ [l](http://e.example)"
REASON = f"the check replaces {HOSTILE}"
ADD_CODE = "def add(a, b):\n    total = a\n    for _ in range(b):\n        total = total.plus(1)\n    return total\n"
RECORDED = {"add#0": Verdict.PASSED, "add#1": Verdict.PASSED, "add#3": Verdict.TIME_LIMIT, "k/unknown": Verdict.PASSED}
"""The verdicts that some rollouts came with."""
LONG_CODE = "\n".join(f"value_{n} = {n}" for n in range(1, 160)) + "\ndef add(a, b):\n    return missing\n"
MODELS = ("small", "large")
PANDAS = (Flag("missing_package", "pandas"),)
FLAGS = (Flag("ctypes", f"line 159: {HOSTILE}; line 161: {'W' * 300}"), *PANDAS)


def cases(*expected: str) -> tuple[TestCase, ...]:
    return tuple(TestCase(i, f"{i}\n{i + 1}", value) for i, value in enumerate(expected))


TASKS = (
    Task(
        task_id="math/add", mode=Mode.CALL, prompt="Write `add(a, b)`.", entry_point="add", cases=cases("1", "3", "5"),
        reference="def add(a, b):\n    return a + b\n",
    ),
    Task(task_id=f"text/{HOSTILE}", mode=Mode.STDIN, prompt=HOSTILE, cases=cases("one\ntwo\nthree\n", "x \ty\n")),
    Task(
        task_id="text/all-kinds", mode=Mode.STDIN, prompt="Print the input.", cases=cases("a\n", "b\n"),
        checker_code="print(1)",
    ),
    Task(task_id="math/untried", mode=Mode.CALL, entry_point="f", cases=cases("1")),
)  # fmt: skip


def passed(index: int, expected: str) -> CaseResult:
    return CaseResult(
        index=index, verdict=Verdict.PASSED, expected=expected, actual=expected, wall_s=0.01, memory_mb=20.0
    )


def wrong(index: int, expected: str, actual: str, message: str) -> CaseResult:
    return CaseResult(
        index=index, verdict=Verdict.WRONG_ANSWER, expected=expected, actual=actual, wall_s=0.02, memory_mb=21.0,
        difference=Difference(message, 1, 1), stdout=actual, stdout_bytes=len(actual),
    )  # fmt: skip


def raised(index: int, expected: str, type_: str, message: str, *lines: int) -> CaseResult:
    """A test case that raised; `lines` are those of the traceback, the innermost last."""
    trace = Traceback(type_, message, tuple(Frame(line, "add", "total = total.plus(1)") for line in lines))
    return CaseResult(
        index=index, verdict=Verdict.RUNTIME_ERROR, expected=expected, error_type=type_, error_message=message,
        traceback=trace, wall_s=0.03, memory_mb=22.0, stderr="a warning\n", stderr_bytes=10,
    )  # fmt: skip


def bare(index: int, verdict: Verdict, message: str = "") -> CaseResult:
    """A test case with a verdict and nothing else."""
    return CaseResult(index=index, verdict=verdict, expected="a\n", error_message=message or None, wall_s=0.5)


def grade(task: str, sample: str, found: tuple[CaseResult, ...], code: str | None, **more: object) -> Grade:
    first = next((c for c in found if c.verdict is not Verdict.PASSED), None)
    verdict = more.pop("verdict", first.verdict if first else Verdict.PASSED)
    assert isinstance(verdict, Verdict)
    names = ("error_type", "error_message", "error_line")
    fields: dict[str, object] = {name: getattr(first, name) if first else None for name in names}
    return Grade(
        task_id=task, sample_id=sample, verdict=verdict, cases=found, code=code, kind=Kind.FULL, checker="value",
        reward=None if not verdict.graded else float(verdict is Verdict.PASSED),
        pass_rate=sum(c.verdict is Verdict.PASSED for c in found) / len(found) if found else None,
        **(fields | more),  # type: ignore[arg-type]
    )  # fmt: skip


def grades() -> list[Grade]:
    """Every verdict, on three tasks."""
    add, text, kinds = TASKS[0].task_id, TASKS[1].task_id, TASKS[2].task_id
    good = (passed(0, "1"), passed(1, "3"), passed(2, "5"))
    no_plus = raised(1, "3", "AttributeError", "'int' object has no attribute 'plus'", 3, 4)
    no_name = raised(2, "5", "NameError", HOSTILE, 161)
    other = wrong(0, "one\ntwo\nthree\n", "one\ntwo \nthree\nfour", "line 2")
    found = [
        grade(add, "add#0", good, "def add(a, b):\n    return a + b\n"),
        grade(add, "add#1", (good[0], no_plus, good[2]), ADD_CODE, flags=PANDAS),
        grade(add, "add#2", (good[0], good[1], no_name), LONG_CODE, flags=FLAGS),
        grade(add, "add#3", good, "def add(a, b):\n    return b + a\n", duplicate_of="add#0"),
        grade(text, f"s/{HOSTILE}", (other, passed(1, "x \ty\n")), f"print('''{HOSTILE}''')\n"),
    ]
    singles = [
        Verdict.COMPILE_ERROR, Verdict.TIME_LIMIT, Verdict.MEMORY_LIMIT, Verdict.OUTPUT_LIMIT, Verdict.REJECTED,
        Verdict.SANDBOX_ERROR,
    ]  # fmt: skip
    for verdict in singles:
        pair = (bare(0, verdict, f"{verdict} happened after 1.5 s"), bare(1, Verdict.NOT_RUN))
        trusted = verdict is not Verdict.REJECTED
        reason = None if trusted else REASON
        found.append(grade(kinds, f"k/{verdict}", pair, "print(input())\n", verified=trusted, unverified_reason=reason))
    found.append(grade(kinds, "k/no_code", (), None, verdict=Verdict.NO_CODE, error_message="nothing that parses"))
    found.append(grade(kinds, "k/unknown", (), None, verdict=Verdict.UNKNOWN, error_message="no test cases"))
    return found


def write(path: Path) -> Path:
    """Write the run and return its directory."""
    found = []
    for row, one in enumerate(grades()):
        is_recorded = one.sample_id in RECORDED
        rollout = Rollout(
            task_id=one.task_id, sample_id=one.sample_id, model=MODELS[row % 2], line=row + 1,
            completion=f"Here it is:\n```python\n{one.code}```\n" if one.code else HOSTILE,
            sample_index=100 - row,  # not the order of the file, which is the one that is shown
            recorded_verdict=RECORDED.get(one.sample_id),
            recorded_word=f"said {HOSTILE}" if is_recorded else None, recorded_by=HOSTILE if is_recorded else None,
        )  # fmt: skip
        if one.code:
            one.line_offset = 2
        found.append((rollout, one))
    manifest = Manifest(dataset="sample.dataset.jsonl", rollouts="sample.rollouts.jsonl", dataset_hash="0" * 16)
    manifest.add_problem("sample.rollouts.jsonl", 7, "not JSON", f'{{"completion": "{HOSTILE}', 900, "not JSON")
    return rows.write(path, found, *TASKS, manifest=manifest)


def write_long(path: Path) -> Path:
    """Write a run of a program that prints 20,000 lines, and of one that prints one too many, graded here."""
    lines = "".join(f"line {n}\n" for n in range(20_000))
    task = Task(task_id="long", mode=Mode.STDIN, prompt="Print.", cases=(TestCase(0, "", lines),))
    right = "for n in range(20_000):\n    print('line', n)\n"
    rollouts = [
        Rollout(task_id="long", sample_id=sample, completion=code, kind=Kind.FULL)
        for sample, code in {"right": right, "extra": f"{right}print('more')\n"}.items()
    ]
    # Not `grade`, whose sandbox stays for the next one.
    graded = evaluator.grade_all([task], rollouts, workers=1)
    return rows.write(path, zip(rollouts, graded, strict=True), task)


def write_empty(path: Path) -> Path:
    return rows.write(path, [])
