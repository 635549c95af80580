"""A record as a security event in the shape of OCSF, for collectors that speak no other.

Rules:

- Pure: the same record always gives the same event. Its ``metadata.uid`` is the record's hash and
  ``metadata.sequence`` its number, so that a collector drops what it has seen.
- How a kind is told stands in its row of :mod:`bailiwick.journal.kinds`.
- Typed words go through unchanged: ``metadata.event_code`` is the kind, ``status_detail`` the
  reason, and the whole body stands under ``unmapped``.

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
from typing import Any

from bailiwick.journal import Record, RecordKind
from bailiwick.journal.ocsf import Ocsf, OcsfClass, OcsfSeverity
from bailiwick.journal.words import AttestationWord, MemberChange

OCSF_VERSION = "1.3.0"

# Words of the body that decide between activities or severities of one kind.
_REMOVED = MemberChange.REMOVED
_SEVERITIES = {severity.name.lower(): severity for severity in OcsfSeverity}
_UNTRUSTED = AttestationWord.UNTRUSTED
# Body fields that name a thing: as a resource, and of what type.
_RESOURCE_FIELDS = {
    "lease_id": "lease",
    "node": "node",
    "token_id": "token",
    "policy": "policy",
    "target": "target",
    "account": "service_account",
    "member": "member",
    "card": "rate_card",
    "invoice": "invoice",
    "subject": "subject",
}


def ocsf_event(record: Record) -> dict[str, Any]:
    """The record as an OCSF-shaped event."""
    mapping = record.kind.ocsf
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


def _activity(record: Record, mapping: Ocsf) -> int:
    is_access = mapping.class_uid is OcsfClass.USER_ACCESS_MANAGEMENT
    if is_access and record.body.get("change") == _REMOVED:
        return 2
    return mapping.activity_id


def _severity(record: Record, mapping: Ocsf) -> OcsfSeverity:
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
