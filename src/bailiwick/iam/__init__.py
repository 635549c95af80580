"""Who may do what, where: principals, permission keys, scopes, and one function that decides."""

from bailiwick.iam.access import Access, Allowed, Forbidden, check_access, roles_within
from bailiwick.iam.directory import Directory, Project, ServiceAccount, Tenant, Token
from bailiwick.iam.roles import (
    KEYS_OF,
    ROLES_MAX,
    AnyRole,
    CustomRole,
    missing_keys,
    rights_of,
)
from bailiwick.iam.scope import FLEET, Scope
from bailiwick.iam.words import (
    APP_PREFIX,
    NODE_PREFIX,
    OPERATOR_KEYS,
    OWN_NAMES,
    RUNTIME_PREFIX,
    PrincipalKind,
    Role,
    ScopeLevel,
    is_reserved,
)
from bailiwick.vocab.permissions import Permission

__all__ = [
    "APP_PREFIX",
    "FLEET",
    "KEYS_OF",
    "NODE_PREFIX",
    "OPERATOR_KEYS",
    "OWN_NAMES",
    "ROLES_MAX",
    "RUNTIME_PREFIX",
    "Access",
    "Allowed",
    "AnyRole",
    "CustomRole",
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
    "missing_keys",
    "rights_of",
    "roles_within",
]
