"""Texts that some place would take for more than text, and a run whose every name and message is one of them."""

from pathlib import Path

from evaluator.model import CaseResult, Flag, Mode, Task, TestCase, Verdict
from tests.dashboard import rows

TEXTS = (
    '<a href="http://e.example">a link</a>',
    "<b>bold</b><br>next<sup>2</sup>",
    "&lt;i&gt; &amp; &#60;i&#62; &nbsp;",
    "$x^2$ and $$y_1$$",
    "%{x} %{y:.3f} %{customdata[0]}",
    "under_score *star* [l](u) :red[x] `c`",
    "evil\u202etxt.exe\u2069 zero\u200bwidth",
    "<script>document.title='owned'</script>",
)
CODE = "def f(a):\n    # \u202e } \u2066if admin\u2069\n    b = '\u200b'\n    return a\n"


def write(path: Path) -> Path:
    """One task, and of each text as a model a rollout that passed and one that did not. Returns the run's directory."""
    cases = (TestCase(0, "1\u202e", "2"),)
    task = Task(task_id=TEXTS[6], mode=Mode.CALL, prompt=TEXTS[6], entry_point="f", cases=cases)
    return rows.write(
        path, [_row(task, 2 * place + failed, name) for place, name in enumerate(TEXTS) for failed in (0, 1)], task
    )


def _row(task: Task, place: int, name: str) -> rows.Row:
    passed = place % 2 == 0
    case = CaseResult(
        index=0, verdict=Verdict.PASSED if passed else Verdict.WRONG_ANSWER, expected="2", actual=f"2{name}",
        stdout="out\u202eput\n", stdout_bytes=8, wall_s=0.1,
    )  # fmt: skip
    failure = {
        "error_message": f"message {name}", "error_type": f"Error {name}",
        "flags": (Flag("invisible_text", f"line 2: {name}"),),
    }  # fmt: skip
    return rows.row(
        task.task_id, f"{place} {name}", reward=float(passed), model=name, completion=CODE, code=CODE, cases=(case,),
        **({} if passed else failure),
    )  # fmt: skip
