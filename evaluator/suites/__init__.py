"""Test suites: `reading` plans their test cases, `rule` grades with what `run` did, `host` and `guest` run them."""
