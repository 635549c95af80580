"""What happened to those who exist, to what they may do, and who was refused."""

from __future__ import annotations

from bailiwick.journal.body_spec import BodySpec
from bailiwick.journal.fields import (
    AMOUNT,
    DIGEST,
    NAME,
    NAMES,
    PRINCIPAL,
    TEXT,
    TEXTS,
    ListOf,
    Words,
)
from bailiwick.journal.kinds.row import CHANGE, FLEET, PROJECT, row
from bailiwick.journal.ocsf import (
    ACCESS,
    ACCOUNT,
    API,
    CREATE,
    ENTITY,
    HIGH,
    LOW,
    MEDIUM,
    OTHER,
    SESSION,
    UPDATE,
    Ocsf,
)
from bailiwick.journal.words import MemberChange, OfferOutcome, RoleChange


class PeopleKinds:
    """The kinds of the people slice."""

    BREAK_GLASS = row(
        "break_glass",
        30,
        ocsf=Ocsf(API, OTHER, HIGH),
        scope=FLEET,
        body=BodySpec(
            {"action": NAME, "target": PRINCIPAL, "justification": TEXT},
            {"approver": PRINCIPAL, "expires_ms": AMOUNT},
        ),
    )
    TENANT_CREATED = row(
        "tenant_created", 32, ocsf=Ocsf(ENTITY, CREATE), body=BodySpec({}, {"display_name": TEXT})
    )
    TENANT_CHANGED = row(
        "tenant_changed", 33, ocsf=Ocsf(ENTITY, UPDATE), body=BodySpec({"field": NAME}, CHANGE)
    )
    PROJECT_CREATED = row(
        "project_created",
        34,
        ocsf=Ocsf(ENTITY, CREATE),
        scope=PROJECT,
        body=BodySpec({}, {"display_name": TEXT}),
    )
    PROJECT_CHANGED = row(
        "project_changed",
        35,
        ocsf=Ocsf(ENTITY, UPDATE),
        scope=PROJECT,
        body=BodySpec({"field": NAME}, CHANGE),
    )
    MEMBER_CHANGED = row(
        "member_changed",
        36,
        ocsf=Ocsf(ACCESS, 1, LOW),
        scope=FLEET,
        body=BodySpec(
            {"member": PRINCIPAL, "change": Words((MemberChange,))},
            {"role": NAME, "role_before": NAME, "provider": NAME},
        ),
    )
    ROLE_SET = row(
        "role_set",
        104,
        ocsf=Ocsf(ACCESS, OTHER, MEDIUM),
        scope=FLEET,
        body=BodySpec(
            {"role": NAME, "level": NAME, "change": Words((RoleChange,)), "revision": AMOUNT},
            {"keys": NAMES, "before": NAMES},
        ),
    )
    SERVICE_ACCOUNT_CREATED = row(
        "service_account_created",
        37,
        ocsf=Ocsf(ACCOUNT, 1, LOW),
        scope=FLEET,
        body=BodySpec({"account": PRINCIPAL}, {"scopes": NAMES, "expires_ms": AMOUNT}),
    )
    SERVICE_ACCOUNT_CHANGED = row(
        "service_account_changed",
        38,
        ocsf=Ocsf(ACCOUNT, OTHER, LOW),
        scope=FLEET,
        body=BodySpec({"account": PRINCIPAL, "field": NAME}, CHANGE),
    )
    ACCESS_TOKEN_ISSUED = row(
        "access_token_issued",
        55,
        ocsf=Ocsf(SESSION, 1),
        scope=FLEET,
        body=BodySpec(
            {
                "token_id": NAME,
                "principal": PRINCIPAL,
                "principal_kind": NAME,
                "digest": DIGEST,
                "expires_ms": AMOUNT,
            },
            {
                "single_use": AMOUNT,
                "keys": NAMES,
                "within": ListOf(PRINCIPAL),
                "lease_id": AMOUNT,
            },
        ),
    )
    ACCESS_TOKEN_REVOKED = row(
        "access_token_revoked",
        56,
        ocsf=Ocsf(SESSION, OTHER, LOW),
        scope=FLEET,
        body=BodySpec({"token_id": NAME}),
    )
    ACCESS_REFUSED = row(
        "access_refused",
        57,
        ocsf=Ocsf(SESSION, OTHER, MEDIUM, is_failure=True),
        scope=FLEET,
        body=BodySpec({"reason": NAME}, {"principal": PRINCIPAL, "permission": NAME}),
    )
    ROLE_OFFERED = row(
        "role_offered",
        135,
        ocsf=Ocsf(ACCESS, OTHER, LOW),
        body=BodySpec({"member": PRINCIPAL, "role": NAME, "expires_ms": AMOUNT}),
    )
    ROLE_OFFER_ENDED = row(
        "role_offer_ended",
        136,
        ocsf=Ocsf(ACCESS, OTHER, LOW),
        body=BodySpec({"member": PRINCIPAL, "role": NAME, "outcome": Words((OfferOutcome,))}),
    )
    PRINCIPAL_HOMED = row(
        "principal_homed",
        137,
        ocsf=Ocsf(ACCOUNT, OTHER, LOW),
        scope=FLEET,
        body=BodySpec({"principal": PRINCIPAL}),
    )
    ACCOUNT_TRUST_SET = row(
        "account_trust_set",
        138,
        ocsf=Ocsf(ACCOUNT, OTHER, MEDIUM),
        scope=FLEET,
        body=BodySpec(
            {
                "account": PRINCIPAL,
                "rule": NAME,
                "issuer": TEXT,
                "audience": TEXT,
                "conditions": TEXTS,
            },
            {"keys": NAMES},
        ),
    )
    ACCOUNT_TRUST_DELETED = row(
        "account_trust_deleted",
        139,
        ocsf=Ocsf(ACCOUNT, OTHER, LOW),
        scope=FLEET,
        body=BodySpec({"account": PRINCIPAL, "rule": NAME}),
    )
    ACCOUNT_KEY_ADDED = row(
        "account_key_added",
        140,
        ocsf=Ocsf(ACCOUNT, OTHER, MEDIUM),
        scope=FLEET,
        body=BodySpec(
            {"account": PRINCIPAL, "key_id": NAME, "digest": DIGEST, "expires_ms": AMOUNT},
            {"keys": NAMES},
        ),
    )
    ACCOUNT_KEY_ENDED = row(
        "account_key_ended",
        141,
        ocsf=Ocsf(ACCOUNT, OTHER, LOW),
        scope=FLEET,
        body=BodySpec({"account": PRINCIPAL, "key_id": NAME, "ends_ms": AMOUNT}),
    )
    ACCOUNT_TOKEN_GRANTED = row(
        "account_token_granted",
        142,
        ocsf=Ocsf(SESSION, 1),
        scope=FLEET,
        body=BodySpec(
            {"account": PRINCIPAL, "token_id": NAME, "expires_ms": AMOUNT},
            {
                "key_id": NAME,
                "rule": NAME,
                "issuer": TEXT,
                "subject": TEXT,
                "assertion": DIGEST,
            },
        ),
    )
