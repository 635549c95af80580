"""A plane that is a cell: it carries out what its home orders, each order once and in its order.

Rules:

- An order of another epoch is refused, so is one before whose turn it comes, and one to take a
  request that comes late: home may have given this cell up for cut off. One that was carried out
  already changes nothing.
- A request for a tenant or project that is not here is turned away, whatever home was offered.
- A request that waits or runs here is not given a second time: its leases would be nobody's.
- Home that has heard of a record which is not here has heard another journal: this one is older, or
  was begun anew. Its operator parts it from home, and home from it.
- A request from home is asked here like anybody's: guards, quotas, claims and reservations are this
  plane's own, and so is the eviction that it may need. Home gave it to one cell, so no other evicts
  for it.
- What home recalls leaves the line only while it has no lease and nobody was warned for it. If it
  stays, that is news, or home would never ask again.
- Home may want back what is not here: its journal, or this one, was set back. That it is over is
  news then, under the number of that very order.
- What became of it is remembered until home has heard that it is over.
- A plane that was cut off goes on with what it has. Nobody but its own operator parts it from home.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from bailiwick.iam.scope import Scope
from bailiwick.kernel.cells import commands as cmd
from bailiwick.kernel.cells import events as ev
from bailiwick.kernel.cells.book import GLOBAL_MAX, CellHome, Taking
from bailiwick.kernel.events import Event
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.slice import Apply
from bailiwick.kernel.state import State
from bailiwick.kernel.work.commands import Cancel, Submit
from bailiwick.kernel.work.ending import give_back as free_lease
from bailiwick.kernel.work.requests import cancel, submit
from bailiwick.scheduler.engine.protocol import FLAG_PINNED
from bailiwick.vocab.cells import TakingStatus
from bailiwick.vocab.errors import BailiwickError, Conflict, InvariantBroken, LimitReached, NotFound
from bailiwick.vocab.transitions import RevokeState

_GOING = (
    RevokeState.FORCED_TEARDOWN,
    RevokeState.CHECKPOINT_REPORTED,
    RevokeState.EXPIRED,
)
WHY_MAX = 200


# -- deciding --------------------------------------------------------------------------------


def meet(state: State, command: cmd.MeetHome) -> Iterator[Event]:
    """The home speaks in an epoch from here on; the same one again changes nothing."""
    home = state.cells.home
    if home is not None and home.name != command.home:
        why = f"is a cell of {home.name}"
        raise Conflict("cell", command.home, why, hint="its operator parts it from there first")
    if home is not None and command.epoch < home.epoch:
        raise Conflict("cell", home.name, f"is in epoch {home.epoch} already")
    if home is None or command.epoch > home.epoch:
        yield ev.HomeMet(command.home, command.epoch)


def leave(state: State) -> Iterator[Event]:
    """This plane is nobody's cell any more."""
    home = state.cells.home
    if home is None:
        raise NotFound("home", "of this plane", hint="it is nobody's cell")
    if home.held:
        why = f"has {home.held} of its requests here"
        raise Conflict("home", home.name, why, hint="they end, or home takes them back")
    yield ev.HomeLeft(home.name)


def take(state: State, command: cmd.TakeGlobal, *, now_ms: int) -> Iterator[Event]:
    """A request from home: what anybody would be answered here."""
    if _is_done(state.cells.at_home(command.epoch), command.number):
        return
    if now_ms > command.not_after_ms:
        why = f"counted until {command.not_after_ms}, and it is {now_ms}"
        raise Conflict("order", command.number, why, hint="home may hold this cell for cut off")
    _check_new(state, command.global_id)
    owner = Owner.of(command.request)
    if not state.directory.is_open(Scope(*owner)):
        yield ev.GlobalTaken(owner, command.global_id, command.number, f"{owner} is not here")
        return
    asked = submit(state, Submit(command.request, command.waits), now_ms=now_ms)
    try:
        first = next(asked)
    except InvariantBroken:
        raise
    except BailiwickError as refused:  # nothing happened yet; home is told, and asks elsewhere
        why = str(refused)[:WHY_MAX]
        yield ev.GlobalTaken(owner, command.global_id, command.number, why)
        return
    yield ev.GlobalTaken(owner, command.global_id, command.number)
    yield first
    yield from asked


def _check_new(state: State, global_id: int) -> None:
    """Go on only if a request is not here already, and one more may be."""
    takings = _home(state).takings
    before = takings.get(global_id)
    if before is not None and not before.is_over:
        raise Conflict("global request", global_id, f"is {before.status} here already")
    if before is None and len(takings) >= GLOBAL_MAX:
        raise LimitReached("requests of its home", GLOBAL_MAX)


def give_back(state: State, command: cmd.GiveBackGlobal, *, now_ms: int) -> Iterator[Event]:
    """Home wants a request back: it leaves the line, or its leases end."""
    home = state.cells.at_home(command.epoch)
    if _is_done(home, command.number):
        return
    taking, asked = home.takings.get(command.global_id), (command.global_id, command.number)
    if taking is None:
        yield ev.GlobalGivenBack(*asked, gone=len(home.takings) < GLOBAL_MAX)
        return
    if command.unbegun and not _is_unbegun(state, taking):
        yield ev.GlobalGivenBack(*asked, kept=not taking.is_over)
        return
    yield ev.GlobalGivenBack(*asked, let_go=command.unbegun)
    if taking.entry is not None:
        yield from cancel(state, Cancel(taking.entry), now_ms=now_ms)
    for lease_id in taking.leases:
        if _may_go(state, lease_id):
            yield from free_lease(state, lease_id, now_ms=now_ms)


def _is_unbegun(state: State, taking: Taking) -> bool:
    """Whether a request only waits: it has no lease, and nobody leaves for it."""
    return taking.entry is not None and not taking.leases and taking.entry not in state.claims


def _may_go(state: State, lease_id: int) -> bool:
    """Whether a lease is there, and not on its way out already."""
    if lease_id not in state.leases or state.fields(lease_id).flags & FLAG_PINNED:
        return False
    return state.phase(lease_id) not in _GOING


def hear(state: State, command: cmd.HearHome) -> Iterator[Event]:
    """Home has heard: what is over may be forgotten."""
    home = state.cells.at_home(command.epoch)
    if command.seq >= state.size:
        why = f"has heard of record {command.seq}, and here are {state.size}"
        hint = "this journal is another: part it from home, and have home give it up as lost"
        raise Conflict("home", home.name, why, hint=hint)
    if home.heard_of(command.seq):
        yield ev.HomeHeard(command.seq)


def _is_done(home: CellHome, number: int) -> bool:
    """Whether an order was carried out; one whose turn has not come is an error."""
    if number > home.done + 1:
        why = f"comes behind order {home.done + 1}, which is not there yet"
        raise Conflict("order", number, why, hint="send them in turn")
    return number <= home.done


# -- applying --------------------------------------------------------------------------------


def _home(state: State) -> CellHome:
    home = state.cells.home
    if home is None:
        raise InvariantBroken("a record of home where there is none")
    return home


def _met(state: State, event: ev.HomeMet, at_ms: int) -> None:
    del at_ms
    if state.cells.home is None:
        state.cells.home = CellHome(event.home, event.epoch)
    else:
        state.cells.home.epoch = event.epoch


def _left(state: State, event: ev.HomeLeft, at_ms: int) -> None:
    del event, at_ms
    state.cells.home = None


def _taken(state: State, event: ev.GlobalTaken, at_ms: int) -> None:
    del at_ms
    home = _home(state)
    home.done = event.number
    refused = event.why is not None
    # Until the next record tells more, it counts as turned away: a journal may break off here.
    home.put(event.global_id, Taking(event.number, TakingStatus.TURNED_AWAY, state.size))
    home.deciding = None if refused else event.global_id


def _given_back(state: State, event: ev.GlobalGivenBack, at_ms: int) -> None:
    del at_ms
    home = _home(state)
    home.done = event.number
    home.letting_go = event.global_id if event.let_go else None
    if event.gone:
        home.put(event.global_id, Taking(event.number, TakingStatus.ENDED, state.size))
    if event.kept:
        home.put(event.global_id, replace(home.takings[event.global_id], seq=state.size))


def _heard(state: State, event: ev.HomeHeard, at_ms: int) -> None:
    del at_ms
    home = _home(state)
    for global_id in home.heard_of(event.seq):
        home.drop(global_id)


APPLY: Mapping[type, Apply] = {
    ev.HomeMet: _met,
    ev.HomeLeft: _left,
    ev.HomeHeard: _heard,
    ev.GlobalTaken: _taken,
    ev.GlobalGivenBack: _given_back,
}
