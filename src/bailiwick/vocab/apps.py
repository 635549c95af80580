"""The closed words of apps: what an app, a version and an artifact can be, and what narrows them.

Rules:

- One spelling from here to the record, the API, the command line and the manual.
- An artifact's trust is apart from its lifecycle: what was promoted can be revoked.

>>> Channel.PROD.rank > Channel.DEV.rank
True
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final


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


class VerificationReason(StrEnum):
    """Why an artifact is verified, or failed to be."""

    DIGEST_DIFFERS = "digest_differs"
    TOO_LARGE = "too_large"
    NOT_SIGNED = "not_signed"
    SIGNATURE_MALFORMED = "signature_malformed"
    KEY_UNKNOWN = "key_unknown"
    SUBJECT_DIFFERS = "subject_differs"
    SIGNATURE_INVALID = "signature_invalid"
    COMMENT_INVALID = "comment_invalid"
    DIGEST_MATCHES = "digest_matches"
    """It is what its digest says, and its source names no keys."""
    SIGNATURE_VALID = "signature_valid"

    @property
    def is_good(self) -> bool:
        """Whether it is verified by that."""
        return self in (self.DIGEST_MATCHES, self.SIGNATURE_VALID)


class PullFault(StrEnum):
    """Why a credential for a pull hands out nothing."""

    UNKNOWN_CREDENTIAL = "unknown_credential"
    """No text that we signed, or one that the journal does not know any more."""
    EXPIRED = "expired"
    WRONG_AUDIENCE = "wrong_audience"
    WRONG_DIGEST = "wrong_digest"
    OPERATION_ENDED = "operation_ended"
    NOT_USABLE = "not_usable"
    """The policy does not let it be used any more, or it is not trusted any more."""


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


class InstancePhase(StrEnum):
    """How far an instance of an app has come."""

    REQUESTED = "requested"
    PROVISIONING = "provisioning"
    RUNNING = "running"
    UPDATING = "updating"
    DEGRADED = "degraded"
    FAILED = "failed"
    DELETING = "deleting"
    DELETED = "deleted"


class MemberPhase(StrEnum):
    """How far one member of an instance has come."""

    REQUESTED = "requested"
    JOINING = "joining"
    READY = "ready"
    DRAINING = "draining"
    REMOVED = "removed"
    FAILED = "failed"

    @property
    def is_live(self) -> bool:
        """Whether it is to be there: it serves, or is on its way to."""
        return self in _LIVE


_LIVE = frozenset({MemberPhase.REQUESTED, MemberPhase.JOINING, MemberPhase.READY})


class OperationPhase(StrEnum):
    """How far a piece of work on an instance has come."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"

    @property
    def is_ended(self) -> bool:
        """Whether nothing more comes of it."""
        return self in (OperationPhase.SUCCEEDED, OperationPhase.FAILED)


class MemberPart(StrEnum):
    """What a member does for its instance: it steers the others, or does the work."""

    CONTROL_PLANE = "control_plane"
    WORKLOAD = "workload"


class MemberAction(StrEnum):
    """What can be done to a member."""

    ADD = "add"
    DRAIN = "drain"
    REMOVE = "remove"
    REPLACE = "replace"


class OperationKind(StrEnum):
    """What a piece of work on an instance is; a task is its operator's own."""

    CREATE = "create"
    CHANGE = "change"
    UPGRADE = "upgrade"
    ROLLBACK = "rollback"
    DELETE = "delete"
    MEMBER_ADD = "member_add"
    MEMBER_DRAIN = "member_drain"
    MEMBER_REMOVE = "member_remove"
    MEMBER_REPLACE = "member_replace"
    TASK = "task"


class InstanceChange(StrEnum):
    """What was changed of what an instance is to be."""

    PARAMETERS = "parameters"
    COUNTS = "counts"
    VERSION = "version"
    ROLLBACK = "rollback"
    PAUSE = "pause"
    RESUME = "resume"
    METADATA = "metadata"
    DELETE = "delete"


class InstanceCondition(StrEnum):
    """What is to be known of an instance beside its phase."""

    PAUSED = "paused"
    NOT_ENTITLED = "not_entitled"
    UNOBSERVED = "unobserved"
    MEMBERS_MISSING = "members_missing"
    MEMBERS_FAILED = "members_failed"
    MEMBERS_OUTDATED = "members_outdated"
    READY_OVERDUE = "ready_overdue"
    DELETION_OVERDUE = "deletion_overdue"


class UsageRefusal(StrEnum):
    """Why what an app tells of its use does not count, in the order in which it is asked."""

    SEQUENCE_REUSED = "sequence_reused"
    SEQUENCE_FORGOTTEN = "sequence_forgotten"
    SEQUENCE_GAP = "sequence_gap"
    UNIT_UNKNOWN = "unit_unknown"
    WINDOW_NOT_OVER = "window_not_over"
    WINDOW_BEFORE_INSTANCE = "window_before_instance"
    WINDOW_TOO_OLD = "window_too_old"
    UNIT_TOLD_OTHERWISE = "unit_told_otherwise"
    WINDOW_OVERLAPS = "window_overlaps"


class InstanceRefusal(StrEnum):
    """Why an instance is not made, or not changed so, in the order in which it is asked."""

    NOT_ENABLED = "not_enabled"
    VERSION_RETIRED = "version_retired"
    VERSION_NOT_ALLOWED = "version_not_allowed"
    NO_UPGRADE_PATH = "no_upgrade_path"
    NOTHING_TO_ROLL_BACK = "nothing_to_roll_back"
    MODE_NOT_OFFERED = "mode_not_offered"
    MODE_NOT_ALLOWED = "mode_not_allowed"
    NOT_OFFERED_HERE = "not_offered_here"
    SCOPE_NOT_OFFERED = "scope_not_offered"
    HOST_NOT_GRANTED = "host_not_granted"
    ARTIFACT_UNUSABLE = "artifact_unusable"
    PARAMETERS_INVALID = "parameters_invalid"
    COUNT_OUT_OF_RANGE = "count_out_of_range"
    MEMBERS_MAX = "members_max"
    INSTANCES_MAX = "instances_max"


class CallVerb(StrEnum):
    """What somebody wants of an instance; each has its own permission key."""

    SUBMIT = "submit"
    READ = "read"
    CANCEL = "cancel"


class CallPhase(StrEnum):
    """How far a call of an instance has come."""

    OPEN = "open"
    TAKEN = "taken"
    ANSWERED = "answered"
    UNANSWERED = "unanswered"


class CallRefusal(StrEnum):
    """Why an instance is not asked."""

    NOT_RUNNING = "not_running"


class EndpointEnd(StrEnum):
    """Why it is over that somebody had an endpoint of an instance open."""

    IDLE = "idle"
    """He asked for nothing more."""
    TIME_OVER = "time_over"
    STOPPED = "stopped"
    """The server was stopped."""


CALL_MS_MAX: Final = 300_000
"""The longest time that a call waits for its answer."""
