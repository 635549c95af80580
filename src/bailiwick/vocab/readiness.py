"""Words for whether an app is ready to be taken on: conditions, how each stands, and why."""

from __future__ import annotations

from enum import StrEnum


class ReadinessCondition(StrEnum):
    """What must hold before an app is taken on, in the order in which it is told."""

    CONTRACTS_ONLY = "contracts_only"
    """Its operator talks to the control plane and to nobody else."""
    SERVICE_ACCOUNT = "service_account"
    """Its operator acts as a service account of the project, and as nobody else."""
    TENANCY = "tenancy"
    """That account is refused at other projects and tenants."""
    LIFECYCLE_EVENTS = "lifecycle_events"
    """Its life is told as events that can be followed."""
    ARTIFACT_POLICY = "artifact_policy"
    """What a policy denies is not deployed."""
    SURVIVES_KILL = "survives_kill"
    """Upgrade, rollback and deletion end well although its operator is killed."""
    RUNBOOK = "runbook"
    """Whoever is woken at night is told what to type."""


class ConditionState(StrEnum):
    """How a condition stands after a check."""

    MET = "met"
    NOT_MET = "not_met"
    NOT_TRIED = "not_tried"


class Readiness(StrEnum):
    """What follows from all conditions together."""

    READY = "ready"
    NOT_READY = "not_ready"
    UNDECIDED = "undecided"
    """Nothing spoke against it, but not everything was tried."""


class ReadinessReason(StrEnum):
    """Why a condition stands as it does."""

    ONLY_CONTROL_PLANE = "only_control_plane"
    OTHER_CONNECTIONS = "other_connections"
    NOT_WATCHED = "not_watched"
    ACTED_AS_ACCOUNT = "acted_as_account"
    NO_OPERATOR = "no_operator"
    NOT_AN_ACCOUNT = "not_an_account"
    OPERATOR_SILENT = "operator_silent"
    ACTED_AS_OTHERS = "acted_as_others"
    ALL_REFUSED = "all_refused"
    LET_IN = "let_in"
    REACHES_FURTHER = "reaches_further"
    ACTIONS_NOT_TRIED = "actions_not_tried"
    ALL_HEARD = "all_heard"
    NEVER_REACHED = "never_reached"
    NOT_HEARD = "not_heard"
    FAILURE_NOT_PROVOKED = "failure_not_provoked"
    REFUSED_BY_POLICY = "refused_by_policy"
    DEPLOYED_ANYWAY = "deployed_anyway"
    POLICY_NOT_TRIED = "policy_not_tried"
    RESUMED = "resumed"
    NOT_RESUMED = "not_resumed"
    STEP_NOT_TRIED = "step_not_tried"
    NOT_KILLED = "not_killed"
    TRIAGE_COMPLETE = "triage_complete"
    SECTION_MISSING = "section_missing"
    NO_COMMANDS = "no_commands"
    UNKNOWN_COMMANDS = "unknown_commands"
    COMMANDS_NOT_TRIED = "commands_not_tried"


class LifeStep(StrEnum):
    """What an operator is killed under."""

    UPGRADE = "upgrade"
    ROLLBACK = "rollback"
    DELETE = "delete"


class ForeignScope(StrEnum):
    """Where an operator's account has nothing to do."""

    OTHER_PROJECT = "other_project"
    OTHER_TENANT = "other_tenant"


class LifecycleEvent(StrEnum):
    """The events that every instance's life is told by."""

    REQUESTED = "requested"
    RUNNING = "running"
    FAILED = "failed"
    DELETING = "deleting"
    DELETED = "deleted"


class EvidenceFault(StrEnum):
    """What a claim of a check contradicts."""

    OTHER_DIGEST = "other_digest"
    UNKNOWN_OPERATOR = "unknown_operator"
    NO_SUCH_INSTANCE = "no_such_instance"
    VERSION_NOT_WANTED = "version_not_wanted"
    NOT_THAT_EVENT = "not_that_event"
    NOT_THAT_POLICY = "not_that_policy"
    OTHER_RUNBOOK = "other_runbook"
    TOO_LONG = "too_long"
