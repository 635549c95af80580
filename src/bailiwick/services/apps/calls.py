"""Calls of instances: people ask a running instance something, and its operator answers.

Rules:

- Each verb has its own permission key, at the instance's project; the route's action has it.
- That somebody asked is sealed before the question is kept: who, of which instance, which verb, and
  a digest. What was asked, and the answer, stand in the store for minutes, never in the journal.
- A question is asked once. Under the same idempotency key one goes on waiting for the answer; what
  is not there any more is not asked again.
- Only an operator of the instance takes questions and answers them: a service account of its own
  project. That behind a shared runtime has that runtime's own operator, and no project's account.
  It answers what it took, once.
- The instance behind a shared runtime is asked for a project that has a part in it, by
  :mod:`bailiwick.services.apps.shared.calls`, and not as the owner record's own.
- An answer is told to who asked, and to who may read the project's queue. Nobody is told a question
  but the operator.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeVar

from bailiwick.apps.calls import CallAnswer, CallQuestion
from bailiwick.iam import PrincipalKind
from bailiwick.kernel import Command
from bailiwick.kernel.apps.calls.commands import CallInstance
from bailiwick.runtime.waiting import await_set
from bailiwick.services.apps.instances import InstancePlace, require_instance
from bailiwick.services.caller import Caller, Deferred
from bailiwick.store.calls.rows import CallBook, CallPlace, CallRow
from bailiwick.vocab.apps import CallPhase, CallVerb
from bailiwick.vocab.errors import (
    CallUnanswered,
    Conflict,
    InvariantBroken,
    NotFound,
    SharedRuntimeRefused,
)
from bailiwick.vocab.shared import SharedRefusal

LOOK_S: Final = 0.5
"""How often the rows are looked at for who waits, if nothing wakes him."""
WAITERS_MAX: Final = 128
"""Answers that are held back for one instance at a time."""
_OPERATORS: Final = (PrincipalKind.SERVICE_ACCOUNT, PrincipalKind.RUNTIME_OPERATOR)

T = TypeVar("T")


class CallDesk:
    """The calls of all instances, and who waits for a change of them; from any thread."""

    def __init__(self, book: CallBook, *, ending: asyncio.Event | None = None) -> None:
        self.book, self.ending = book, ending
        self._lock = threading.Lock()
        self._waiting: dict[int, list[Callable[[], None]]] = {}

    def wake(self, instance_id: int) -> None:
        """Something was asked of that instance, or answered."""
        with self._lock:
            waiting = tuple(self._waiting.get(instance_id, ()))
        for wake in waiting:
            wake()

    @contextmanager
    def listening(self, instance_id: int, wake: Callable[[], None]) -> Iterator[bool]:
        """Have ``wake`` called whenever something changes; whether there was room for it."""
        with self._lock:
            waiting = self._waiting.setdefault(instance_id, [])
            has_room = len(waiting) < WAITERS_MAX
            if has_room:
                waiting.append(wake)
        try:
            yield has_room
        finally:
            with self._lock:
                if has_room:
                    waiting.remove(wake)
                if not waiting:
                    self._waiting.pop(instance_id, None)

    async def held_back(
        self, instance_id: int, look: Callable[[], Awaitable[T | None]], *, wait_s: float
    ) -> T | None:
        """What ``look`` finds, as soon as it finds something; nothing after ``wait_s``."""
        loop, changed = asyncio.get_running_loop(), asyncio.Event()
        until = loop.time() + wait_s

        def wake() -> None:
            loop.call_soon_threadsafe(changed.set)

        with self.listening(instance_id, wake) as may_wait:
            while True:  # bounded by ``wait_s``, and by the server's own ending
                changed.clear()
                found = await look()
                left_s = until - loop.time()
                is_ending = self.ending is not None and self.ending.is_set()
                if found is not None or left_s <= 0 or is_ending or not may_wait:
                    return found
                await await_set(changed, min(LOOK_S, left_s))


@dataclass(frozen=True, slots=True, kw_only=True)
class CallWish:
    """What is asked, how long the answer may take, and how long this request waits for it."""

    verb: CallVerb
    question: CallQuestion
    within_ms: int
    wait_s: int


async def ask(
    caller: Caller, desk: CallDesk, *, place: InstancePlace, wish: Deferred[CallWish]
) -> CallRow | None:
    """Ask an instance, and wait for the answer as long as wished; in a dry run ask nothing."""
    await require_instance(caller, place, changes=True)
    behind = await caller.lookup(lambda view: view.state.apps.shared.behind(place.instance_id))
    if behind is not None:
        await caller.lookup(place.find)  # of another project's instance the answer is the same
        raise SharedRuntimeRefused(SharedRefusal.BACKS_A_RUNTIME, behind.runtime.name)
    wanted = wish()
    command = CallInstance(
        tenant=place.tenant,
        project=place.project,
        instance_id=place.instance_id,
        verb=wanted.verb,
        digest=wanted.question.digest,
        within_ms=wanted.within_ms,
    )
    return await put_question(caller, desk, place=place, command=command, wanted=wanted)


async def put_question(
    caller: Caller, desk: CallDesk, *, place: InstancePlace, command: Command, wanted: CallWish
) -> CallRow | None:
    """Have a call sealed and its question kept, and wait for the answer."""
    where, now_ms = CallPlace(*place), caller.clock.now_ms()
    is_new = await caller.lookup(caller.first_answer) is None
    if is_new and not caller.dry_run:
        await asyncio.to_thread(desk.book.check_room, where, now_ms=now_ms)
    done = await caller.change(command)
    if caller.dry_run:
        return None
    if done.seq is None:
        raise InvariantBroken("a call was not sealed")
    call = CallRow(
        call_id=done.seq,
        place=where,
        verb=wanted.verb,
        principal=caller.principal.name,
        correlation_id=caller.correlation_id,
        question=wanted.question,
        asked_ms=now_ms,
        expires_ms=now_ms + wanted.within_ms,
    )
    if is_new:
        await asyncio.to_thread(desk.book.put, call)
        desk.wake(place.instance_id)
    return await _answer_to(caller, desk, call, wait_s=wanted.wait_s)


async def _answer_to(caller: Caller, desk: CallDesk, call: CallRow, *, wait_s: float) -> CallRow:
    """The call once it is over, or as it is after so long."""
    number, clock = call.call_id, caller.clock

    async def get() -> CallRow:
        found = await asyncio.to_thread(desk.book.get, call.place, number, now_ms=clock.now_ms())
        if found is None:  # pushed out or long over: what became of it nobody knows
            raise CallUnanswered(number, was_taken=True)
        if found.phase(clock.now_ms()) is CallPhase.UNANSWERED:
            raise CallUnanswered(number, was_taken=found.taken_ms is not None)
        return found

    async def look() -> CallRow | None:
        found = await get()
        return None if found.answer is None else found

    answered = await desk.held_back(call.place.instance_id, look, wait_s=wait_s)
    return await get() if answered is None else answered


async def read(caller: Caller, desk: CallDesk, *, place: InstancePlace, call_id: int) -> CallRow:
    """One call, for who may read the project's queue."""
    await require_instance(caller, place, changes=False)
    if await caller.lookup(place.is_shared):  # what is asked there is other projects' own
        await caller.lookup(place.find)
        raise _no_call(call_id)
    return await _find(caller, desk, place=place, call_id=call_id)


async def take(
    caller: Caller, desk: CallDesk, *, place: InstancePlace, wait_s: int
) -> CallRow | None:
    """The oldest question that nobody took, for the instance's operator; it is his from now on."""
    await _require_operator(caller, place)
    if caller.dry_run:
        return None
    where, by = CallPlace(*place), caller.principal.name

    async def look() -> CallRow | None:
        now_ms = caller.clock.now_ms()
        return await asyncio.to_thread(desk.book.take, where, by=by, now_ms=now_ms)

    return await desk.held_back(place.instance_id, look, wait_s=wait_s)


async def answer(
    caller: Caller,
    desk: CallDesk,
    *,
    place: InstancePlace,
    call_id: int,
    told: Deferred[CallAnswer],
) -> None:
    """Answer a question that the caller took; once, and in time."""
    await _require_operator(caller, place)
    said, by = told(), caller.principal.name
    found = await _find(caller, desk, place=place, call_id=call_id)
    if found.taken_by != by:
        raise Conflict("call", call_id, "was not taken by you")
    if found.answer is not None:
        raise Conflict("call", call_id, "is answered already")
    if caller.dry_run:
        return
    now_ms, where = caller.clock.now_ms(), CallPlace(*place)
    is_kept = await asyncio.to_thread(
        desk.book.answer, where, call_id, by=by, answer=said, now_ms=now_ms
    )
    if not is_kept:
        raise Conflict("call", call_id, "is over: nobody waits for its answer any more")
    desk.wake(place.instance_id)


async def _require_operator(caller: Caller, place: InstancePlace) -> None:
    await require_instance(caller, place, changes=True)
    if caller.principal.kind not in _OPERATORS:
        message = "questions are taken and answered by a service account of the instance's project"
        raise caller.refuse(message, reason="needs_service_account")
    await caller.lookup(place.find)
    is_runtimes = caller.principal.kind is PrincipalKind.RUNTIME_OPERATOR
    if await caller.lookup(place.is_shared) and not is_runtimes:
        message = "what a shared runtime is asked is for its own operator, not a project's account"
        raise caller.refuse(message, reason="needs_runtime_operator")


async def _find(caller: Caller, desk: CallDesk, *, place: InstancePlace, call_id: int) -> CallRow:
    await caller.lookup(place.find)  # of another project's instance the answer is the same
    now_ms = caller.clock.now_ms()
    found = await asyncio.to_thread(desk.book.get, CallPlace(*place), call_id, now_ms=now_ms)
    if found is None:
        raise _no_call(call_id)
    return found


def _no_call(call_id: int) -> NotFound:
    return NotFound("call", call_id, hint="calls are kept for some minutes")
