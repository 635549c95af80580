"""What happened to apps: what was published, who may use it how, and what it is made of.

Rules:

- A manifest stands in its record as a whole, cut into texts: a journal alone rebuilds the catalog.
- A record is the fleet's, a tenant's or a project's: of whoever published, allowed or registered.
- Nothing secret stands in one: an address has no password, a key is a public one.
"""

from __future__ import annotations

from bailiwick.journal.body_spec import BodySpec
from bailiwick.journal.fields import AMOUNT, DIGEST, NAME, NAMES, PRINCIPAL, TEXT, TEXTS, Words
from bailiwick.journal.kinds.row import CHANGE, FLEET, row
from bailiwick.journal.ocsf import CREATE, ENTITY, LOW, MEDIUM, UPDATE, Ocsf
from bailiwick.vocab.apps import (
    AppLifecycle,
    AppVisibility,
    ArtifactChange,
    ArtifactKind,
    ArtifactLifecycle,
    ArtifactTrust,
    Channel,
    PolicyAxis,
    PolicyLimit,
    SourceTier,
    WebhookChange,
)

_KIND = Words((ArtifactKind,))


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
            {"before": TEXT},
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
