"""Checks on coroutines and asynchronous generators, and checks that call a completion from several threads."""

from __future__ import annotations

from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer

ROWS = [
    Row(
        "run",
        check_task(
            """
            assert asyncio.run(candidate(3)) == 6
            assert asyncio.iscoroutinefunction(candidate)
            """,
            before="import asyncio",
        ),
        right="""
        import asyncio
        async def f(n):
            await asyncio.sleep(0)
            return 2 * n
        """,
        wrong="""
        async def f(n): return n
        """,
        attack=LIAR
        + """
async def f(n): return Liar()
""",
    ),
    Row(
        "gathered",
        check_task(
            """
            async def main():
                assert await asyncio.gather(*(candidate(n) for n in range(3))) == [0, 1, 4]
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(candidate(n)) for n in (5, 6)]
                assert [task.result() for task in tasks] == [25, 36]
                return await asyncio.wait_for(candidate(7), 20)
            assert asyncio.run(main()) == 49
            """,
            before="import asyncio",
        ),
        right="""
        import asyncio
        async def f(n):
            await asyncio.sleep(0)
            return n * n
        """,
        wrong="""
        async def f(n): return n * n if n < 5 else 25
        """,
    ),
    Row(
        "exception",
        check_task(
            """
            async def main():
                try:
                    await candidate(-1)
                except ValueError as error:
                    return str(error)
                raise AssertionError('no exception')
            assert asyncio.run(main()) == 'negative'
            """,
            before="import asyncio",
        ),
        right="""
        async def f(n):
            if n < 0: raise ValueError('negative')
        """,
        wrong="""
        async def f(n):
            raise ValueError('bad')
        """,
    ),
    Row(
        "asynchronous-generator",
        check_task(
            """
            async def main(n):
                return [item async for item in candidate(n)]
            assert asyncio.run(main(3)) == [3, 2, 1]
            async def first():
                async for item in candidate(10**9):
                    return item
            assert asyncio.run(first()) == 10**9
            """,
            before="import asyncio",
        ),
        right="""
        import asyncio
        async def f(n):
            while n:
                yield n
                await asyncio.sleep(0)
                n -= 1
        """,
        wrong="""
        async def f(n):
            while n > 1:
                yield n
                n -= 1
        """,
        attack=LIAR
        + """
async def f(n):
    for _ in range(3): yield Liar()
""",
    ),
    Row(
        "argument-that-is-changed",
        check_task(
            """
            log = []
            asyncio.run(candidate(log))
            assert log == ['start', 'end']
            """,
            before="import asyncio",
        ),
        right="""
        async def f(log):
            log.append('start')
            log.append('end')
        """,
        wrong="""
        async def f(log):
            log.append('start')
        """,
    ),
    Row(
        "coroutine-function-of-the-test",
        check_task(
            """
            async def fetch(name):
                await asyncio.sleep(0)
                return name.upper()
            assert asyncio.run(candidate(fetch, ['a', 'b'])) == ['A', 'B']
            """,
            before="import asyncio",
        ),
        right="""
        import asyncio
        async def f(fetch, names): return list(await asyncio.gather(*map(fetch, names)))
        """,
        wrong="""
        async def f(fetch, names): return names
        """,
        verified=None,
    ),
    Row(
        "class-with-coroutines",
        check_task(
            """
            async def main():
                store = Store()
                async with store as opened:
                    assert opened is store
                    await store.put('a', 1)
                    assert await store.get('a') == 1
                return store.closed
            assert asyncio.run(main()) is True
            """,
            before="import asyncio",
            entry_point="Store",
        ),
        right="""
        class Store:
            def __init__(self): self.data, self.closed = {}, False
            async def __aenter__(self): return self
            async def __aexit__(self, *_): self.closed = True
            async def put(self, key, value): self.data[key] = value
            async def get(self, key): return self.data[key]
        """,
        wrong="""
        class Store:
            def __init__(self): self.data, self.closed = {}, False
            async def __aenter__(self): return self
            async def __aexit__(self, *_): pass
            async def put(self, key, value): self.data[key] = value
            async def get(self, key): return self.data[key]
        """,
        verified=None,
    ),
    Row(
        "from-several-threads",
        check_task(
            """
            with ThreadPoolExecutor(4) as pool:
                assert list(pool.map(candidate, range(20))) == [n * n for n in range(20)]
            """,
            before="from concurrent.futures import ThreadPoolExecutor",
        ),
        right="def f(n): return n * n",
        wrong="def f(n): return n * n if n != 13 else 0",
        verified=None,
    ),
]


@each_answer(ROWS)
def test_coroutines_are_awaited_by_the_check(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
