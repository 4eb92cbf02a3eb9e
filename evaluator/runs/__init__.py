"""The run directory: what it holds, and how it is written, read, resumed and exported."""
