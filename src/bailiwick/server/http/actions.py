"""Everything that can be asked over HTTP with a login: one closed list.

Rules:

- An action has a permission key; one without cannot be built, but for those where everybody asks
  about himself alone (``Where.SELF``) or for what is public (``Where.EVERYBODY``). Its route is
  made from this list and from nowhere else, and so are the tests that another's scope is closed to
  it.
- ``where`` says how the scope is found at which the key is asked for.

>>> ACTIONS["lease.renew"].path
'/v1/leases/{lease_id}/renew'
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, TypeAlias

from bailiwick.iam import Permission
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_kind

Method: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


class Where(StrEnum):
    """At which scope an action's key is asked for."""

    FLEET = "fleet"
    ROWS = "rows"
    """Somewhere at all; every row is then judged at its own scope."""
    TENANT = "tenant"
    """The tenant in the path."""
    TENANT_ROWS = "tenant_rows"
    """Somewhere within the tenant in the path; every row at its own scope."""
    PROJECT = "project"
    """The project in the path."""
    BODY = "body"
    """The tenant, and perhaps project, in the body."""
    LEASE = "lease"
    ENTRY = "entry"
    JOB = "job"
    ACCOUNT = "account"
    REACH = "reach"
    """Everywhere that the principal of the token in question has any role."""
    TRACE = "trace"
    """Somewhere at all; what belongs to the correlation id is then judged piece by piece."""
    SELF = "self"
    """The caller and the token that it shows: whoever is let in may."""
    EVERYBODY = "everybody"
    """Nobody's in particular, and needed to judge others: whoever is let in may."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that can be asked."""

    name: str
    method: Method
    path: str
    permission: Permission | None
    where: Where

    def __post_init__(self) -> None:
        check_kind("where", self.where, Where)
        if self.where not in (Where.SELF, Where.EVERYBODY):
            check_kind("permission", self.permission, Permission)
        elif self.permission is not None:
            raise InvalidValue("permission", self.permission, "none, where everybody may ask")

    @property
    def changes(self) -> bool:
        """Whether it may change something."""
        return self.method != "GET" and self.name not in _QUESTIONS


_QUESTIONS: Final = frozenset({"request.explain"})
"""Asked with a body, because the question is long."""

_P, _W = Permission, Where
_TENANT = "/v1/tenants/{tenant}"
_PROJECT = _TENANT + "/projects/{project}"
_NODE = "/v1/nodes/{node}"
_LEASE = "/v1/leases/{lease_id}"
_JOB = "/v1/jobs/{job_id}"
_RECORD = _TENANT + "/records/{seq}"
_INVOICE = _TENANT + "/invoices/{invoice}"

_ALL: Final = (
    Action("tenant.list", "GET", "/v1/tenants", _P.TENANT_READ, _W.ROWS),
    Action("tenant.create", "POST", "/v1/tenants", _P.TENANT_MANAGE, _W.FLEET),
    Action("tenant.read", "GET", _TENANT, _P.TENANT_READ, _W.TENANT),
    Action("tenant.change", "PATCH", _TENANT, _P.TENANT_MANAGE, _W.TENANT),
    Action("project.list", "GET", _TENANT + "/projects", _P.TENANT_READ, _W.TENANT_ROWS),
    Action("project.create", "POST", _TENANT + "/projects", _P.PROJECT_MANAGE, _W.TENANT),
    Action("project.read", "GET", _PROJECT, _P.TENANT_READ, _W.PROJECT),
    Action("project.change", "PATCH", _PROJECT, _P.PROJECT_MANAGE, _W.PROJECT),
    Action("fleet_member.list", "GET", "/v1/members", _P.MEMBER_READ, _W.FLEET),
    Action("fleet_member.set", "PUT", "/v1/members", _P.MEMBER_MANAGE, _W.FLEET),
    Action("tenant_member.list", "GET", _TENANT + "/members", _P.MEMBER_READ, _W.TENANT),
    Action("tenant_member.set", "PUT", _TENANT + "/members", _P.MEMBER_MANAGE, _W.TENANT),
    Action("project_member.list", "GET", _PROJECT + "/members", _P.MEMBER_READ, _W.PROJECT),
    Action("project_member.set", "PUT", _PROJECT + "/members", _P.MEMBER_MANAGE, _W.PROJECT),
    Action("account.list", "GET", "/v1/service-accounts", _P.ACCOUNT_READ, _W.ROWS),
    Action("account.create", "POST", "/v1/service-accounts", _P.ACCOUNT_MANAGE, _W.BODY),
    Action(
        "account.change",
        "PATCH",
        "/v1/service-accounts/{account}",
        _P.ACCOUNT_MANAGE,
        _W.ACCOUNT,
    ),
    Action("token.list", "GET", "/v1/tokens", _P.TOKEN_REVOKE, _W.ROWS),
    Action("token.issue", "POST", "/v1/tokens", _P.TOKEN_ISSUE, _W.REACH),
    Action("token.revoke", "DELETE", "/v1/tokens/{token_id}", _P.TOKEN_REVOKE, _W.REACH),
    Action("tenant_quota.read", "GET", _TENANT + "/quota", _P.QUOTA_READ, _W.TENANT),
    Action("tenant_quota.set", "PUT", _TENANT + "/quota", _P.QUOTA_SET, _W.TENANT),
    Action("project_quota.read", "GET", _PROJECT + "/quota", _P.QUOTA_READ, _W.PROJECT),
    Action("project_quota.set", "PUT", _PROJECT + "/quota", _P.QUOTA_SET, _W.PROJECT),
    Action("node.list", "GET", "/v1/nodes", _P.NODE_READ, _W.ROWS),
    Action("node.register", "POST", "/v1/nodes", _P.NODE_OPERATE, _W.FLEET),
    Action("node.read", "GET", _NODE, _P.NODE_READ, _W.ROWS),
    Action("node.report", "PUT", _NODE + "/inventory", _P.NODE_REPORT, _W.FLEET),
    Action("node.beat", "POST", _NODE + "/heartbeat", _P.NODE_REPORT, _W.FLEET),
    Action("node.count", "POST", _NODE + "/counters", _P.NODE_REPORT, _W.FLEET),
    Action("node.depart", "DELETE", _NODE, _P.NODE_OPERATE, _W.FLEET),
    Action("node.mode", "PUT", _NODE + "/mode", _P.NODE_OPERATE, _W.FLEET),
    Action("node.quarantine", "PUT", _NODE + "/quarantine", _P.NODE_OPERATE, _W.FLEET),
    Action("node.lift", "DELETE", _NODE + "/quarantine", _P.NODE_OPERATE, _W.FLEET),
    Action("node.enrol", "POST", _NODE + "/enrolment", _P.NODE_REPORT, _W.FLEET),
    Action("node.prove", "POST", _NODE + "/enrolment/proof", _P.NODE_REPORT, _W.FLEET),
    Action("node.withdraw", "DELETE", _NODE + "/enrolment", _P.NODE_OPERATE, _W.FLEET),
    Action("node.nonce", "POST", _NODE + "/nonce", _P.NODE_REPORT, _W.FLEET),
    Action("node.attest", "POST", _NODE + "/attestation", _P.NODE_REPORT, _W.FLEET),
    Action("node.attestation", "GET", _NODE + "/attestation", _P.NODE_READ, _W.ROWS),
    Action("node.token", "POST", _NODE + "/lease-tokens", _P.NODE_REPORT, _W.FLEET),
    Action("trust_policy.read", "GET", "/v1/attestation/policy", _P.SETTINGS_READ, _W.FLEET),
    Action("trust_policy.set", "PUT", "/v1/attestation/policy", _P.NODE_OPERATE, _W.FLEET),
    Action("lease.request", "POST", "/v1/leases", _P.QUEUE_SUBMIT, _W.BODY),
    Action("lease.list", "GET", "/v1/leases", _P.LEASE_READ, _W.ROWS),
    Action("lease.read", "GET", _LEASE, _P.LEASE_READ, _W.LEASE),
    Action("request.explain", "POST", "/v1/leases/explain", _P.QUEUE_READ, _W.BODY),
    Action("lease.explain", "GET", _LEASE + "/explain", _P.LEASE_READ, _W.LEASE),
    Action("lease.renew", "POST", _LEASE + "/renew", _P.LEASE_HOLD, _W.LEASE),
    Action("lease.release", "DELETE", _LEASE, _P.LEASE_HOLD, _W.LEASE),
    Action("lease.checkpoint", "POST", _LEASE + "/checkpoint", _P.LEASE_HOLD, _W.LEASE),
    Action("lease.evict", "POST", _LEASE + "/evict", _P.LEASE_EVICT, _W.LEASE),
    Action("lease.token", "POST", _LEASE + "/tokens", _P.LEASE_HOLD, _W.LEASE),
    Action("lease.clear_fence", "POST", _LEASE + "/clear-fence", _P.NODE_OPERATE, _W.FLEET),
    Action("lease.teardown", "POST", _LEASE + "/teardown", _P.NODE_REPORT, _W.FLEET),
    Action("queue.list", "GET", "/v1/queue", _P.QUEUE_READ, _W.ROWS),
    Action("queue.read", "GET", "/v1/queue/{entry_id}", _P.QUEUE_READ, _W.ENTRY),
    Action("queue.cancel", "DELETE", "/v1/queue/{entry_id}", _P.QUEUE_CANCEL, _W.ENTRY),
    Action("job.submit", "POST", "/v1/jobs", _P.QUEUE_SUBMIT, _W.BODY),
    Action("job.list", "GET", "/v1/jobs", _P.QUEUE_READ, _W.ROWS),
    Action("job.read", "GET", _JOB, _P.QUEUE_READ, _W.JOB),
    Action("job.cancel", "DELETE", _JOB, _P.QUEUE_CANCEL, _W.JOB),
    Action("job.output", "GET", _JOB + "/output", _P.QUEUE_READ, _W.JOB),
    Action("replica.read", "GET", "/v1/replica", _P.METRICS_READ, _W.FLEET),
    Action("decision.list", "GET", _TENANT + "/decisions", _P.QUEUE_READ, _W.TENANT_ROWS),
    Action("usage.read", "GET", _TENANT + "/usage", _P.USAGE_READ, _W.TENANT_ROWS),
    Action("usage.fleet", "GET", "/v1/usage", _P.USAGE_READ, _W.FLEET),
    Action("rates.read", "GET", "/v1/rates", _P.RATE_CARD_READ, _W.ROWS),
    Action("rates.list", "GET", "/v1/rates/changes", _P.RATE_CARD_READ, _W.ROWS),
    Action("rates.set", "PUT", "/v1/rates", _P.RATE_CARD_SET, _W.FLEET),
    Action("rates.withdraw", "DELETE", _TENANT + "/rates", _P.RATE_CARD_SET, _W.FLEET),
    Action("budget.list", "GET", _TENANT + "/budgets", _P.BUDGET_READ, _W.TENANT_ROWS),
    Action("tenant_budget.read", "GET", _TENANT + "/budget", _P.BUDGET_READ, _W.TENANT),
    Action("tenant_budget.set", "PUT", _TENANT + "/budget", _P.BUDGET_SET, _W.TENANT),
    Action("tenant_budget.remove", "DELETE", _TENANT + "/budget", _P.BUDGET_SET, _W.TENANT),
    Action("project_budget.read", "GET", _PROJECT + "/budget", _P.BUDGET_READ, _W.PROJECT),
    Action("project_budget.set", "PUT", _PROJECT + "/budget", _P.PROJECT_BUDGET_SET, _W.PROJECT),
    Action(
        "project_budget.remove", "DELETE", _PROJECT + "/budget", _P.PROJECT_BUDGET_SET, _W.PROJECT
    ),
    Action("invoice.draft", "GET", _TENANT + "/invoice-draft", _P.INVOICE_READ, _W.TENANT_ROWS),
    Action("invoice.list", "GET", _TENANT + "/invoices", _P.INVOICE_READ, _W.TENANT_ROWS),
    Action("invoice.issue", "POST", _TENANT + "/invoices", _P.INVOICE_ISSUE, _W.TENANT),
    Action("invoice.read", "GET", _INVOICE, _P.INVOICE_READ, _W.TENANT_ROWS),
    Action("invoice.trace", "GET", _INVOICE + "/lines/{line}", _P.INVOICE_READ, _W.TENANT_ROWS),
    Action("invoice.correct", "POST", _INVOICE + "/corrections", _P.INVOICE_ISSUE, _W.TENANT),
    Action("finding.list", "GET", "/v1/findings", _P.USAGE_READ, _W.ROWS),
    Action("record.list", "GET", _TENANT + "/records", _P.JOURNAL_READ, _W.TENANT),
    Action("record.prove", "GET", _RECORD + "/proof", _P.JOURNAL_READ, _W.TENANT),
    Action("record.watch", "GET", "/v1/watch", _P.JOURNAL_READ, _W.ROWS),
    Action("checkpoint.read", "GET", "/v1/journal/checkpoint", _P.JOURNAL_READ, _W.ROWS),
    Action("settings.read", "GET", "/v1/settings", _P.SETTINGS_READ, _W.FLEET),
    Action("settings.set", "PUT", "/v1/settings", _P.SETTINGS_SET, _W.FLEET),
    Action("glass.break", "POST", "/v1/break-glass", _P.BREAK_GLASS, _W.FLEET),
    Action("trace.read", "GET", "/v1/traces/{correlation_id}", _P.TRACE_READ, _W.TRACE),
    Action("metrics.read", "GET", "/metrics", _P.METRICS_READ, _W.FLEET),
    Action("capability.keys", "GET", "/v1/capabilities/keys", None, _W.EVERYBODY),
    Action("capability.revocations", "GET", "/v1/capabilities/revocations", None, _W.EVERYBODY),
    Action("self.read", "GET", "/v1/whoami", None, _W.SELF),
    Action("self.log_out", "DELETE", "/v1/session", None, _W.SELF),
)

ACTIONS: Final[dict[str, Action]] = {action.name: action for action in _ALL}
