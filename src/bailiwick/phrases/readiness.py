"""Sentences for what a check of an app found.

>>> told(ReadinessReason.ALL_REFUSED, {"projects": 15, "tenants": 0})
'refused 15 times at another project, 0 times at another tenant'
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bailiwick.phrases.templates import fill
from bailiwick.vocab.readiness import Readiness, ReadinessCondition, ReadinessReason

_C, _R = ReadinessCondition, ReadinessReason

CONDITIONS: Final[Mapping[ReadinessCondition, str]] = {
    _C.CONTRACTS_ONLY: "talks to the control plane alone",
    _C.SERVICE_ACCOUNT: "acts as its service account",
    _C.TENANCY: "is kept to its project",
    _C.LIFECYCLE_EVENTS: "its life is told as events",
    _C.ARTIFACT_POLICY: "policy governs its artifacts",
    _C.SURVIVES_KILL: "upgrade, rollback and deletion survive kill -9",
    _C.RUNBOOK: "its runbook says what to type",
}

TEMPLATES: Final[Mapping[ReadinessReason, str]] = {
    _R.ONLY_CONTROL_PLANE: "looked at {looks} times: no other connection",
    _R.OTHER_CONNECTIONS: "{connections} connections to others, in {looks} looks",
    _R.NOT_WATCHED: "nobody watched its connections",
    _R.ACTED_AS_ACCOUNT: "{acts} acts, all of them its account's",
    _R.NO_OPERATOR: "no operator was begun: name its command with --operator",
    _R.NOT_AN_ACCOUNT: "its token is not one of a service account of the project",
    _R.OPERATOR_SILENT: "it did nothing for the instance",
    _R.ACTED_AS_OTHERS: "{acts} acts under another name than its account's",
    _R.ALL_REFUSED: (
        "refused {projects} times at another project, {tenants} times at another tenant"
    ),
    _R.LET_IN: "{let_in} of {tries} tries were not refused",
    _R.REACHES_FURTHER: "its account has roles outside of the project",
    _R.ACTIONS_NOT_TRIED: "{actions} actions were not tried at another project",
    _R.ALL_HEARD: "{events} events heard with all their names",
    _R.NEVER_REACHED: "{events} of the events did not happen",
    _R.NOT_HEARD: "{events} events were not heard, or lacked a name",
    _R.FAILURE_NOT_PROVOKED: "it could not be made to fail",
    _R.REFUSED_BY_POLICY: "refused while its source was denied (record {record})",
    _R.DEPLOYED_ANYWAY: "its source was denied, and that is not why or whether it was refused",
    _R.POLICY_NOT_TRIED: "no source could be denied",
    _R.RESUMED: "{steps} steps under {kills} kills, each taken up and ended",
    _R.NOT_RESUMED: "{steps} steps were not taken up after a kill, or did not end",
    _R.STEP_NOT_TRIED: "{steps} steps were not tried: is there a version to upgrade to?",
    _R.NOT_KILLED: "{steps} steps went by without a kill",
    _R.TRIAGE_COMPLETE: "{steps} steps with {commands} commands, all of which exist",
    _R.SECTION_MISSING: "{sections} of its sections say nothing",
    _R.NO_COMMANDS: "its {steps} steps name no `bailiwick` command",
    _R.UNKNOWN_COMMANDS: "{commands} of its commands do not exist",
    _R.COMMANDS_NOT_TRIED: "nobody looked whether its commands exist",
}
"""With the names of the numbers that are filled in."""

VERDICTS: Final[Mapping[Readiness, str]] = {
    Readiness.READY: "ready",
    Readiness.NOT_READY: "not ready",
    Readiness.UNDECIDED: "undecided: not everything was tried",
}


def told(reason: ReadinessReason, numbers: Mapping[str, int]) -> str:
    """The sentence for a reason and its numbers."""
    return fill(TEMPLATES[reason], numbers)
