"""Who may do what, where: principals, permission keys, scopes, and one function that decides."""

from bailiwick.iam.access import Access, Allowed, Forbidden, check_access
from bailiwick.iam.directory import Directory, Project, ServiceAccount, Tenant, Token
from bailiwick.iam.scope import FLEET, Scope
from bailiwick.iam.words import Permission, PrincipalKind, Role, ScopeLevel

__all__ = [
    "FLEET",
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
]
