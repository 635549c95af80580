"""What happened to webhooks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel.owner import Fields, Owner
from bailiwick.kernel.spelling import Body
from bailiwick.vocab.apps import WebhookChange


@dataclass(frozen=True, slots=True)
class AppWebhookSet:
    """A webhook as it is now; or as it was, if it was deleted."""

    kind: ClassVar = RecordKind.APP_WEBHOOK_SET
    owner: Owner
    webhook: str
    change: WebhookChange
    url: str
    types: tuple[str, ...]
    is_enabled: bool
    secret_id: str
    revision: int

    def body(self) -> Body:
        """All of it; its secret is nowhere."""
        body: Body = {
            "webhook": self.webhook,
            "change": self.change.value,
            "url": self.url,
            "enabled": int(self.is_enabled),
            "secret_id": self.secret_id,
            "revision": self.revision,
        }
        return body | ({"types": list(self.types)} if self.types else {})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(
            owner,
            body["webhook"],
            WebhookChange(body["change"]),
            body["url"],
            tuple(body.get("types", ())),
            bool(body["enabled"]),
            body["secret_id"],
            body["revision"],
        )
