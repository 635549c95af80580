"""Commands about webhooks: set one, or delete it; nothing secret is in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from bailiwick.apps.webhooks import TYPES_MAX, check_url, check_wish
from bailiwick.iam import Scope
from bailiwick.journal.fields import INTEGER_MAX, NAME
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer, check_kind, check_name


@dataclass(frozen=True, slots=True)
class SetWebhook:
    """A webhook of a tenant or project as it is to be.

    ``secret_id`` is what its secret is made from: a new one needs it, and for one that is there it
    means another secret. ``revision`` 0 says that there is none yet.
    """

    webhook: str
    tenant: str
    url: str
    project: str | None = None
    types: tuple[str, ...] = ()
    is_enabled: bool = True
    secret_id: str | None = None
    revision: int | None = None

    def __post_init__(self) -> None:
        check_name("webhook", self.webhook)
        Scope.of(check_name("tenant", self.tenant), self.project)
        check_url(check_kind("url", self.url, str))
        check_kind("is_enabled", self.is_enabled, bool)
        for wish in self.types:
            check_wish(check_kind("types", wish, str))
        if len(set(self.types)) < len(self.types) or len(self.types) > TYPES_MAX:
            raise InvalidValue("types", len(self.types), f"at most {TYPES_MAX}, each once")
        if self.secret_id is not None:
            NAME.check("secret_id", self.secret_id)
        _check_revision(self.revision)


@dataclass(frozen=True, slots=True)
class DeleteWebhook:
    """A webhook is no more; what it was not sent yet is not sent."""

    webhook: str
    tenant: str
    project: str | None = None
    revision: int | None = None

    def __post_init__(self) -> None:
        check_name("webhook", self.webhook)
        Scope.of(check_name("tenant", self.tenant), self.project)
        _check_revision(self.revision)


def _check_revision(revision: int | None) -> None:
    if revision is not None:
        check_integer("revision", revision, low=0, high=INTEGER_MAX)


WebhookCommand: TypeAlias = SetWebhook | DeleteWebhook
