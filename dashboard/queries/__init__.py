"""All SQL of the dashboard, one module per subject. Values are always parameters; only fixed pieces are joined.

Small results are cached by the run's key, so a rerun of the script repeats no query.
On a run of a million rollouts DuckDB does the sorting and paging: its results fit on a screen.
"""
