"""Linked lists, trees and graphs, of the completion's nodes or of the prompt's."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, check_suite, unittest_suite

_LIST_NODE = """
class ListNode:
    def __init__(self, val=0, next=None):
        self.val = val
        self.next = next
"""
_TREE_NODE = """
class TreeNode:
    def __init__(self, val=0, left=None, right=None):
        self.val = val
        self.left = left
        self.right = right
"""

SUITES: list[Suite] = [
    check_suite("reverse-a-linked-list",
        _LIST_NODE + '\ndef reverse(head):\n    """The list, reversed; its nodes are used again."""\n', "reverse", """
        assert candidate(None) is None
        for size in range(1, 6):
            head = made(range(size))
            old = head
            new = candidate(head)
            assert listed(new) == list(range(size))[::-1]
            assert old.next is None and old.val == 0
        """, _LIST_NODE + """
def reverse(head):
    previous = None
    while head:
        head.next, previous, head = previous, head, head.next
    return previous
""",
        ("    previous = None\n    while head:\n        head.next, previous, head = previous, head, head.next\n",
            "    previous = None\n    while head:\n        previous = ListNode(head.val, previous)\n"
            "        head = head.next\n"),
        ("return previous", "return head"),
        before="""
        def made(values):
            first = None
            for value in reversed(list(values)):
                first = ListNode(value, first)
            return first

        def listed(node):
            values = []
            while node:
                values.append(node.val)
                node = node.next
            return values
        """),
    check_suite("merge-sorted-linked-lists", "def merge(a, b):  # two sorted linked lists of ListNode to one", "merge",
        """
        head = candidate(ListNode(1, ListNode(4)), ListNode(2, ListNode(3, ListNode(9))))
        values = []
        while head is not None:
            assert isinstance(head, ListNode)
            values.append(head.val)
            head = head.next
        assert values == [1, 2, 3, 4, 9]
        assert candidate(None, None) is None
        one = ListNode(7)
        assert candidate(one, None).val == 7
        """, """
        def merge(a, b):
            if a is None or b is None:
                return a or b
            if b.val < a.val:
                a, b = b, a
            a.next = merge(a.next, b)
            return a
        """,
        ("return a or b", "return None"),
        ("b.val < a.val", "b.val > a.val"),
        preamble=_LIST_NODE),
    unittest_suite("linked-list-of-the-completion",
        "class Node(value), class LinkedList: append, prepend, remove(value), find(value) (the Node), head, iter, len.",
        "LinkedList", """
        import unittest

        class TestLinkedList(unittest.TestCase):
            def setUp(self):
                self.items = LinkedList()
                for x in (2, 3):
                    self.items.append(x)
                self.items.prepend(1)

            def test_nodes(self):
                self.assertIsInstance(self.items.head, Node)
                self.assertEqual(self.items.head.value, 1)
                self.assertEqual(self.items.head.next.next.value, 3)
                self.assertIsNone(self.items.head.next.next.next)
                self.assertIs(self.items.find(2), self.items.head.next)
                self.assertIsNone(self.items.find(9))

            def test_iter(self):
                self.assertEqual(list(self.items), [1, 2, 3])
                self.assertEqual(len(self.items), 3)

            def test_remove(self):
                self.items.remove(1)
                self.assertEqual(list(self.items), [2, 3])
                self.items.remove(3)
                self.assertEqual(list(self.items), [2])
                with self.assertRaises(ValueError):
                    self.items.remove(3)
        """, """
        class Node:
            def __init__(self, value, next=None):
                self.value, self.next = value, next

        class LinkedList:
            def __init__(self):
                self.head = None

            def _nodes(self):
                node = self.head
                while node:
                    yield node
                    node = node.next

            def append(self, value):
                *_, last = [None, *self._nodes()]
                if last:
                    last.next = Node(value)
                else:
                    self.head = Node(value)

            def prepend(self, value):
                self.head = Node(value, self.head)

            def find(self, value):
                return next((node for node in self._nodes() if node.value == value), None)

            def remove(self, value):
                before = None
                for node in self._nodes():
                    if node.value == value:
                        if before:
                            before.next = node.next
                        else:
                            self.head = node.next
                        return
                    before = node
                raise ValueError(value)

            def __iter__(self):
                return (node.value for node in self._nodes())

            def __len__(self):
                return sum(1 for _ in self)
        """,
        ("self.head = node.next\n                return", "self.head = None\n                return"),
        ("if node.value == value), None)", "if node.value == value))"),
    ),
    check_suite("tree-depth-and-inversion", _TREE_NODE + "\ndef depth(root): ...\ndef invert(root): ...\n", "invert",
        """
        root = TreeNode(1, TreeNode(2, TreeNode(4)), TreeNode(3))
        left, right = root.left, root.right
        assert depth(root) == 3 and depth(None) == 0
        result = candidate(root)
        assert result is root
        assert result.left is right and result.right is left
        assert result.right.right.val == 4 and result.right.left is None
        """, _TREE_NODE + """
def depth(root):
    return 1 + max(depth(root.left), depth(root.right)) if root else 0

def invert(root):
    if root:
        root.left, root.right = invert(root.right), invert(root.left)
    return root
""",
        ("invert(root.right), invert(root.left)", "root.right, root.left"),
        ("1 + max(", "1 + min("),
    ),
    unittest_suite("binary-search-tree",
        "class BST: insert(key), in, iter (in order), height(), delete(key) and root, a Node with key, left, right.",
        "BST", """
        import unittest

        class TestBST(unittest.TestCase):
            def setUp(self):
                self.tree = BST()
                for key in [50, 30, 70, 20, 40, 60, 80]:
                    self.tree.insert(key)

            def test_shape(self):
                self.assertEqual(self.tree.root.key, 50)
                self.assertEqual(self.tree.root.left.right.key, 40)
                self.assertEqual(self.tree.height(), 3)
                self.assertEqual(BST().height(), 0)

            def test_contains(self):
                self.assertTrue(60 in self.tree)
                self.assertFalse(65 in self.tree)

            def test_delete(self):
                for key, left in [(20, [30, 40, 50, 60, 70, 80]), (50, [30, 40, 60, 70, 80])]:
                    self.tree.delete(key)
                    self.assertEqual(list(self.tree), left)
        """, """
        class Node:
            def __init__(self, key):
                self.key, self.left, self.right = key, None, None

        class BST:
            def __init__(self):
                self.root = None

            def insert(self, key):
                self.root = self._insert(self.root, key)

            def _insert(self, node, key):
                if node is None:
                    return Node(key)
                if key < node.key:
                    node.left = self._insert(node.left, key)
                elif key > node.key:
                    node.right = self._insert(node.right, key)
                return node

            def delete(self, key):
                keys = [each for each in self if each != key]
                self.root = None
                for each in keys:
                    self.insert(each)

            def __iter__(self):
                def walk(node):
                    if node:
                        yield from walk(node.left)
                        yield node.key
                        yield from walk(node.right)
                return walk(self.root)

            def __contains__(self, key):
                return any(key == each for each in self)

            def height(self):
                def deep(node):
                    return 1 + max(deep(node.left), deep(node.right)) if node else 0
                return deep(self.root)
        """,
        ("yield node.key\n                yield from walk(node.right)", "yield from walk(node.right)"),
        ("1 + max(deep(node.left), deep(node.right)) if node else 0",
            "1 + max(deep(node.left), deep(node.right)) if node else -1"),
    ),
    unittest_suite("tree-with-parents",
        "class Folder(name, parent=None) with children, path(), root, and walk(), which yields the folders below.",
        "Folder", """
        import unittest

        class TestFolder(unittest.TestCase):
            def setUp(self):
                self.root = Folder("")
                self.home = Folder("home", self.root)
                self.ann = Folder("ann", parent=self.home)
                self.etc = Folder("etc", self.root)

            def test_links(self):
                self.assertIs(self.ann.parent.parent, self.root)
                self.assertIs(self.root.children[0].children[0], self.ann)
                self.assertIs(self.root.children[0].parent, self.root)
                self.assertIs(self.ann.root, self.root)
                self.assertEqual(self.root.children, [self.home, self.etc])
                self.assertIsNone(self.root.parent)

            def test_path(self):
                self.assertEqual(self.ann.path(), "/home/ann")
                self.home.name = "users"
                self.assertEqual(self.ann.path(), "/users/ann")

            def test_walk(self):
                self.assertEqual([f.name for f in self.root.walk()], ["home", "ann", "etc"])
                self.assertIs(next(self.home.walk()), self.ann)
        """, """
        class Folder:
            def __init__(self, name, parent=None):
                self.name, self.parent, self.children = name, parent, []
                if parent is not None:
                    parent.children.append(self)

            @property
            def root(self):
                return self.parent.root if self.parent else self

            def path(self):
                return f"{self.parent.path()}/{self.name}" if self.parent else self.name

            def walk(self):
                for child in self.children:
                    yield child
                    yield from child.walk()
        """,
        ("yield from child.walk()", "pass"),
        ("parent.children.append(self)", "parent.children.insert(0, self)"),
    ),
    check_suite("graph-of-a-class",
        "class Graph with add_edge(a, b, weight=1), neighbours(a) (a dict), and shortest(a, b): (distance, path).",
        "Graph", """
        g = candidate()
        for a, b, w in [("a", "b", 4), ("a", "c", 1), ("c", "b", 2), ("b", "d", 5)]:
            g.add_edge(a, b, w)
        g.add_edge("d", "e")
        assert g.neighbours("a") == {"b": 4, "c": 1}
        assert set(g.neighbours("d")) == {"b", "e"}
        assert g.shortest("a", "e") == (9, ["a", "c", "b", "d", "e"])
        assert g.shortest("e", "a")[0] == 9
        distance, path = g.shortest("a", "a")
        assert distance == 0 and path == ["a"]
        g.add_edge("x", "y")
        assert g.shortest("a", "x") == (float("inf"), [])
        """, """
        import heapq
        from collections import defaultdict

        class Graph:
            def __init__(self):
                self.edges = defaultdict(dict)

            def add_edge(self, a, b, weight=1):
                self.edges[a][b] = self.edges[b][a] = weight

            def neighbours(self, a):
                return dict(self.edges[a])

            def shortest(self, a, b):
                heap, seen = [(0, [a])], set()
                while heap:
                    distance, path = heapq.heappop(heap)
                    if path[-1] == b:
                        return distance, path
                    if path[-1] not in seen:
                        seen.add(path[-1])
                        for node, weight in self.edges[path[-1]].items():
                            heapq.heappush(heap, (distance + weight, [*path, node]))
                return float("inf"), []
        """,
        ("distance + weight", "distance + 1"),
        ("self.edges[a][b] = self.edges[b][a] = weight", "self.edges[a][b] = weight"),
    ),
    unittest_suite("doubly-linked-cycle",
        "class Person(name) with spouse and friends; def marry(a, b); def befriend(a, b).", "marry", """
        import unittest

        class TestPeople(unittest.TestCase):
            def setUp(self):
                self.ann, self.bob, self.eve = map(Person, ["Ann", "Bob", "Eve"])

            def test_marry(self):
                marry(self.ann, self.bob)
                self.assertIs(self.ann.spouse, self.bob)
                self.assertIs(self.bob.spouse.spouse, self.bob)
                self.assertEqual(self.ann.spouse.spouse.name, "Ann")
                with self.assertRaises(ValueError):
                    marry(self.ann, self.eve)

            def test_friends(self):
                befriend(self.ann, self.eve)
                befriend(self.eve, self.bob)
                self.assertEqual({p.name for p in self.eve.friends}, {"Ann", "Bob"})
                self.assertIn(self.eve, self.ann.friends)
                self.assertNotIn(self.bob, self.ann.friends)
                befriend(self.ann, self.eve)
                self.assertEqual(len(self.ann.friends), 1)
        """, """
        class Person:
            def __init__(self, name):
                self.name, self.spouse, self.friends = name, None, set()

        def marry(a, b):
            if a.spouse or b.spouse:
                raise ValueError("married already")
            a.spouse, b.spouse = b, a

        def befriend(a, b):
            a.friends.add(b)
            b.friends.add(a)
        """,
        ("a.spouse, b.spouse = b, a", "a.spouse = b"),
        ("    b.friends.add(a)\n", ""),
    ),
]
