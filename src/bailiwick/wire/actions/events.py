"""Events of apps, and webhooks that they are sent to."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, Action, Stream, Where
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.events import (
    CloudEvent,
    Deliveries,
    Webhook,
    WebhookChange,
    WebhookPlace,
    WebhookQuestion,
    WebhookReplay,
    WebhookReplayed,
    WebhookSecret,
)

_P, _W = Permission, Where

# fmt: off
EVENT_LIST = Action(
    "event.list", "List events", "GET", "/v1/events",
    _P.INSTANCE_READ, _W.ROWS, NOTHING, Page[CloudEvent], omits_null=True)
EVENT_WATCH = Action(
    "event.watch", "Watch events", "GET", "/v1/events/watch",
    _P.INSTANCE_READ, _W.ROWS, NOTHING, Stream)
WEBHOOK_LIST = Action(
    "webhook.list", "List webhooks", "GET", "/v1/webhooks",
    _P.WEBHOOK_MANAGE, _W.ROWS, NOTHING, Page[Webhook])
WEBHOOK_SET = Action(
    "webhook.set", "Set a webhook", "PUT", "/v1/webhooks",
    _P.WEBHOOK_MANAGE, _W.BODY, WebhookChange, WebhookSecret, once=True)
WEBHOOK_ROTATE = Action(
    "webhook.rotate", "Replace a webhook's secret", "POST", "/v1/webhooks/rotate",
    _P.WEBHOOK_MANAGE, _W.BODY, WebhookPlace, WebhookSecret, once=True)
WEBHOOK_DELETE = Action(
    "webhook.delete", "Delete a webhook", "POST", "/v1/webhooks/delete",
    _P.WEBHOOK_MANAGE, _W.BODY, WebhookPlace, Done)
WEBHOOK_DELIVERIES = Action(
    "webhook.deliveries", "List what became of events", "POST", "/v1/webhooks/deliveries",
    _P.WEBHOOK_MANAGE, _W.BODY, WebhookQuestion, Deliveries, is_question=True)
WEBHOOK_REPLAY = Action(
    "webhook.replay", "Send events again", "POST", "/v1/webhooks/replay",
    _P.WEBHOOK_MANAGE, _W.BODY, WebhookReplay, WebhookReplayed)
# fmt: on
