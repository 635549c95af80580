"""Which purses have to be looked at: those that changed, and those whose time has come.

Rules:

- Whatever changes a purse wakes it. A look lets it rest until the time by which time alone may
  bring it to another standing. So a tick with nothing to do looks at nothing.
- Looking at a purse that rests would find nothing: a state that was read back, where all of them
  are awake, decides alike.
- They are looked at in one order, a tenant's projects before the tenant. One that is woken by a
  look at an earlier one has its turn still; one whose turn was over, the next time.

>>> watch = PurseWatch()
>>> for scope in (("a", None), ("a", "p"), ("b", None)):
...     watch.wake(scope)
>>> list(watch.due(0))
[('a', 'p'), ('a', None), ('b', None)]
>>> watch.rest(("a", None), until_ms=7)
>>> list(watch.due(6)), list(watch.due(7))
([], [('a', None)])
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import Final, TypeAlias

Scope: TypeAlias = tuple[str, str | None]
"""A tenant, or a project of it."""

_Key: TypeAlias = tuple[str, bool, str]
_SLACK: Final = 64


class PurseWatch:
    """Who is awake, and when the others wake."""

    def __init__(self) -> None:
        self._awake: dict[_Key, None] = {}
        self._order: list[_Key] = []  # a heap; who fell asleep or is gone stays for a while
        self._alarms: dict[_Key, int] = {}
        self._clock: list[tuple[int, _Key]] = []  # a heap too

    def wake(self, scope: Scope) -> None:
        """Something about this purse has changed."""
        self._wake(_key(scope))

    def rest(self, scope: Scope, *, until_ms: int | None) -> None:
        """Let it be until then, or for good; unless it was woken since its turn came."""
        key = _key(scope)
        self._alarms.pop(key, None)
        if until_ms is None:
            return
        self._alarms[key] = until_ms
        heappush(self._clock, (until_ms, key))
        if len(self._clock) > 2 * len(self._alarms) + _SLACK:
            self._clock = [(at_ms, each) for each, at_ms in self._alarms.items()]
            heapify(self._clock)

    def forget(self, scope: Scope) -> None:
        """There is no such purse any more."""
        self._awake.pop(_key(scope), None)
        self._alarms.pop(_key(scope), None)

    def due(self, now_ms: int) -> Iterator[Scope]:
        """Whom to look at now, each as its turn comes."""
        while self._clock and self._clock[0][0] <= now_ms:  # bounded: every round drops one
            at_ms, key = heappop(self._clock)
            if self._alarms.get(key) == at_ms:
                del self._alarms[key]
                self._wake(key)
        missed: list[_Key] = []
        last: _Key | None = None
        try:
            while self._order:  # bounded: a key is dropped, and taken up again only behind it
                key = heappop(self._order)
                if key not in self._awake:
                    continue
                if last is not None and key <= last:
                    missed.append(key)
                    continue
                last = key
                del self._awake[key]
                yield key[0], None if key[1] else key[2]
        except GeneratorExit:  # the last look was broken off
            if last is not None:
                self._wake(last)
            raise
        finally:
            for key in missed:
                heappush(self._order, key)

    def _wake(self, key: _Key) -> None:
        if key not in self._awake:
            self._awake[key] = None
            heappush(self._order, key)


def _key(scope: Scope) -> _Key:
    tenant, project = scope
    return tenant, project is None, project or ""
