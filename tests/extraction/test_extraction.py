"""Extraction: which part of a completion is graded, and which line of the text each of its lines was."""

import ast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evaluator.extraction import extract
from evaluator.model import Kind, Mode, Task
from tests.checkers.work import Work

PROMPT = 'def f(x):\n    """Adds one."""\n'
CALL = Task(task_id="t", mode=Mode.CALL, entry_point="f", prompt=PROMPT)
STDIN = Task(task_id="t", mode=Mode.STDIN, prompt="Print the sum.")
CODE = "def f(x):\n    return x + 1\n"
OTHER = "def f(x):\n    return x\n"
USAGE = "print(f(1))\n"


pytestmark = pytest.mark.filterwarnings("ignore:invalid escape")


def fenced(code, tag="python", fence="```"):
    return f"{fence}{tag}\n{code}{fence}\n"


def code_of(completion, task=CALL, kind=None):
    return extract(completion, task=task, kind=kind).code


def result_of(code):
    scope = {}
    exec(code, scope)
    return scope["f"](1)


def lines_agree(completion, extraction):
    """Whether every line of the code that is not in the prompt is (a part of) its line of the completion."""
    text = completion.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate((extraction.code or "").split("\n"), start=1):
        at = number + extraction.line_offset
        if at > 0 and line.strip() and line.strip() not in text[at - 1]:
            return False
    return True


# what a text is taken for


@pytest.mark.parametrize(
    ("completion", "task", "kind"),
    [
        (CODE, CALL, Kind.FULL),
        ("f = lambda x: x + 1\n", CALL, Kind.FULL),
        ("class Solution:\n    def f(self, x):\n        return x\n", CALL, Kind.FULL),
        ("try:\n    import fast\nexcept ImportError:\n    def f(x): return x\n", CALL, Kind.FULL),
        ("    return x + 1\n", CALL, Kind.CONTINUATION),
        ("\n    y = x\n    return y + 1\n\n\nprint(f(1))\n", CALL, Kind.CONTINUATION),
        ("print(sum(map(int, input().split())))", STDIN, Kind.FULL),
        ("I can't do that.", STDIN, Kind.FULL),
        (f"It adds one:\n\n{CODE}\nThat is all.", CALL, Kind.CHAT),
        ("def f(x:\n", CALL, Kind.FULL),
        (f"Here:\n{fenced(CODE)}", CALL, Kind.CHAT),
        (f"~~~\n{CODE}~~~", CALL, Kind.CHAT),
        (f"<think>hm</think>\n{CODE}", CALL, Kind.CHAT),
        (f"hm\n</think>\n{CODE}", CALL, Kind.CHAT),
        ('def f(x):\n    """\n    ```\n    f(1)\n    ```\n    """\n    return x\n', CALL, Kind.FULL),
    ],
)
def test_the_kind_is_detected_from_the_text(completion, task, kind):
    assert extract(completion, task=task, kind=None).kind is kind


def test_a_given_kind_wins():
    assert extract(fenced(CODE), task=CALL, kind=Kind.FULL).code == fenced(CODE)
    assert extract(CODE, task=CALL, kind=Kind.CONTINUATION).code == PROMPT + CODE
    assert extract("print(1)", task=STDIN, kind=Kind.CHAT).kind is Kind.CHAT


@pytest.mark.parametrize("kind", [None, *Kind])
@pytest.mark.parametrize("completion", ["", " \n\t\n", "\ufeff", "\r\n"])
def test_nothing_written_is_no_code(completion, kind):
    extraction = extract(completion, task=CALL, kind=kind)
    assert (extraction.code, extraction.reason) == (None, "the completion is empty")


def test_the_preamble_is_not_put_into_the_code():
    task = Task(task_id="t", mode=Mode.CALL, entry_point="f", preamble="import math\n")
    assert extract(CODE, task=task, kind=None).code == CODE


# chat: which block


@pytest.mark.parametrize(
    "completion",
    [
        fenced(CODE),
        fenced(CODE, tag=""),
        fenced(CODE, tag="Python3"),
        fenced(CODE, tag="python title=a.py"),
        fenced(CODE, tag="{.python}"),
        fenced(CODE, fence="~~~"),
        fenced(CODE, fence="````"),
        f"First:\n{fenced(OTHER)}Better:\n{fenced(CODE)}",
        f"{fenced(CODE)}Use it:\n{fenced(USAGE)}",
        f"{fenced(CODE)}Use it:\n{fenced('f_copy = f')}Output:\n{fenced('2', tag='')}",
        f"{fenced(CODE)}Run:\n{fenced('python a.py', tag='bash')}",
        f"{fenced(CODE)}In Ruby:\n{fenced('def f(x) x + 1 end', tag='ruby')}",
        f"{fenced(OTHER, tag='text')}{fenced(CODE)}",
        f"{fenced(CODE)}{fenced('f = Solution().f')}",
        f"```python\n{CODE}",
        f"The code: ```python\n{CODE}```",
        f"```python\n{CODE.rstrip()}```\nDone.",
        f"```python\n{OTHER}Now better:\n```python\n{CODE}```\n",
        f"````markdown\n# Answer\n{fenced(CODE)}````\n",
        f"```markdown\n# Answer\n{fenced(CODE)}```\n",
        f"<think>\n{fenced(OTHER)}</think>\n{fenced(CODE)}",
        f"<think>\n```python\n{OTHER}</think>\n{fenced(CODE)}",
        f"thinking ...\n```\n{OTHER}\n</think>\n{fenced(CODE)}",
        f"{fenced(CODE)}<think>\n{fenced(OTHER)}",
        f"{CODE}```\n\nThis adds one.\n\n{fenced(USAGE)}",
        f"Adds one:\n```python\n{CODE}```  # 0\n\n`f(0)` is 1.\n",
        f"<answer>\n```python\n{CODE}```</answer>",
        f"~~~python\n{CODE}~~~ # 1 -> 2\nDone.",
        "- Adds one:\n  ```python\n  def f(x):\n      return x + 1\n  ```  # 0\n",
        f"{CODE}```  # 0\nThis adds one.\n",
        f"```python\n{OTHER}```  # 0\nBetter:\n```python title=b.py\n{CODE}```  # 1\n",
        f"```python\n{OTHER}```  # 0\n```# second\n{CODE}```\n",
        f"```python  # the answer\n{CODE}```\n",
        f"```# the answer\n{CODE}```\n",
        f"```python\n{OTHER}Now better:\n```{{.python}}\n{CODE}```\n",
    ],
)
def test_the_last_block_that_defines_the_function_is_taken(completion):
    extraction = extract(completion, task=CALL, kind=None)
    assert extraction.code is not None
    assert extraction.code.strip() == CODE.strip()
    assert lines_agree(completion, extraction)


HELPER = "def g(x):\n    return x + 1\n"


@pytest.mark.parametrize(
    "completion",
    [
        f"python\n{CODE}```\n",
        f"[PYTHON]\n{CODE}[/PYTHON]",
        f"{CODE}[DONE]\n\nNext task: [BEGIN]\n{OTHER}",
        "[BEGIN]\n 'def f(x):\\r\\n    return x + 1' \n[DONE]",
        f"\\begin{{lstlisting}}[language=Python]\n{CODE}\\end{{lstlisting}}",
        f"So:\n<answer>{CODE}</answer>",
        "> Here:\n>\n" + "".join(f"> {row}\n" for row in CODE.splitlines()),
        "".join(f"> {row}\n" for row in fenced(CODE).splitlines()),
        f"It adds one:\n\n{CODE}\nThat is all.",
        f"{CODE}<|im_end|>\n<|endoftext|>",
        "```python\ndef f(x):\n    # </think>\n    return x + 1\n```",
        fenced(HELPER) + fenced("from math import sqrt as f\nf, h = g, 1\n"),
        fenced("import functools\n") + fenced(HELPER) + fenced("f = functools.partial(g)\n"),
        fenced("def f(x):\n    return g(x)\n") + "where\n" + fenced(HELPER),
        fenced(f'{CODE}NOTE = """\n```\n"""\n'),
    ],
)
def test_the_function_is_found_however_an_answer_shows_it(completion):
    assert result_of(code_of(completion)) == 2


def test_blocks_that_belong_together_keep_their_lines_and_say_which_they_are():
    completion = f"First:\n{fenced(HELPER)}then:\n{fenced('def f(x):' + chr(10) + '    return g(x)')}{fenced(USAGE)}"
    extraction = extract(completion, task=CALL, kind=None)
    assert result_of(extraction.code) == 2
    assert lines_agree(completion, extraction)
    assert extraction.extracted_from == "blocks 1 and 2 of 3: the last that defines f"


def test_a_solution_class_counts_where_it_has_the_method():
    solution = "class Solution:\n    def f(self, x):\n        return x\n"
    assert code_of(fenced(solution) + fenced("class Solution:\n    def g(self): pass\n")) == solution


def test_a_fence_in_a_docstring_does_not_end_the_block():
    code = 'def f(x):\n    """\n    ```\n    f(1)\n    ```\n    """\n    return x\n'
    assert code_of(f"Here:\n{fenced(code)}") == code
    tagged = code.replace("    ```\n    f(1)", "    ```python\n    f(1)")
    assert code_of(f"Here:\n{fenced(tagged)}") == tagged


@pytest.mark.parametrize("line", ["# ```", "a = '```'", "a = 'b\\\n```'", 'a = """\n```\n"""', "a = '''\n```\n'''"])
def test_a_program_with_a_fence_in_a_string_or_a_comment_is_taken_whole(line):
    assert code_of(f"{line}\n{CODE}") == f"{line}\n{CODE}"


@pytest.mark.parametrize(("code", "is_python"), [("x = (1\n", False), ("x = 1\n", True), ("def g(a, a): pass\n", True)])
def test_an_only_block_says_whether_it_is_python(code, is_python):
    why = "the last that is Python" if is_python else "the last"
    assert extract(fenced(code), task=CALL, kind=None).extracted_from == f"the only block: {why}"


def test_an_indented_block_loses_its_indentation_and_keeps_its_lines():
    completion = "1. So:\n\n   ```python\n" + "".join(f"   {row}\n" for row in CODE.split("\n")) + "   ```\n"
    extraction = extract(completion, task=CALL, kind=None)
    assert ast.dump(ast.parse(extraction.code)) == ast.dump(ast.parse(CODE))
    assert extraction.line_offset == 3
    without_fence_indent = "```python\n    def f(x):\n        return x + 1\n```\n"
    assert code_of(without_fence_indent) == CODE


def test_for_stdin_the_last_python_block_that_parses_is_taken():
    program = "print(int(input()) + 1)\n"
    completion = f"{fenced('x = 1')}{fenced(program)}Prints:\n{fenced('3', tag='')}{fenced('4', tag='output')}"
    assert code_of(completion, STDIN) == program
    assert code_of(f"{fenced(program)}{fenced('print(')}", STDIN) == program
    assert code_of(f"{fenced(program, tag='')}{fenced('3', tag='')}", STDIN) == program


READS = "n = int(input())\nprint(n + 1)\n"


@pytest.mark.parametrize(
    "others",
    [
        (fenced("n = int(input())\n"),),
        (fenced("[1, 2]"), fenced("print(3)\n")),
        (fenced("def helper():\n    return input()\n"),),
        (fenced("assert solve() == 2\n"),),
    ],
)
def test_for_stdin_the_block_that_reads_and_prints_is_taken(others):
    assert code_of(fenced(READS) + "".join(others), STDIN) == READS


def test_for_stdin_parts_of_a_program_are_joined_but_not_an_example_of_its_use():
    main, use = "def main():\n    print(solve(int(input())))\n\n\nmain()\n", "print(solve(2))\n"
    solve = "def solve(n):\n    return n\n"
    assert code_of(fenced(solve) + fenced(main), STDIN).split("\n\n\n", 1)[0] == solve.rstrip()
    assert code_of(fenced(solve + main) + fenced(use), STDIN) == solve + main
    prose = f"Read a number:\n\n{READS}\nDone."
    assert code_of(prose, STDIN).rstrip() == READS.rstrip()


def test_when_no_block_will_do_the_last_is_taken():
    assert code_of(f"{fenced('print(', tag='')}{fenced('def f(', tag='')}", STDIN) == "def f("
    assert code_of(fenced("ls -l\n", tag="bash"), STDIN) == "ls -l\n"


def test_a_block_with_only_the_body_continues_the_prompt():
    completion = f"Sure:\n\n{fenced('    return x + 1')}Or run it:\n{fenced(USAGE)}"
    extraction = extract(completion, task=CALL, kind=None)
    assert result_of(extraction.code) == 2
    assert extraction.kind is Kind.CHAT
    assert lines_agree(completion, extraction)
    assert result_of(code_of(fenced("y = x\nreturn y + 1\n"))) == 2


@pytest.mark.parametrize(
    ("completion", "reason"),
    [
        ("I am sorry, but I can't.", "no fenced block"),
        ("Sorry", "no fenced block"),
        ("<think>\nlet me", "no fenced block: the text ends while the model is thinking"),
        (f"<think>almost\n{fenced(CODE)}", "no fenced block: the text ends while the model is thinking"),
        (f"<think>\n{fenced(CODE)}</think>\n", "no fenced block: nothing follows the thinking"),
        ("```python\n```", "no fenced block"),
    ],
)
def test_an_answer_without_code_says_why(completion, reason):
    extraction = extract(completion, task=CALL, kind=Kind.CHAT)
    assert (extraction.code, extraction.reason) == (None, reason)


def test_bare_code_in_a_chat_answer_is_taken():
    assert code_of(CODE, kind=Kind.CHAT) == CODE
    extraction = extract(f"<think>\nhm\n</think>\n{CODE}", task=CALL, kind=None)
    assert (extraction.code, extraction.line_offset) == (CODE, 3)


def test_code_in_unfinished_thinking_counts_on_demand():
    found = extract(f"<think>\n{fenced(CODE)}", task=CALL, kind=None, unfinished_thinking=True)
    assert (found.code, found.extracted_from) == (
        CODE,
        "its unfinished thinking: the only block: the last that defines f",
    )


@pytest.mark.parametrize("completion", ["You're welcome!", "I'm sorry, but I can't help with that.", "Yes"])
@pytest.mark.parametrize("task", [CALL, STDIN])
def test_a_text_without_a_line_of_code_is_no_code(completion, task):
    extraction = extract(completion, task=task, kind=None)
    assert (extraction.code, extraction.reason) == (None, "no code: no statement that defines, reads or prints")


@pytest.mark.parametrize("completion", ["def f(x:\n    return", "print(f(1)", f"{READS}print(("])
def test_broken_code_stays_for_the_interpreter_to_say_what_is_wrong(completion):
    assert code_of(completion, STDIN) == completion


# continuation


@pytest.mark.parametrize("kind", [None, Kind.CONTINUATION])
@pytest.mark.parametrize(
    ("completion", "prompt", "suffix"),
    [
        ("   return x + 1\n", PROMPT, ""),
        ("     y = x\n    return y + 1\n", PROMPT, ""),
        ("    return x + 1\n\n\ndef other(x):\n    return (x +", PROMPT, ""),
        ("   return x + 1\n\n\ndef other(x):\n    return (x +", PROMPT, ""),
        ("    return x + 1\n", PROMPT.rstrip(), ""),
        ("    y = x + 1", PROMPT, "    return y\n"),
        ("x + 1", "def f(x):\n    y = ", "\n    return y\n"),
    ],
)
def test_a_continuation_is_fitted_to_its_prompt(completion, prompt, suffix, kind):
    task = Task(task_id="t", mode=Mode.CALL, entry_point="f", prompt=prompt, suffix=suffix)
    extraction = extract(completion, task=task, kind=kind)
    assert result_of(extraction.code) == 2
    assert suffix or lines_agree(completion, extraction)


def test_a_continuation_is_the_prompt_and_the_completion_exactly():
    extraction = extract("    return x + 1\n", task=CALL, kind=Kind.CONTINUATION)
    assert extraction.code == PROMPT + "    return x + 1\n"
    assert extraction.line_offset == -2


def test_a_continuation_of_an_unfinished_line_keeps_its_line_numbers():
    task = Task(task_id="t", mode=Mode.CALL, entry_point="f", prompt="def f(x):\n    return ")
    extraction = extract("x +\\\n1\n", task=task, kind=None)
    assert extraction.code == "def f(x):\n    return x +\\\n1\n"
    assert extraction.line_offset == -1  # line 2 of the code ends with the completion's line 1


@pytest.mark.parametrize(
    "completion",
    ["    return x + 1\n```\n\nThis adds one.", "```python\n    return x + 1\n```", "    return x + 1\n~~~~"],
)
@pytest.mark.parametrize("kind", [None, Kind.CONTINUATION])
def test_a_continuation_stops_at_a_fence(completion, kind):
    extraction = extract(completion, task=CALL, kind=kind)
    assert result_of(extraction.code) == 2
    assert lines_agree(completion, extraction)


def test_a_continuation_that_repeats_the_function_works():
    assert result_of(code_of(CODE, kind=Kind.CONTINUATION)) == 2


# lines


def test_line_ends_of_every_kind_keep_the_line_numbers():
    for end in ("\r\n", "\r"):
        extraction = extract(f"\ufeffSure:\n\n{fenced(CODE)}".replace("\n", end), task=CALL, kind=None)
        assert (extraction.code, extraction.line_offset) == (CODE, 3)
    assert code_of("\ufeff" + CODE) == CODE, "the byte order mark is dropped"


# any text


PIECES = st.sampled_from(
    [
        "```", "```python\n", "~~~", "````", "`", "\n", "\r\n", "\r", "\ufeff", "\0", "\ud800",
        "<think>", "</think>", "<think>\n", "def f(x):\n", "    return x\n", "class Solution:\n",
        "    def f(self): pass\n", "f = 1\n", "(", "\\", '"""', "'", "    ", "\t", "- ", "1. ",
        "text ", "bash", "return x\n", "async ", "if 1:\n", "f:", "\x0c", "\u2028", "#",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=60)


@given(completion=TEXTS, kind=st.sampled_from([None, *Kind]), task=st.sampled_from([CALL, STDIN]), prompt=TEXTS)
@example(completion="```\n     ```\n```a\n", kind=None, task=CALL, prompt="")
def test_any_text_is_extracted_with_true_lines(completion, kind, task, prompt):
    task = Task(task_id="t", mode=task.mode, entry_point=task.entry_point, prompt=prompt)
    extraction = extract(completion, task=task, kind=kind)
    assert (extraction.code is None) == (extraction.reason is not None)
    assert kind is None or extraction.kind is kind
    assert extraction.code is None or extraction.code.strip()
    assert lines_agree(completion, extraction) or prompt


@given(before=st.integers(0, 5), after=st.sampled_from(["", "Bye.\n", fenced(USAGE)]), indent=st.integers(0, 3))
def test_a_block_anywhere_is_found_with_its_line(before, after, indent):
    pad = " " * indent
    block = "".join(f"{pad}{row}" for row in fenced(CODE).splitlines(keepends=True))
    extraction = extract("Words.\n" * before + block + after, task=CALL, kind=None)
    assert extraction.code == CODE
    assert extraction.line_offset == before + 1


HOSTILE = [
    "`" * 1_000_000, "```\n" * 2_000, "```python\n     ```\n" * 1_000, "a```\n" * 2_000,
    "(" * 100_000, "```\n" + "(" * 99_000 + "\n```", "-" * 99_999, "f = a" + ".b" * 49_000,
    "\0" * 1_000_000, " " * 1_000_000 + "x", "<think>" * 200_000, "</think>\n" * 100_000,
    "f:" * 500_000, "    def f(x):\n" * 50_000, "~~~ ```" * 50_000,
    "```\n  return x\n```\n" * 1_000, "\ud800" * 1_000_000, "\r" * 1_000_000 + "x",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_costs_little(text):
    for kind in (None, Kind.CHAT, Kind.CONTINUATION):
        assert Work(lambda kind=kind: extract(text, task=CALL, kind=kind)).calls < 2 * len(text) + 100_000


def test_an_ordinary_completion_takes_few_calls():
    body = "".join(f"    value_{n} = x * {n}  # a comment\n" for n in range(40))
    completion = f"Let us think.\n\n{fenced('def f(x):' + chr(10) + body)}\n{fenced(USAGE)}"
    assert Work(lambda: extract(completion, task=CALL, kind=Kind.CHAT)).calls < 5_000
