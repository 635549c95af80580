"""The permission keys: what may be done with this control plane, as closed words.

A key names what is done, not who does it. Where it may be done is the scope of whoever has it.
The table of API actions (``bailiwick.wire.actions``) and the roles (``bailiwick.iam``) both speak
in these words, and a client has the one without the other.
"""

from __future__ import annotations

from enum import StrEnum


class Permission(StrEnum):
    """What may be done. The first ten are the platform's contract with its apps."""

    CATALOG_READ = "scheduler.catalog.read"
    INSTANCE_READ = "scheduler.instance.read"
    INSTANCE_CREATE = "scheduler.instance.create"
    INSTANCE_UPDATE = "scheduler.instance.update"
    INSTANCE_DELETE = "scheduler.instance.delete"
    QUEUE_SUBMIT = "scheduler.queue.submit"
    QUEUE_READ = "scheduler.queue.read"
    QUEUE_CANCEL = "scheduler.queue.cancel"
    NODE_READ = "scheduler.node.read"
    NODE_OPERATE = "scheduler.node.operate"
    NODE_REPORT = "scheduler.node.report"
    JOB_EXEC = "scheduler.job.exec"
    ENDPOINT_OPEN = "scheduler.endpoint.open"
    LEASE_READ = "scheduler.lease.read"
    LEASE_HOLD = "scheduler.lease.hold"
    LEASE_EVICT = "scheduler.lease.evict"
    QUOTA_READ = "scheduler.quota.read"
    QUOTA_SET = "scheduler.quota.set"
    PROJECT_QUOTA_SET = "scheduler.project_quota.set"
    SETTINGS_READ = "scheduler.settings.read"
    SETTINGS_SET = "scheduler.settings.set"
    ISOLATION_READ = "scheduler.isolation.read"
    ISOLATION_SET = "scheduler.isolation.set"
    CATALOG_PUBLISH = "scheduler.catalog.publish"
    ENTITLEMENT_SET = "scheduler.entitlement.set"
    ARTIFACT_MANAGE = "scheduler.artifact.manage"
    WEBHOOK_MANAGE = "scheduler.webhook.manage"
    RUNTIME_READ = "scheduler.shared_runtime.read"
    RUNTIME_MANAGE = "scheduler.shared_runtime.manage"
    RUNTIME_JOIN = "scheduler.shared_runtime.join"
    HOST_GRANT = "scheduler.host_privilege.grant"
    TENANT_READ = "iam.tenant.read"
    TENANT_MANAGE = "iam.tenant.manage"
    PROJECT_MANAGE = "iam.project.manage"
    ROLE_MANAGE = "iam.role.manage"
    MEMBER_READ = "iam.member.read"
    MEMBER_MANAGE = "iam.member.manage"
    ACCOUNT_READ = "iam.service_account.read"
    ACCOUNT_MANAGE = "iam.service_account.manage"
    TOKEN_ISSUE = "iam.token.issue"
    TOKEN_REVOKE = "iam.token.revoke"
    JOURNAL_READ = "journal.record.read"
    USAGE_READ = "metering.usage.read"
    FINDING_REPORT = "metering.finding.report"
    RATE_CARD_READ = "billing.rate_card.read"
    RATE_CARD_SET = "billing.rate_card.set"
    BUDGET_READ = "billing.budget.read"
    BUDGET_SET = "billing.budget.set"
    PROJECT_BUDGET_SET = "billing.project_budget.set"
    INVOICE_READ = "billing.invoice.read"
    INVOICE_ISSUE = "billing.invoice.issue"
    METRICS_READ = "telemetry.metrics.read"
    TRACE_READ = "telemetry.trace.read"
    BREAK_GLASS = "iam.break_glass.use"
