"""Faults put in on purpose: a judge that finds none of them is no judge.

Each is one mistake that somebody could make in a store, a replica or the kernel: its name, how to
build a world with it, and which promises it may be caught by. ``PLANTED`` show within a few seeds;
``PUT_BACK`` are real bugs of the past (docs/reliability.md), most of which take many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from unittest.mock import patch

from bailiwick.kernel import Kernel, slices, snapshot
from bailiwick.kernel.answers import AnswerBook
from bailiwick.kernel.guards import GuardedAdmission, Guards
from bailiwick.kernel.isolation import rules as isolation_rules
from bailiwick.kernel.state import State
from bailiwick.kernel.work import events as ev
from bailiwick.kernel.work import lease_events as le
from bailiwick.runtime import rebuild
from bailiwick.runtime.clock_watch import ClockWatch
from bailiwick.runtime.replica import Pace, Replica, Ticket
from bailiwick.runtime.steady_clock import SteadyClock
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.vocab.errors import Conflict, Deposed
from tests.simulation import world
from tests.simulation.store import SimDatabase
from tests.simulation.world import Faults, Plan


class ForgetfulDatabase(SimDatabase):
    """It says that a batch is durable when it lies in the cache."""

    def make_durable(self) -> None:
        """Nothing."""


class UnfencedDatabase(SimDatabase):
    """It takes a batch from whoever sends it, however old the epoch."""

    def may_append(self, epoch: int, first: int) -> bool:
        """Only the size is looked at."""
        del epoch
        return first == len(self.rows)


class _Later:
    """A store whose batches wait until somebody sends them on."""

    def __init__(self, store: object) -> None:
        self._store = store
        self.kept: list[tuple[int, int, Sequence[bytes]]] = []

    def append(
        self, epoch: int, first: int, lines: Sequence[bytes], *, stamp: bytes | None = None
    ) -> None:
        del stamp
        self.kept.append((epoch, first, lines))

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)


class HastyReplica(Replica):
    """It answers first and makes durable afterwards."""

    def _lead(self, tickets: list[Ticket]) -> bool:
        real, later = self.store, _Later(self.store)
        self.store = later  # type: ignore[assignment]
        try:
            busy = super()._lead(tickets)
        finally:
            self.store = real
        for epoch, first, lines in later.kept:
            real.append(epoch, first, lines)
        return busy


class VainReplica(Replica):
    """It reckons the age of what it read from when the answer came, not from when it asked."""

    def _found_all(self, kernel: Kernel, elapsed: int) -> None:
        del elapsed
        super()._found_all(kernel, self.clock.elapsed_ms())


class StubbornReplica(Replica):
    """When the store fails it keeps its state, as if the batch had surely arrived."""

    def _lose(self, tickets: list[Ticket], error: Exception) -> None:  # type: ignore[override]
        kernel, role = self.kernel, self.role
        super()._lose(tickets, error)  # type: ignore[arg-type]
        self.kernel, self.role = kernel, role


class StartledReplica(Replica):
    """As it once was: a later leader, seen while taking the lead, was an error for good."""

    def _try_to_lead(self, kernel: Kernel) -> None:
        try:
            super()._try_to_lead(kernel)
        except Deposed as error:
            if kernel.state.epoch >= error.epoch:
                raise Conflict("epoch", error.epoch, "comes too late") from error
            raise


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@contextmanager
def _unapplied(kind: type[object], wrong: Callable[[State, object, int], None]) -> Iterator[None]:
    with patch.dict(slices.APPLY, {kind: wrong}):
        yield


def _grant_without_quota() -> object:
    """Leases are granted, and nobody's quota is charged."""
    right = slices.APPLY[ev.AdmissionApproved]

    def wrong(state: State, event: object, at_ms: int) -> None:
        before = state.quotas.buffer[:]
        right(state, event, at_ms)
        state.quotas.buffer[: len(before)] = before

    return _unapplied(ev.AdmissionApproved, wrong)


def _end_without_freeing() -> object:
    """What an expired lease held is given back twice to no one: the lease just stays."""
    return _unapplied(le.LeaseExpired, lambda state, event, at_ms: None)


def _keys_forgotten() -> object:
    """A repeated command is carried out again."""
    return patch.object(AnswerBook, "get", lambda self, actor, key: None)


def _snapshot_without_gangs() -> object:
    """A snapshot that is read back as something a little different."""
    right = snapshot.decode

    def wrong(data: bytes, digest: str, *, engine: str = "auto") -> State:
        state = right(data, digest, engine=engine)
        state.gang_serial = 0
        return state

    return patch.object(rebuild, "decode", wrong)


def _claims_of_others() -> object:
    """As it once was: whoever has a claim may also take the room that is kept for another."""

    @contextmanager
    def wrong(
        guards: Guards, entry_id: int, *, now_ms: int, victims_gone: bool = False
    ) -> Iterator[GuardedAdmission]:
        holds = guards._ledger.holds
        gone = holds.victims_of(entry_id) if victims_gone else ()
        with holds.shadow(gone=gone, lifted=holds.numbers(), now_ms=now_ms):
            yield guards.admission

    return patch.object(Guards, "for_claimant", wrong)


def _tables_too_short() -> object:
    """As it once was: a ledger read back from a snapshot forgot vacant handles at the end."""
    right = CapacityLedger.restore_nodes

    def wrong(self: CapacityLedger, nodes: object, *, vacant: Sequence[int]) -> None:
        right(self, nodes, vacant=vacant)  # type: ignore[arg-type]
        while self.by_handle and self.by_handle[-1] is None:
            self.by_handle.pop()

    return patch.object(CapacityLedger, "restore_nodes", wrong)


def _ticks_put_off() -> object:
    """As it once was: a pause puts off the next tick by four times its length."""
    return patch.object(world, "Pace", partial(Pace, tick_ms_max=2**62))


@dataclass(frozen=True, slots=True)
class Planted:
    """One mistake."""

    name: str
    plan: Plan
    patched: Callable[[], object]
    promises: tuple[str, ...]


_HELD_UP = Faults(hold_up=0.08)
_STEP = "a step fails only by the store"
_APART = ("who may not be together is apart",)
_DURABLE = "nothing is told before it is durable"


@contextmanager
def _believe_every_clock() -> Iterator[None]:
    def wall(self: SteadyClock) -> int:
        return self.wall_ms()

    with (
        patch.object(SteadyClock, "now_ms", wall),
        patch.object(ClockWatch, "may_lead", lambda *_, **__: True),
        patch.object(Kernel, "_believe", lambda k, now_ms, **_: max(now_ms, k.state.clock_ms)),
    ):
        yield


@contextmanager
def _nobody_stands_guard() -> Iterator[None]:
    with patch.object(isolation_rules, "stand_guard", lambda _: None):
        yield


@contextmanager
def _nobody_has_to_go() -> Iterator[None]:
    with patch.object(isolation_rules, "recover_all", lambda *_, **__: iter(())):
        yield


PLANTED: tuple[Planted, ...] = (
    Planted("a policy that lets everybody in", Plan(faults=Faults()), _nobody_stands_guard, _APART),
    Planted("a policy that makes nobody go", Plan(faults=Faults()), _nobody_has_to_go, _APART),
    Planted(
        "a replica that believes its wall clock",
        Plan(),
        _believe_every_clock,
        ("time does not leap",),
    ),
    Planted(
        "a database that does not wait for the disk",
        Plan(database=ForgetfulDatabase),
        _nothing,
        ("nothing acknowledged is lost", "the log survives crashes", "epochs only grow"),
    ),
    Planted(
        "a database that looks at no epoch",
        Plan(database=UnfencedDatabase, faults=_HELD_UP, bound=False),
        _nothing,
        ("one epoch writes", "epochs only grow"),
    ),
    Planted(
        "a replica that answers before the batch is durable",
        Plan(replica=HastyReplica),
        _nothing,
        (_DURABLE,),
    ),
    Planted(
        "a follower that is older than it says",
        Plan(replica=VainReplica),
        _nothing,
        ("reads say how old they are",),
    ),
    Planted(
        "a replica that keeps its state when the store fails",
        Plan(replica=StubbornReplica),
        _nothing,
        ("memory is a prefix of the journal", "reads see only what is durable", _DURABLE),
    ),
    Planted(
        "grants that charge no quota",
        Plan(),
        _grant_without_quota,
        ("quota and journal agree", "quota is never exceeded", _STEP),
    ),
    Planted(
        "expired leases that stay",
        Plan(),
        _end_without_freeing,
        (
            "state and journal agree",
            "a lease ends once",
            "memory is a prefix of the journal",
            _STEP,
        ),
    ),
    Planted(
        "idempotency keys that are forgotten at once",
        Plan(),
        _keys_forgotten,
        ("nothing is granted twice",),
    ),
    Planted(
        "a snapshot that reads back as another state",
        Plan(),
        _snapshot_without_gangs,
        ("replaying gives the same state", "state and journal agree", _STEP),
    ),
)

PUT_BACK: tuple[Planted, ...] = (
    Planted(
        "a claim that takes room kept for another",
        Plan(faults=Faults(), actions=2_000),
        _claims_of_others,
        ("claimed room is kept", _STEP),  # the ledger keeps that room too, and takes no such lease
    ),
    Planted(
        "a ledger read back with too short a table",
        Plan(faults=Faults(drop=0.01, die=0.005), actions=1_500),
        _tables_too_short,
        (_STEP,),
    ),
    Planted(
        "a pause that puts off what is due",
        Plan(faults=_HELD_UP),
        _ticks_put_off,
        ("what is due is done",),
    ),
    Planted(
        "a replica that a later leader startles",
        Plan(replica=StartledReplica, faults=_HELD_UP),
        _nothing,
        (_STEP,),
    ),
)
"""Bugs that the simulation has found, put back; each takes many seeds to show."""
