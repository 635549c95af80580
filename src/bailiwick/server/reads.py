"""What can be read over the network: the replica's standing, leases, and who waits.

Rules:

- Every read says how old it may be (``age_ms``), and from which role, epoch and size it is. One
  that must not be older than ``age_ms_max`` is refused if it would be.
- A read runs between two rounds of the replica, so it sees nothing that is not durable. It is
  bounded: at most so many leases at once, the next page begins behind the last.
- While a replica has no state (it starts, or has lost its store), only ``status`` is answered.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from typing import Any

from bailiwick.kernel import State, digest_of
from bailiwick.kernel.request_body import amounts_of, denial_body
from bailiwick.kernel.views import waiting_entry
from bailiwick.server.protocol import Plain, check_fields
from bailiwick.services.replica import Replica, Role, View
from bailiwick.services.runner import Runner
from bailiwick.vocab.errors import InvalidValue, Unavailable
from bailiwick.vocab.values import check_integer, check_kind

LEASES_MAX = 1_000
"""Leases on one page."""

_COMMON = ("id", "token", "read", "age_ms_max")
_FIELDS = {
    "status": frozenset((*_COMMON, "digest")),
    "lease": frozenset((*_COMMON, "lease_id")),
    "entry": frozenset((*_COMMON, "entry_id")),
    "leases": frozenset((*_COMMON, "after", "limit")),
}


async def read(runner: Runner, plain: Plain, *, wait_s: float) -> Plain:
    """What a request wants to see."""
    word = plain["read"]
    known = _FIELDS.get(word) if isinstance(word, str) else None
    if known is None:
        raise InvalidValue("read", word, "one of ping, " + ", ".join(_FIELDS))
    check_fields(plain, known)
    look = _LOOKS[word]
    numbers = {n: plain[n] for n in ("age_ms_max", "lease_id", "entry_id", "after") if n in plain}
    for name, value in numbers.items():
        check_integer(name, value, low=0, high=2**53 - 1)
    check_integer("limit", plain.get("limit", 1), low=1, high=LEASES_MAX)
    check_kind("digest", plain.get("digest", False), bool)
    if runner.replica.role is Role.STARTING:
        if word == "status" and "age_ms_max" not in plain:
            return _starting(runner.replica)
        raise Unavailable("the state", "it is being read from the store")

    def seen(view: View) -> Plain:
        most = plain.get("age_ms_max")
        if most is not None and view.age_ms > most:
            raise Unavailable("the state", f"it may be {view.age_ms} ms old, not {most}")
        return {**_standing(view), **look(view, plain)}

    found = await _when_durable(runner, seen, wait_s=wait_s)
    return {**found, **_who(runner.replica)} if word == "status" else found


async def _when_durable(runner: Runner, look: Callable[[View], Plain], *, wait_s: float) -> Plain:
    """Run ``look`` between two rounds, without a thread of our own."""
    if runner.failed is not None:
        raise Unavailable("this replica", "it has failed and is ending")
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Plain] = loop.create_future()

    def give(found: Plain | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        elif found is not None:
            future.set_result(found)

    def run(view: View) -> None:
        found, raised = None, None
        try:
            found = look(view)
        except Exception as error:
            raised = error
        loop.call_soon_threadsafe(give, found, raised)

    runner.replica.look(run)
    try:
        return await asyncio.wait_for(future, wait_s)
    except TimeoutError:
        raise Unavailable("the state", f"no answer within {wait_s:g} s") from None


def _standing(view: View) -> Plain:
    state = view.state
    return {
        "age_ms": view.age_ms,
        "role": view.role.value,
        "epoch": state.epoch,
        "size": state.size,
    }


def _who(replica: Replica) -> Plain:
    known = replica.leader
    leader = None if known is None else {"name": known.name, "address": known.address}
    return {"name": replica.name, "address": replica.address, "leader": leader}


def _starting(replica: Replica) -> Plain:
    nothing = {"age_ms": None, "role": Role.STARTING.value, "epoch": None, "size": None}
    return {**nothing, **_who(replica)}


def _status(view: View, plain: Plain) -> Plain:
    state = view.state
    found: Plain = {
        "clock_ms": state.clock_ms,
        "nodes": len(state.ledger.entries),
        "leases": len(state.leases),
        "waiting": len(state.line.entries),
    }
    return found | ({"digest": digest_of(state)} if plain.get("digest") else {})


def _lease(view: View, plain: Plain) -> Plain:
    return {"lease": _lease_row(view.state, _asked(plain, "lease_id"))}


def _leases(view: View, plain: Plain) -> Plain:
    state, after, limit = view.state, plain.get("after", 0), plain.get("limit", 100)
    ids = heapq.nsmallest(limit + 1, (i for i in state.leases if i > after))
    rows = [_lease_row(state, lease_id) for lease_id in ids[:limit]]
    return {"leases": rows, "next": ids[limit - 1] if len(ids) > limit else None}


def _lease_row(state: State, lease_id: int) -> Plain:
    handle = state.handle(lease_id)
    lease, owner = state.ledger.told(handle), state.owner_of(lease_id)
    return {
        "lease_id": lease_id,
        "node": str(lease.node),
        "tenant": owner.tenant,
        "project": owner.project,
        "resources": amounts_of(lease.resources),
        "devices": list(lease.devices),
        "priority": lease.priority.value,
        "lease_class": lease.lease_class.value,
        "state": lease.state.value,
        "generation": lease.generation,
        "granted_ms": lease.granted_ms,
        "expires_ms": lease.expires_ms,
        "gang": lease.gang,
    }


def _entry(view: View, plain: Plain) -> Plain:
    entry = waiting_entry(view.state, _asked(plain, "entry_id"), now_ms=view.now_ms)
    row = {
        "entry_id": entry.id,
        "tenant": str(entry.request.tenant),
        "project": None if entry.request.project is None else str(entry.request.project),
        "submitted_ms": entry.submitted_ms,
        "position": entry.position,
        "reason": entry.reason.value,
        "blockers": [denial_body(denied) for denied in entry.blockers],
        "starts_ms": entry.estimate.starts_ms,
        "basis": entry.estimate.basis.value,
    }
    return {"entry": row}


def _asked(plain: Plain, name: str) -> int:
    if name not in plain:
        raise InvalidValue(name, None, "the number of one")
    number: int = plain[name]
    return number


_LOOKS: dict[str, Callable[[View, Plain], dict[str, Any]]] = {
    "status": _status,
    "lease": _lease,
    "entry": _entry,
    "leases": _leases,
}
