"""Programs that try to cheat or to break a grader, and honest ones that look as if they did.

Needs `evaluator` and what the sandbox needs, but not pytest, except for the modules named `test_*`.
"""
