"""How programs become service accounts, on the wire: rules of trust, keys, short tokens.

A key is shown once, in the answer that made it. No model has a digest.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from bailiwick.wire.base import Model, Name, Within
from bailiwick.wire.words import PermissionWord

GRANT_S_MAX: Final = 900
DAY_S: Final = 86_400
EXCHANGE: Final = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN: Final = "urn:ietf:params:oauth:token-type:access_token"
JWT: Final = "urn:ietf:params:oauth:token-type:jwt"
ACCOUNT_KEY: Final = "urn:bailiwick:token-type:account_key"
KEY_PREFIX: Final = "bwkey-"
"""How a key begins, so that who finds one in a file knows what it is."""

Address = Annotated[str, Field(min_length=1, max_length=255, pattern="^[ -~]+$")]
Condition = Annotated[
    str, Field(min_length=3, max_length=360, pattern="^[A-Za-z0-9_][A-Za-z0-9_.:/-]*=[ -~]+$")
]


class TrustRule(Model):
    """Whose word lets a program in as an account; ``keys`` (if any) are all that it carries."""

    rule: str
    issuer: str
    audience: str
    conditions: list[str]
    keys: list[PermissionWord] | None


class TrustWish(Model):
    """A rule as it is to be: what the issuer must say, for whom, and of whom.

    Each condition is `CLAIM=PATTERN`; a `*` stands for any characters. All of them have to hold.
    """

    rule: Name
    issuer: Address
    audience: Address
    conditions: Annotated[list[Condition], Field(min_length=1, max_length=8)]


class HeldKey(Model):
    """What is known of a key."""

    key_id: str
    added_ms: int
    expires_ms: int
    is_live: bool
    keys: list[PermissionWord] | None
    """All that its tokens carry, if it was made by somebody who has less than everything there."""


class KeyWish(Model):
    """A key to be made; with ``overlap_s`` the one that there is ends so much later (rotation)."""

    ttl_s: Annotated[int, Within(60, 366 * DAY_S)] = 90 * DAY_S
    overlap_s: Annotated[int, Within(0, 30 * DAY_S)] | None = None


class ShownKey(Model):
    """A key, shown this once."""

    key: str
    key_id: str
    account: str
    expires_ms: int


class IdentityExchange(Model):
    """What a program shows to become an account, in the words of RFC 8693.

    ``subject_token`` is what its own issuer signed (a JWT), or a key of the account.
    """

    grant_type: Literal["urn:ietf:params:oauth:grant-type:token-exchange"] = EXCHANGE
    subject_token: Annotated[str, Field(min_length=1, max_length=32_768)]
    subject_token_type: Literal[
        "urn:ietf:params:oauth:token-type:jwt",
        "urn:ietf:params:oauth:token-type:id_token",
        "urn:bailiwick:token-type:account_key",
    ] = JWT
    account: Name
    ttl_s: Annotated[int, Within(1, GRANT_S_MAX)] = GRANT_S_MAX


class GrantedToken(Model):
    """A short token of an account, in the words of RFC 8693."""

    access_token: str
    issued_token_type: Literal["urn:ietf:params:oauth:token-type:access_token"] = ACCESS_TOKEN
    token_type: Literal["Bearer"] = "Bearer"
    expires_in: int
    token_id: str
    principal: str
    expires_ms: int
