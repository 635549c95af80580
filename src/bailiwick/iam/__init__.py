"""Who may do what, where: principals, permission keys, scopes, and one function that decides."""

from bailiwick.iam.access import Access, Allowed, Forbidden, check_access, roles_within
from bailiwick.iam.credentials import (
    AccountKey,
    AccountTrust,
    check_conditions,
    holds,
)
from bailiwick.iam.directory import (
    Directory,
    Project,
    RoleOffer,
    ServiceAccount,
    Tenant,
    Token,
)
from bailiwick.iam.homes import counted_roles, home_of, is_stranger, kind_of, known_home, reach_of
from bailiwick.iam.roles import (
    KEYS_OF,
    ROLES_MAX,
    AnyRole,
    CustomRole,
    holds_all,
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
    GivenBy,
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
    "AccountKey",
    "AccountTrust",
    "Allowed",
    "AnyRole",
    "CustomRole",
    "Directory",
    "Forbidden",
    "GivenBy",
    "Permission",
    "PrincipalKind",
    "Project",
    "Role",
    "RoleOffer",
    "Scope",
    "ScopeLevel",
    "ServiceAccount",
    "Tenant",
    "Token",
    "check_access",
    "check_conditions",
    "counted_roles",
    "holds",
    "holds_all",
    "home_of",
    "is_reserved",
    "is_stranger",
    "kind_of",
    "known_home",
    "missing_keys",
    "reach_of",
    "rights_of",
    "roles_within",
]
