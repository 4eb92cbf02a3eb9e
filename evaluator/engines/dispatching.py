"""Hands out rollouts to hands and takes their grades back: the part that all engines share.

Each hand has as much work in advance as it does in a quarter of a second, so that it need not wait for more. Nothing is
read that no hand has room for. What is queued behind a slow completion goes to a hand that has nothing to do. When a
hand is lost, another takes its place.
"""

from __future__ import annotations

import selectors
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from typing import Final

from evaluator.engines.batches import Batch, Item
from evaluator.engines.hands import Engine, Hand, HandLostError
from evaluator.engines.member import Member
from evaluator.engines.messages import Done, FromHand, Ready, Setup, Stay, ToHand, Withdraw, Withdrawn
from evaluator.engines.shipping import Order, Shelf
from evaluator.engines.worker import ungraded
from evaluator.model import Rollout, Verdict
from evaluator.sandbox import InterpreterError, SandboxUnavailable

_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
_PER_NEW_HAND: Final = 2
_MOST_CHARACTERS: Final = 64 << 20
_HOMES: Final = 65_536
_SOON_S: Final = 0.05
_REST_S: Final = 1.0
_FAILED_STARTS: Final = 3
_DEATHS: Final = 2
_NO_ROOM: Final = "check free memory, and the limit of processes (ulimit -u)"


class Dispatcher:
    """Hands, and the rollouts that are with them. For one thread at a time; close it."""

    def __init__(self, engine: Engine, setup: Setup) -> None:
        """Its hands are started as they are needed."""
        self._engine = engine
        self._setup = setup
        self._selector = selectors.DefaultSelector()
        self._members: list[Member] = []
        self._shelf = Shelf()
        self._waiting: deque[Item] = deque()
        self._suspects: deque[Item] = deque()
        """What a lost hand had: each is handed out alone."""
        self._homes: OrderedDict[int, Member] = OrderedDict()
        """By completion, who had one of these first."""
        self._ending: list[Hand] = []
        self._batches: list[Batch] = []
        self._next_number = 0
        self._pending = 0
        self._characters = 0
        self._capacity = _PER_NEW_HAND * engine.hands
        self._failed_starts = 0
        self._failure = ""
        self._unwanted: set[int] = set()
        self.withdrawn: list[int] = []
        self._not_before = 0.0
        self.measure = False

    @property
    def pending(self) -> int:
        """How many rollouts have no grade yet."""
        return self._pending

    @property
    def has_room(self) -> bool:
        """Whether it can take another rollout."""
        return self._pending < self._capacity and self._characters < _MOST_CHARACTERS

    @property
    def withdrawing(self) -> bool:
        """Whether a hand was asked for rollouts, and has not answered yet."""
        return any(member.withdrawing for member in self._members)

    def watch(self, descriptor: int, on_ready: Callable[[], object]) -> None:
        """Call a function when a descriptor can be read from, while `wait` waits."""
        self._selector.register(descriptor, _READ, on_ready)

    def add(self, order: Order, rollout: Rollout, place: int) -> Item:
        """A rollout to be graded."""
        item = Item(self._next_number, place, rollout, order)
        self._next_number += 1
        self._pending += 1
        self._characters += len(rollout.completion)
        self._waiting.append(item)
        return item

    def warm_up(self) -> None:
        """Waits until one hand is ready. Raises `SandboxUnavailable` or `InterpreterError` if none can be."""
        while not any(member.ready for member in self._members):
            self._staff(at_least=1)
            self._serve()
            self._listen(self._patience(_SOON_S))

    def wait(self, timeout_s: float) -> list[Batch]:
        """Grades, as soon as there are some; none after so many seconds, or when something that is watched is ready."""
        self._serve()
        if not self._batches:
            self._listen(self._patience(timeout_s))
            self._serve()
        found, self._batches = self._batches, []
        return found

    def drop(self, item: Item) -> None:
        """Nobody wants its grade any more. A hand that may have begun with it is ended, and replaced."""
        for queue in (self._waiting, self._suspects, *(member.pinned for member in self._members)):
            if item in queue:
                queue.remove(item)
                self._settled([item])
                return
        for member in self._members:
            if item.number in member.outstanding:
                del member.outstanding[item.number]
                self._settled([item])
                self._lose(member, blame=False)
                return

    def withdraw(self, places: set[int]) -> None:
        """Gives up these rollouts as far as nobody has begun with them: `withdrawn` gets their places, soon."""
        self._unwanted = places
        queued = [item for item in self._waiting if item.place in places]
        self._waiting = deque(item for item in self._waiting if item.place not in places)
        self._take_back(queued)
        for member in self._members:
            numbers = [number for number, item in member.outstanding.items() if item.place in places]
            if numbers and not member.withdrawing:
                member.withdrawing = True
                self._send(member, Withdraw(numbers))

    def close(self) -> None:
        """Ends all hands, with whatever they are doing."""
        hands = [*self._ending, *(member.hand for member in self._members)]
        for hand in hands:
            hand.end()
        for hand in hands:
            hand.close()
        self._ending.clear()
        self._members.clear()
        self._selector.close()

    # ---- hands

    def _staff(self, at_least: int = 0) -> None:
        """Starts as many hands as there is work for."""
        self._ending = [hand for hand in self._ending if not hand.gone()]
        starting = sum(not member.ready for member in self._members)
        wanted = max(len(self._waiting) + len(self._suspects), at_least) - starting
        most = self._most() if wanted > 0 else 0
        while wanted > 0 and len(self._members) < most and time.monotonic() >= self._not_before:
            wanted -= 1
            try:
                hand = self._engine.start()
            except HandLostError as error:
                self._cannot_start(str(error))
                break
            member = Member(hand, self._shelf)
            self._members.append(member)
            self._selector.register(hand.fileno(), _READ, member)
            self._send(member, self._setup)  # those that start together prove their sandboxes each, at the same time

    def _most(self) -> int:
        """How many hands there may be now. Where other processes have some too, they become more step by step."""
        has, most = len(self._members), self._engine.hands
        if self._engine.is_full is None or has >= most:
            return most
        if has and (not all(member.ready for member in self._members) or self._engine.is_full()):
            return has
        return min(max(1, 2 * has), most)

    def _spread(self) -> None:
        """Once all hands are there, each gets a core of its own, which then has all that it needs in its caches.

        Not while there are fewer: other programs may have chosen the same cores.
        """
        if len(self._members) < len(self._engine.cores) or not all(member.ready for member in self._members):
            return
        free = set(self._engine.cores).difference(member.core for member in self._members if member.core is not None)
        for member in self._members:
            if member.core is None:
                member.core = free.pop()
                self._send(member, Stay(member.core))

    def _cannot_start(self, why: str) -> None:
        self._failed_starts += 1
        self._failure = why
        self._not_before = time.monotonic() + _SOON_S * 2**self._failed_starts

    def _send(self, member: Member, message: ToHand) -> None:
        member.hand.send(message)
        if member.hand.flush():
            self._selector.modify(member.hand.fileno(), _READ | _WRITE, member)

    def _listen(self, timeout_s: float) -> None:
        for key, events in self._selector.select(timeout_s):
            if not isinstance(key.data, Member):
                key.data()
                continue
            if key.data not in self._members:  # it was lost a moment ago
                continue
            if events & _WRITE and not key.data.hand.flush():
                self._selector.modify(key.fileobj, _READ, key.data)
            if events & _READ:
                try:
                    for message in key.data.hand.receive():
                        self._take(key.data, message)
                except HandLostError as error:
                    self._failure = str(error)
                    self._lose(key.data, blame=error.suspicious)

    def _take(self, member: Member, message: FromHand) -> None:
        if isinstance(message, Done):
            self._take_grades(member, message)
        elif isinstance(message, Withdrawn):
            member.withdrawing = False
            items = [member.outstanding.pop(number) for number in message.numbers if number in member.outstanding]
            staying = self._staying(member, items)
            member.pinned.extendleft(reversed(staying))
            self._take_back([item for item in items if item not in staying])
        elif not message.reason:
            member.ready = True
            member.width = message.workers
            self._failed_starts = 0
            if self._engine.same_machine:
                self._setup.proof = self._setup.proof or message.proof
        else:
            self._refused(member, message)

    def _refused(self, member: Member, ready: Ready) -> None:
        """It has no sandbox. The first one to say so ends all, before anything was graded."""
        self._lose(member, blame=False)
        if self._setup.proof is None:
            if ready.bad_interpreter:
                path, _, what = ready.reason.removeprefix("Python ").partition(": ")
                raise InterpreterError(path, what)
            raise SandboxUnavailable(ready.reason, ready.mend or "see `rollscope doctor`")
        self._cannot_start(ready.reason)

    def _lose(self, member: Member, *, blame: bool) -> None:
        """It has ended, or is to end: what it had is handed out again. `blame`: something that it had may be why."""
        self._members.remove(member)
        self._selector.unregister(member.hand.fileno())
        member.hand.end()
        self._ending.append(member.hand)
        if not member.ready and blame:
            self._cannot_start(self._failure)
        self._waiting.extendleft(reversed(member.pinned))
        for item in reversed(member.outstanding.values()):
            item.deaths += blame
            item.follows = False
            if not blame:
                self._waiting.appendleft(item)
            elif item.deaths < _DEATHS:
                self._suspects.append(item)
            else:
                self._give_up(item, f"{self._failure}, twice while it graded this")

    def _give_up(self, item: Item, why: str) -> None:
        self._batches.append(Batch([item], [ungraded(item.rollout, Verdict.SANDBOX_ERROR, why)]))
        self._settled([item])

    # ---- rollouts

    def _staying(self, member: Member, items: list[Item]) -> list[Item]:
        """Those that must be given to this member again: it got an equal one while they were taken back."""
        if not self._setup.remembers:
            return []
        equals = {item.key for item in (*member.outstanding.values(), *member.pinned)}
        return [item for item in items if item.key in equals and item.place not in self._unwanted]

    def _take_back(self, items: list[Item]) -> None:
        """Nobody has these any more."""
        for item in reversed(items):
            self._homes.pop(item.key, None)
            if item.place in self._unwanted:
                self.withdrawn.append(item.place)
                self._settled([item])
            else:
                self._waiting.appendleft(item)

    def _serve(self) -> None:
        """Hands out what there is."""
        self._staff()
        if self._engine.cores:
            self._spread()
        now = time.monotonic()
        free = sorted((member for member in self._members if member.room(now)), key=lambda each: len(each.outstanding))
        for place, member in enumerate(free):
            self._give(member, -(-len(self._waiting) // (len(free) - place)), now)
        for member in free:
            if member.pinned:
                self._give(member, 0, now)
        if not self._waiting and not self._suspects:
            self._balance(now)
        if self._failed_starts >= _FAILED_STARTS and not self._members:
            if self._setup.proof is None:
                raise SandboxUnavailable(self._failure, _NO_ROOM)
            for item in (*self._waiting, *self._suspects):
                self._give_up(item, self._failure)
            self._waiting.clear()
            self._suspects.clear()
        unstarted = self._engine.hands - len(self._members)
        self._capacity = sum(member.window for member in self._members) + _PER_NEW_HAND * unstarted

    def _give(self, member: Member, share: int, now: float) -> None:
        if self._suspects:
            if not member.outstanding:
                self._send(member, member.work([self._suspects.popleft()], measure=self.measure))
            return
        room = member.room(now)
        items = [member.pinned.popleft() for _ in range(min(room, len(member.pinned)))]
        room = min(room - len(items), share)
        while room > 0 and self._waiting:
            item = self._waiting.popleft()
            if self._setup.remembers and not self._at_home(item, member):
                continue
            items.append(item)
            room -= 1
        if items:
            self._send(member, member.work(items, measure=self.measure))

    def _at_home(self, item: Item, member: Member) -> bool:
        """Whether this one may have it. If another had an equal completion, that one gets it."""
        home = self._homes.get(item.key)
        if home is None or home not in self._members:
            self._homes[item.key] = member
            if len(self._homes) > _HOMES:
                self._homes.popitem(last=False)
            return True
        item.follows = True
        if home is not member:
            home.pinned.append(item)
        return home is member

    def _balance(self, now: float) -> None:
        """Takes work from behind a slow completion, if somebody has nothing to do."""
        idle = sum(member.ready and not member.outstanding and now >= member.resting_until for member in self._members)
        stuck = [member for member in self._members if member.is_stuck(now)] if idle else []
        for member in sorted(stuck, key=lambda each: -len(each.outstanding))[:idle]:
            numbers = member.last_half()
            if numbers:
                member.withdrawing = True
                self._send(member, Withdraw(numbers))

    def _take_grades(self, member: Member, done: Done) -> None:
        member.answered(done.typical_s)
        items = [member.outstanding.pop(number) for number in done.numbers]
        if done.stranded and self._others_can(member):
            self._waiting.extendleft(reversed(items))
            for item in items:
                self._homes.pop(item.key, None)
            return
        member.stranded = member.stranded and done.stranded
        self._batches.append(Batch(items, done))
        self._settled(items)

    def _others_can(self, member: Member) -> bool:
        """Whether another hand may have a sandbox, where this one could not start its own and now rests."""
        member.stranded = True
        member.resting_until = time.monotonic() + _REST_S
        queued = list(member.outstanding)
        if queued:
            member.withdrawing = True
            self._send(member, Withdraw(queued))
        return not all(each.stranded for each in self._members)  # one that is starting may have one

    def _settled(self, items: Iterable[Item]) -> None:
        for item in items:
            self._pending -= 1
            self._characters -= len(item.rollout.completion)

    def _patience(self, timeout_s: float) -> float:
        """How long to wait at most: there may be something to do before anything arrives."""
        now = time.monotonic()
        if self._waiting or self._suspects:
            return min(timeout_s, max(_SOON_S, self._not_before - now))
        if any(len(member.outstanding) > 1 for member in self._members):
            return min(timeout_s, _SOON_S)
        return timeout_s
