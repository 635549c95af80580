"""The closed words of authority: kinds of principal, and roles as sets of permission keys.

Rules:

- A handler asks for a permission key, never for a role. Roles are bundles for people to hand out;
  they may change without any handler being touched.
- A role belongs to one level. A fleet role reaches every tenant, a tenant role its projects.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from bailiwick.vocab.permissions import Permission

OWN_NAMES: Final = frozenset(
    (
        *("kernel", "http-door", "jobs", "liveness", "meter", "bailiwick-up", "demo-campus"),
        *("another", "apps", "cells", "bookings", "calendar"),
    )
)
"""Under these the server itself acts, or tells of one who is not named; nobody else has them."""

NODE_PREFIX: Final = "node:"
"""How the principal of a node is named; the rest is the node's own name."""

APP_PREFIX: Final = "app:"
"""In whose name an app's members run; the rest is its instance's number. Nobody logs in as it."""

RUNTIME_PREFIX: Final = "runtime:"
"""How the operator of a shared runtime is named; the rest is the runtime's number."""


def is_reserved(name: str) -> bool:
    """Whether the server alone acts under a name, or gives it out; who claims it is nobody.

    >>> is_reserved("jobs"), is_reserved("app:7"), is_reserved("ann")
    (True, True, False)
    """
    return name in OWN_NAMES or name.startswith((APP_PREFIX, RUNTIME_PREFIX))


class ScopeLevel(StrEnum):
    """How wide a scope is."""

    FLEET = "fleet"
    TENANT = "tenant"
    PROJECT = "project"


class PrincipalKind(StrEnum):
    """What sort of party asks."""

    HUMAN = "human"
    SERVICE_ACCOUNT = "service_account"
    NODE = "node"
    RUNTIME_OPERATOR = "runtime_operator"
    """The program that looks after one shared runtime."""


class GivenBy(StrEnum):
    """On whose behalf a role is given."""

    TENANT = "tenant"
    """Somebody of the place itself: not to one who is at home elsewhere."""
    FLEET = "fleet"
    """The fleet's administrator: to anybody, and his home stays what it is."""


class Role(StrEnum):
    """A bundle of permissions that is handed out together."""

    FLEET_ADMIN = "fleet_admin"
    FLEET_OPERATOR = "fleet_operator"
    FLEET_AUDITOR = "fleet_auditor"
    NODE_AGENT = "node_agent"
    TENANT_ADMIN = "tenant_admin"
    TENANT_AUDITOR = "tenant_auditor"
    PROJECT_ADMIN = "project_admin"
    PROJECT_MEMBER = "project_member"
    PROJECT_VIEWER = "project_viewer"

    @property
    def level(self) -> ScopeLevel:
        """The level at which it is handed out."""
        return _LEVELS[self]

    @property
    def permissions(self) -> frozenset[Permission]:
        """What it allows inside its scope."""
        return ROLE_PERMISSIONS[self]


_P = Permission
_VIEW = frozenset(
    {
        *(_P.QUEUE_READ, _P.LEASE_READ, _P.QUOTA_READ, _P.NODE_READ, _P.CATALOG_READ),
        *(_P.INSTANCE_READ, _P.USAGE_READ, _P.TENANT_READ, _P.TRACE_READ),
        *(_P.RATE_CARD_READ, _P.BUDGET_READ, _P.RUNTIME_READ, _P.BOOKING_READ),
    }
)
_MEMBER = _VIEW | {
    *(_P.QUEUE_SUBMIT, _P.QUEUE_CANCEL, _P.LEASE_HOLD, _P.JOB_EXEC, _P.ENDPOINT_OPEN),
}
_APPS = frozenset({_P.INSTANCE_CREATE, _P.INSTANCE_UPDATE, _P.INSTANCE_DELETE})
_CATALOG = frozenset({_P.CATALOG_PUBLISH, _P.ENTITLEMENT_SET, _P.ARTIFACT_MANAGE})
_PEOPLE = frozenset({_P.MEMBER_READ, _P.MEMBER_MANAGE, _P.ACCOUNT_READ, _P.ACCOUNT_MANAGE})
_TOKENS = frozenset({_P.TOKEN_ISSUE, _P.TOKEN_REVOKE})
_AUDIT = _VIEW | {_P.JOURNAL_READ, _P.MEMBER_READ, _P.ACCOUNT_READ, _P.INVOICE_READ}
_JOIN = frozenset({_P.INVOICE_READ, _P.WEBHOOK_MANAGE, _P.RUNTIME_JOIN})
_PROJECT_ADMIN = _MEMBER | _APPS | _PEOPLE | _TOKENS | _JOIN
_OPERATE = frozenset(
    {
        *(_P.NODE_OPERATE, _P.NODE_REPORT, _P.LEASE_EVICT, _P.SETTINGS_READ, _P.METRICS_READ),
        *(_P.FINDING_REPORT, _P.ISOLATION_READ, _P.ISOLATION_SET, _P.CELL_READ, _P.CELL_OPERATE),
    }
)

OPERATOR_KEYS: Final = frozenset(
    {
        *(_P.RUNTIME_READ, _P.INSTANCE_READ, _P.INSTANCE_UPDATE),
        *(_P.LEASE_READ, _P.NODE_READ, _P.JOB_EXEC),
    }
)
"""What the operator of a shared runtime may do: read it, act on the instance behind it, and of its
members read what they hold, and where, and ask them."""

ROLE_PERMISSIONS: dict[Role, frozenset[Permission]] = {
    # Break-glass is a right of its own that even an admin must use openly.
    Role.FLEET_ADMIN: frozenset(_P) - {_P.NODE_REPORT},
    Role.FLEET_OPERATOR: _VIEW | _OPERATE,
    Role.FLEET_AUDITOR: _AUDIT
    | {_P.SETTINGS_READ, _P.ISOLATION_READ, _P.METRICS_READ, _P.CELL_READ},
    Role.NODE_AGENT: frozenset({_P.NODE_REPORT}),
    # What a tenant may hold and spend is the fleet's to say; how that is shared out, the tenant's.
    # Which apps its projects may use is a tenant's to say; who gets a node's host, the fleet's.
    Role.TENANT_ADMIN: _PROJECT_ADMIN
    | _CATALOG
    | {_P.PROJECT_MANAGE, _P.JOURNAL_READ, _P.PROJECT_BUDGET_SET, _P.ROLE_MANAGE}
    | {_P.RUNTIME_MANAGE, _P.PROJECT_QUOTA_SET, _P.BOOKING_MANAGE},
    Role.TENANT_AUDITOR: _AUDIT,
    Role.PROJECT_ADMIN: _PROJECT_ADMIN,
    Role.PROJECT_MEMBER: _MEMBER,
    Role.PROJECT_VIEWER: _VIEW,
}
_LEVELS = {
    Role.FLEET_ADMIN: ScopeLevel.FLEET,
    Role.FLEET_OPERATOR: ScopeLevel.FLEET,
    Role.FLEET_AUDITOR: ScopeLevel.FLEET,
    Role.NODE_AGENT: ScopeLevel.FLEET,
    Role.TENANT_ADMIN: ScopeLevel.TENANT,
    Role.TENANT_AUDITOR: ScopeLevel.TENANT,
    Role.PROJECT_ADMIN: ScopeLevel.PROJECT,
    Role.PROJECT_MEMBER: ScopeLevel.PROJECT,
    Role.PROJECT_VIEWER: ScopeLevel.PROJECT,
}
