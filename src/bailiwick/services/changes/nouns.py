"""What a record makes old, and who may know that: one row for each kind of record.

Rules:

- A hint is a noun alone: no name, no number, nothing of the record itself.
- A noun is told to who may read such things where the record belongs, by the key of the noun.
- Every kind of record has its row; a new one without fails when this module is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from bailiwick.journal.kinds import RecordKind
from bailiwick.vocab.errors import InvariantBroken
from bailiwick.vocab.permissions import Permission

_K, _P = RecordKind, Permission


class ChangeNoun(StrEnum):
    """What may have become old."""

    ACCOUNTS = "accounts"
    APPS = "apps"
    BOOKINGS = "bookings"
    BUDGETS = "budgets"
    FINDINGS = "findings"
    GRAPHS = "graphs"
    INSTANCES = "instances"
    INVOICES = "invoices"
    ISOLATION = "isolation"
    JOBS = "jobs"
    LEASES = "leases"
    MAINTENANCE = "maintenance"
    MEMBERS = "members"
    NODES = "nodes"
    QUEUE = "queue"
    QUOTA = "quota"
    RATES = "rates"
    RECORDS = "records"
    RUNTIMES = "runtimes"
    SETTINGS = "settings"
    TENANTS = "tenants"
    USAGE = "usage"


_N = ChangeNoun

KEY_OF: Final[Mapping[ChangeNoun, Permission]] = {
    _N.ACCOUNTS: _P.ACCOUNT_READ,
    _N.APPS: _P.CATALOG_READ,
    _N.BOOKINGS: _P.BOOKING_READ,
    _N.BUDGETS: _P.BUDGET_READ,
    _N.FINDINGS: _P.USAGE_READ,
    _N.GRAPHS: _P.QUEUE_READ,
    _N.INSTANCES: _P.INSTANCE_READ,
    _N.INVOICES: _P.INVOICE_READ,
    _N.ISOLATION: _P.ISOLATION_READ,
    _N.JOBS: _P.QUEUE_READ,
    _N.LEASES: _P.LEASE_READ,
    _N.MAINTENANCE: _P.NODE_READ,
    _N.MEMBERS: _P.MEMBER_READ,
    _N.NODES: _P.NODE_READ,
    _N.QUEUE: _P.QUEUE_READ,
    _N.QUOTA: _P.QUOTA_READ,
    _N.RATES: _P.RATE_CARD_READ,
    _N.RECORDS: _P.JOURNAL_READ,
    _N.RUNTIMES: _P.RUNTIME_READ,
    _N.SETTINGS: _P.SETTINGS_READ,
    _N.TENANTS: _P.TENANT_READ,
    _N.USAGE: _P.USAGE_READ,
}
"""The key with which such things are read."""

_WAITING = (_N.QUEUE, _N.JOBS, _N.GRAPHS)
_HELD = (*_WAITING, _N.LEASES, _N.QUOTA, _N.USAGE)
_NODE = (_N.NODES,)
_APP = (_N.INSTANCES, _N.APPS)
_SHARED = (_N.RUNTIMES, _N.INSTANCES)
_PEOPLE = (_N.MEMBERS, _N.TENANTS)
_MONEY = (_N.BUDGETS, _N.USAGE, _N.TENANTS)

_TOLD: Final[Mapping[tuple[RecordKind, ...], tuple[ChangeNoun, ...]]] = {
    (
        *(_K.ADMISSION_DENIED, _K.REQUEST_QUEUED, _K.REQUEST_BLOCKED, _K.REQUEST_CANCELLED),
        *(_K.ROOM_RESERVED, _K.ROOM_POSTPONED, _K.ROOM_LOST),
    ): _WAITING,
    (
        *(_K.ADMISSION_APPROVED, _K.LEASE_RENEWED, _K.LEASE_RELEASED, _K.LEASE_EXPIRED),
        *(_K.LEASE_REVOKED, _K.LEASE_FENCED, _K.FENCE_CLEARED, _K.LEASE_PREEMPTED),
        *(_K.LEASE_RESTORED, _K.RENEWAL_DENIED, _K.CHECKPOINT_REPORTED),
    ): (*_HELD, _N.NODES, _N.INSTANCES, _N.RUNTIMES),
    (_K.EXEC_STARTED, _K.EXEC_ENDED, _K.FILES_COPIED, _K.TOKEN_ISSUED, _K.TOKEN_REFUSED): (
        _N.JOBS,
    ),
    (_K.GRAPH_SUBMITTED, _K.GRAPH_TASK_RETRIED, _K.GRAPH_ENDED): _WAITING,
    (
        *(_K.NODE_REGISTERED, _K.NODE_DEPARTED, _K.NODE_MODE_CHANGED, _K.NODE_QUARANTINED),
        *(_K.NODE_LABELLED, _K.NODE_NOTED, _K.NODE_NOTE_ENDED),
        *(_K.MIG_CHANGE_BEGUN, _K.MIG_CHANGE_ENDED),
        *(_K.NODE_HEALTH_CHANGED, _K.NODE_TEST_BEGUN, _K.NODE_TEST_ENDED),
        *(_K.NODE_QUARANTINE_LIFTED, _K.NODE_ENROLLED, _K.NODE_ENROLMENT_WITHDRAWN),
        *(_K.ATTESTATION_VERDICT, _K.DOMAIN_SCRUBBED, _K.POLICY_CHANGED),
    ): _NODE,
    (
        *(_K.CELL_JOINED, _K.CELL_LEFT, _K.CELL_REACHED, _K.CELL_CUT_OFF, _K.HOME_MET),
        _K.HOME_LEFT,
    ): _NODE,
    (
        *(_K.GLOBAL_ASKED, _K.GLOBAL_SENT, _K.GLOBAL_TOLD),
        *(_K.GLOBAL_RECALLED, _K.GLOBAL_WITHDRAWN),
        *(_K.GLOBAL_TAKEN, _K.GLOBAL_GIVEN_BACK),
    ): (_N.QUEUE, _N.QUOTA),
    (_K.WINDOW_PLANNED, _K.WINDOW_PHASE_CHANGED, _K.WINDOW_ENDED): (
        *(_N.MAINTENANCE, _N.NODES, _N.LEASES),
        *_WAITING,
    ),
    (_K.CALENDAR_SET, _K.CALENDAR_WITHDRAWN): (_N.MAINTENANCE,),
    (_K.BOOKED, _K.BOOKING_NODES_CHANGED, _K.BOOKING_ENDED): (_N.BOOKINGS, _N.NODES, *_WAITING),
    (_K.BOOKING_BEGUN,): (_N.BOOKINGS,),
    (_K.SERIES_SET, _K.SERIES_WITHDRAWN): (_N.BOOKINGS,),
    (_K.QUOTA_CHANGED, _K.SHARE_CHANGED): (_N.QUOTA, _N.QUEUE, _N.TENANTS),
    (_K.TENANT_CREATED, _K.TENANT_CHANGED, _K.PROJECT_CREATED, _K.PROJECT_CHANGED): (_N.TENANTS,),
    (
        *(_K.MEMBER_CHANGED, _K.ROLE_SET, _K.ROLE_OFFERED, _K.ROLE_OFFER_ENDED),
        _K.PRINCIPAL_HOMED,
    ): _PEOPLE,
    (
        *(_K.SERVICE_ACCOUNT_CREATED, _K.SERVICE_ACCOUNT_CHANGED, _K.ACCOUNT_TRUST_SET),
        *(_K.ACCOUNT_TRUST_DELETED, _K.ACCOUNT_KEY_ADDED, _K.ACCOUNT_KEY_ENDED),
        _K.ACCOUNT_TOKEN_GRANTED,
    ): (_N.ACCOUNTS,),
    (_K.RATE_CARD_CHANGED,): (_N.RATES, _N.USAGE),
    (_K.INVOICE_ISSUED,): (_N.INVOICES, *_MONEY),
    (_K.BUDGET_CHANGED, _K.BUDGET_STATE_CHANGED): _MONEY,
    (_K.FINDING_REPORTED,): (_N.FINDINGS,),
    (_K.SETTINGS_CHANGED,): (_N.SETTINGS,),
    (
        *(_K.ISOLATION_POLICY_SET, _K.ISOLATION_VIOLATED, _K.ISOLATION_ENFORCED),
        *(_K.ISOLATION_FINDING, _K.ISOLATION_FINDING_CLOSED),
    ): (_N.ISOLATION, _N.FINDINGS),
    (
        *(_K.APP_PUBLISHED, _K.APP_CHANGED, _K.APP_ENTITLEMENT_SET, _K.APP_CHECKED),
        *(_K.ARTIFACT_SOURCE_SET, _K.ARTIFACT_CHANGED),
    ): (_N.APPS,),
    (
        *(_K.APP_INSTANCE_REQUESTED, _K.APP_INSTANCE_CHANGED, _K.APP_INSTANCE_MOVED),
        *(_K.APP_MEMBER_CHANGED, _K.APP_OPERATION_CHANGED, _K.APP_USAGE_REPORTED),
        *(_K.APP_INSTANCE_CALLED, _K.APP_ENDPOINT_OPENED, _K.APP_ENDPOINT_CLOSED),
    ): (*_APP, *_SHARED),
    (
        *(_K.SHARED_RUNTIME_CREATED, _K.SHARED_RUNTIME_ENDED, _K.SHARED_ATTACHMENT_CHANGED),
        *(_K.SHARED_CONTRIBUTION_CHANGED, _K.SUBMIT_POLICY_SET, _K.SHARED_USE_TOLD),
        *(_K.SHARED_SETTLEMENT_SET, _K.SHARED_CREDENTIAL_USED),
    ): _SHARED,
    (
        *(_K.BREAK_GLASS, _K.STATE_CHECKPOINT, _K.LEADER_ELECTED, _K.ACCESS_TOKEN_ISSUED),
        *(_K.ACCESS_TOKEN_REVOKED, _K.ACCESS_REFUSED, _K.CLOCK_REPAIRED, _K.APP_WEBHOOK_SET),
        *(_K.ARTIFACT_CREDENTIAL_ISSUED, _K.CELL_HEARD, _K.HOME_HEARD),
    ): (),
}

NOUNS_OF: Final[Mapping[RecordKind, frozenset[ChangeNoun]]] = {
    kind: frozenset((*nouns, _N.RECORDS)) for kinds, nouns in _TOLD.items() for kind in kinds
}
"""By kind; every record makes the list of records old."""

if _untold := set(RecordKind) - NOUNS_OF.keys():
    raise InvariantBroken(f"kinds of records that make nothing old: {sorted(_untold)}")
