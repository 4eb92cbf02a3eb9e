"""Texts that some place would take for more than text, and a run whose every name and message is one of them."""

from pathlib import Path

from evaluator.model import CaseResult, Flag, Grade, Mode, Rollout, Task, TestCase, Verdict
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
    task = Task(
        task_id=TEXTS[6], mode=Mode.CALL, prompt=TEXTS[6], entry_point="f", cases=(TestCase(0, "1\u202e", "2"),)
    )
    found = [
        (
            Rollout(task_id=task.task_id, sample_id=f"{row} {name}", completion=CODE, model=name),
            _grade(task.task_id, f"{row} {name}", name, passed=row % 2 == 0),
        )
        for row, name in enumerate(name for name in TEXTS for _ in range(2))
    ]
    return rows.write(path, found, task)


def _grade(task: str, sample: str, name: str, *, passed: bool) -> Grade:
    verdict = Verdict.PASSED if passed else Verdict.WRONG_ANSWER
    printed = "out\u202eput\n"
    case = CaseResult(
        index=0, verdict=verdict, expected="2", actual=f"2{name}", stdout=printed, stdout_bytes=len(printed), wall_s=0.1
    )
    return Grade(
        task_id=task,
        sample_id=sample,
        verdict=verdict,
        reward=float(passed),
        code=CODE,
        cases=(case,),
        error_message=None if passed else f"message {name}",
        error_type=None if passed else f"Error {name}",
        flags=() if passed else (Flag("invisible_text", f"line 2: {name}"),),
    )
