"""A record as a security event in the shape of OCSF, for collectors that speak no other.

Rules:

- Pure: the same record always gives the same event. Its ``metadata.uid`` is the record's hash and
  ``metadata.sequence`` its number, so that a collector drops what it has seen.
- Every kind of record has a class; a kind without one fails the tests, not the export.
- Typed words go through unchanged: ``metadata.event_code`` is the kind, ``status_detail`` the
  reason, and the whole body stands under ``unmapped``.
- Classes, activities and severities have the numbers of OCSF 1.3.

>>> from bailiwick.journal import GENESIS_HASH
>>> record = Record(
...     seq=0, at_ms=5000, kind=RecordKind.NODE_DEPARTED, tenant=None, project=None,
...     actor="reconciler", correlation_id="beat-1", prev_hash=GENESIS_HASH,
...     body={"node": "n1"},
... )
>>> event = ocsf_event(record)
>>> event["class_uid"], event["activity_id"], event["metadata"]["event_code"]
(3004, 4, 'node_departed')
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from bailiwick.journal import Record, RecordKind

OCSF_VERSION = "1.3.0"
OTHER = 99


class OcsfClass(IntEnum):
    """The OCSF classes that records map to; the thousands are the category."""

    COMPLIANCE_FINDING = 2003
    DETECTION_FINDING = 2004
    ACCOUNT_CHANGE = 3001
    AUTHORIZE_SESSION = 3003
    ENTITY_MANAGEMENT = 3004
    USER_ACCESS_MANAGEMENT = 3005
    APPLICATION_LIFECYCLE = 6002
    API_ACTIVITY = 6003


class OcsfSeverity(IntEnum):
    """How much attention an event asks for."""

    INFORMATIONAL = 1
    LOW = 2
    MEDIUM = 3
    HIGH = 4
    CRITICAL = 5


@dataclass(frozen=True, slots=True)
class OcsfMapping:
    """How a kind of record is told in OCSF."""

    class_uid: OcsfClass
    activity_id: int
    severity: OcsfSeverity = OcsfSeverity.INFORMATIONAL
    is_failure: bool = False


_API, _ENTITY = OcsfClass.API_ACTIVITY, OcsfClass.ENTITY_MANAGEMENT
_APP, _ACCESS = OcsfClass.APPLICATION_LIFECYCLE, OcsfClass.USER_ACCESS_MANAGEMENT
_SESSION, _DETECTION = OcsfClass.AUTHORIZE_SESSION, OcsfClass.DETECTION_FINDING
_CREATE, _UPDATE, _DELETE = 1, 3, 4  # of API activity and entity management
_LOW, _MEDIUM, _HIGH = OcsfSeverity.LOW, OcsfSeverity.MEDIUM, OcsfSeverity.HIGH

OCSF_MAPPINGS: Mapping[RecordKind, OcsfMapping] = {
    RecordKind.ADMISSION_APPROVED: OcsfMapping(_API, _CREATE),
    RecordKind.ADMISSION_DENIED: OcsfMapping(_API, _CREATE, _LOW, is_failure=True),
    RecordKind.REQUEST_QUEUED: OcsfMapping(_API, _CREATE),
    RecordKind.REQUEST_BLOCKED: OcsfMapping(_API, _UPDATE),
    RecordKind.REQUEST_CANCELLED: OcsfMapping(_API, _DELETE),
    RecordKind.ROOM_RESERVED: OcsfMapping(_API, _UPDATE),
    RecordKind.LEASE_GRANTED: OcsfMapping(_API, _CREATE),
    RecordKind.LEASE_RENEWED: OcsfMapping(_API, _UPDATE),
    RecordKind.LEASE_RELEASED: OcsfMapping(_API, _DELETE),
    RecordKind.LEASE_EXPIRED: OcsfMapping(_API, _DELETE, _LOW),
    RecordKind.LEASE_REVOKED: OcsfMapping(_API, _UPDATE, _LOW),
    RecordKind.LEASE_FENCED: OcsfMapping(_API, _UPDATE, _HIGH),
    RecordKind.FENCE_CLEARED: OcsfMapping(_API, _UPDATE, _MEDIUM),
    RecordKind.LEASE_PREEMPTED: OcsfMapping(_API, _DELETE, _MEDIUM),
    RecordKind.NODE_REGISTERED: OcsfMapping(_ENTITY, _CREATE),
    RecordKind.NODE_DEPARTED: OcsfMapping(_ENTITY, _DELETE, _LOW),
    RecordKind.NODE_MODE_CHANGED: OcsfMapping(_ENTITY, _UPDATE),
    RecordKind.NODE_QUARANTINED: OcsfMapping(_DETECTION, 1, _HIGH),
    RecordKind.NODE_QUARANTINE_LIFTED: OcsfMapping(_DETECTION, 3, _MEDIUM),
    RecordKind.NODE_ENROLLED: OcsfMapping(_ENTITY, _UPDATE, _MEDIUM),
    RecordKind.NODE_ENROLMENT_WITHDRAWN: OcsfMapping(_ENTITY, _UPDATE, _MEDIUM),
    RecordKind.DRAIN_STARTED: OcsfMapping(_ENTITY, _UPDATE),
    RecordKind.DRAIN_FINISHED: OcsfMapping(_ENTITY, _UPDATE),
    RecordKind.ATTESTATION_VERDICT: OcsfMapping(OcsfClass.COMPLIANCE_FINDING, 1),
    RecordKind.QUOTA_CHANGED: OcsfMapping(_ENTITY, _UPDATE, _LOW),
    RecordKind.POLICY_CHANGED: OcsfMapping(_ENTITY, _UPDATE, _MEDIUM),
    RecordKind.TOKEN_ISSUED: OcsfMapping(_SESSION, 1),
    RecordKind.TOKEN_REFUSED: OcsfMapping(_SESSION, OTHER, _MEDIUM, is_failure=True),
    RecordKind.OPERATOR_ACTION: OcsfMapping(_API, OTHER, _LOW),
    RecordKind.BREAK_GLASS: OcsfMapping(_API, OTHER, _HIGH),
    RecordKind.CHECKPOINT_REPORTED: OcsfMapping(_API, _UPDATE),
    RecordKind.TENANT_CREATED: OcsfMapping(_ENTITY, _CREATE),
    RecordKind.TENANT_CHANGED: OcsfMapping(_ENTITY, _UPDATE),
    RecordKind.PROJECT_CREATED: OcsfMapping(_ENTITY, _CREATE),
    RecordKind.PROJECT_CHANGED: OcsfMapping(_ENTITY, _UPDATE),
    RecordKind.MEMBER_CHANGED: OcsfMapping(_ACCESS, 1, _LOW),
    RecordKind.SERVICE_ACCOUNT_CREATED: OcsfMapping(OcsfClass.ACCOUNT_CHANGE, 1, _LOW),
    RecordKind.SERVICE_ACCOUNT_CHANGED: OcsfMapping(OcsfClass.ACCOUNT_CHANGE, OTHER, _LOW),
    RecordKind.ENTITLEMENT_CHANGED: OcsfMapping(_ACCESS, 1, _LOW),
    RecordKind.APP_INSTANCE_CREATED: OcsfMapping(_APP, 1),
    RecordKind.APP_INSTANCE_CHANGED: OcsfMapping(_APP, OTHER),
    RecordKind.APP_INSTANCE_REMOVED: OcsfMapping(_APP, 2),
    RecordKind.SHARED_RUNTIME_CHANGED: OcsfMapping(_APP, OTHER),
    RecordKind.ARTIFACT_PROMOTED: OcsfMapping(_APP, OTHER, _LOW),
    RecordKind.SECRET_ISSUED: OcsfMapping(_SESSION, 1, _LOW),
    RecordKind.RATE_CARD_CHANGED: OcsfMapping(_ENTITY, _UPDATE, _LOW),
    RecordKind.INVOICE_ISSUED: OcsfMapping(_ENTITY, _CREATE),
    RecordKind.BUDGET_CHANGED: OcsfMapping(_ENTITY, _UPDATE, _LOW),
    RecordKind.BUDGET_STATE_CHANGED: OcsfMapping(_ENTITY, _UPDATE, _MEDIUM),
    RecordKind.FINDING_REPORTED: OcsfMapping(_DETECTION, 1, _MEDIUM),
    RecordKind.SHARE_CHANGED: OcsfMapping(_ENTITY, _UPDATE, _LOW),
    RecordKind.SETTINGS_CHANGED: OcsfMapping(_ENTITY, _UPDATE, _MEDIUM),
    RecordKind.STATE_CHECKPOINT: OcsfMapping(_API, OTHER),
    RecordKind.LEADER_ELECTED: OcsfMapping(_API, OTHER, _MEDIUM),
    RecordKind.ACCESS_TOKEN_ISSUED: OcsfMapping(_SESSION, 1),
    RecordKind.ACCESS_TOKEN_REVOKED: OcsfMapping(_SESSION, OTHER, _LOW),
    RecordKind.ACCESS_REFUSED: OcsfMapping(_SESSION, OTHER, _MEDIUM, is_failure=True),
}

# Words of the body that decide between activities or severities of one kind.
_REVOKES = frozenset(("removed", "withdrawn"))
_SEVERITIES = {severity.name.lower(): severity for severity in OcsfSeverity}
_UNTRUSTED = "untrusted"
# Body fields that name a thing: as a resource, and of what type.
_RESOURCE_FIELDS = {
    "lease_id": "lease",
    "node": "node",
    "token_id": "token",
    "policy": "policy",
    "target": "target",
    "account": "service_account",
    "member": "member",
    "app": "app",
    "instance": "app_instance",
    "runtime": "shared_runtime",
    "artifact": "artifact",
    "secret": "secret",
    "card": "rate_card",
    "invoice": "invoice",
    "subject": "subject",
}


def ocsf_event(record: Record) -> dict[str, Any]:
    """The record as an OCSF-shaped event."""
    mapping = OCSF_MAPPINGS[record.kind]
    activity = _activity(record, mapping)
    event: dict[str, Any] = {
        "category_uid": mapping.class_uid // 1000,
        "class_uid": int(mapping.class_uid),
        "activity_id": activity,
        "type_uid": mapping.class_uid * 100 + activity,
        "severity_id": int(_severity(record, mapping)),
        "status_id": 2 if mapping.is_failure else 1,
        "time": record.at_ms,
        "metadata": _metadata(record),
        "actor": {"user": {"name": record.actor, "uid": record.actor}},
        "resources": _resources(record),
        "unmapped": {
            "body": _plain(record.body),
            "project": record.project,
            "prev_hash": record.prev_hash,
        },
    }
    reason = record.body.get("detail", record.body.get("reason"))
    if reason is not None:
        event["status_detail"] = reason
    return event


def _metadata(record: Record) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "version": OCSF_VERSION,
        "product": {"name": "bailiwick", "vendor_name": "bailiwick"},
        "log_name": "journal",
        "uid": record.hash,
        "sequence": record.seq,
        "correlation_uid": record.correlation_id,
        "event_code": str(record.kind),
    }
    if record.tenant is not None:
        metadata["tenant_uid"] = record.tenant
    return metadata


def _activity(record: Record, mapping: OcsfMapping) -> int:
    if mapping.class_uid is _ACCESS and record.body.get("change") in _REVOKES:
        return 2
    return mapping.activity_id


def _severity(record: Record, mapping: OcsfMapping) -> OcsfSeverity:
    if record.kind is RecordKind.FINDING_REPORTED:
        return _SEVERITIES[str(record.body["severity"])]
    if record.body.get("verdict") == _UNTRUSTED:
        return OcsfSeverity.HIGH
    return mapping.severity


def _resources(record: Record) -> list[dict[str, str]]:
    return [
        {"type": kind, "uid": str(record.body[field])}
        for field, kind in _RESOURCE_FIELDS.items()
        if field in record.body
    ]


def _plain(body: Mapping[str, object]) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for name, value in body.items():
        if isinstance(value, Mapping):
            plain[name] = dict(value)
        elif isinstance(value, tuple):
            plain[name] = list(value)
        else:
            plain[name] = value
    return plain
