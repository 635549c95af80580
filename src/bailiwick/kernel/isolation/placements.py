"""What runs where, as rules about isolation see it: leases, and claimants in room kept for them.

Rules:

- A lease is there from its grant until what it held is free: also in grace, in teardown and fenced.
- A node's labels are its own and those that it proved. What it does not tell of its caches is not
  known, and a lease of which it is not known which part of a machine it holds, holds all of it.
- A claimant counts as running in the room that is kept for it. Its seats are told only to those who
  ask for them, by numbers below zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.placements import Placement, Site
from bailiwick.kernel.isolation.subjects import subject_of_lease, subject_of_request
from bailiwick.kernel.state import State
from bailiwick.scheduler.core_book import Cores
from bailiwick.scheduler.node_state import NodeEntry

Domains = Mapping[DomainKind, frozenset[str]]


def site_of(entry: NodeEntry) -> Site:
    """What a node is made of, and where it is."""
    capacity = entry.capacity
    return Site(
        str(entry.id),
        capacity.topology,
        fabrics=tuple(gpu.fabric for gpu in capacity.gpus),
        labels={**entry.labels, **entry.attested, **entry.implied},
    )


def domains_of(state: State, lease_id: int, *, site: Site) -> dict[DomainKind, frozenset[str]]:
    """The domains of which a lease holds something, on a node of this site."""
    cores = state.cores.of(lease_id)
    caches = None if cores is None else [cache for cache, _ in cores]
    return site.domains(caches=caches, devices=_indices(state.fields(lease_id).devices))


def placements(state: State, lease_ids: Iterable[int] | None = None) -> Iterator[Placement]:
    """These leases, or all of them, by their numbers."""
    sites: dict[int, Site] = {}
    known: dict[tuple[int, int, Cores | None], Domains] = {}
    for lease_id in state.leases if lease_ids is None else lease_ids:
        fields = state.fields(lease_id)
        site = sites.get(fields.node)
        if site is None:
            sites[fields.node] = site = site_of(state.ledger.entry(state.node_of(lease_id)))
        key = fields.node, fields.devices, state.cores.of(lease_id)
        domains = known.get(key)
        if domains is None:
            known[key] = domains = domains_of(state, lease_id, site=site)
        yield Placement(
            str(lease_id),
            subject_of_lease(state, lease_id),
            site.node,
            domains,
            site.labels,
            fields.granted_ms,
            fields.expires_ms,
        )


def seats(state: State, *, now_ms: int) -> Iterator[Placement]:
    """Claimants as if they ran from now in the room that is kept for them."""
    for entry_id, claim in state.claims.items():
        request = state.entry(entry_id).request
        numbers = state.guards.seats_of((entry_id,))
        for number, seat in zip(numbers, claim.seats, strict=True):
            if seat.node not in state.ledger.entries:
                continue  # it departed, and the claim ends at the next look
            site = site_of(state.ledger.entry(seat.node))
            held = site.domains(devices=_indices(seat.devices))
            subject, until_ms = subject_of_request(request), now_ms + request.ttl_ms
            yield Placement(str(number), subject, site.node, held, site.labels, now_ms, until_ms)


def _indices(bits: int) -> tuple[int, ...]:
    return tuple(index for index in range(bits.bit_length()) if bits >> index & 1)
