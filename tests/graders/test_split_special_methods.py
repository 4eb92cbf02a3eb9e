"""Checks that use the objects of a completion's class by operators and builtins, which ask the type of an object."""

from __future__ import annotations

from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer


def _row(name: str, check: str, right: str, wrong: str, attack: str = "", *, verified: bool | None = True) -> Row:
    """A row whose completion is the class Box."""
    return Row(name, check_task(check, entry_point="Box"), right, wrong, attack, verified=verified)


ROWS = [
    _row(
        "length-membership-iteration",
        """
        box = Box(['a', 'b'])
        assert len(box) == 2 and bool(Box([])) is False
        assert 'a' in box and 'c' not in box
        assert list(box) == ['a', 'b'] and [*reversed(box)] == ['b', 'a']
        assert box[0] == 'a' and box[-1:] == ['b']
        box[0] = 'x'
        del box[1]
        assert sorted(box) == ['x']
        """,
        right="""
        class Box:
            def __init__(self, items): self.items = items
            def __len__(self): return len(self.items)
            def __contains__(self, item): return item in self.items
            def __iter__(self): return iter(self.items)
            def __reversed__(self): return reversed(self.items)
            def __getitem__(self, place): return self.items[place]
            def __setitem__(self, place, item): self.items[place] = item
            def __delitem__(self, place): del self.items[place]
        """,
        wrong="""
        class Box(list):
            def __delitem__(self, place): self[place] = 'deleted'
        """,
        attack=LIAR
        + """
class Box:
    def __init__(self, items): self.items = items
    __len__ = lambda self: len(self.items)
    __contains__ = lambda self, item: item == 'a'
    __reversed__ = __iter__ = lambda self: iter([Liar()] * len(self.items))
    __getitem__ = lambda self, place: Liar()
    __setitem__ = lambda self, *_: None
    __delitem__ = lambda self, place: self.items.pop()
""",
    ),
    _row(
        "texts-of-an-object",
        """
        box = Box(2)
        assert str(box) == 'a box of 2' and f'{box}!' == 'a box of 2!'
        assert repr(box) == 'Box(2)' and f'{box!r:>8}' == '  Box(2)'
        assert f'{box:wide}' == 'wide box'
        assert '%s' % box == 'a box of 2'
        assert int(box) == 2 and float(box) == 2.5 and hash(box) == 7
        """,
        right="""
        class Box:
            def __init__(self, size): self.size = size
            def __str__(self): return f'a box of {self.size}'
            def __repr__(self): return f'Box({self.size})'
            def __format__(self, how): return f'{how} box' if how else str(self)
            def __int__(self): return self.size
            def __float__(self): return self.size + 0.5
            def __hash__(self): return 7
        """,
        wrong="""
        class Box:
            def __init__(self, size): self.size = size
            def __str__(self): return f'a box of {self.size}'
            __repr__ = __str__
            def __int__(self): return self.size
            def __float__(self): return self.size + 0.5
            def __hash__(self): return 7
        """,
    ),
    _row(
        "context-manager",
        """
        box = Box()
        with box as inside:
            assert inside is box and box.open
            inside.log.append('within')
        assert not box.open
        with Box() as other:
            raise KeyError('kept in')
        assert other.log == ["KeyError('kept in')"] and box.log == ['within', 'None']
        """,
        right="""
        class Box:
            def __init__(self): self.open, self.log = False, []
            def __enter__(self):
                self.open = True
                return self
            def __exit__(self, kind, error, traceback):
                self.open = False
                self.log.append(repr(error))
                return kind is KeyError
        """,
        wrong="""
        class Box:
            def __init__(self): self.open, self.log = False, []
            def __enter__(self): return self
            def __exit__(self, kind, error, traceback): return True
        """,
    ),
    _row(
        "operators",
        """
        one, two = Box(1, 2), Box(3, 4)
        assert (one + two).pair == (4, 6)
        assert (one * 3).pair == (3, 6) and (3 * one).pair == (3, 6)
        assert (-one).pair == (-1, -2) and abs(two) == 5.0
        assert one @ two == 11
        assert divmod(two, 2).pair == (1, 2) and (two // 2)[0] == 1
        assert two(10) == 70 and ~two == 'inverted'
        one += two
        assert one.pair == (4, 6)
        """,
        right="""
        class Box:
            def __init__(self, *pair): self.pair = pair
            def __add__(self, other): return Box(*(a + b for a, b in zip(self.pair, other.pair)))
            def __mul__(self, n): return Box(*(a * n for a in self.pair))
            __rmul__ = __mul__
            def __neg__(self): return self * -1
            def __abs__(self): return sum(a * a for a in self.pair) ** 0.5
            def __matmul__(self, other): return sum(a * b for a, b in zip(self.pair, other.pair))
            def __floordiv__(self, n): return Box(*(a // n for a in self.pair))
            __divmod__ = __floordiv__
            def __getitem__(self, place): return self.pair[place]
            def __call__(self, n): return sum(self.pair) * n
            def __invert__(self): return 'inverted'
        """,
        wrong="""
        class Box:
            def __init__(self, *pair): self.pair = pair
            def __add__(self, other): return Box(*self.pair, *other.pair)
        """,
        attack=LIAR
        + """
class Box(Liar):
    pair = Liar()
    def __init__(self, *_): pass
    __mul__ = __rmul__ = __neg__ = __matmul__ = __divmod__ = __floordiv__ = __call__ = lambda self, *_: self
    __invert__ = __mul__
""",
    ),
    _row(
        "objects-as-keys-and-in-sets",
        """
        one, same, two = Box(1), Box(1), Box(2)
        assert {one: 'a'}[one] == 'a'
        assert len({one, two}) == 2
        assert {one: 'a'}.get(same) == 'a' and len({one, same}) == 1
        """,
        right="""
        class Box:
            def __init__(self, size): self.size = size
            def __eq__(self, other): return isinstance(other, Box) and self.size == other.size
            def __hash__(self): return hash(self.size)
        """,
        wrong="""
        class Box:
            def __init__(self, size): self.size = size
        """,
        verified=False,
    ),
]


@each_answer(ROWS)
def test_special_methods_are_the_completions(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
