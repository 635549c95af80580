"""The closed words of shared runtimes: one app that a tenant runs for several of its projects.

Rules:

- One spelling from here to the record, the API, the command line and the manual.
- An attachment takes two consents, one of each side. Either side ends it alone.

>>> [phase.value for phase in AttachmentPhase]
['requested', 'attached', 'detaching', 'detached']
"""

from __future__ import annotations

from enum import StrEnum


class AttachmentPhase(StrEnum):
    """How far a project's part in a shared runtime has come."""

    REQUESTED = "requested"
    """One side has consented."""
    ATTACHED = "attached"
    DETACHING = "detaching"
    """Its workers are on their way back."""
    DETACHED = "detached"


class ConsentSide(StrEnum):
    """Who consents to an attachment, or ends it."""

    TENANT = "tenant"
    PROJECT = "project"


class WorkerAction(StrEnum):
    """What a project can do with a worker that is its own in a shared runtime."""

    CONTRIBUTE = "contribute"
    DRAIN = "drain"
    WITHDRAW = "withdraw"


class ContributionPhase(StrEnum):
    """How far a contributed worker has come, as its project is told."""

    CONTRIBUTED = "contributed"
    DRAINING = "draining"
    ENDED = "ended"


class SubmitPolicyChange(StrEnum):
    """What was done to a policy by which others submit."""

    SET = "set"
    ENDED = "ended"


class SubmitDenial(StrEnum):
    """Why nothing is submitted there, in the order in which it is asked."""

    RUNTIME_LEAVING = "runtime_leaving"
    NOT_ATTACHED = "not_attached"
    OWNER_NOT_ATTACHED = "owner_not_attached"
    POLICY_ENDED = "policy_ended"
    NO_POLICY = "no_policy"


class SharedRefusal(StrEnum):
    """Why a shared runtime is not made, or not used so."""

    ENVIRONMENT_TAKEN = "environment_taken"
    BILLING_RULE_NOT_ACCEPTED = "billing_rule_not_accepted"
    NODES_GIVE_ROOT = "nodes_give_root"
    SAME_PERSON = "same_person"
    NOT_ATTACHED = "not_attached"
    ROLE_NOT_CONTRIBUTED = "role_not_contributed"
    RUNTIME_LEAVING = "runtime_leaving"
    BACKS_A_RUNTIME = "backs_a_runtime"


class SharedUseRefusal(StrEnum):
    """Why what was used on whose workers is not taken as told."""

    UNIT_UNKNOWN = "unit_unknown"
    """The app has no such unit."""
    UNIT_NOT_TIME = "unit_not_time"
    """It is a count: nothing that workers hold says how many there can be."""
    WINDOW_NOT_OVER = "window_not_over"
    WINDOW_BEFORE_RUNTIME = "window_before_runtime"
    WINDOW_TOO_OLD = "window_too_old"
    WINDOW_OVERLAPS = "window_overlaps"
    """Some of that time was told already, and not so."""
