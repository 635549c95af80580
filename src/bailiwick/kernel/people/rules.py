"""Who exists and who may do what: decided and applied like everything else.

Rules:

- A name is taken once: what was closed keeps its name, and may be opened again.
- Roles go by name, and people and service accounts share the names: an account takes none that has
  a role or a token already.
- A service account has roles inside its own scope alone: who manages it there made its tokens.
- A token that takes the place of another carries just what that did, and ends it.
- A home never moves by what others give (:mod:`.homes`), and strangers accept what they get.
- A caller that holds an older revision of a tenant or project is stale.
- Whoever lets somebody in or turns somebody away leaves a record of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeVar, assert_never, get_args

from bailiwick.iam import (
    AnyRole,
    CustomRole,
    Directory,
    Project,
    Role,
    Scope,
    ServiceAccount,
    Tenant,
    Token,
)
from bailiwick.kernel.events import Event
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.people import commands as cmd
from bailiwick.kernel.people import credential_commands as cc
from bailiwick.kernel.people import credential_events as ce
from bailiwick.kernel.people import credentials, groups, homes, roles
from bailiwick.kernel.people import events as ev
from bailiwick.kernel.people import home_commands as hc
from bailiwick.kernel.people import home_events as he
from bailiwick.kernel.slice import Apply
from bailiwick.kernel.state import State
from bailiwick.vocab.errors import Conflict, InvalidValue, LimitReached, Stale

T = TypeVar("T", Tenant, Project)

TOKENS_MAX = 1_000_000
"""Tokens that may be known at a time; those that ran out are forgotten first."""


def decide(state: State, command: cmd.PeopleCommand, now_ms: int) -> Iterator[Event]:
    """The events that follow from such a command."""
    directory = state.directory
    match command:
        case cmd.CreateTenant():
            if command.tenant in directory.tenants:
                raise Conflict("tenant", command.tenant, "exists already")
            yield ev.TenantCreated(Owner(command.tenant), command.display_name)
        case cmd.CreateProject():
            directory.check_scope(Scope(command.tenant))
            if (command.tenant, command.project) in directory.projects:
                raise Conflict("project", f"{command.tenant}/{command.project}", "exists already")
            yield ev.ProjectCreated(Owner(command.tenant, command.project), command.display_name)
        case cmd.ChangeTenant() | cmd.ChangeProject():
            yield from _change(directory, command)
        case cmd.SetMember():
            yield from _set_member(directory, command)
        case cmd.ApplyGroups():
            yield from groups.decide(directory, command)
        case hc.OfferRole() | hc.EndOffer() | hc.SetHome():
            yield from homes.decide(directory, command, now_ms=now_ms)
        case cc.GrantAccountToken():
            token = credentials.token_of(directory, command, now_ms=now_ms)
            yield from _issue(directory, token, now_ms=now_ms)
            yield from credentials.decide(directory, command, now_ms=now_ms)
        case (
            cc.SetAccountTrust()
            | cc.DeleteAccountTrust()
            | cc.AddAccountKey()
            | cc.DeleteAccountKey()
        ):
            yield from credentials.decide(directory, command, now_ms=now_ms)
        case cmd.SetRole() | cmd.DeleteRole():
            yield from roles.decide(directory, command)
        case cmd.CreateAccount() | cmd.ChangeAccount():
            yield from _account(directory, command, now_ms=now_ms)
        case cmd.IssueToken():
            yield from _issue(directory, command, now_ms=now_ms)
        case cmd.RevokeToken():
            if directory.token(command.token_id).revoked:
                raise Conflict("token", command.token_id, "is revoked already")
            yield ev.AccessTokenRevoked(command.token_id)
        case cmd.NoteRefusal():
            owner = Owner(command.tenant, command.project)
            yield ev.AccessRefused(owner, command.reason, command.principal, command.permission)
        case cmd.BreakGlass():
            if command.tenant is not None:
                directory.tenant(command.tenant)
            owner, until = Owner(command.tenant), command.expires_ms
            yield ev.GlassBroken(
                owner, command.action, command.target, command.justification, until
            )
        case _:
            assert_never(command)


def _change(
    directory: Directory, command: cmd.ChangeTenant | cmd.ChangeProject
) -> Iterator[ev.TenantChanged | ev.ProjectChanged]:
    found: Tenant | Project = directory.tenant(command.tenant)
    kind: type[ev.TenantChanged] = ev.TenantChanged
    owner = Owner(command.tenant)
    if isinstance(command, cmd.ChangeProject):
        found = directory.project(command.tenant, command.project)
        kind, owner = ev.ProjectChanged, Owner(command.tenant, command.project)
    if command.revision is not None and command.revision != found.revision:
        raise Stale("tenant", command.tenant, held=command.revision, current=found.revision)
    changes = []
    if command.display_name is not None and command.display_name != found.display_name:
        changes.append(kind(owner, "display_name", found.display_name, command.display_name))
    if command.is_open is not None and command.is_open != found.is_open:
        changes.append(kind(owner, "is_open", _yes(found.is_open), _yes(command.is_open)))
    if not changes:
        raise Conflict("tenant", command.tenant, "is like that already")
    yield from changes


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _set_member(
    directory: Directory, command: cmd.SetMember
) -> Iterator[ev.MemberChanged | he.HomeEvent]:
    scope = Scope.of(command.tenant, command.project)
    wanted: AnyRole | None = command.role
    if command.custom is not None:
        wanted = directory.role_at(command.custom, scope)
        if wanted.level is not scope.level:
            raise InvalidValue("role", command.custom, f"a role of the {scope.level}")
    if wanted is not None:  # taking a role away must be possible where all is closed
        directory.check_scope(scope)
        account = directory.accounts.get(command.member)
        if account is not None and not account.scope.covers(scope):
            # Not which scope that is: it may be another's.
            raise Conflict("service account", command.member, "has no roles beyond its own scope")
    before = directory.roles.get(command.member, {}).get(scope)
    if before == wanted:
        told = "no role" if wanted is None else wanted.value
        raise Conflict("member", command.member, f"has {told} there already")
    if wanted is not None:
        yield from homes.check_giving(
            directory, command.member, scope=scope, given_by=command.given_by
        )
    yield ev.MemberChanged(Owner(*scope), command.member, _told(wanted), _told(before))


def _told(role: AnyRole | None) -> Role | str | None:
    return role.name if isinstance(role, CustomRole) else role


def _account(
    directory: Directory, command: cmd.CreateAccount | cmd.ChangeAccount, *, now_ms: int
) -> Iterator[ev.ServiceAccountCreated | ev.ServiceAccountChanged]:
    if isinstance(command, cmd.CreateAccount):
        scope = Scope.of(command.tenant, command.project)
        directory.check_scope(scope)
        if command.account in directory.accounts:
            raise Conflict("service account", command.account, "exists already")
        if _is_somebody(directory, command.account, now_ms=now_ms):
            raise Conflict("service account", command.account, "is the name of somebody else")
        yield ev.ServiceAccountCreated(Owner(*scope), command.account)
        return
    found = directory.account(command.account)
    if found.is_enabled == command.is_enabled:
        raise Conflict("service account", command.account, "is like that already")
    yield ev.ServiceAccountChanged(Owner(*found.scope), command.account, command.is_enabled)


def _is_somebody(directory: Directory, name: str, *, now_ms: int) -> bool:
    """Whether a name has a role, or a token that may still be shown."""
    tokens = directory.tokens.values()
    return name in directory.roles or any(
        token.principal == name and not token.revoked and token.expires_ms > now_ms
        for token in tokens
    )


def _issue(
    directory: Directory, command: cmd.IssueToken, *, now_ms: int
) -> Iterator[ev.AccessTokenIssued | ev.AccessTokenRevoked]:
    if command.token_id in directory.tokens:
        raise Conflict("token", command.token_id, "exists already")
    if command.expires_ms <= now_ms:
        raise Conflict("token", command.token_id, f"would have run out at {command.expires_ms}")
    tokens = directory.tokens
    if len(tokens) >= TOKENS_MAX:  # those that ran out are counted off only if it comes to that
        live = sum(token.expires_ms > now_ms for token in tokens.values())
        if live >= TOKENS_MAX:
            raise LimitReached("tokens", TOKENS_MAX)
    if command.renews is not None:
        _check_renewed(directory.token(command.renews), command, now_ms=now_ms)
        yield ev.AccessTokenRevoked(command.renews)
    if command.spends is not None:
        spent = directory.token(command.spends)
        if spent.revoked or not spent.single_use or spent.principal != command.principal:
            raise Conflict("token", command.spends, "is no unspent login code of this principal")
        yield ev.AccessTokenRevoked(command.spends)
    yield ev.AccessTokenIssued(
        command.token_id,
        command.principal,
        command.kind,
        command.digest,
        command.expires_ms,
        command.single_use,
        command.keys,
        command.within,
        command.lease_id,
    )


def _check_renewed(old: Token, command: cmd.IssueToken, *, now_ms: int) -> None:
    """Refuse a token that is anything else than the next one of the same session."""
    counts = not (old.revoked or old.single_use) and old.expires_ms > now_ms
    is_same = (
        (old.principal, old.kind, old.keys, old.within, old.lease_id)
        == (command.principal, command.kind, command.keys, command.within, command.lease_id)
    ) and not command.single_use
    if not counts or not is_same or command.spends is not None:
        raise Conflict("token", old.token_id, "is none that this one could take the place of")


def _apply(state: State, event: ev.PeopleEvent, at_ms: int) -> None:
    """The directory after one more record."""
    directory = state.directory
    match event:
        case ev.ProjectCreated():
            tenant, project = str(event.owner.tenant), str(event.owner.project)
            directory.projects[tenant, project] = Project(tenant, project, event.display_name)
        case ev.TenantCreated():
            name = str(event.owner.tenant)
            directory.tenants[name] = Tenant(name, event.display_name)
        case ev.ProjectChanged():
            key = (str(event.owner.tenant), str(event.owner.project))
            directory.projects[key] = _changed(directory.projects[key], event)
        case ev.TenantChanged():
            name = str(event.owner.tenant)
            directory.tenants[name] = _changed(directory.tenants[name], event)
        case ev.MemberChanged():
            _put_role(directory, event)
            groups.put_origin(directory, event)
        case he.RoleOffered() | he.RoleOfferEnded() | he.PrincipalHomed():
            homes.apply(directory, event, at_ms=at_ms)
        case (
            ce.AccountTrustSet()
            | ce.AccountTrustDeleted()
            | ce.AccountKeyAdded()
            | ce.AccountKeyEnded()
            | ce.AccountTokenGranted()
        ):
            credentials.apply(directory, event, at_ms=at_ms)
        case ev.RoleSet():
            roles.put_role(directory, event)
        case ev.ServiceAccountCreated():
            directory.accounts[event.account] = ServiceAccount(event.account, Scope(*event.owner))
        case ev.ServiceAccountChanged():
            found = directory.accounts[event.account]
            directory.accounts[event.account] = replace(found, is_enabled=event.is_enabled)
        case ev.AccessTokenIssued():
            _put_token(directory, event, at_ms=at_ms)
        case ev.AccessTokenRevoked():
            token = directory.tokens[event.token_id]
            directory.tokens[event.token_id] = replace(token, revoked=True)
        case ev.AccessRefused() | ev.GlassBroken():
            pass
        case _:
            assert_never(event)


def _changed(found: T, event: ev.TenantChanged) -> T:
    revision = found.revision + 1
    if event.field == "display_name":
        return replace(found, revision=revision, display_name=event.after)
    return replace(found, revision=revision, is_open=event.after == "yes")


def _put_role(directory: Directory, event: ev.MemberChanged) -> None:
    held = directory.roles.setdefault(event.member, {})
    scope = Scope(*event.owner)
    if event.role is None:
        del held[scope]
    else:
        held[scope] = directory.role_at(event.role, scope)
    if not held:
        del directory.roles[event.member]


def _put_token(directory: Directory, event: ev.AccessTokenIssued, *, at_ms: int) -> None:
    """Remember a token, and forget those at the front that ran out: they let nobody in."""
    tokens = directory.tokens
    while tokens:  # bounded: every round forgets one
        oldest = next(iter(tokens.values()))
        if oldest.expires_ms > at_ms:
            break
        del tokens[oldest.token_id]
    tokens[event.token_id] = Token(
        event.token_id,
        event.principal,
        event.principal_kind,
        event.digest,
        at_ms,
        event.expires_ms,
        single_use=event.single_use,
        keys=event.keys,
        within=event.within,
        lease_id=event.lease_id,
    )


APPLY: Mapping[type, Apply] = dict.fromkeys(get_args(ev.PeopleEvent), _apply)
TOLD_ONLY = get_args(ev.PeopleEvent)
"""Who may do what is asked before the kernel is; it decides no placement."""
