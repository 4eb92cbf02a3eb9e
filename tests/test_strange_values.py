"""The strangest values that JSON can hold, in every field: kept, or a bad line, never an error."""

import json
from pathlib import Path

import pytest

from evaluator.formats import load_rollouts, load_tasks
from evaluator.runs.reading import Manifest, Run
from evaluator.runs.writing import RunWriter
from tests.commands.command_line import ADD, ANSWER, RIGHT, rollscope, sample
from tests.runs.older_run import narrow_columns

WHOLE = {"2147483647", "2147483648", "-2147483649", "1700000000000", "9223372036854775807", "-9223372036854775808"}
TOO_LARGE = {"9223372036854775808", "-9223372036854775809", "1e300", "9" * 4000}
NO_FINITE = {"1e999", "-1e999", "NaN", "Infinity", "-Infinity"}
FRACTIONS = {"0.5", "5e-324"}
TEXTS = {'""', '"7"', '"\\ud800"', '"a\\u0000b"', '"\\u202e\\u200b"', json.dumps("y" * 100_000)}
NO_NUMBERS = TEXTS - {'"7"'}
TOO_DEEP = "[" * 200 + "]" * 200  # with the row around it
OTHERS = {"true", "[]", "{}", '{"\\udfff": [NaN]}', "[" * 199 + "]" * 199, TOO_DEEP}
ZEROES = {"0", "-0", "-0.0", "null"}
VALUES = sorted(WHOLE | TOO_LARGE | NO_FINITE | FRACTIONS | TEXTS | OTHERS | ZEROES)
INTEGERS = {value for value in VALUES if value.lstrip("-").isdecimal()}

BAD_IN_ROLLOUTS = {
    "step": TOO_LARGE | NO_FINITE | FRACTIONS | NO_NUMBERS | OTHERS,
    "sample_index": TOO_LARGE | NO_FINITE | FRACTIONS | NO_NUMBERS | OTHERS,
    "given_reward": NO_NUMBERS | OTHERS - {"true"} | {"9" * 4000},
    "expected_pass": set(VALUES) - {"true", "null"},
    "kind": set(VALUES) - {'""', "null"},
    "model": set(VALUES) - INTEGERS - TEXTS - {"null"},
    "group": set(VALUES) - INTEGERS - TEXTS - {"null"},
    "completion": set(VALUES) - TEXTS,
    "seed": {TOO_DEEP},
}
BAD_IN_TASKS = {
    "weights": set(VALUES) - {"null", "[]"},
    "limits": set(VALUES) - {"null", "{}"},
    "time_limit": set(VALUES) - FRACTIONS - TEXTS - ZEROES - {"{}"},
    "memory_limit": set(VALUES) - FRACTIONS - TEXTS - ZEROES,
    "checker_code": set(VALUES) - TEXTS - {"null"},
    "exit_code": set(VALUES),
    "mode": set(VALUES) - {"null"},
    "prompt": set(VALUES) - TEXTS - {"null", "[]"},
    "reference": set(VALUES) - TEXTS - {"null"},
    "in_outs": set(VALUES) - {"null", "{}", '{"\\udfff": [NaN]}'},
    "year": {TOO_DEEP},
}
LIMITS = ("wall_s", "cpu_s", "total_s", "memory_mb", "virtual_mb", "output_mb", "threads", "processes")


def with_field(row: dict[str, object], name: str, value: str) -> str:
    """The row as JSON with a field whose value is written down as it is."""
    rest = json.dumps({key: inner for key, inner in row.items() if key != name}).removesuffix("}")
    return f"{rest}, {json.dumps(name)}: {value}}}"


def rollout_lines() -> tuple[list[str], dict[int, str]]:
    """A file's lines, and of those that are bad the field by their number."""
    lines: list[str] = []
    bad: dict[int, str] = {}
    for name, refused in BAD_IN_ROLLOUTS.items():
        for value in VALUES:
            lines.append(with_field(sample(f"s{len(lines)}", "42", "answer"), name, value))
            if value in refused:
                bad[len(lines)] = name if value != TOO_DEEP else "not"  # usable
    return lines, bad


def test_a_value_is_kept_or_its_line_is_bad_in_every_field_of_a_rollout(tmp_path: Path) -> None:
    lines, bad = rollout_lines()
    (tmp_path / "d.jsonl").write_text(json.dumps(ANSWER) + "\n")
    (tmp_path / "r.jsonl").write_text("\n".join(lines))
    arguments = ("grade", "r.jsonl", "--dataset", "d.jsonl", "--output", "run", "--workers", 1)
    for again in ((), ("--resume",)):
        graded = rollscope(*arguments, *again, cwd=tmp_path)
        assert graded.returncode == 0, graded.stderr
        run = Run.open(tmp_path / "run")
        assert {problem.line: problem.message.split()[0] for problem in run.manifest.problems} == bad
        assert all(len(problem.message) < 300 for problem in run.manifest.problems)
        assert run.manifest.counts["rollouts"] == len(lines) - len(bad)
        assert run.manifest.counts.get("sandbox_error", 0) == 0
    checked = rollscope("formats", "r.jsonl", "--check", "--json", cwd=tmp_path)
    assert {problem["line"] for problem in json.loads(checked.stdout)["problems"]} == set(bad)
    assert (checked.returncode, checked.stderr) == (2, "")
    exported = rollscope("export", "run", "--to", "run.jsonl", "--columns", "sample_id,step", cwd=tmp_path)
    assert exported.returncode == 0, exported.stderr
    steps = {json.loads(line)["step"] for line in (tmp_path / "run.jsonl").read_text().splitlines()}
    assert steps == {None, 0, 7, *map(int, WHOLE)}


@pytest.mark.parametrize("name", BAD_IN_TASKS)
def test_a_value_is_kept_or_its_line_is_bad_in_every_field_of_a_task(tmp_path: Path, name: str) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text("\n".join(with_field(ADD | {"task_id": f"t{n}"}, name, value) for n, value in enumerate(VALUES)))
    problems: list[int] = []
    tasks = list(load_tasks(path, on_problem=lambda problem: problems.append(problem.line)))
    assert {VALUES[line - 1] for line in problems} == BAD_IN_TASKS[name]
    with RunWriter.create(tmp_path / "run", Manifest()) as writer:
        for task in tasks:
            writer.add_task(task, task.cases)
    assert Run.open(tmp_path / "run").connect().sql("SELECT count(*) FROM tasks").fetchall() == [(len(tasks),)]


@pytest.mark.slow
def test_a_limit_that_no_kernel_can_hold_is_a_bad_line_and_the_largest_others_grade(tmp_path: Path) -> None:
    values = ["1e300", "1e999", "NaN", "-1", "9223372036854775808", "true", '"1"', "1e-300", "1000000"]
    rows = [(name, value) for name in LIMITS for value in values if name not in ("threads", "processes")]
    rows += [(name, value) for name in ("threads", "processes") for value in values[:-2]]
    tasks = [ADD | {"task_id": f"t{n}"} for n in range(len(rows))]
    packed = [f'{{"{name}": {value}}}' for name, value in rows]
    lines = [with_field(task, "limits", limits) for task, limits in zip(tasks, packed, strict=True)]
    (tmp_path / "d.jsonl").write_text("\n".join(lines))
    (tmp_path / "r.jsonl").write_text("\n".join(json.dumps(sample(f"s{n}", RIGHT, f"t{n}")) for n in range(len(rows))))
    graded = rollscope("grade", "r.jsonl", "--dataset", "d.jsonl", "--output", "run", "--workers", 1, cwd=tmp_path)
    assert graded.returncode == 0, graded.stderr
    manifest = Run.open(tmp_path / "run").manifest
    bad = {n + 1 for n, (_, value) in enumerate(rows) if value not in values[-2:]}
    assert {problem.line for problem in manifest.problems} == bad
    assert all(problem.message.startswith("limits") for problem in manifest.problems)
    assert manifest.counts.get("sandbox_error", 0) == 0


def test_half_a_surrogate_pair_in_a_name_is_not_graded_again_by_resume(tmp_path: Path) -> None:
    rows = [
        with_field(sample("s", "42", "answer"), "task_id", '"\\ud800"'),
        with_field(sample("s", "42", "answer"), "sample_id", '"\\ud800"'),
    ]
    (tmp_path / "d.jsonl").write_text(with_field(ANSWER, "task_id", '"\\ud800"'))
    (tmp_path / "r.jsonl").write_text("\n".join(rows))
    for again in ((), ("--resume",)):
        graded = rollscope("grade", "r.jsonl", "--dataset", "d.jsonl", "--output", "run", *again, cwd=tmp_path)
        assert graded.returncode == 0, graded.stderr
        assert Run.open(tmp_path / "run").manifest.counts["rollouts"] == 2


def test_a_run_of_an_older_version_opens_and_takes_larger_numbers_when_it_is_resumed(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text(json.dumps(ANSWER) + "\n")
    rows = [
        sample("s0", "42", "answer", step=7, sample_index=1),
        sample("s1", "42", "answer", step=1_700_000_000_000, sample_index=2**40),
    ]
    for count, again in ((1, ()), (2, ("--resume",))):
        (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, rows[:count])))
        graded = rollscope("grade", "r.jsonl", "--dataset", "d.jsonl", "--output", "run", *again, cwd=tmp_path)
        assert graded.returncode == 0, graded.stderr
        if count == 1:
            narrow_columns(tmp_path / "run", "step", "sample_index")
        asked = Run.open(tmp_path / "run").connect().sql("SELECT step, sample_index FROM rollouts ORDER BY step")
        assert asked.fetchall() == [(row["step"], row["sample_index"]) for row in rows[:count]]
        assert [str(type_) for type_ in asked.types] == ["BIGINT", "BIGINT"]


def test_what_a_servers_row_says_in_numbers_beyond_all_columns_is_a_bad_line(tmp_path: Path) -> None:
    asked = {"input": [{"role": "user", "content": "Add."}]}
    response = {"output": [{"type": "message", "content": [{"type": "output_text", "text": RIGHT}]}]}
    row = {"responses_create_params": asked, "response": response, "reward": 1.0}
    strange = [("reward", "9" * 400), ("_ng_rollout_index", "9223372036854775808"), ("_ng_rollout_index", "4294967296")]
    (tmp_path / "r.jsonl").write_text("\n".join(with_field(row, name, value) for name, value in strange))
    problems: list[int] = []
    (kept,) = load_rollouts(tmp_path / "r.jsonl", on_problem=lambda problem: problems.append(problem.line))
    assert (kept.sample_index, problems) == (2**32, [1, 2])
