"""Events and webhooks, on the wire."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from bailiwick.vocab.apps import DeliveryFault, DeliveryState
from bailiwick.wire.base import INTEGER_MAX, Model, Name, Within

EVENT_TYPE_PATTERN = r"^apps(\.[a-z][a-z0-9_]{0,30}){0,2}(\.\*)?$"
PLACE_PATTERN = r"^[0-9]{1,15}(\.[0-9a-f]{16})?$"

EventType = Annotated[str, Field(pattern=EVENT_TYPE_PATTERN)]
_Types = Annotated[list[EventType], Field(max_length=16)]
_State = Annotated[DeliveryState, Field(strict=False)]
_Fault = Annotated[DeliveryFault, Field(strict=False)]


class CloudEvent(Model):
    """One event as CloudEvents 1.0 spells it; what has no value is left out.

    ``data`` has the fields of the record, and the names ``correlation_id``, ``org_id``,
    ``project_id``, ``app_slug`` and ``app_instance_id``. CloudEvents lets attributes have only
    small letters and digits, so as attributes these have no underscore.
    """

    specversion: Literal["1.0"]
    id: str
    """The number of the record in the journal."""
    source: str
    """The journal: ``/journals/`` and its name."""
    type: str
    subject: str
    time: str | None = None
    datacontenttype: str
    correlationid: str
    orgid: str | None = None
    projectid: str | None = None
    appslug: str | None = None
    appinstanceid: str | None = None
    data: dict[str, Any]


class WebhookPlace(Model):
    """A webhook of a tenant or of a project, by its name."""

    webhook: Name
    tenant: Name
    project: Name | None = None


class WebhookChange(WebhookPlace):
    """A webhook as it is to be from now on."""

    url: Annotated[str, Field(min_length=1, max_length=512)]
    types: _Types = Field(default_factory=list)
    """Which events are sent; none named: all."""
    is_enabled: bool = True


class Webhook(Model):
    """Where events of a tenant or project are sent; ``revision`` is what ``If-Match`` names."""

    webhook: str
    tenant: str
    project: str | None
    url: str
    types: list[str]
    is_enabled: bool
    rotated_ms: int | None
    """When its secret was last replaced; the one before counts for a day after that."""
    revision: int


class WebhookSecret(Model):
    """What a receiver checks signatures with; told once, when there is a new one."""

    webhook: str
    secret: str | None
    """``whsec_`` and base64; ``null`` if the secret stays as it is."""


class WebhookReplay(WebhookPlace):
    """Which event to send again; without an id, all dead letters."""

    id: Annotated[int, Within(0, INTEGER_MAX)] | None = None


class WebhookReplayed(Model):
    """How many events are sent again."""

    events: int


class WebhookQuestion(WebhookPlace):
    """Which deliveries to tell, the newest first."""

    state: _State | None = None
    before: Annotated[int, Within(0, INTEGER_MAX)] | None = None
    """Only of events with a smaller id."""
    limit: Annotated[int, Within(1, 500)] = 100


class Delivery(Model):
    """What became of one event on its way to a webhook."""

    id: int
    """Of the event."""
    state: _State
    tries: int
    at_ms: int
    """When it was tried last."""
    status: int | None
    """What the receiver answered last, if it did."""
    fault: _Fault | None
    next_try_ms: int | None


class Deliveries(Model):
    """Some of a webhook's deliveries; ``next`` is the ``before`` of what follows."""

    items: list[Delivery]
    next: int | None
