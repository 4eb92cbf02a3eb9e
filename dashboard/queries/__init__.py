"""All SQL of the dashboard, a module a subject. Values travel as parameters; only fixed pieces are put together.

Small results are cached by the run's key, so a rerun of the script costs no query that was already asked.
A query on a run of a million rollouts sorts and pages inside DuckDB: what leaves it fits on a screen.
"""
