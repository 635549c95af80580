"""What happened to apps: what was published, who may use it how, and what it is made of.

Rules:

- A manifest stands in its record as a whole, cut into texts: a journal alone rebuilds the catalog.
- A record is the fleet's, a tenant's or a project's: of whoever published, allowed or registered.
- Nothing secret stands in one: an address has no password, a key is a public one.
- Every record about an instance has its number and its app: who follows one needs no other.
"""

from __future__ import annotations

from bailiwick.journal.body_spec import BodySpec, Fields
from bailiwick.journal.fields import (
    AMOUNT,
    DIGEST,
    LABELS,
    NAME,
    NAMES,
    PRINCIPAL,
    TEXT,
    TEXTS,
    Words,
)
from bailiwick.journal.kinds.row import CHANGE, FLEET, PROJECT, row
from bailiwick.journal.ocsf import CREATE, ENTITY, LOW, MEDIUM, SESSION, UPDATE, Ocsf
from bailiwick.vocab.apps import (
    AppLifecycle,
    AppVisibility,
    ArtifactChange,
    ArtifactKind,
    ArtifactLifecycle,
    ArtifactTrust,
    CallVerb,
    Channel,
    ControlPlaneScope,
    DataOnRollback,
    EndpointEnd,
    InstanceChange,
    InstancePhase,
    MemberPhase,
    OperatingMode,
    OperationKind,
    OperationPhase,
    PolicyAxis,
    PolicyLimit,
    SourceTier,
    VerificationReason,
    WebhookChange,
)
from bailiwick.vocab.readiness import Readiness

_KIND = Words((ArtifactKind,))
_INSTANCE: Fields = {"instance_id": AMOUNT, "app": PRINCIPAL}
_PHASE = Words((InstancePhase,))
_MEMBER_PHASE = Words((MemberPhase,))


class AppKinds:
    """The kinds of the apps slice."""

    APP_PUBLISHED = row(
        "app_published",
        90,
        ocsf=Ocsf(ENTITY, CREATE, LOW),
        scope=FLEET,
        body=BodySpec(
            {
                "app": PRINCIPAL,
                "version": NAME,
                "digest": DIGEST,
                "document": TEXTS,
                "lifecycle": Words((AppLifecycle,)),
                "visibility": Words((AppVisibility,)),
            }
        ),
    )
    APP_CHANGED = row(
        "app_changed",
        91,
        ocsf=Ocsf(ENTITY, UPDATE, MEDIUM),
        scope=FLEET,
        body=BodySpec({"app": PRINCIPAL, "field": NAME}, {**CHANGE, "version": NAME}),
    )
    APP_ENTITLEMENT_SET = row(
        "app_entitlement_set",
        92,
        ocsf=Ocsf(ENTITY, UPDATE, MEDIUM),
        scope=FLEET,
        body=BodySpec(
            {"app": PRINCIPAL, "enabled": AMOUNT, "revision": AMOUNT},
            {
                **{axis.value: NAMES for axis in PolicyAxis},
                **{f"deny_{axis.value}": NAMES for axis in PolicyAxis},
                **{limit.value: AMOUNT for limit in PolicyLimit},
            },
        ),
    )
    APP_INSTANCE_REQUESTED = row(
        "app_instance_requested",
        93,
        ocsf=Ocsf(ENTITY, CREATE, LOW),
        scope=PROJECT,
        body=BodySpec(
            {
                **_INSTANCE,
                "name": NAME,
                "version": NAME,
                "operating_mode": Words((OperatingMode,)),
                "control_plane_scope": Words((ControlPlaneScope,)),
                "runtime_backend": NAME,
                "parameters": TEXTS,
                "counts": LABELS,
            },
            {"metadata": TEXTS},
        ),
    )
    APP_INSTANCE_CHANGED = row(
        "app_instance_changed",
        94,
        ocsf=Ocsf(ENTITY, UPDATE, LOW),
        scope=PROJECT,
        body=BodySpec(
            {**_INSTANCE, "change": Words((InstanceChange,)), "generation": AMOUNT},
            {
                "before": NAME,
                "version": NAME,
                "parameters": TEXTS,
                "counts": LABELS,
                "metadata": TEXTS,
                "data": Words((DataOnRollback,)),
                "deadline_ms": AMOUNT,
            },
        ),
    )
    APP_INSTANCE_MOVED = row(
        "app_instance_moved",
        95,
        ocsf=Ocsf(ENTITY, UPDATE, LOW),
        scope=PROJECT,
        body=BodySpec(
            {
                **_INSTANCE,
                "before": _PHASE,
                "phase": _PHASE,
                "generation": AMOUNT,
                "observed_generation": AMOUNT,
            },
            {
                "reported": _PHASE,
                "reason": TEXT,
                "metadata": TEXTS,
                "overdue": AMOUNT,
                "forced": AMOUNT,
            },
        ),
    )
    APP_MEMBER_CHANGED = row(
        "app_member_changed",
        96,
        ocsf=Ocsf(ENTITY, UPDATE, LOW),
        scope=PROJECT,
        body=BodySpec(
            {
                **_INSTANCE,
                "member_id": AMOUNT,
                "role": NAME,
                "component_key": NAME,
                "version": NAME,
                "phase": _MEMBER_PHASE,
            },
            {
                "before": _MEMBER_PHASE,
                "lease_id": AMOUNT,
                "job_id": AMOUNT,
                "reason": NAME,
                "deadline_ms": AMOUNT,
                "forced": AMOUNT,
                "source_project": NAME,
            },
        ),
    )
    APP_OPERATION_CHANGED = row(
        "app_operation_changed",
        97,
        ocsf=Ocsf(ENTITY, UPDATE, LOW),
        scope=PROJECT,
        body=BodySpec(
            {
                **_INSTANCE,
                "operation_id": AMOUNT,
                "operation": Words((OperationKind,)),
                "phase": Words((OperationPhase,)),
                "progress": AMOUNT,
            },
            {
                "generation": AMOUNT,
                "component_key": NAME,
                "operation_key": PRINCIPAL,
                "member_id": AMOUNT,
                "title": TEXT,
                "log": TEXTS,
                "result": TEXT,
            },
        ),
    )
    ARTIFACT_SOURCE_SET = row(
        "artifact_source_set",
        98,
        ocsf=Ocsf(ENTITY, UPDATE, MEDIUM),
        scope=FLEET,
        body=BodySpec(
            {
                "source": NAME,
                "tier": Words((SourceTier,)),
                "artifact_kind": _KIND,
                "address": TEXT,
                "allowed": AMOUNT,
            },
            {"keys": TEXTS},
        ),
    )
    ARTIFACT_CREDENTIAL_ISSUED = row(
        "artifact_credential_issued",
        100,
        ocsf=Ocsf(SESSION, 1, LOW),
        scope=PROJECT,
        body=BodySpec(
            {
                **_INSTANCE,
                "credential_id": NAME,
                "operation_id": AMOUNT,
                "digest": DIGEST,
                "audience": PRINCIPAL,
                "expires_ms": AMOUNT,
            }
        ),
    )
    APP_USAGE_REPORTED = row(
        "app_usage_reported",
        101,
        ocsf=Ocsf(ENTITY, CREATE, LOW),
        scope=PROJECT,
        body=BodySpec(
            {
                **_INSTANCE,
                "usage_source": PRINCIPAL,
                "sequence": AMOUNT,
                "unit": NAME,
                "quantity": AMOUNT,
                "from_ms": AMOUNT,
                "to_ms": AMOUNT,
            },
            {"component_key": NAME},
        ),
    )
    ARTIFACT_CHANGED = row(
        "artifact_changed",
        99,
        ocsf=Ocsf(ENTITY, UPDATE, LOW),
        scope=FLEET,
        body=BodySpec(
            {
                "digest": DIGEST,
                "change": Words((ArtifactChange,)),
                "artifact_kind": _KIND,
                "source": NAME,
                "lifecycle": Words((ArtifactLifecycle,)),
                "trust": Words((ArtifactTrust,)),
                "channel": Words((Channel,)),
            },
            {"before": TEXT, "reason": Words((VerificationReason,)), "key": TEXT},
        ),
    )
    APP_CHECKED = row(
        "app_checked",
        102,
        ocsf=Ocsf(ENTITY, UPDATE, MEDIUM),
        scope=FLEET,
        body=BodySpec(
            {
                "app": PRINCIPAL,
                "version": NAME,
                "digest": DIGEST,
                "verdict": Words((Readiness,)),
                "conditions": LABELS,
                "reasons": LABELS,
                "numbers": LABELS,
                "evidence": TEXTS,
                "evidence_digest": DIGEST,
            }
        ),
    )
    APP_INSTANCE_CALLED = row(
        "app_instance_called",
        116,
        ocsf=Ocsf(ENTITY, CREATE, LOW),
        scope=PROJECT,
        body=BodySpec(
            {
                **_INSTANCE,
                "verb": Words((CallVerb,)),
                "digest": DIGEST,
                "within_ms": AMOUNT,
            }
        ),
    )
    APP_ENDPOINT_OPENED = row(
        "app_endpoint_opened",
        125,
        ocsf=Ocsf(ENTITY, CREATE, MEDIUM),
        scope=PROJECT,
        body=BodySpec({**_INSTANCE, "endpoint": NAME, "member_id": AMOUNT, "session_id": NAME}),
    )
    APP_ENDPOINT_CLOSED = row(
        "app_endpoint_closed",
        126,
        ocsf=Ocsf(ENTITY, UPDATE, LOW),
        scope=PROJECT,
        body=BodySpec(
            {
                **_INSTANCE,
                "endpoint": NAME,
                "session_id": NAME,
                "end": Words((EndpointEnd,)),
                "requests": AMOUNT,
            }
        ),
    )
    APP_WEBHOOK_SET = row(
        "app_webhook_set",
        103,
        ocsf=Ocsf(ENTITY, UPDATE, MEDIUM),
        body=BodySpec(
            {
                "webhook": NAME,
                "change": Words((WebhookChange,)),
                "url": TEXT,
                "enabled": AMOUNT,
                "secret_id": NAME,
                "revision": AMOUNT,
            },
            {"types": TEXTS},
        ),
    )
