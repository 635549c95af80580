"""The closed words of apps: what an app, a version and an artifact can be, and what narrows them.

Rules:

- One spelling from here to the record, the API, the command line and the manual.
- An artifact's trust is apart from its lifecycle: what was promoted can be revoked.

>>> Channel.PROD.rank > Channel.DEV.rank
True
"""

from __future__ import annotations

from enum import StrEnum


class AppLifecycle(StrEnum):
    """How far an app, or one version of it, has come."""

    DRAFT = "draft"
    PUBLISHED = "published"
    DEPRECATED = "deprecated"
    RETIRED = "retired"


class AppVisibility(StrEnum):
    """Who sees an app in the catalog: everybody, or only those who published it."""

    PUBLIC = "public"
    PRIVATE = "private"


class OperatingMode(StrEnum):
    """Who runs an app's control plane."""

    TENANT_DEDICATED = "tenant_dedicated"
    PLATFORM_MANAGED = "platform_managed"


class ControlPlaneScope(StrEnum):
    """Whom one control plane serves."""

    PROJECT = "project"
    TENANT = "tenant"
    PLATFORM = "platform"


class Privilege(StrEnum):
    """What the process of a member may do on its node."""

    SANDBOX = "sandbox"
    HOST = "host"


class DataOnRollback(StrEnum):
    """What becomes of an instance's data when it goes back to an earlier version."""

    KEPT = "kept"
    DISCARDED = "discarded"


class ArtifactKind(StrEnum):
    """How an artifact is stored."""

    OCI = "oci"
    BLOB = "blob"


class ArtifactLifecycle(StrEnum):
    """How far an artifact has come."""

    PUBLISHED = "published"
    PROMOTED = "promoted"
    DEPRECATED = "deprecated"
    RETIRED = "retired"


class ArtifactTrust(StrEnum):
    """What is known of an artifact's origin."""

    UNVERIFIED = "unverified"
    VERIFIED = "verified"
    FAILED_VERIFICATION = "failed_verification"
    REVOKED = "revoked"


class Channel(StrEnum):
    """How far towards production an artifact was promoted."""

    DEV = "dev"
    TEST = "test"
    STAGING = "staging"
    PROD = "prod"

    @property
    def rank(self) -> int:
        """Its place on the way to production."""
        return list(Channel).index(self)


class ArtifactChange(StrEnum):
    """What was changed of an artifact."""

    REGISTERED = "registered"
    LIFECYCLE = "lifecycle"
    TRUST = "trust"
    CHANNEL = "channel"


class WebhookChange(StrEnum):
    """What was done to a webhook."""

    SET = "set"
    ROTATED = "rotated"
    DELETED = "deleted"


class DeliveryState(StrEnum):
    """What became of an event on its way to a webhook."""

    DELIVERED = "delivered"
    RETRYING = "retrying"
    REPLAYING = "replaying"
    DEAD = "dead"


class DeliveryFault(StrEnum):
    """Why an event did not reach a webhook."""

    ADDRESS_NOT_ALLOWED = "address_not_allowed"
    NO_ADDRESS = "no_address"
    NO_CONNECTION = "no_connection"
    CERTIFICATE = "certificate"
    TIMEOUT = "timeout"
    REDIRECTED = "redirected"
    STATUS = "status"
    GONE = "gone"


class SourceTier(StrEnum):
    """Whose source of artifacts it is: everybody's, or one tenant's own."""

    PLATFORM = "platform"
    TENANT = "tenant"


class PolicyAxis(StrEnum):
    """What an overlay can narrow by a list of words."""

    VERSIONS = "versions"
    REGIONS = "regions"
    SKUS = "skus"
    SOURCES = "sources"
    CHANNELS = "channels"
    OPERATING_MODES = "operating_modes"


class PolicyLimit(StrEnum):
    """What an overlay can narrow by a number."""

    INSTANCES_MAX = "instances_max"
    MEMBERS_MAX = "members_max"


class ArtifactRefusal(StrEnum):
    """Why an artifact is not used, in the order in which it is asked."""

    NOT_REGISTERED = "not_registered"
    KIND_DIFFERS = "kind_differs"
    SOURCE_DIFFERS = "source_differs"
    SOURCE_UNKNOWN = "source_unknown"
    SOURCE_NOT_ALLOWED = "source_not_allowed"
    CHANNEL_NOT_ALLOWED = "channel_not_allowed"
    RETIRED = "retired"
    NOT_VERIFIED = "not_verified"
