"""Opens a run while another process is making it."""

from __future__ import annotations

from pathlib import Path

from evaluator.model import Mode, Task
from evaluator.runs.reading import Manifest, Run, RunWriter
from tests.runs.test_runs import grade, rollout


def test_tasks_that_are_written_while_a_run_is_opened_do_not_matter(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", Manifest()) as writer:
        writer.add_task(Task(task_id="t", mode=Mode.STDIN), ())
        writer.add(rollout("s1"), grade("s1"), 0)
        writer.close()
    tasks = tmp_path / "run" / "tasks.parquet"
    tasks.rename(tmp_path / "later")
    run = Run.open(tmp_path / "run")
    with run.connect(parts=True) as connection:
        (tmp_path / "later").rename(tasks)
        run.view_parts(connection, run.parts, run.parts)
        assert connection.sql("SELECT count(*) FROM part_rollouts").fetchall() == [(1,)]
