"""Strengthens a dataset's tests: new inputs that show which wrong programs the present tests would pay.

One module per step: `subjects` reads what a task is tested with, `inputs` makes new inputs from that and `profile` says
how far they are from it, `mutants` makes wrong programs of the reference, `runs` runs programs in the sandbox,
`differences` finds where they disagree, `selection` chooses the inputs to add, and `report` adds them.
"""
