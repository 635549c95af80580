"""Which cores the members of a grant get.

Rules:

- Cores are chosen when a lease starts, not before: of a claim it is not known yet.
- They lie under caches that every policy lets the request use. A policy that lets it on a node has
  seen to it that enough are free there, for each member.
- Cores that a record has no room to tell are told as not known.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bailiwick.journal.fields import TEXT_MAX
from bailiwick.kernel.spelling import spell_cores
from bailiwick.kernel.state import State
from bailiwick.scheduler.core_book import Cores
from bailiwick.scheduler.node_set import caches_within
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import InvariantBroken


def choose_cores(
    state: State,
    request: PlacementRequest,
    *,
    nodes: Sequence[str],
    without: Collection[int] = (),
) -> tuple[Cores | None, ...]:
    """The cores of each member, in order; nothing where they are not kept.

    ``without`` are seats that policies know the request by already.
    """
    book, ledger = state.cores, state.ledger
    handles = [ledger.handle_of(node) for node in nodes]
    if not any(book.is_kept(handle) for handle in set(handles)):
        return ()
    found = (policy.nodes_for(request, without=without) for policy in state.guards.policies)
    sets = [nodes for nodes in found if nodes is not None]
    for handle in handles:
        if not all(handle in nodes for nodes in sets):
            raise InvariantBroken(f"a policy closes {ledger.node_at(handle)} to what it let there")
    chosen: list[Cores | None] = []
    beside: dict[int, list[Cores]] = {}
    for handle in handles:
        cores = None
        if book.is_kept(handle):
            before, allowed = beside.setdefault(handle, []), caches_within(sets, handle)
            cores = book.plan(handle, request.cpu_milli, allowed=allowed, beside=before)
            if cores is None:
                raise InvariantBroken(f"no cores on {ledger.node_at(handle)} that may be used")
            if len(spell_cores(cores)) > TEXT_MAX:
                cores = None
            else:
                before.append(cores)
        chosen.append(cores)
    return tuple(chosen)
