"""Replays a test case with line tracing, to show why it failed. Judges nothing: all of a trace may be forged."""

from evaluator.tracing.traced_run import Change, End, Replay, Step, Trace, Window, replay

__all__ = ["Change", "End", "Replay", "Step", "Trace", "Window", "replay"]
