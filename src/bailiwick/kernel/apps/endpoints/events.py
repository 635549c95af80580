"""What is sealed of an endpoint that somebody opens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, TypeAlias

from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel.owner import Fields, Owner
from bailiwick.kernel.spelling import Body
from bailiwick.vocab.apps import EndpointEnd


@dataclass(frozen=True, slots=True)
class AppEndpointOpened:
    """Somebody opened what a member serves; who it is is the record's own principal."""

    kind: ClassVar = RecordKind.APP_ENDPOINT_OPENED
    owner: Owner
    instance_id: int
    app: str
    endpoint: str
    member_id: int
    session_id: str

    def body(self) -> Body:
        """Which, and who serves it."""
        return {
            "instance_id": self.instance_id,
            "app": self.app,
            "endpoint": self.endpoint,
            "member_id": self.member_id,
            "session_id": self.session_id,
        }

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        whose = body["instance_id"], body["app"], body["endpoint"]
        return cls(owner, *whose, body["member_id"], body["session_id"])


@dataclass(frozen=True, slots=True)
class AppEndpointClosed:
    """That is over."""

    kind: ClassVar = RecordKind.APP_ENDPOINT_CLOSED
    owner: Owner
    instance_id: int
    app: str
    endpoint: str
    session_id: str
    end: EndpointEnd
    requests: int

    def body(self) -> Body:
        """Why, and after how many requests."""
        return {
            "instance_id": self.instance_id,
            "app": self.app,
            "endpoint": self.endpoint,
            "session_id": self.session_id,
            "end": self.end.value,
            "requests": self.requests,
        }

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        whose = body["instance_id"], body["app"], body["endpoint"], body["session_id"]
        return cls(owner, *whose, EndpointEnd(body["end"]), body["requests"])


EndpointEvent: TypeAlias = AppEndpointOpened | AppEndpointClosed
