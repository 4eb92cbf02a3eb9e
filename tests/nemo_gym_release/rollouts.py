"""Answers of a model, one of each kind that a server has to tell apart, and what each deserves."""

from typing import Any, NamedTuple

STDIN = {"inputs": ["2\n", "5\n"], "outputs": ["4", "25"]}
CALL = {"inputs": ["2\n3", "5\n5"], "outputs": ["5", "10"], "fn_name": "add"}
PUBLIC = {"inputs": ["12\n"], "outputs": ["144"]}
FLOAT = {"inputs": ["1\n", "2\n"], "outputs": ["0.333333", "0.666667"]}


class ToolCall(NamedTuple):
    """A tool that the model calls first, and what the answer is to hold, else the model gives up."""

    name: str
    arguments: dict[str, Any]
    told: str


class Answer(NamedTuple):
    """What the model says, the tests that it is held to, and what comes of it."""

    text: str
    tests: dict[str, Any]
    reward: float
    verdict: str
    result: list[int | bool] | None
    """code_gen's codes."""
    calls: tuple[ToolCall, ...] = ()


def _fenced(code: str) -> str:
    return f"Let me think.\n```python\n{code}\n```\n"


SQUARE = "n = int(input())\nprint(n * n)"
TOOLS = (
    ToolCall("execute_code", {"code": "side = 12", "keep_state": True}, '"state":"new"'),
    ToolCall("execute_code", {"code": "print(side * side)", "keep_state": True}, '"stdout":"144\\n"'),
    ToolCall("run_tests", {"code": SQUARE}, '"tests_passed":1,"tests_total":1'),
)
ANSWERS = {
    "right": Answer(_fenced(SQUARE), STDIN, 1.0, "passed", [True, True]),
    "right_call": Answer(
        _fenced("class Solution:\n    def add(self, a, b):\n        return a + b"), CALL, 1.0, "passed", [True, True]
    ),
    "right_with_tools": Answer(_fenced(SQUARE), STDIN, 1.0, "passed", [True, True], TOOLS),
    "right_float": Answer(_fenced("print(int(input()) / 3)"), FLOAT, 1.0, "passed", [True, True]),
    "wrong": Answer(_fenced("n = int(input())\nprint(n + 1)"), STDIN, 0.0, "wrong_answer", [-2]),
    "wrong_call": Answer(_fenced("def add(a, b):\n    return 10 if a == b else 6"), CALL, 0.0, "wrong_answer", [False]),
    "wrong_second_test": Answer(_fenced("print(4)"), STDIN, 0.0, "wrong_answer", [True, -2]),
    "time_limit": Answer(_fenced("while True:\n    pass"), STDIN, 0.0, "time_limit", [-3]),
    "runtime_error": Answer(_fenced("print(1 // 0)"), STDIN, 0.0, "runtime_error", [-4]),
    "syntax_error": Answer(_fenced("print('hello'"), STDIN, 0.0, "compile_error", [-4]),
    "prose": Answer("The answer is the square of the number.", STDIN, 0.0, "no_code", None),
    "unfenced": Answer(SQUARE, STDIN, 0.0, "no_code", None),
    "empty": Answer("", STDIN, 0.0, "no_code", None),
}


def rows() -> list[dict[str, Any]]:
    """A dataset's rows: the prompt of each names the answer that the model is to give."""
    return [
        {
            "responses_create_params": {
                "input": [{"role": "user", "content": f"Write a program. <{name}>"}],
                "tools": [_tool(call) for call in answer.calls],
            },
            "verifier_metadata": {"unit_tests": answer.tests, "public_tests": PUBLIC, "difficulty": "easy"},
            "task_id": name,
        }
        for name, answer in ANSWERS.items()
    ]


def _tool(call: ToolCall) -> dict[str, Any]:
    fields = {name: {"type": "boolean" if value is True else "string"} for name, value in call.arguments.items()}
    parameters = {"type": "object", "properties": fields, "required": [*fields]}
    return {"type": "function", "name": call.name, "parameters": parameters, "strict": False}


def name_in(prompt: str) -> str:
    return prompt.rpartition("<")[2].partition(">")[0]
