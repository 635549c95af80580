"""What happened to shared runtimes: made, joined, given workers, opened to others, ended.

Rules:

- What a runtime is, and who used its credentials, is the tenant's to read; what concerns one
  project is that project's.
- No credential stands in a record: only that one was used, by whom and for what.
"""

from __future__ import annotations

from bailiwick.journal.body_spec import BodySpec, Fields
from bailiwick.journal.fields import (
    AMOUNT,
    DIGEST,
    INTEGERS,
    LABELS,
    NAME,
    NAMES,
    PRINCIPAL,
    TEXTS,
    Words,
)
from bailiwick.journal.kinds.row import PROJECT, row
from bailiwick.journal.ocsf import CREATE, ENTITY, LOW, MEDIUM, SESSION, UPDATE, Ocsf
from bailiwick.vocab.shared import (
    AttachmentPhase,
    ConsentSide,
    ContributionPhase,
    SubmitPolicyChange,
)

_RUNTIME: Fields = {"runtime_id": AMOUNT, "runtime": NAME}
_INSTANCE: Fields = {"instance_id": AMOUNT, "app": PRINCIPAL}
_PHASE = Words((AttachmentPhase,))


class SharedKinds:
    """The kinds of shared runtimes."""

    SHARED_RUNTIME_CREATED = row(
        "shared_runtime_created",
        110,
        ocsf=Ocsf(ENTITY, CREATE, MEDIUM),
        body=BodySpec(
            {
                **_RUNTIME,
                **_INSTANCE,
                "environment": NAME,
                "owner_project": NAME,
                "controller": LABELS,
                "withdraw_within_ms": AMOUNT,
                "billing_rule": TEXTS,
                "billing_digest": DIGEST,
                "accepted_by": PRINCIPAL,
            }
        ),
    )
    SHARED_RUNTIME_ENDED = row(
        "shared_runtime_ended",
        111,
        ocsf=Ocsf(ENTITY, UPDATE, MEDIUM),
        body=BodySpec({**_RUNTIME, **_INSTANCE, "gone": AMOUNT}),
    )
    SHARED_ATTACHMENT_CHANGED = row(
        "shared_attachment_changed",
        112,
        ocsf=Ocsf(ENTITY, UPDATE, MEDIUM),
        scope=PROJECT,
        body=BodySpec(
            {**_RUNTIME, "phase": _PHASE},
            {
                "before": _PHASE,
                "side": Words((ConsentSide,)),
                "allowed_by": PRINCIPAL,
                "accepted_by": PRINCIPAL,
            },
        ),
    )
    SHARED_CONTRIBUTION_CHANGED = row(
        "shared_contribution_changed",
        113,
        ocsf=Ocsf(ENTITY, UPDATE, LOW),
        scope=PROJECT,
        body=BodySpec(
            {
                **_RUNTIME,
                **_INSTANCE,
                "member_id": AMOUNT,
                "component_key": NAME,
                "role": NAME,
                "phase": Words((ContributionPhase,)),
            },
            {"deadline_ms": AMOUNT},
        ),
    )
    SUBMIT_POLICY_SET = row(
        "submit_policy_set",
        114,
        ocsf=Ocsf(ENTITY, UPDATE, MEDIUM),
        scope=PROJECT,
        body=BodySpec(
            {
                **_RUNTIME,
                "change": Words((SubmitPolicyChange,)),
                "policy": NAME,
                "queue": NAME,
                "until_ms": AMOUNT,
            },
            {"grantee_project": NAME, "grantee_person": PRINCIPAL, "limits": LABELS},
        ),
    )
    SHARED_CREDENTIAL_USED = row(
        "shared_credential_used",
        115,
        ocsf=Ocsf(SESSION, 1, LOW),
        body=BodySpec({**_RUNTIME, "credential": NAME, "purpose": NAME, "used_by": PRINCIPAL}),
    )
    SHARED_USE_TOLD = row(
        "shared_use_told",
        120,
        ocsf=Ocsf(ENTITY, UPDATE, LOW),
        body=BodySpec(
            {
                **_RUNTIME,
                **_INSTANCE,
                "told_by": PRINCIPAL,
                "from_ms": AMOUNT,
                "to_ms": AMOUNT,
                "users": NAMES,
                "sources": NAMES,
                "units": NAMES,
                "quantities": INTEGERS,
            }
        ),
    )
    SHARED_SETTLEMENT_SET = row(
        "shared_settlement_set",
        121,
        ocsf=Ocsf(ENTITY, UPDATE, MEDIUM),
        body=BodySpec(
            {
                **_RUNTIME,
                "rates": LABELS,
                "billing_rule": TEXTS,
                "billing_digest": DIGEST,
                "accepted_by": PRINCIPAL,
            }
        ),
    )
