"""Events of apps, and webhooks that they are sent to."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, Action, Stream, Where
from bailiwick.wire.base import Page
from bailiwick.wire.events import CloudEvent

_P, _W = Permission, Where

# fmt: off
EVENT_LIST = Action(
    "event.list", "List events", "GET", "/v1/events",
    _P.INSTANCE_READ, _W.ROWS, NOTHING, Page[CloudEvent], omits_null=True)
EVENT_WATCH = Action(
    "event.watch", "Watch events", "GET", "/v1/events/watch",
    _P.INSTANCE_READ, _W.ROWS, NOTHING, Stream)
# fmt: on
