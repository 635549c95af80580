"""Where a principal is at home: who looks after its tokens, and who is a stranger there.

Rules:

- A home is the fleet or a tenant: where the principal was first made known. It is written down when
  a role elsewhere would put it in doubt (``Directory.homes``); until then it follows from what is
  known: an account's is its scope's, a name with a colon (a node's, a provider's) is the fleet's,
  anybody else's the one tenant where he has roles. Of one with roles in several, it is the fleet.
- A stranger is whoever is at home elsewhere: not even the fleet's people are at home in a tenant.
- Who looks after somebody's tokens is said by the roles that he has *at home*. What others give him
  neither adds to that nor takes from it.
- A role at a closed tenant or project counts for its own people alone.

>>> from bailiwick.iam.words import Role
>>> directory = Directory()
>>> directory.roles["ann"] = {Scope("lab", "p"): Role.PROJECT_MEMBER}
>>> str(home_of(directory, "ann")), home_of(directory, "nobody")
('lab', None)
>>> is_stranger(directory, "ann", scope=Scope("rival"))
True
"""

from __future__ import annotations

from bailiwick.iam.directory import Directory
from bailiwick.iam.roles import AnyRole
from bailiwick.iam.scope import FLEET, Scope
from bailiwick.iam.words import NODE_PREFIX, RUNTIME_PREFIX, PrincipalKind


def home_of(directory: Directory, principal: str) -> Scope | None:
    """Where a principal is at home; nowhere, if nobody made it known by a role or as an account."""
    written = directory.homes.get(principal)
    if written is not None:
        return written
    account = directory.accounts.get(principal)
    if account is not None:
        return Scope(account.scope.tenant)
    if ":" in principal:
        return FLEET
    tenants = {scope.tenant for scope in directory.roles.get(principal, {})}
    if not tenants:
        return None
    return Scope(tenants.pop()) if len(tenants) == 1 else FLEET


def kind_of(directory: Directory, principal: str) -> PrincipalKind:
    """What sort of party a name means."""
    if principal in directory.accounts:
        return PrincipalKind.SERVICE_ACCOUNT
    if principal.startswith(NODE_PREFIX):
        return PrincipalKind.NODE
    is_operator = principal.startswith(RUNTIME_PREFIX)
    return PrincipalKind.RUNTIME_OPERATOR if is_operator else PrincipalKind.HUMAN


def known_home(directory: Directory, principal: str) -> Scope | None:
    """The same, where the fleet's own token makes known too; looks through all tokens."""
    found = home_of(directory, principal)
    if found is not None:
        return found
    tokens = (token for token in directory.tokens.values() if token.principal == principal)
    return FLEET if any(token.within is None for token in tokens) else None


def is_stranger(directory: Directory, principal: str, *, scope: Scope) -> bool:
    """Whether a principal is at home elsewhere; whoever is not known at all is none."""
    home = known_home(directory, principal)
    return home is not None and home.tenant != scope.tenant


def reach_of(directory: Directory, principal: str) -> set[Scope]:
    """Where one must have a key to look after a principal's tokens: its roles at home, or that."""
    home = home_of(directory, principal) or FLEET
    reach = {scope for scope in directory.roles.get(principal, {}) if home.covers(scope)}
    account = directory.accounts.get(principal)
    if account is not None:
        reach.add(account.scope)
    return reach or {home}


def counted_roles(directory: Directory, principal: str) -> dict[Scope, AnyRole]:
    """The roles that count now: all but a stranger's where it is closed."""
    held = directory.roles.get(principal, {})
    closed = [scope for scope in held if not directory.is_open(scope)]
    if not closed:
        return held
    home = home_of(directory, principal) or FLEET
    return {
        scope: role
        for scope, role in held.items()
        if scope not in closed or scope.tenant == home.tenant
    }
