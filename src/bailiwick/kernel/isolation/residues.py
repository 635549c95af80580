"""What is left behind: a domain stays a rule's subjects' own after the last of them has left it.

Rules:

- It follows from the records of leases alone, and is kept when the last lease of a rule's subjects
  in a domain is gone: its teardown reported, its fence cleared, or its node departed. A machine's
  name keeps what was left on it, also if it departs and comes again.
- Who is there when they leave may stay; who comes later may not be there before the time is over or
  somebody scrubbed it. Their own work may come at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.placements import Residue
from bailiwick.isolation.policy import Linger
from bailiwick.kernel.isolation.book import ResidueKey
from bailiwick.kernel.isolation.placements import domains_of, site_of
from bailiwick.kernel.state import State


def note_grants(state: State, lease_ids: Iterable[int]) -> None:
    """Leases began."""
    book = state.isolation
    for lease_id in lease_ids if book.lingers else ():
        for key, _ in _kept_by(state, lease_id):
            book.counts[key] = book.counts.get(key, 0) + 1
            book.leavers.add(lease_id)


def note_end(state: State, lease_id: int, *, at_ms: int) -> None:
    """A lease ends, and is still there to be asked; what it leaves is kept if it was the last."""
    book = state.isolation
    if lease_id not in book.leavers:
        return
    book.leavers.discard(lease_id)
    for key, rule in _kept_by(state, lease_id):
        book.counts[key] -= 1
        if book.counts[key]:
            continue
        del book.counts[key]
        until_ms = None if rule.for_ms is None else at_ms + rule.for_ms
        left_ms = at_ms + _has_begun(state, at_ms, besides=lease_id)
        book.keep(Residue(*key, left_ms=left_ms, until_ms=until_ms))


def recount(state: State) -> None:
    """Count anew whose leases are where: after another policy, or from a snapshot."""
    state.isolation.counts.clear()
    state.isolation.leavers.clear()
    note_grants(state, state.leases)


def _has_begun(state: State, at_ms: int, *, besides: int) -> bool:
    """Whether another lease began at this very time: it came before they left, and may stay."""
    newest = next((i for i in reversed(state.leases) if i != besides), None)
    return newest is not None and state.fields(newest).granted_ms == at_ms


def _kept_by(state: State, lease_id: int) -> Iterator[tuple[ResidueKey, Linger]]:
    """The rules by which a lease leaves something behind, and in which domains."""
    labels = state.job_labels.get(lease_id, {})
    theirs = state.isolation.lingers_of(state.owner_of(lease_id), labels)
    node = state.node_of(lease_id) if theirs else ""
    domains: Mapping[DomainKind, Iterable[str]] = {DomainKind.HOST: (node,)}
    if any(kind is not DomainKind.HOST for rule in theirs for kind in rule.kinds):
        # Only then: working out what it holds of a machine is dear.
        domains = domains_of(state, lease_id, site=site_of(state.ledger.entry(node)))
    for rule, kind in ((each, kind) for each in theirs for kind in each.kinds):
        yield from (((rule.name, kind, domain), rule) for domain in domains[kind])
