"""Checks on objects of the dataset's own classes: from the preamble, the prompt or the test, known on both sides."""

from __future__ import annotations

from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer

_NODE = """
class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next
"""
_TREE = """
class TreeNode:
    def __init__(self, val=0, left=None, right=None):
        self.val, self.left, self.right = val, left, right
"""
_POINT = """
from dataclasses import dataclass, field
@dataclass
class Point:
    x: int
    y: int = 0
    tags: list = field(default_factory=list)
"""
_REVERSED = """
def f(head):
    before = None
    while head: head.next, before, head = before, head, head.next
    return before
"""
_VALUES = """
def values(node):
    found = []
    while node:
        found.append(node.value)
        node = node.next
    return found
"""

LINKED = [
    Row(
        "nodes-of-the-preamble",
        check_task(
            """
            first, second = Node(1), Node(2)
            first.next = second
            got = candidate(first)
            assert got is second and got.next is first
            assert first.next is None
            assert type(got) is Node
            """,
            preamble=_NODE,
        ),
        right=_REVERSED,
        wrong="def f(head): return Node(head.next.value, Node(head.value))",
    ),
    Row(
        "nodes-of-the-prompt",
        check_task(
            """
            assert values(candidate(Node(1, Node(2, Node(3))))) == [3, 2, 1]
            assert candidate(None) is None
            """,
            before=_VALUES,
            preamble=_NODE,
            prompt=_NODE + 'def f(head):\n    """Reverses a linked list."""\n',
        ),
        right=_REVERSED,
        wrong="def f(head): return head",
        attack=LIAR
        + """
def f(head):
    node = head
    while node: node.value, node = Liar(), node.next
    return head
""",
    ),
    Row(
        "nodes-of-the-test",
        check_task(
            """
            head = Node('a', Node('b'))
            candidate(head)
            assert values(head) == ['a', 'b', 'end']
            assert isinstance(head.next.next, Node)
            """,
            before=_NODE + _VALUES,
        ),
        right="""
        def f(head):
            while head.next: head = head.next
            head.next = type(head)('end')
        """,
        wrong="""
        def f(head):
            while head.next: head = head.next
            head.value = 'end'
        """,
    ),
    Row(
        "written-again-by-the-completion",
        check_task("assert values(candidate([1, 2])) == [1, 2]", before=_VALUES, preamble=_NODE),
        right=_NODE
        + """
def f(items):
    node = None
    for item in reversed(items): node = Node(item, node)
    return node
""",
        wrong=_NODE
        + """
def f(items):
    node = None
    for item in items: node = Node(item, node)
    return node
""",
        attack=LIAR
        + _NODE
        + """
class Node(Node, Liar):
    pass
def f(items): return Node(Liar(), Node(Liar()))
""",
    ),
    Row(
        "a-ring",
        check_task(
            """
            ring = candidate(Node(1, Node(2)))
            assert ring.next.next is ring
            assert [ring.value, ring.next.value, ring.next.next.value] == [1, 2, 1]
            has = Node(1)
            has.next = Node(2, has)
            assert candidate(has) is None
            """,
            preamble=_NODE,
        ),
        right="""
        def f(head):
            last = head
            while last.next:
                last = last.next
                if last is head: return None
            last.next = head
            return head
        """,
        wrong="""
        def f(head):
            if head.next.next is head: return None
            head.next.next = Node(1, head.next)
            return head
        """,
    ),
    Row(
        "a-long-list",
        check_task(
            """
            head = None
            for value in range(3000):
                head = Node(value, head)
            assert values(candidate(head)) == list(range(3000))
            """,
            before=_VALUES,
            preamble=_NODE,
        ),
        right=_REVERSED,
        wrong="def f(head): return head",
    ),
]

TREES = [
    Row(
        "tree-that-is-returned",
        check_task(
            """
            root = candidate([2, 1, 3])
            assert (root.val, root.left.val, root.right.val) == (2, 1, 3)
            assert isinstance(root.left, TreeNode) and root.left.left is None
            """,
            preamble=_TREE,
            prompt=_TREE + "def f(items): ...",
        ),
        right="""
        def f(items):
            root = None
            def put(node, item):
                if node is None: return TreeNode(item)
                if item < node.val: node.left = put(node.left, item)
                else: node.right = put(node.right, item)
                return node
            for item in items: root = put(root, item)
            return root
        """,
        wrong="def f(items): return TreeNode(items[0], TreeNode(items[1]), TreeNode(items[1]))",
        attack=LIAR + "def f(items): return TreeNode(Liar(), TreeNode(Liar()), TreeNode(Liar()))",
    ),
    Row(
        "tree-that-is-changed",
        check_task(
            """
            leaf = TreeNode(1)
            root = TreeNode(2, leaf, TreeNode(3))
            assert candidate(root) is root
            assert root.right is leaf and root.left.val == 3
            """,
            preamble=_TREE,
        ),
        right="""
        def f(root):
            if root:
                root.left, root.right = f(root.right), f(root.left)
            return root
        """,
        wrong="def f(root): return TreeNode(root.val, root.right, root.left)",
    ),
]

PLAIN = [
    Row(
        "dataclass",
        check_task(
            """
            got = candidate([Point(1), Point(2, 3)])
            assert got == Point(3, 3, ['sum'])
            assert repr(got) == "Point(x=3, y=3, tags=['sum'])"
            """,
            preamble=_POINT,
        ),
        right="def f(points): return Point(sum(p.x for p in points), sum(p.y for p in points), ['sum'])",
        wrong="def f(points): return Point(sum(p.x for p in points), sum(p.y for p in points))",
        attack=LIAR
        + """
@dataclass
class Point(Point):
    __eq__ = Liar.__eq__
    __repr__ = lambda self: "Point(x=3, y=3, tags=['sum'])"
def f(points): return Point(0)
""",
        objects=True,
    ),
    Row(
        "enum",
        check_task(
            """
            assert candidate(Light.RED) is Light.GREEN
            assert candidate(Light.GREEN).name == 'RED'
            assert {candidate(light) for light in Light} == set(Light)
            """,
            preamble="""
            from enum import Enum
            class Light(Enum):
                RED = 'r'
                GREEN = 'g'
            """,
        ),
        right="def f(light): return Light.GREEN if light is Light.RED else Light.RED",
        wrong="def f(light): return Light.GREEN.value if light is Light.RED else Light.RED",
        attack=LIAR
        + """
class Red(Liar):
    name = 'RED'
    __hash__ = lambda self: hash(Light.RED)
def f(light): return Light.GREEN if light is Light.RED else Red()
""",
    ),
    Row(
        "named-tuple",
        check_task(
            """
            got = candidate([Pair('a', 1), Pair('b', 2)])
            assert got == Pair('b', 2) and type(got) is Pair
            assert got._asdict() == {'name': 'b', 'size': 2}
            """,
            preamble="""
            from collections import namedtuple
            Pair = namedtuple('Pair', ['name', 'size'])
            """,
        ),
        right="def f(pairs): return max(pairs, key=lambda pair: pair.size)",
        wrong="def f(pairs): return tuple(max(pairs, key=lambda pair: pair.size))",
    ),
    Row(
        "slots-and-inheritance",
        check_task(
            """
            zoo = [Dog('rex'), Cat('tom')]
            assert candidate(zoo) == ['rex: woof', 'tom: meow']
            assert zoo[0].name == 'REX'
            assert isinstance(zoo[0], Animal) and type(zoo[0]) is Dog
            """,
            before="""
            class Animal:
                __slots__ = ('name',)
                def __init__(self, name): self.name = name
                def says(self): return f'{self.name}: {self.noise}'
            class Dog(Animal):
                __slots__ = ()
                noise = 'woof'
            class Cat(Animal):
                __slots__ = ()
                noise = 'meow'
            """,
        ),
        right="""
        def f(zoo):
            said = [animal.says() for animal in zoo]
            zoo[0].name = zoo[0].name.upper()
            return said
        """,
        wrong="def f(zoo): return [animal.says() for animal in zoo]",
    ),
    Row(
        "its-own-comparison",
        check_task(
            """
            assert candidate([Money(3), Money(1)]) == [Money(1), Money(3)]
            assert candidate([Money(2), Money(2)])[0] == Money(2)
            """,
            before="""
            from functools import total_ordering
            @total_ordering
            class Money:
                def __init__(self, amount): self.amount = amount
                def __eq__(self, other): return self.amount == other.amount
                def __lt__(self, other): return self.amount < other.amount
            """,
        ),
        right="def f(items): return sorted(items)",
        wrong="def f(items): return items",
        attack=LIAR
        + """
def f(items):
    kind = type(items[0])
    kind.__eq__ = Liar.__eq__
    return items
""",
        objects=True,
    ),
]

ROWS = [*LINKED, *TREES, *PLAIN]


@each_answer(ROWS)
def test_objects_of_the_dataset_are_known_on_both_sides(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
