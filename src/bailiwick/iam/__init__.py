"""Who may do what, where: principals, permission keys, scopes, and one function that decides."""

from bailiwick.iam.access import Access, Allowed, Forbidden, check_access, roles_within
from bailiwick.iam.directory import Directory, Project, ServiceAccount, Tenant, Token
from bailiwick.iam.scope import FLEET, Scope
from bailiwick.iam.words import (
    APP_PREFIX,
    NODE_PREFIX,
    OWN_NAMES,
    PrincipalKind,
    Role,
    ScopeLevel,
    is_reserved,
)
from bailiwick.vocab.permissions import Permission

__all__ = [
    "APP_PREFIX",
    "FLEET",
    "NODE_PREFIX",
    "OWN_NAMES",
    "Access",
    "Allowed",
    "Directory",
    "Forbidden",
    "Permission",
    "PrincipalKind",
    "Project",
    "Role",
    "Scope",
    "ScopeLevel",
    "ServiceAccount",
    "Tenant",
    "Token",
    "check_access",
    "is_reserved",
    "roles_within",
]
