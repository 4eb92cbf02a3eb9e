"""Grading by a `rollscope serve grades`, on this machine or another: `ROLLSCOPE_SERVER` names it."""
