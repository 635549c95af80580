"""What the operator's account is answered where it has nothing to do.

Rules:

- Everything that can be asked about instances is tried on an instance that is there: of what is
  not there nobody could be refused.
- What is sent is whole, so that nothing but the lack of a right can be in the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from bailiwick.apps.readiness.evidence import FOREIGN_ACTIONS, ForeignTry
from bailiwick.client import Client, Refusal
from bailiwick.vocab.readiness import ForeignScope
from bailiwick.wire.actions.table import ACTIONS
from bailiwick.wire.base import Model
from bailiwick.wire.instances import (
    CallReply,
    CallWait,
    ForcedDeletion,
    InstanceChange,
    InstanceMemberChange,
    InstanceReport,
    InstanceUsageReport,
    NewCall,
    NewInstance,
    NewOperation,
    OperationProgress,
    OperationResult,
)

ANSWERED: Final = 200
"""What is noted where there was an answer."""


@dataclass(frozen=True, slots=True)
class ForeignPlace:
    """An instance in which the operator's account has no business."""

    scope: ForeignScope
    tenant: str
    project: str
    instance_id: int
    operation_id: int
    app: str
    version: str


def bodies(place: ForeignPlace) -> Mapping[str, Model]:
    """What is sent with each action."""
    name = f"check-{place.instance_id}-foreign"
    question = NewCall(argv=["tried"], wait_s=0)
    return {
        "instance.create": NewInstance(name=name, app=place.app, version=place.version),
        "instance.change": InstanceChange(metadata="tried"),
        "instance.report": InstanceReport(observed_generation=1),
        "instance.force_delete": ForcedDeletion(reason="tried by a check of its app"),
        "instance_member.change": InstanceMemberChange.model_validate(
            {"action": "replace", "component_key": "tried"}
        ),
        "instance_queue.submit": question,
        "instance_queue.read": question,
        "instance_queue.cancel": question,
        "instance_call.take": CallWait(),
        "instance_call.answer": CallReply(exit_code=0),
        "instance_operation.begin": NewOperation(title="tried"),
        "instance_operation.advance": OperationProgress(progress=1),
        "instance_operation.finish": OperationResult(is_succeeded=False),
        "instance_usage.report": InstanceUsageReport(
            sequence=1, unit="job_hour", quantity=1, from_ms=1, to_ms=2
        ),
    }


def try_all(client: Client, place: ForeignPlace) -> Iterator[ForeignTry]:
    """Try every action there."""
    told = bodies(place)
    for name in FOREIGN_ACTIONS:
        action = ACTIONS[name]
        filled = {
            "tenant": place.tenant,
            "project": place.project,
            "instance_id": place.instance_id,
            "operation_id": place.operation_id,
            "call_id": 1,
            "endpoint": "tried",
            "rest": "",
        }
        asked: dict[str, Any] = {"path": {each: filled[each] for each in action.places}}
        if name in told:
            asked["body"] = told[name]
        if name == "instance.report":
            asked["etag"] = '"1"'
        try:
            client.send(action, **asked)
            status = ANSWERED
        except Refusal as refused:
            status = refused.status
        yield ForeignTry(place.scope, name, status)
