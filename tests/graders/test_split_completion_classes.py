"""Checks that make objects of a completion's class and use them: their objects stay with the completion."""

from __future__ import annotations

from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer


def _row(
    name: str,
    check: str,
    right: str,
    wrong: str,
    attack: str = "",
    *,
    verified: bool | None = True,
    objects: bool = False,
) -> Row:
    """A row whose completion is the class Box."""
    return Row(name, check_task(check, entry_point="Box"), right, wrong, attack, verified=verified, objects=objects)


USED = [
    _row(
        "methods-and-attributes",
        """
        box = Box(3, label='a')
        assert box.label == 'a' and box.size == 3
        assert box.add(2) is None
        assert box.total() == 5
        box.size = 10
        assert box.total(extra=1) == 11
        """,
        right="""
        class Box:
            def __init__(self, size, label): self.size, self.label = size, label
            def add(self, n): self.size += n
            def total(self, extra=0): return self.size + extra
        """,
        wrong="""
        class Box:
            def __init__(self, size, label): self.size, self.label = size, label
            def add(self, n): self.size += n
            def total(self, extra=0): return self.size
        """,
        attack=LIAR
        + """
class Box(Liar):
    def __init__(self, *_, **__): pass
    def __getattr__(self, name): return Liar()
    def add(self, n): return None
    def total(self, **_): return Liar()
""",
    ),
    _row(
        "lists-and-dicts-of-an-object",
        """
        box = Box()
        assert box.items == []
        box.items.append('x')
        box.names['x'] = 1
        assert box.items == ['x'] and box.count() == 2
        box.items = ['y', 'z']
        assert box.count() == 3
        """,
        right="""
        class Box:
            def __init__(self): self.items, self.names = [], {}
            def count(self): return len(self.items) + len(self.names)
        """,
        wrong="""
        class Box:
            def __init__(self): self.items, self.names = [], {}
            def count(self): return 2
        """,
    ),
    _row(
        "properties",
        """
        box = Box(2)
        assert box.area == 4
        box.side = 3
        assert box.area == 9
        try:
            box.area = 1
        except AttributeError:
            pass
        else:
            assert False, 'it can be set'
        del box.side
        assert not hasattr(box, 'side') and getattr(box, 'side', 7) == 7
        """,
        right="""
        class Box:
            def __init__(self, side): self.side = side
            @property
            def area(self): return self.side ** 2
        """,
        wrong="""
        class Box:
            def __init__(self, side): self.side, self.area = side, side ** 2
        """,
    ),
    _row(
        "class-attributes-and-constructors",
        """
        assert Box.made == 0 and Box.KIND == 'box'
        box = Box.square(2)
        assert (box.width, box.height) == (2, 2)
        assert Box.made == 1 and box.made == 1
        assert Box.area(3, 4) == 12 and box.area(1, 2) == 2
        """,
        right="""
        class Box:
            KIND, made = 'box', 0
            def __init__(self, width, height):
                self.width, self.height = width, height
                Box.made += 1
            @classmethod
            def square(cls, side): return cls(side, side)
            @staticmethod
            def area(width, height): return width * height
        """,
        wrong="""
        class Box:
            KIND, made = 'box', 0
            def __init__(self, width, height): self.width, self.height = width, height
            @classmethod
            def square(cls, side): return cls(side, side)
            @staticmethod
            def area(width, height): return width * height
        """,
    ),
    _row(
        "private-attributes-and-vars",
        """
        box = Box(1)
        assert box._size == 1
        assert box._Box__secret == [2]
        assert vars(box) == {'_size': 1, '_Box__secret': [2]}
        assert box.__dict__['_size'] == 1
        assert 'grow' in dir(box) and callable(box.grow)
        """,
        right="""
        class Box:
            def __init__(self, size): self._size, self.__secret = size, [2]
            def grow(self): self._size += 1
        """,
        wrong="""
        class Box:
            def __init__(self, size): self._size, self.__secret, self.more = size, [2], 0
            def grow(self): self._size += 1
        """,
        verified=None,
    ),
    _row(
        "methods-that-are-kept-and-chained",
        """
        box = Box()
        add = box.add
        assert add(1) is box
        assert add(2).add(3).items == [1, 2, 3]
        assert list(map(Box.size, [box, Box()])) == [3, 0]
        """,
        right="""
        class Box:
            def __init__(self): self.items = []
            def add(self, item):
                self.items.append(item)
                return self
            def size(self): return len(self.items)
        """,
        wrong="""
        class Box:
            def __init__(self): self.items = []
            def add(self, item):
                box = Box()
                box.items = [*self.items, item]
                return box
            def size(self): return len(self.items)
        """,
    ),
]

FAMILIES = [
    Row(
        "inheritance-and-class-tests",
        check_task(
            """
            dog = Dog('rex')
            assert isinstance(dog, Dog) and isinstance(dog, Animal) and not isinstance(dog, Cat)
            assert issubclass(Dog, Animal) and not issubclass(Animal, Dog)
            assert type(dog) is Dog and dog.__class__ is Dog
            assert type(dog).__name__ == 'Dog' and Dog.__name__ == 'Dog'
            assert dog.speak() == 'rex: woof' and Animal.speak(Cat('tom')) == 'tom: ...'
            """,
            entry_point="Dog",
        ),
        right="""
        class Animal:
            noise = '...'
            def __init__(self, name): self.name = name
            def speak(self): return f'{self.name}: {self.noise}'
        class Dog(Animal):
            noise = 'woof'
        class Cat(Animal): pass
        """,
        wrong="""
        class Animal:
            noise = '...'
            def __init__(self, name): self.name = name
            def speak(self): return f'{self.name}: {self.noise}'
        class Dog(Animal):
            noise = 'woof'
        Cat = Dog
        """,
        attack=LIAR
        + """
class Meta(type):
    __instancecheck__ = lambda cls, other: cls is not Cat
    __subclasscheck__ = lambda cls, other: other is not Animal
class Dog(metaclass=Meta):
    name = 'rex'
    def __init__(self, name): pass
    def speak(self): return 'rex: woof' if type(self) is Dog else Liar()
class Animal(metaclass=Meta):
    speak = lambda self: Liar()
class Cat(Dog): pass
""",
        objects=True,
    ),
    Row(
        "objects-that-a-function-returns",
        check_task(
            """
            account = candidate('ada', 5)
            account.pay(3)
            assert (account.owner, account.balance) == ('ada', 2)
            assert candidate('bob', 0).history == []
            """
        ),
        right="""
        class Account:
            def __init__(self, owner, balance): self.owner, self.balance, self.history = owner, balance, []
            def pay(self, amount):
                self.balance -= amount
                self.history.append(amount)
        def f(owner, balance): return Account(owner, balance)
        """,
        wrong="""
        class Account:
            def __init__(self, owner, balance): self.owner, self.balance, self.history = owner, balance, []
            def pay(self, amount): pass
        def f(owner, balance): return Account(owner, balance)
        """,
        attack=LIAR
        + """
class Account:
    owner = balance = history = Liar()
    pay = lambda self, amount: None
def f(*_): return Account()
""",
    ),
    Row(
        "objects-as-arguments",
        check_task(
            """
            basket, apple = Basket(), Item('apple', 3)
            basket.put(apple)
            basket.put(Item('pear', 4))
            assert basket.total() == 7
            apple.price = 10
            assert basket.total() == 14
            assert basket.items[0] is apple
            assert [item.name for item in basket.items] == ['apple', 'pear']
            """,
            entry_point="Basket",
        ),
        right="""
        class Item:
            def __init__(self, name, price): self.name, self.price = name, price
        class Basket:
            def __init__(self): self.items = []
            def put(self, item): self.items.append(item)
            def total(self): return sum(item.price for item in self.items)
        """,
        wrong="""
        import copy
        class Item:
            def __init__(self, name, price): self.name, self.price = name, price
        class Basket:
            def __init__(self): self.items = []
            def put(self, item): self.items.append(copy.copy(item))
            def total(self): return sum(item.price for item in self.items)
        """,
    ),
    Row(
        "a-method-that-is-missing",
        check_task("assert Box().size() == 0", entry_point="Box"),
        right="""
        class Box:
            def size(self): return 0
        """,
        wrong="""
        class Box:
            def length(self): return 0
        """,
    ),
]

ROWS = [*USED, *FAMILIES]


@each_answer(ROWS)
def test_objects_of_the_completion_stay_with_it(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
