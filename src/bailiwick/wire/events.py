"""Events and webhooks, on the wire."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from bailiwick.wire.base import Model

EVENT_TYPE_PATTERN = r"^apps(\.[a-z][a-z0-9_]{0,30}){0,2}(\.\*)?$"
PLACE_PATTERN = r"^[0-9]{1,15}(\.[0-9a-f]{16})?$"

EventType = Annotated[str, Field(pattern=EVENT_TYPE_PATTERN)]


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
