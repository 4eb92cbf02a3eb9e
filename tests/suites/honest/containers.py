"""Objects that hold others, context managers, iterators and generators of the completion's."""

from tests.suites.honest_suite import Suite, check_suite, unittest_suite

SUITES: list[Suite] = [
    unittest_suite("playlist",
        "class Playlist(*songs) with len, index, slice (a Playlist), in, iter, reversed, bool and del.", "Playlist",
        """
        import unittest

        class TestPlaylist(unittest.TestCase):
            def setUp(self):
                self.songs = Playlist("a", "b", "c", "d")

            def test_read(self):
                self.assertEqual(len(self.songs), 4)
                self.assertEqual(self.songs[0], "a")
                self.assertEqual(self.songs[-1], "d")
                self.assertIn("b", self.songs)
                self.assertEqual([s.upper() for s in self.songs], ["A", "B", "C", "D"])
                self.assertEqual("".join(reversed(self.songs)), "dcba")
                self.assertEqual(list(enumerate(self.songs))[1], (1, "b"))

            def test_slice(self):
                part = self.songs[1:3]
                self.assertIsInstance(part, Playlist)
                self.assertEqual(list(part), ["b", "c"])
                self.assertEqual(list(self.songs[::-2]), ["d", "b"])

            def test_change(self):
                self.songs[0] = "x"
                del self.songs[1]
                self.assertEqual(list(self.songs), ["x", "c", "d"])
                self.assertTrue(self.songs)
                self.assertFalse(Playlist())

            def test_out_of_range(self):
                with self.assertRaises(IndexError):
                    self.songs[9]
        """, """
        class Playlist:
            def __init__(self, *songs):
                self._songs = list(songs)

            def __len__(self):
                return len(self._songs)

            def __getitem__(self, i):
                return Playlist(*self._songs[i]) if isinstance(i, slice) else self._songs[i]

            def __setitem__(self, i, song):
                self._songs[i] = song

            def __delitem__(self, i):
                del self._songs[i]
        """,
        ("self._songs[i] = song", "self._songs.insert(i, song)"),
    ),
    unittest_suite("mapping-with-history",
        "class VersionedDict(MutableMapping): also history(key), all values that the key has had.", "VersionedDict",
        """
        import unittest
        from collections.abc import Mapping, MutableMapping

        class TestVersionedDict(unittest.TestCase):
            def setUp(self):
                self.d = VersionedDict()
                self.d["a"] = 1
                self.d["b"] = 2
                self.d["a"] = 3

            def test_mapping(self):
                self.assertEqual(self.d["a"], 3)
                self.assertEqual(dict(self.d), {"a": 3, "b": 2})
                self.assertEqual(sorted(self.d.items()), [("a", 3), ("b", 2)])
                self.assertEqual(list(self.d.keys()), ["a", "b"])
                self.assertEqual(self.d.get("z", 0), 0)
                self.assertIsInstance(self.d, Mapping)
                self.assertTrue(issubclass(VersionedDict, MutableMapping))

            def test_history(self):
                self.assertEqual(self.d.history("a"), [1, 3])
                self.d.update(a=4, c=5)
                self.assertEqual(self.d.history("a"), [1, 3, 4])
                self.assertEqual(self.d.pop("a"), 4)
                self.assertNotIn("a", self.d)
                self.assertEqual(self.d.history("a"), [1, 3, 4])
                self.assertEqual(self.d.setdefault("b", 9), 2)
                self.assertEqual(list(self.d), ["b", "c"])
                self.assertEqual(len(self.d), 2)
        """, """
        from collections.abc import MutableMapping

        class VersionedDict(MutableMapping):
            def __init__(self):
                self._now, self._history = {}, {}

            def __getitem__(self, key):
                return self._now[key]

            def __setitem__(self, key, value):
                self._now[key] = value
                self._history.setdefault(key, []).append(value)

            def __delitem__(self, key):
                del self._now[key]

            def __iter__(self):
                return iter(self._now)

            def __len__(self):
                return len(self._now)

            def history(self, key):
                return list(self._history[key])
        """,
        ("iter(self._now)", "iter(self._history)"),
    ),
    unittest_suite("suppresses-some-exceptions",
        "class Ignoring(*kinds), a context manager that passes over these exceptions and keeps the last as caught.",
        "Ignoring", """
        import unittest

        class TestIgnoring(unittest.TestCase):
            def test_ignored(self):
                with Ignoring(KeyError, IndexError) as ignoring:
                    {}["x"]
                    self.fail("not reached")
                self.assertIsInstance(ignoring.caught, KeyError)
                self.assertEqual(ignoring.caught.args, ("x",))

            def test_subclass(self):
                with Ignoring(LookupError) as ignoring:
                    [][3]
                self.assertIs(type(ignoring.caught), IndexError)

            def test_not_ignored(self):
                with self.assertRaises(ZeroDivisionError):
                    with Ignoring(KeyError):
                        1 / 0

            def test_nothing_raised(self):
                with Ignoring(KeyError) as ignoring:
                    pass
                self.assertIsNone(ignoring.caught)
        """, """
        class Ignoring:
            def __init__(self, *kinds):
                self.kinds, self.caught = kinds, None

            def __enter__(self):
                return self

            def __exit__(self, kind, error, traceback):
                if kind is not None and issubclass(kind, self.kinds):
                    self.caught = error
                    return True
                return False
        """,
        ("issubclass(kind, self.kinds)", "kind in self.kinds"),
    ),
    unittest_suite("running-average-by-send",
        "def averager(): a generator; each number that is sent gives the average so far.", "averager", """
        import types
        import unittest

        class TestAverager(unittest.TestCase):
            def test_send(self):
                average = averager()
                self.assertIsNone(next(average))
                self.assertEqual(average.send(10), 10)
                self.assertEqual(average.send(20), 15)
                self.assertAlmostEqual(average.send(7), 12.3333, places=3)

            def test_reset_by_throw(self):
                average = averager()
                next(average)
                average.send(10)
                self.assertIsNone(average.throw(KeyError("reset")))
                self.assertEqual(average.send(4), 4)
                with self.assertRaises(ValueError):
                    average.throw(ValueError("other"))
                with self.assertRaises(StopIteration):
                    average.send(1)

            def test_kind(self):
                self.assertIsInstance(averager(), types.GeneratorType)
        """, """
        def averager():
            total, count, average = 0, 0, None
            while True:
                try:
                    number = yield average
                except KeyError:
                    total, count, average = 0, 0, None
                else:
                    total, count = total + number, count + 1
                    average = total / count
        """,
        ("except KeyError", "except Exception"),
    ),
    check_suite("closed-generator-cleans-up",
        "def numbers(log):  # yields 0, 1, ...; appends 'closed' to log when it is closed", "numbers", """
        log = []
        generator = candidate(log)
        assert next(generator) == 0 and next(generator) == 1
        assert log == ["opened"]
        generator.close()
        assert log == ["opened", "closed"]
        assert next(generator, "end") == "end"
        generator.close()
        assert log == ["opened", "closed"]
        unstarted = candidate(log)
        unstarted.close()
        assert log == ["opened", "closed"]
        """, """
        from itertools import count

        def numbers(log):
            log.append("opened")
            try:
                yield from count()
            finally:
                log.append("closed")
        """,
        ("finally:", "except StopIteration:"),
    ),
]
