"""What rules about isolation see of work: of a request, of a lease, of one that was fenced.

The labels of a job are its submitter's word; tenant and project are not.
"""

from __future__ import annotations

from collections.abc import Mapping

from bailiwick.isolation.policy import Subject
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.state import State
from bailiwick.scheduler.request import PlacementRequest


def subject_of(owner: Owner, job_labels: Mapping[str, str]) -> Subject:
    """Whose the work is, and how it is labelled."""
    project = None if owner.project is None else str(owner.project)
    return Subject(str(owner.tenant), project, job_labels)


def subject_of_request(request: PlacementRequest) -> Subject:
    """What a rule sees of a request."""
    return subject_of(Owner.of(request), request.job_labels)


def subject_of_lease(state: State, lease_id: int) -> Subject:
    """What a rule sees of a lease; of a fenced one, what it was."""
    return subject_of(state.owner_of(lease_id), state.job_labels.get(lease_id, {}))
