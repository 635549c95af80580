"""The directory in a snapshot."""

from __future__ import annotations

from collections.abc import Iterable

from bailiwick.iam import (
    AccountKey,
    AccountTrust,
    CustomRole,
    Permission,
    PrincipalKind,
    Project,
    RoleOffer,
    Scope,
    ScopeLevel,
    ServiceAccount,
    Tenant,
    Token,
)
from bailiwick.kernel.slice import Plain
from bailiwick.kernel.state import State
from bailiwick.vocab.clock_repair import ClockRepair


def dump(state: State) -> Plain:
    """The directory as plain lists, in an order that follows from the journal."""
    directory = state.directory
    dumped = {
        "tenants": [
            [t.name, t.display_name, int(t.is_open), t.revision] for t in directory.tenants.values()
        ],
        "projects": [
            [p.tenant, p.name, p.display_name, int(p.is_open), p.revision]
            for p in directory.projects.values()
        ],
        "roles": [
            [member, *scope, role.value]
            for member, roles in sorted(directory.roles.items())
            for scope, role in sorted(roles.items(), key=lambda row: str(row[0]))
        ],
        "accounts": [[a.name, *a.scope, int(a.is_enabled)] for a in directory.accounts.values()],
        "tokens": [
            [
                *(t.token_id, t.principal, t.kind.value, t.digest, t.issued_ms, t.expires_ms),
                *(int(t.revoked), int(t.single_use)),
                _plain(t.keys),
                *_narrowing(t),
            ]
            for t in directory.tokens.values()
        ],
    }
    if directory.custom_roles:
        dumped["custom_roles"] = [
            [*role.home, role.name, role.level.value, [k.value for k in role.keys], role.revision]
            for role in directory.custom_roles.values()
        ]
    if directory.given:
        dumped["given"] = [
            [member, *scope, provider]
            for member, given in sorted(directory.given.items())
            for scope, provider in sorted(given.items(), key=lambda row: str(row[0]))
        ]
    if directory.homes:
        dumped["homes"] = [[name, home.tenant] for name, home in sorted(directory.homes.items())]
    if directory.offers:
        dumped["offers"] = [
            [each.member, *each.scope, each.role, each.offered_ms, each.expires_ms]
            for each in directory.offers.values()
        ]
    if directory.account_trusts:
        dumped["account_trusts"] = [
            [*(t.account, t.rule, t.issuer, t.audience), list(t.conditions), _plain(t.keys)]
            for t in directory.account_trusts.values()
        ]
    if directory.account_keys:
        dumped["account_keys"] = [
            [*(k.account, k.key_id, k.digest, k.added_ms, k.expires_ms), _plain(k.keys)]
            for k in directory.account_keys.values()
        ]
    return {"directory": dumped}


def load(state: State, plain: Plain) -> None:
    """Take up what :func:`dump` told."""
    directory, dumped = state.directory, plain["directory"]
    for name, display_name, is_open, revision in dumped["tenants"]:
        directory.tenants[name] = Tenant(name, display_name, bool(is_open), revision)
    for tenant, name, display_name, is_open, revision in dumped["projects"]:
        project = Project(tenant, name, display_name, bool(is_open), revision)
        directory.projects[tenant, name] = project
    for home, _, name, level, keys, revision in dumped.get("custom_roles", ()):
        held = frozenset(map(Permission, keys))
        made = CustomRole(name, Scope(home), ScopeLevel(level), held, revision)
        directory.custom_roles[Scope(home), name] = made
    for member, tenant, project_name, role in dumped["roles"]:
        scope = Scope(tenant, project_name)
        directory.roles.setdefault(member, {})[scope] = directory.role_at(role, scope)
    for member, tenant, project_name, provider in dumped.get("given", ()):
        directory.given.setdefault(member, {})[Scope(tenant, project_name)] = provider
    for name, tenant, project_name, is_enabled in dumped["accounts"]:
        scope = Scope(tenant, project_name)
        directory.accounts[name] = ServiceAccount(name, scope, bool(is_enabled))
    for name, tenant in dumped.get("homes", ()):
        directory.homes[name] = Scope(tenant)
    for member, tenant, project_name, role, offered_ms, expires_ms in dumped.get("offers", ()):
        scope = Scope(tenant, project_name)
        offer = RoleOffer(member, scope, role, offered_ms, expires_ms)
        directory.offers[member, scope] = offer
    for account, rule, issuer, audience, conditions, keys in dumped.get("account_trusts", ()):
        told = tuple(conditions)
        made_rule = AccountTrust(account, rule, issuer, audience, told, _keys(keys))
        directory.account_trusts[account, rule] = made_rule
    for account, key_id, digest, added_ms, expires_ms, keys in dumped.get("account_keys", ()):
        key = AccountKey(account, key_id, digest, added_ms, expires_ms, _keys(keys))
        directory.account_keys[key_id] = key
    for row in dumped["tokens"]:
        token_id, principal, kind, digest, issued, expires, revoked, once, keys, *more = row
        within, lease_id = [*more, None, None][:2]
        directory.tokens[token_id] = Token(
            token_id,
            principal,
            PrincipalKind(kind),
            digest,
            issued,
            expires,
            bool(revoked),
            bool(once),
            _keys(keys),
            None if within is None else tuple(within),
            lease_id,
        )


def _plain(keys: tuple[Permission, ...] | None) -> list[str] | None:
    return None if keys is None else [key.value for key in keys]


def _keys(plain: Iterable[str] | None) -> tuple[Permission, ...] | None:
    return None if plain is None else tuple(Permission(key) for key in plain)


def _narrowing(token: Token) -> list[object]:
    """What the row of a token ends in: nothing for one that is as wide as its principal."""
    within = None if token.within is None else list(token.within)
    if token.lease_id is not None:
        return [within, token.lease_id]
    return [] if within is None else [within]


def repair(plain: Plain, clock: ClockRepair) -> None:
    """Tokens, keys and offers live as long as they had left; those that had lapsed stay so."""
    for row in plain["directory"]["tokens"]:
        row[4], row[5] = clock.past(row[4]), clock.end(row[5])
    for row in plain["directory"].get("offers", ()):
        row[4], row[5] = clock.past(row[4]), clock.end(row[5])
    for row in plain["directory"].get("account_keys", ()):
        row[3], row[4] = clock.past(row[3]), clock.end(row[4])
