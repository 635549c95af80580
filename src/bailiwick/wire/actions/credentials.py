"""How programs become service accounts: rules of trust, keys, and exchanging either."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, Action, Where
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.credentials import (
    GrantedToken,
    HeldKey,
    IdentityExchange,
    KeyWish,
    ShownKey,
    TrustRule,
    TrustWish,
)

_P, _W = Permission, Where

# fmt: off
ACCOUNT_TRUST_LIST = Action(
    "account_trust.list", "List whom a service account trusts",
    "GET", "/v1/service-accounts/{account}/trust",
    _P.ACCOUNT_READ, _W.ACCOUNT, NOTHING, Page[TrustRule])
ACCOUNT_TRUST_SET = Action(
    "account_trust.set", "Set whom a service account trusts",
    "PUT", "/v1/service-accounts/{account}/trust",
    _P.ACCOUNT_MANAGE, _W.ACCOUNT, TrustWish, Done)
ACCOUNT_TRUST_DELETE = Action(
    "account_trust.delete", "Trust somebody no more",
    "DELETE", "/v1/service-accounts/{account}/trust/{rule}",
    _P.ACCOUNT_MANAGE, _W.ACCOUNT, NOTHING, Done)
ACCOUNT_KEY_LIST = Action(
    "account_key.list", "List the keys of a service account",
    "GET", "/v1/service-accounts/{account}/keys",
    _P.ACCOUNT_READ, _W.ACCOUNT, NOTHING, Page[HeldKey])
ACCOUNT_KEY_ADD = Action(
    "account_key.add", "Add or rotate a key of a service account",
    "POST", "/v1/service-accounts/{account}/keys",
    _P.ACCOUNT_MANAGE, _W.ACCOUNT, KeyWish, ShownKey, status=201, once=True)
ACCOUNT_KEY_DELETE = Action(
    "account_key.delete", "Delete a key of a service account",
    "DELETE", "/v1/service-accounts/{account}/keys/{key_id}",
    _P.ACCOUNT_MANAGE, _W.ACCOUNT, NOTHING, Done)
FEDERATION_EXCHANGE = Action(
    "federation.exchange", "Exchange a program's identity for a short token",
    "POST", "/v1/federation/token",
    None, _W.OPEN, IdentityExchange, GrantedToken, once=True)
# fmt: on
