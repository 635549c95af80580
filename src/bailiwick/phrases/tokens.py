"""Why no token is made for a lease."""

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
