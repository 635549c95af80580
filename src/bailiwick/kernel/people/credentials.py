"""How programs become service accounts: what follows from a rule, a key, and their use.

Rules:

- An account has few rules, and two live keys at most. A key that ended is forgotten when the next
  one comes.
- Rotating adds a key, and the one before ends after an overlap, never later than it would have.
- A token is given only while the account is enabled, for a key that counts or a rule that stands,
  for minutes, and carries what that key or rule was given. What became of the account's roles
  since does not matter to it: a token counts as its account's roles do.
- Who became the account, by what, is a record of the account's own tenant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, TypeAlias, assert_never

from bailiwick.iam import AccountKey, AccountTrust, Directory, Permission, PrincipalKind
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.people import credential_commands as cmd
from bailiwick.kernel.people import credential_events as ce
from bailiwick.kernel.people.commands import IssueToken
from bailiwick.vocab.errors import Conflict, LimitReached, NotFound

Carried: TypeAlias = tuple[Permission, ...] | None

TRUSTS_MAX: Final = 16
"""Rules of one account."""
KEYS_MAX: Final = 2
"""Live keys of one account."""


def decide(
    directory: Directory, command: cmd.CredentialCommand, *, now_ms: int
) -> Iterator[ce.CredentialEvent]:
    """What follows from such a command, but for the token of a ``GrantAccountToken``."""
    account = directory.account(command.account)
    owner = Owner(*account.scope)
    match command:
        case cmd.SetAccountTrust():
            directory.check_scope(account.scope)
            yield _set_trust(directory, command, owner=owner)
        case cmd.DeleteAccountTrust():
            if (command.account, command.rule) not in directory.account_trusts:
                raise NotFound("rule", command.rule)
            yield ce.AccountTrustDeleted(owner, command.account, command.rule)
        case cmd.AddAccountKey():
            directory.check_scope(account.scope)
            yield from _add_key(directory, command, owner=owner, now_ms=now_ms)
        case cmd.DeleteAccountKey():
            _live_key(directory, command.account, command.key_id, now_ms=now_ms)
            yield ce.AccountKeyEnded(owner, command.account, command.key_id, now_ms)
        case cmd.GrantAccountToken():
            yield ce.AccountTokenGranted(
                owner,
                command.account,
                command.token_id,
                command.expires_ms,
                command.key_id,
                command.rule,
                command.issuer,
                command.subject,
                command.assertion,
            )
        case _:
            assert_never(command)


def token_of(directory: Directory, command: cmd.GrantAccountToken, *, now_ms: int) -> IssueToken:
    """The token that somebody gets, if the account, and what he shows for it, still count."""
    account = directory.account(command.account)
    if not account.is_enabled:
        raise Conflict("service account", command.account, "is disabled")
    if command.expires_ms > now_ms + cmd.GRANT_MS_MAX:
        told = f"would count for longer than {cmd.GRANT_MS_MAX // 60_000} minutes"
        raise Conflict("token", command.token_id, told)
    keys = _carried(directory, command, now_ms=now_ms)
    kind, digest = PrincipalKind.SERVICE_ACCOUNT, command.digest
    return IssueToken(command.token_id, account.name, kind, digest, command.expires_ms, keys=keys)


def _carried(directory: Directory, command: cmd.GrantAccountToken, *, now_ms: int) -> Carried:
    if command.key_id is not None:
        return _live_key(directory, command.account, command.key_id, now_ms=now_ms).keys
    found = directory.account_trusts.get((command.account, str(command.rule)))
    if found is None or found.issuer != command.issuer:
        raise NotFound("rule", str(command.rule))
    return found.keys


def _set_trust(
    directory: Directory, command: cmd.SetAccountTrust, *, owner: Owner
) -> ce.AccountTrustSet:
    name, place = command.account, (command.account, command.rule)
    wanted = AccountTrust(
        name, command.rule, command.issuer, command.audience, command.conditions, command.keys
    )
    if directory.account_trusts.get(place) == wanted:
        raise Conflict("rule", command.rule, "is like that already")
    known = sum(account == name for account, _ in directory.account_trusts)
    if place not in directory.account_trusts and known >= TRUSTS_MAX:
        raise LimitReached(f"rules of {name}", TRUSTS_MAX)
    return ce.AccountTrustSet(
        owner,
        name,
        command.rule,
        command.issuer,
        command.audience,
        command.conditions,
        command.keys,
    )


def _add_key(
    directory: Directory, command: cmd.AddAccountKey, *, owner: Owner, now_ms: int
) -> Iterator[ce.AccountKeyEnded | ce.AccountKeyAdded]:
    name = command.account
    if command.key_id in directory.account_keys:
        raise Conflict("key", command.key_id, "exists already")
    live = live_keys(directory, name, now_ms=now_ms)
    if len(live) >= KEYS_MAX:
        told, hint = "has two keys already", "delete one: what uses it has the other by now"
        raise Conflict("service account", name, told, hint=hint)
    if command.overlap_ms is not None:
        if not live:
            raise Conflict("service account", name, "has no key to rotate", hint="add one")
        until_ms = now_ms + command.overlap_ms
        for each in live:
            if until_ms < each.expires_ms:
                yield ce.AccountKeyEnded(owner, name, each.key_id, until_ms)
    expires_ms = now_ms + command.ttl_ms
    yield ce.AccountKeyAdded(owner, name, command.key_id, command.digest, expires_ms, command.keys)


def live_keys(directory: Directory, account: str, *, now_ms: int) -> list[AccountKey]:
    """The keys of an account that count now, the oldest first."""
    found = directory.account_keys.values()
    return [key for key in found if key.account == account and key.expires_ms > now_ms]


def _live_key(directory: Directory, account: str, key_id: str, *, now_ms: int) -> AccountKey:
    found = directory.account_keys.get(key_id)
    if found is None or found.account != account or found.expires_ms <= now_ms:
        raise NotFound("key", key_id)
    return found


def apply(directory: Directory, event: ce.CredentialEvent, *, at_ms: int) -> None:
    """The directory after one more record."""
    match event:
        case ce.AccountTrustSet():
            directory.account_trusts[event.account, event.rule] = AccountTrust(
                event.account,
                event.rule,
                event.issuer,
                event.audience,
                event.conditions,
                event.keys,
            )
        case ce.AccountTrustDeleted():
            del directory.account_trusts[event.account, event.rule]
        case ce.AccountKeyAdded():
            mine = [
                each for each in directory.account_keys.values() if each.account == event.account
            ]
            for ended in [each for each in mine if each.expires_ms <= at_ms]:
                del directory.account_keys[ended.key_id]
            directory.account_keys[event.key_id] = AccountKey(
                event.account, event.key_id, event.digest, at_ms, event.expires_ms, event.keys
            )
        case ce.AccountKeyEnded():
            found = directory.account_keys[event.key_id]
            directory.account_keys[event.key_id] = replace(found, expires_ms=event.ends_ms)
        case ce.AccountTokenGranted():
            pass  # the token's own record makes it count
        case _:
            assert_never(event)
