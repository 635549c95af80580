"""The lives of apps, artifacts, instances with their members and operations, attachments: tables.

The table is the rule: the kernel, the property tests and the manual all read these.

>>> check_move(AppLifecycle.RETIRED, AppLifecycle.PUBLISHED)
Traceback (most recent call last):
...
bailiwick.vocab.errors.IllegalTransition: app_lifecycle: retired -> published is not allowed; \
from retired: none, it is terminal
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, TypeAlias

from bailiwick.vocab.apps import (
    AppLifecycle,
    ArtifactLifecycle,
    ArtifactTrust,
    Channel,
    InstancePhase,
    MemberPhase,
    OperationPhase,
)
from bailiwick.vocab.errors import IllegalTransition
from bailiwick.vocab.shared import AttachmentPhase

_A, _L, _T, _C = AppLifecycle, ArtifactLifecycle, ArtifactTrust, Channel
_I, _M, _O = InstancePhase, MemberPhase, OperationPhase
_S = AttachmentPhase

Life: TypeAlias = (
    AppLifecycle
    | ArtifactLifecycle
    | ArtifactTrust
    | Channel
    | InstancePhase
    | MemberPhase
    | OperationPhase
    | AttachmentPhase
)

APP_EDGES: Final[Mapping[AppLifecycle, frozenset[AppLifecycle]]] = {
    _A.DRAFT: frozenset({_A.PUBLISHED, _A.RETIRED}),
    _A.PUBLISHED: frozenset({_A.DEPRECATED, _A.RETIRED}),
    _A.DEPRECATED: frozenset({_A.PUBLISHED, _A.RETIRED}),
    _A.RETIRED: frozenset(),
}
"""Of an app and of each of its versions. A deprecation can be taken back, a retirement cannot."""

ARTIFACT_EDGES: Final[Mapping[ArtifactLifecycle, frozenset[ArtifactLifecycle]]] = {
    _L.PUBLISHED: frozenset({_L.PROMOTED, _L.DEPRECATED, _L.RETIRED}),
    _L.PROMOTED: frozenset({_L.DEPRECATED, _L.RETIRED}),
    _L.DEPRECATED: frozenset({_L.PROMOTED, _L.RETIRED}),
    _L.RETIRED: frozenset(),
}

# What is revoked stays so: the same bytes do not become good again.
TRUST_EDGES: Final[Mapping[ArtifactTrust, frozenset[ArtifactTrust]]] = {
    _T.UNVERIFIED: frozenset({_T.VERIFIED, _T.FAILED_VERIFICATION, _T.REVOKED}),
    _T.VERIFIED: frozenset({_T.FAILED_VERIFICATION, _T.REVOKED}),
    _T.FAILED_VERIFICATION: frozenset({_T.VERIFIED, _T.REVOKED}),
    _T.REVOKED: frozenset(),
}

# One step at a time, and never back: what must leave production is deprecated, retired or revoked.
CHANNEL_EDGES: Final[Mapping[Channel, frozenset[Channel]]] = {
    _C.DEV: frozenset({_C.TEST}),
    _C.TEST: frozenset({_C.STAGING}),
    _C.STAGING: frozenset({_C.PROD}),
    _C.PROD: frozenset(),
}

# Before it first runs it is being provisioned, afterwards updated. What is being deleted is not
# brought back: half of it may be gone.
INSTANCE_EDGES: Final[Mapping[InstancePhase, frozenset[InstancePhase]]] = {
    _I.REQUESTED: frozenset({_I.PROVISIONING, _I.FAILED, _I.DELETING}),
    _I.PROVISIONING: frozenset({_I.RUNNING, _I.DEGRADED, _I.FAILED, _I.DELETING}),
    _I.RUNNING: frozenset({_I.UPDATING, _I.DEGRADED, _I.FAILED, _I.DELETING}),
    _I.UPDATING: frozenset({_I.RUNNING, _I.DEGRADED, _I.FAILED, _I.DELETING}),
    _I.DEGRADED: frozenset({_I.PROVISIONING, _I.RUNNING, _I.UPDATING, _I.FAILED, _I.DELETING}),
    _I.FAILED: frozenset({_I.PROVISIONING, _I.RUNNING, _I.UPDATING, _I.DEGRADED, _I.DELETING}),
    _I.DELETING: frozenset({_I.DELETED}),
    _I.DELETED: frozenset(),
}

# A member that failed is replaced by another: its lease is gone, and so is what it held.
MEMBER_EDGES: Final[Mapping[MemberPhase, frozenset[MemberPhase]]] = {
    _M.REQUESTED: frozenset({_M.JOINING, _M.READY, _M.DRAINING, _M.REMOVED, _M.FAILED}),
    _M.JOINING: frozenset({_M.READY, _M.DRAINING, _M.REMOVED, _M.FAILED}),
    _M.READY: frozenset({_M.JOINING, _M.DRAINING, _M.REMOVED, _M.FAILED}),
    _M.DRAINING: frozenset({_M.REMOVED}),
    _M.FAILED: frozenset({_M.REMOVED}),
    _M.REMOVED: frozenset(),
}

OPERATION_EDGES: Final[Mapping[OperationPhase, frozenset[OperationPhase]]] = {
    _O.PENDING: frozenset({_O.RUNNING, _O.SUCCEEDED, _O.FAILED}),
    _O.RUNNING: frozenset({_O.SUCCEEDED, _O.FAILED}),
    _O.SUCCEEDED: frozenset(),
    _O.FAILED: frozenset(),
}

# What was attached gives its workers back first; who was only asked is not there to begin with.
ATTACHMENT_EDGES: Final[Mapping[AttachmentPhase, frozenset[AttachmentPhase]]] = {
    _S.REQUESTED: frozenset({_S.ATTACHED, _S.DETACHED}),
    _S.ATTACHED: frozenset({_S.DETACHING}),
    _S.DETACHING: frozenset({_S.DETACHED}),
    _S.DETACHED: frozenset(),
}

_TABLES: Final[Mapping[type[StrEnum], tuple[str, Mapping[Any, frozenset[Any]]]]] = {
    AppLifecycle: ("app_lifecycle", APP_EDGES),
    ArtifactLifecycle: ("artifact_lifecycle", ARTIFACT_EDGES),
    ArtifactTrust: ("artifact_trust", TRUST_EDGES),
    Channel: ("artifact_channel", CHANNEL_EDGES),
    InstancePhase: ("instance_phase", INSTANCE_EDGES),
    MemberPhase: ("member_phase", MEMBER_EDGES),
    OperationPhase: ("operation_phase", OPERATION_EDGES),
    AttachmentPhase: ("attachment_phase", ATTACHMENT_EDGES),
}


def check_move(current: Life, wanted: Life) -> None:
    """Refuse an edge that the table of these words does not have."""
    machine, edges = _TABLES[type(current)]
    allowed = edges[current]
    if wanted not in allowed:
        raise IllegalTransition(machine, current, wanted, tuple(sorted(allowed)))
