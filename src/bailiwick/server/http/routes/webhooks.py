"""Webhooks: parse, call one service, spell the answer."""

from __future__ import annotations

from bailiwick.iam import Scope
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.params import IfMatchVersion, Limit, RowCursor, revision_of, spell_page
from bailiwick.server.http.spelling import spell_done
from bailiwick.services.apps import webhooks
from bailiwick.store.webhooks.rows import HookKey, Letter
from bailiwick.wire import events as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page


@answers("webhook.list")
async def list_webhooks(
    asked: Here, *, cursor: RowCursor = None, limit: Limit = 100
) -> Page[wire.Webhook]:
    """The webhooks that the caller manages; their secrets are told to nobody again."""
    return spell_page(await webhooks.page_webhooks(asked, after=cursor, limit=limit), _webhook)


@answers("webhook.set")
async def set_webhook(
    asked: Changing, body: wire.WebhookChange, *, if_match: IfMatchVersion = None
) -> wire.WebhookSecret:
    """Have events of a tenant or project sent to an address, signed as Standard Webhooks says.

    A new webhook is told its secret, once. It is sent what happens from then on.
    """
    secret = await webhooks.set_webhook(
        asked,
        asked.webhooks,
        key=_key(body),
        target=webhooks.WebhookTarget(
            url=body.url, types=tuple(body.types), is_enabled=body.is_enabled
        ),
        revision=revision_of(if_match),
    )
    return wire.WebhookSecret(webhook=body.webhook, secret=secret)


@answers("webhook.rotate")
async def rotate_webhook(asked: Changing, body: wire.WebhookPlace) -> wire.WebhookSecret:
    """Replace a webhook's secret. For a day messages are signed with both."""
    secret = await webhooks.rotate(asked, asked.webhooks, key=_key(body))
    return wire.WebhookSecret(webhook=body.webhook, secret=secret)


@answers("webhook.delete")
async def delete_webhook(asked: Changing, body: wire.WebhookPlace) -> Done:
    """End a webhook. What it was not sent yet is not sent."""
    return spell_done(await webhooks.delete(asked, _key(body)))


@answers("webhook.deliveries")
async def list_deliveries(asked: Here, body: wire.WebhookQuestion) -> wire.Deliveries:
    """What became of events on their way to a webhook, the newest first; dead letters too."""
    found, following = await webhooks.deliveries(
        asked,
        asked.webhooks,
        key=_key(body),
        state=body.state,
        before=body.before,
        limit=body.limit,
    )
    return wire.Deliveries(items=[_delivery(each) for each in found], next=following)


@answers("webhook.replay")
async def replay_webhook(asked: Changing, body: wire.WebhookReplay) -> wire.WebhookReplayed:
    """Send one event again, or all dead letters, under the same ids as before."""
    count = await webhooks.replay(asked, asked.webhooks, key=_key(body), seq=body.id)
    return wire.WebhookReplayed(events=count)


def _key(body: wire.WebhookPlace) -> HookKey:
    return HookKey(Scope(body.tenant, body.project), body.webhook)


def _webhook(row: webhooks.WebhookRow) -> wire.Webhook:
    found = row.webhook
    return wire.Webhook(
        webhook=found.name,
        tenant=str(row.scope.tenant),
        project=row.scope.project,
        url=found.url,
        types=list(found.types),
        is_enabled=found.is_enabled,
        rotated_ms=found.rotated_ms,
        revision=found.revision,
    )


def _delivery(letter: Letter) -> wire.Delivery:
    return wire.Delivery(
        id=letter.seq,
        state=letter.state,
        tries=letter.tries,
        at_ms=letter.at_ms,
        status=letter.status,
        fault=letter.fault,
        next_try_ms=letter.next_try_ms,
    )
