"""The trusted side of the sandbox: starts the other one, holds the clock, reads the answers."""
