"""Rules of trust and keys of service accounts: set, listed, ended.

Rules:

- Who sets one manages the account, and could make its tokens himself: he has that key there too,
  and every key that the account's roles have. So nobody gets by a rule what he has not.
- Nor later: of somebody with a role of his own, or with a narrowed token, the rule or key carries
  just the keys that he has there, whatever roles the account is given since.
- A key is in the answer that made it and nowhere else.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bailiwick.iam import (
    AccountKey,
    AccountTrust,
    Permission,
    ServiceAccount,
    holds_all,
    missing_keys,
    rights_of,
)
from bailiwick.kernel import Done
from bailiwick.kernel.people.credential_commands import (
    AddAccountKey,
    DeleteAccountKey,
    DeleteAccountTrust,
    SetAccountTrust,
)
from bailiwick.services.authority import digest_of
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.logins.federation import KEY_PREFIX, check_issuer
from bailiwick.services.logins.issuers import IssuerClient
from bailiwick.services.pages import Rows, page_of

_SECRET_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class NewRule:
    """A rule as somebody wants it."""

    rule: str
    issuer: str
    audience: str
    conditions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key, to be handed out once the command is durable."""

    text: str
    key_id: str
    expires_ms: int


async def page_trusts(
    caller: Caller, account: str, *, after: str | None, limit: int
) -> Rows[AccountTrust]:
    """The rules of an account."""
    await _find(caller, account)
    return await caller.read(
        lambda view: page_of(
            (t for t in view.state.directory.account_trusts.values() if t.account == account),
            after=after,
            limit=limit,
            key=lambda trust: trust.rule,
        )
    )


async def set_trust(
    caller: Caller, account: str, *, wish: Deferred[NewRule], issuers: Mapping[str, IssuerClient]
) -> Done:
    """Let in whoever one of the fleet's issuers says this of."""
    keys = await _carried(caller, await _find(caller, account))
    found = wish()
    check_issuer(issuers, found.issuer)
    command = SetAccountTrust(
        account, found.rule, found.issuer, found.audience, found.conditions, keys
    )
    return await caller.change(command)


async def delete_trust(caller: Caller, account: str, *, rule: str) -> Done:
    """Let nobody in by this rule any more."""
    await _find(caller, account)
    return await caller.change(DeleteAccountTrust(account, rule))


async def page_keys(
    caller: Caller, account: str, *, after: str | None, limit: int
) -> Rows[AccountKey]:
    """The keys of an account, and those that ended last."""
    await _find(caller, account)
    return await caller.read(
        lambda view: page_of(
            (k for k in view.state.directory.account_keys.values() if k.account == account),
            after=after,
            limit=limit,
            key=lambda key: key.key_id,
        )
    )


async def add_key(caller: Caller, account: str, *, ttl_s: int, overlap_s: int | None) -> NewKey:
    """A new key; with an overlap, in the place of the one that there is."""
    keys = await _carried(caller, await _find(caller, account))
    key_id = caller.ids()
    text = f"{KEY_PREFIX}{key_id}.{secrets.token_hex(_SECRET_BYTES)}"
    overlap_ms = None if overlap_s is None else 1000 * overlap_s
    command = AddAccountKey(account, key_id, digest_of(text), 1000 * ttl_s, overlap_ms, keys)
    await caller.change(command)
    return NewKey(text, key_id, caller.clock.now_ms() + 1000 * ttl_s)


async def delete_key(caller: Caller, account: str, *, key_id: str) -> Done:
    """A key that counts no more from now on."""
    await _find(caller, account)
    return await caller.change(DeleteAccountKey(account, key_id))


async def _find(caller: Caller, account: str) -> ServiceAccount:
    found = await caller.locate(lambda view: view.state.directory.accounts.get(account))
    caller.require(found.scope)
    return found


async def _carried(caller: Caller, account: ServiceAccount) -> tuple[Permission, ...] | None:
    """The only keys that go with it; ``None`` if it is all that the account has."""
    who, name, scope = caller.principal, account.name, account.scope
    if not caller.holds(Permission.TOKEN_ISSUE, scope):
        told = f"{Permission.TOKEN_ISSUE.value} is needed at {scope}, too"
        raise caller.refuse(told, reason="forbidden")
    held = await caller.lookup(lambda view: dict(view.state.directory.roles.get(name, {})))
    if any(missing_keys(who.roles, role.permissions, scope=at) for at, role in held.items()):
        raise caller.refuse("the account may do what you may not", reason="beyond_reach")
    if who.keys is None and holds_all(who.roles, scope):
        return None  # else the account may get more keys later than its maker has
    mine = rights_of(who.roles, scope)
    return tuple(sorted(mine if who.keys is None else mine & who.keys))
