"""The closed words of authority, estimates and bills as the contract spells them.

The words themselves are decided elsewhere (``bailiwick.iam``, ``bailiwick.kernel.views``,
``bailiwick.metering``, ``bailiwick.billing``), which the contract may not import;
``tests/contract`` holds the two against each other.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

PrincipalWord: TypeAlias = Literal["human", "service_account", "node", "runtime_operator"]

LevelWord: TypeAlias = Literal["fleet", "tenant", "project"]
RoleWord: TypeAlias = Literal[
    "fleet_admin",
    "fleet_operator",
    "fleet_auditor",
    "node_agent",
    "tenant_admin",
    "tenant_auditor",
    "project_admin",
    "project_member",
    "project_viewer",
]

PermissionWord: TypeAlias = Literal[
    "scheduler.catalog.read",
    "scheduler.instance.read",
    "scheduler.instance.create",
    "scheduler.instance.update",
    "scheduler.instance.delete",
    "scheduler.queue.submit",
    "scheduler.queue.read",
    "scheduler.queue.cancel",
    "scheduler.node.read",
    "scheduler.node.operate",
    "scheduler.node.report",
    "scheduler.job.exec",
    "scheduler.endpoint.open",
    "scheduler.lease.read",
    "scheduler.lease.hold",
    "scheduler.lease.evict",
    "scheduler.quota.read",
    "scheduler.quota.set",
    "scheduler.project_quota.set",
    "scheduler.booking.read",
    "scheduler.booking.manage",
    "scheduler.settings.read",
    "scheduler.settings.set",
    "scheduler.isolation.read",
    "scheduler.isolation.set",
    "scheduler.catalog.publish",
    "scheduler.entitlement.set",
    "scheduler.artifact.manage",
    "scheduler.webhook.manage",
    "scheduler.shared_runtime.read",
    "scheduler.shared_runtime.manage",
    "scheduler.shared_runtime.join",
    "scheduler.host_privilege.grant",
    "scheduler.cell.read",
    "scheduler.cell.operate",
    "scheduler.cell.home",
    "iam.tenant.read",
    "iam.tenant.manage",
    "iam.project.manage",
    "iam.role.manage",
    "iam.member.read",
    "iam.member.manage",
    "iam.service_account.read",
    "iam.service_account.manage",
    "iam.token.issue",
    "iam.token.revoke",
    "journal.record.read",
    "metering.usage.read",
    "metering.finding.report",
    "billing.rate_card.read",
    "billing.rate_card.set",
    "billing.budget.read",
    "billing.budget.set",
    "billing.project_budget.set",
    "billing.invoice.read",
    "billing.invoice.issue",
    "telemetry.metrics.read",
    "telemetry.trace.read",
    "iam.break_glass.use",
]

WatchEndWord: TypeAlias = Literal[
    "complete", "server_ending", "token_ended", "forbidden", "unavailable"
]

ChangeNounWord: TypeAlias = Literal[
    "accounts",
    "apps",
    "bookings",
    "budgets",
    "findings",
    "graphs",
    "instances",
    "invoices",
    "isolation",
    "jobs",
    "leases",
    "maintenance",
    "members",
    "nodes",
    "queue",
    "quota",
    "rates",
    "records",
    "runtimes",
    "settings",
    "tenants",
    "usage",
]

JobModeWord: TypeAlias = Literal["sandbox", "users", "trusted", "closed"]

LivenessWord: TypeAlias = Literal["alive", "late", "departed", "unheard"]

EstimateWord: TypeAlias = Literal[
    "fits_now",
    "reservation",
    "victims",
    "expiry",
    "waits_for_quota",
    "beyond_horizon",
    "waiting_does_not_help",
]

RemedyWord: TypeAlias = Literal[
    "nothing_needed",
    "declare_generation",
    "change_request",
    "change_policy",
    "raise_quota",
    "raise_ceiling",
    "free_own_leases",
    "open_nodes",
    "wait_or_preempt",
]

StageWord: TypeAlias = Literal["held", "grace", "teardown"]

CauseWord: TypeAlias = Literal[
    "released_early",
    "expired",
    "preempted",
    "spot_evicted",
    "own_limit",
    "node_lost",
    "teardown_failed",
]

UnavailableWord: TypeAlias = Literal[
    "draining",
    "drained",
    "maintenance",
    "returning",
    "fence_lost",
    "quarantined",
    "fenced",
    "departed",
    "cordoned",
]
