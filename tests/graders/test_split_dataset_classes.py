"""Tests of objects of the dataset's own classes, from the preamble or the prompt, which both sides have."""

from __future__ import annotations

from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer

_NODE = """
class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next
"""
_VALUES = """
def values(node):
    found = []
    while node:
        found.append(node.value)
        node = node.next
    return found
"""

# fmt: off
LINKED = [
    Row("written-again-by-the-completion", check_task("assert values(candidate([1, 2])) == [1, 2]", before=_VALUES,
            preamble=_NODE),
        right=_NODE + """
def f(items):
    node = None
    for item in reversed(items): node = Node(item, node)
    return node
""",
        wrong=_NODE + """
def f(items):
    node = None
    for item in items: node = Node(item, node)
    return node
""",
        attack=LIAR + _NODE + """
class Node(Node, Liar):
    pass
def f(items): return Node(Liar(), Node(Liar()))
"""),
]

PLAIN = [
    Row("its-own-comparison", check_task("""
            assert candidate([Money(3), Money(1)]) == [Money(1), Money(3)]
            assert candidate([Money(2), Money(2)])[0] == Money(2)
            """, preamble="""
            from functools import total_ordering
            @total_ordering
            class Money:
                def __init__(self, amount): self.amount = amount
                def __eq__(self, other): return self.amount == other.amount
                def __lt__(self, other): return self.amount < other.amount
            """),
        right="def f(items): return sorted(items)",
        wrong="def f(items): return items",
        attack=LIAR + """
def f(items):
    kind = type(items[0])
    kind.__eq__ = Liar.__eq__
    return items
""",
        objects=True),
]
# fmt: on

ROWS = [*LINKED, *PLAIN]


@each_answer(ROWS)
def test_both_sides_have_the_datasets_classes(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
