"""Scoped tokens for leases: claims, minters, the broker, and verification.

Pure: time and keys are arguments. The names below are the package; Biscuit's library is loaded when
its minter, or a token of its kind, is first met.
"""

from typing import TYPE_CHECKING

from bailiwick.capability.broker import (
    CapBroker,
    Denied,
    Issued,
    LeaseView,
    Minter,
    MintOutcome,
    MintWish,
    check_wish,
)
from bailiwick.capability.claims import (
    TOKEN_TTL_MS_MAX,
    Accepted,
    Refused,
    TokenClaims,
    Use,
    Verification,
)
from bailiwick.capability.hmac_tokens import HmacMinter
from bailiwick.capability.keys import BiscuitKey, HmacKey, HmacRoot, KeyRing
from bailiwick.capability.revocation import Revocations
from bailiwick.capability.verify import narrow, verify
from bailiwick.vocab.trust import MintDenial, Operation, TokenFault

if TYPE_CHECKING:
    from bailiwick.capability.biscuit_tokens import BiscuitMinter

__all__ = [
    "TOKEN_TTL_MS_MAX",
    "Accepted",
    "BiscuitKey",
    "BiscuitMinter",
    "CapBroker",
    "Denied",
    "HmacKey",
    "HmacMinter",
    "HmacRoot",
    "Issued",
    "KeyRing",
    "LeaseView",
    "MintDenial",
    "MintOutcome",
    "MintWish",
    "Minter",
    "Operation",
    "Refused",
    "Revocations",
    "TokenClaims",
    "TokenFault",
    "Use",
    "Verification",
    "check_wish",
    "narrow",
    "verify",
]


def __getattr__(name: str) -> object:
    """Biscuit's minter, with its library, when it is asked for."""
    if name != "BiscuitMinter":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    from bailiwick.capability.biscuit_tokens import BiscuitMinter

    return BiscuitMinter
