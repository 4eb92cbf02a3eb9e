"""A file of rollouts of any size, opened without grading it: byte offsets and small columns, kept and appended to.

    update(source)              # reads what is new; a million rows take seconds, the next time nothing
    run = IndexedFile.of(source)
    run.connect().sql("SELECT verdict, count(*) FROM rollouts GROUP BY ALL")

The index is in the user's cache, keyed by what was opened. Texts stay in the file.
"""

from evaluator.extras import needs

with needs("runs", "an index needs pyarrow and duckdb"):
    from evaluator.index.building import BuildStoppedError, Indexer, update
    from evaluator.index.reading import IndexedFile, Opening
    from evaluator.index.state import File, RolloutSource, State, folder_of, read_state
    from evaluator.index.tasks import Dataset, IndexedTasks

__all__ = [
    "BuildStoppedError", "Dataset", "File", "IndexedFile", "IndexedTasks", "Indexer", "Opening", "RolloutSource",
    "State", "folder_of", "read_state", "update",
]  # fmt: skip
