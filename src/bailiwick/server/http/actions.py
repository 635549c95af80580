"""Everything that can be asked over HTTP with a login: one closed list.

Rules:

- An action has a permission key; one without cannot be built, but for those where everybody asks
  about himself alone (``Where.SELF``) or for what is public (``Where.EVERYBODY``). Its route is
  made from this list and from nowhere else, and so are the tests that another's scope is closed to
  it.
- ``where`` says how the scope is found at which the key is asked for.
- ``summary`` is what people read in the OpenAPI document and in clients made from it: a verb and a
  noun ("Release a lease"). The handler's docstring is the description below it.

To add one: a row here, its handler in ``handlers.py``, a request in
``tests/support/http_actions.py``; then ``WRITE_OPENAPI=1 pytest tests/contract/test_openapi.py``.

>>> action = ACTIONS["lease.renew"]
>>> action.summary, action.path, action.tag
('Renew a lease', '/v1/leases/{lease_id}/renew', 'lease')
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, TypeAlias

from bailiwick.iam import Permission
from bailiwick.server.http.tags import tag_of
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
    """Its noun and its verb; with ``_`` for the dot it is the ``operationId``."""
    summary: str
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
        tag_of(self.noun)  # a noun without a tag would be in no group of the document

    @property
    def noun(self) -> str:
        """What it is about."""
        return self.name.partition(".")[0]

    @property
    def tag(self) -> str:
        """The group of the document in which it is."""
        return tag_of(self.noun)

    @property
    def operation_id(self) -> str:
        """Its name in clients that are generated from the document."""
        return self.name.replace(".", "_")

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

# Two lines for each: what people read, and what is asked.
# fmt: off
_ALL: Final = (
    Action("tenant.list", "List tenants",
           "GET", "/v1/tenants", _P.TENANT_READ, _W.ROWS),
    Action("tenant.create", "Create a tenant",
           "POST", "/v1/tenants", _P.TENANT_MANAGE, _W.FLEET),
    Action("tenant.read", "Read a tenant",
           "GET", _TENANT, _P.TENANT_READ, _W.TENANT),
    Action("tenant.change", "Rename, close or open a tenant",
           "PATCH", _TENANT, _P.TENANT_MANAGE, _W.TENANT),
    Action("project.list", "List a tenant's projects",
           "GET", _TENANT + "/projects", _P.TENANT_READ, _W.TENANT_ROWS),
    Action("project.create", "Create a project",
           "POST", _TENANT + "/projects", _P.PROJECT_MANAGE, _W.TENANT),
    Action("project.read", "Read a project",
           "GET", _PROJECT, _P.TENANT_READ, _W.PROJECT),
    Action("project.change", "Rename, close or open a project",
           "PATCH", _PROJECT, _P.PROJECT_MANAGE, _W.PROJECT),
    Action("fleet_member.list", "List roles over the fleet",
           "GET", "/v1/members", _P.MEMBER_READ, _W.FLEET),
    Action("fleet_member.set", "Set a role over the fleet",
           "PUT", "/v1/members", _P.MEMBER_MANAGE, _W.FLEET),
    Action("tenant_member.list", "List roles at a tenant",
           "GET", _TENANT + "/members", _P.MEMBER_READ, _W.TENANT),
    Action("tenant_member.set", "Set a role at a tenant",
           "PUT", _TENANT + "/members", _P.MEMBER_MANAGE, _W.TENANT),
    Action("project_member.list", "List roles at a project",
           "GET", _PROJECT + "/members", _P.MEMBER_READ, _W.PROJECT),
    Action("project_member.set", "Set a role at a project",
           "PUT", _PROJECT + "/members", _P.MEMBER_MANAGE, _W.PROJECT),
    Action("account.list", "List service accounts",
           "GET", "/v1/service-accounts", _P.ACCOUNT_READ, _W.ROWS),
    Action("account.create", "Create a service account",
           "POST", "/v1/service-accounts", _P.ACCOUNT_MANAGE, _W.BODY),
    Action("account.change", "Enable or disable a service account",
           "PATCH", "/v1/service-accounts/{account}", _P.ACCOUNT_MANAGE, _W.ACCOUNT),
    Action("token.list", "List tokens",
           "GET", "/v1/tokens", _P.TOKEN_REVOKE, _W.ROWS),
    Action("token.issue", "Issue a token or a login code",
           "POST", "/v1/tokens", _P.TOKEN_ISSUE, _W.REACH),
    Action("token.revoke", "Revoke a token",
           "DELETE", "/v1/tokens/{token_id}", _P.TOKEN_REVOKE, _W.REACH),
    Action("tenant_quota.read", "Read a tenant's quota",
           "GET", _TENANT + "/quota", _P.QUOTA_READ, _W.TENANT),
    Action("tenant_quota.set", "Set a tenant's quota",
           "PUT", _TENANT + "/quota", _P.QUOTA_SET, _W.TENANT),
    Action("project_quota.read", "Read a project's quota",
           "GET", _PROJECT + "/quota", _P.QUOTA_READ, _W.PROJECT),
    Action("project_quota.set", "Set a project's quota",
           "PUT", _PROJECT + "/quota", _P.QUOTA_SET, _W.PROJECT),
    Action("node.list", "List nodes",
           "GET", "/v1/nodes", _P.NODE_READ, _W.ROWS),
    Action("node.register", "Register a node",
           "POST", "/v1/nodes", _P.NODE_OPERATE, _W.FLEET),
    Action("node.read", "Read a node",
           "GET", _NODE, _P.NODE_READ, _W.ROWS),
    Action("node.report", "Report a node's inventory",
           "PUT", _NODE + "/inventory", _P.NODE_REPORT, _W.FLEET),
    Action("node.beat", "Send a node's heartbeat",
           "POST", _NODE + "/heartbeat", _P.NODE_REPORT, _W.FLEET),
    Action("node.count", "Report a node's usage counters",
           "POST", _NODE + "/counters", _P.NODE_REPORT, _W.FLEET),
    Action("node.depart", "Remove a node",
           "DELETE", _NODE, _P.NODE_OPERATE, _W.FLEET),
    Action("node.mode", "Drain, cordon or open a node",
           "PUT", _NODE + "/mode", _P.NODE_OPERATE, _W.FLEET),
    Action("node.quarantine", "Quarantine a node",
           "PUT", _NODE + "/quarantine", _P.NODE_OPERATE, _W.FLEET),
    Action("node.lift", "Lift a node's quarantine",
           "DELETE", _NODE + "/quarantine", _P.NODE_OPERATE, _W.FLEET),
    Action("node.enrol", "Enrol a node's keys",
           "POST", _NODE + "/enrolment", _P.NODE_REPORT, _W.FLEET),
    Action("node.prove", "Prove a node's keys",
           "POST", _NODE + "/enrolment/proof", _P.NODE_REPORT, _W.FLEET),
    Action("node.withdraw", "Withdraw a node's keys",
           "DELETE", _NODE + "/enrolment", _P.NODE_OPERATE, _W.FLEET),
    Action("node.nonce", "Get a nonce to attest with",
           "POST", _NODE + "/nonce", _P.NODE_REPORT, _W.FLEET),
    Action("node.attest", "Present a node's evidence",
           "POST", _NODE + "/attestation", _P.NODE_REPORT, _W.FLEET),
    Action("node.attestation", "Read a node's attestation",
           "GET", _NODE + "/attestation", _P.NODE_READ, _W.ROWS),
    Action("node.token", "Let a node mint a lease token",
           "POST", _NODE + "/lease-tokens", _P.NODE_REPORT, _W.FLEET),
    Action("trust_policy.read", "Read the attestation policy",
           "GET", "/v1/attestation/policy", _P.SETTINGS_READ, _W.FLEET),
    Action("trust_policy.set", "Set the attestation policy",
           "PUT", "/v1/attestation/policy", _P.NODE_OPERATE, _W.FLEET),
    Action("lease.request", "Request a lease",
           "POST", "/v1/leases", _P.QUEUE_SUBMIT, _W.BODY),
    Action("lease.list", "List leases",
           "GET", "/v1/leases", _P.LEASE_READ, _W.ROWS),
    Action("lease.read", "Read a lease",
           "GET", _LEASE, _P.LEASE_READ, _W.LEASE),
    Action("request.explain", "Explain a request before you make it",
           "POST", "/v1/leases/explain", _P.QUEUE_READ, _W.BODY),
    Action("lease.explain", "Explain what became of a lease",
           "GET", _LEASE + "/explain", _P.LEASE_READ, _W.LEASE),
    Action("lease.renew", "Renew a lease",
           "POST", _LEASE + "/renew", _P.LEASE_HOLD, _W.LEASE),
    Action("lease.release", "Release a lease",
           "DELETE", _LEASE, _P.LEASE_HOLD, _W.LEASE),
    Action("lease.checkpoint", "Report a checkpoint of a lease's work",
           "POST", _LEASE + "/checkpoint", _P.LEASE_HOLD, _W.LEASE),
    Action("lease.evict", "Evict a lease",
           "POST", _LEASE + "/evict", _P.LEASE_EVICT, _W.LEASE),
    Action("lease.token", "Issue a lease token",
           "POST", _LEASE + "/tokens", _P.LEASE_HOLD, _W.LEASE),
    Action("lease.clear_fence", "Clear a lease's fence",
           "POST", _LEASE + "/clear-fence", _P.NODE_OPERATE, _W.FLEET),
    Action("lease.teardown", "Report the teardown of a lease",
           "POST", _LEASE + "/teardown", _P.NODE_REPORT, _W.FLEET),
    Action("queue.list", "List waiting requests",
           "GET", "/v1/queue", _P.QUEUE_READ, _W.ROWS),
    Action("queue.read", "Read a waiting request",
           "GET", "/v1/queue/{entry_id}", _P.QUEUE_READ, _W.ENTRY),
    Action("queue.cancel", "Cancel a waiting request",
           "DELETE", "/v1/queue/{entry_id}", _P.QUEUE_CANCEL, _W.ENTRY),
    Action("job.submit", "Submit a job",
           "POST", "/v1/jobs", _P.QUEUE_SUBMIT, _W.BODY),
    Action("job.list", "List jobs",
           "GET", "/v1/jobs", _P.QUEUE_READ, _W.ROWS),
    Action("job.read", "Read a job",
           "GET", _JOB, _P.QUEUE_READ, _W.JOB),
    Action("job.cancel", "Cancel a job",
           "DELETE", _JOB, _P.QUEUE_CANCEL, _W.JOB),
    Action("job.output", "Read a job's output",
           "GET", _JOB + "/output", _P.QUEUE_READ, _W.JOB),
    Action("replica.read", "Read the state of this replica",
           "GET", "/v1/replica", _P.METRICS_READ, _W.FLEET),
    Action("decision.list", "List scheduling decisions",
           "GET", _TENANT + "/decisions", _P.QUEUE_READ, _W.TENANT_ROWS),
    Action("usage.read", "Read a tenant's usage",
           "GET", _TENANT + "/usage", _P.USAGE_READ, _W.TENANT_ROWS),
    Action("usage.fleet", "Read the fleet's usage",
           "GET", "/v1/usage", _P.USAGE_READ, _W.FLEET),
    Action("rates.read", "Read the rate card",
           "GET", "/v1/rates", _P.RATE_CARD_READ, _W.ROWS),
    Action("rates.list", "List changes of rates",
           "GET", "/v1/rates/changes", _P.RATE_CARD_READ, _W.ROWS),
    Action("rates.set", "Set rates",
           "PUT", "/v1/rates", _P.RATE_CARD_SET, _W.FLEET),
    Action("rates.withdraw", "Withdraw a tenant's own rates",
           "DELETE", _TENANT + "/rates", _P.RATE_CARD_SET, _W.FLEET),
    Action("budget.list", "List budgets",
           "GET", _TENANT + "/budgets", _P.BUDGET_READ, _W.TENANT_ROWS),
    Action("tenant_budget.read", "Read a tenant's budget",
           "GET", _TENANT + "/budget", _P.BUDGET_READ, _W.TENANT),
    Action("tenant_budget.set", "Set a tenant's budget",
           "PUT", _TENANT + "/budget", _P.BUDGET_SET, _W.TENANT),
    Action("tenant_budget.remove", "Remove a tenant's budget",
           "DELETE", _TENANT + "/budget", _P.BUDGET_SET, _W.TENANT),
    Action("project_budget.read", "Read a project's budget",
           "GET", _PROJECT + "/budget", _P.BUDGET_READ, _W.PROJECT),
    Action("project_budget.set", "Set a project's budget",
           "PUT", _PROJECT + "/budget", _P.PROJECT_BUDGET_SET, _W.PROJECT),
    Action("project_budget.remove", "Remove a project's budget",
           "DELETE", _PROJECT + "/budget", _P.PROJECT_BUDGET_SET, _W.PROJECT),
    Action("invoice.draft", "Draft an invoice",
           "GET", _TENANT + "/invoice-draft", _P.INVOICE_READ, _W.TENANT_ROWS),
    Action("invoice.list", "List invoices",
           "GET", _TENANT + "/invoices", _P.INVOICE_READ, _W.TENANT_ROWS),
    Action("invoice.issue", "Issue an invoice",
           "POST", _TENANT + "/invoices", _P.INVOICE_ISSUE, _W.TENANT),
    Action("invoice.read", "Read an invoice",
           "GET", _INVOICE, _P.INVOICE_READ, _W.TENANT_ROWS),
    Action("invoice.trace", "Trace a line of an invoice",
           "GET", _INVOICE + "/lines/{line}", _P.INVOICE_READ, _W.TENANT_ROWS),
    Action("invoice.correct", "Correct an invoice",
           "POST", _INVOICE + "/corrections", _P.INVOICE_ISSUE, _W.TENANT),
    Action("finding.list", "List findings",
           "GET", "/v1/findings", _P.USAGE_READ, _W.ROWS),
    Action("record.list", "List journal records",
           "GET", _TENANT + "/records", _P.JOURNAL_READ, _W.TENANT),
    Action("record.prove", "Prove a journal record",
           "GET", _RECORD + "/proof", _P.JOURNAL_READ, _W.TENANT),
    Action("record.watch", "Watch the journal",
           "GET", "/v1/watch", _P.JOURNAL_READ, _W.ROWS),
    Action("checkpoint.read", "Read the journal's checkpoint",
           "GET", "/v1/journal/checkpoint", _P.JOURNAL_READ, _W.ROWS),
    Action("settings.read", "Read the scheduler's settings",
           "GET", "/v1/settings", _P.SETTINGS_READ, _W.FLEET),
    Action("settings.set", "Set the scheduler's settings",
           "PUT", "/v1/settings", _P.SETTINGS_SET, _W.FLEET),
    Action("glass.break", "Break glass",
           "POST", "/v1/break-glass", _P.BREAK_GLASS, _W.FLEET),
    Action("trace.read", "Read the trace of a request",
           "GET", "/v1/traces/{correlation_id}", _P.TRACE_READ, _W.TRACE),
    Action("metrics.read", "Read all metrics",
           "GET", "/metrics", _P.METRICS_READ, _W.FLEET),
    Action("capability.keys", "Read the keys of lease tokens",
           "GET", "/v1/capabilities/keys", None, _W.EVERYBODY),
    Action("capability.revocations", "Read revocations of lease tokens",
           "GET", "/v1/capabilities/revocations", None, _W.EVERYBODY),
    Action("self.read", "Read who you are",
           "GET", "/v1/whoami", None, _W.SELF),
    Action("self.log_out", "Log out",
           "DELETE", "/v1/session", None, _W.SELF),
)
# fmt: on

ACTIONS: Final[dict[str, Action]] = {action.name: action for action in _ALL}
