"""The Compare page: two runs, or two models of one."""
