"""The one part of code_gen's grader that a test of its server asks for: our sandbox has a real standard input."""

import io


class MockStdinWithBuffer(io.TextIOWrapper):
    """Text as a standard input: with lines, and with bytes below."""

    def __init__(self, text: str) -> None:
        super().__init__(io.BytesIO(text.encode()), encoding="utf-8")
