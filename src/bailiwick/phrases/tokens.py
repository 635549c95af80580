"""Whose a token is, and why none is made for a lease."""

from __future__ import annotations

from typing import Final

from bailiwick.vocab.trust import MintDenial

MINT_DENIALS: Final[dict[MintDenial, str]] = {
    MintDenial.NO_SUCH_LEASE: "there is no such lease, or it is not yours",
    MintDenial.NOT_OWNER: "the lease is another tenant's",
    MintDenial.LEASE_ENDING: "the lease is ending or over",
    MintDenial.STALE_GENERATION: "the lease was renewed since; read it again",
    MintDenial.NODE_QUARANTINED: "its node is quarantined",
    MintDenial.WRONG_AUDIENCE: "the lease is not on that node",
    MintDenial.NO_OPERATION: "it would allow nothing",
    MintDenial.TTL_TOO_LONG: "no token lives longer than 5 minutes",
    MintDenial.NODE_MINTS: "its node mints tokens itself; ask there",
}


def typed_name(name: str, kind: str, *, home: str) -> str:
    """A principal with what it is and where it is at home, as people read it everywhere.

    >>> typed_name("alice", "human", home="lab"), typed_name("ci", "service_account", home="fleet")
    ('alice (human of lab)', 'ci (service account of the fleet)')
    """
    place = "the fleet" if home == "fleet" else home
    return f"{name} ({kind.replace('_', ' ')} of {place})"
