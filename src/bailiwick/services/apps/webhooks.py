"""Webhooks: set, rotated, deleted; what became of events, and sending them again.

Rules:

- Whoever manages webhooks at a scope is trusted with what is told there. A webhook's address is
  told to nobody else: it may be known to few on purpose.
- A secret is told once, to whoever made it necessary. It is made from the server's key and an id,
  which the journal has; the same request under the same idempotency key has the same id.
- An address that the operator does not allow is refused when it is set, as far as it can be told
  then, and again whenever it is used.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from hashlib import sha256
from ipaddress import ip_address
from typing import NamedTuple

from bailiwick.apps.addresses import is_allowed
from bailiwick.apps.webhooks import Webhook, read_url
from bailiwick.events.signing import secret_of, spell_secret
from bailiwick.iam import FLEET, Permission, Scope
from bailiwick.kernel import Done
from bailiwick.kernel.apps.webhooks.commands import DeleteWebhook, SetWebhook
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller
from bailiwick.services.pages import Rows, page_of
from bailiwick.store.webhooks.rows import HookKey, Letter, WebhookBook
from bailiwick.vocab.apps import DeliveryState
from bailiwick.vocab.errors import InvalidValue, NotFound


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookDesk:
    """What a server has for webhooks."""

    book: WebhookBook
    key: bytes = field(repr=False)
    """What secrets are made from."""
    allow_private: bool = False
    """Whether the operator lets them lead to private networks and this machine."""


class WebhookRow(NamedTuple):
    """A webhook, and whose it is."""

    scope: Scope
    webhook: Webhook


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookTarget:
    """Where a webhook is to lead, and what it is to be sent."""

    url: str
    types: tuple[str, ...]
    is_enabled: bool


async def page_webhooks(caller: Caller, *, after: str | None, limit: int) -> Rows[WebhookRow]:
    """The webhooks that the caller manages."""
    caller.require_within(FLEET)

    def read(view: View) -> Rows[WebhookRow]:
        held = view.state.apps.webhooks.items()
        rows = (WebhookRow(scope, each) for (scope, _), each in held if caller.may(scope))
        return page_of(rows, after=after, limit=limit, key=webhook_key)

    return await caller.read(read)


def webhook_key(row: WebhookRow) -> str:
    """What webhooks are listed by, and their pages turned."""
    return f"{'/'.join(filter(None, row.scope))}@{row.webhook.name}"


async def set_webhook(
    caller: Caller, desk: WebhookDesk, *, key: HookKey, target: WebhookTarget, revision: int | None
) -> str | None:
    """Make a webhook, or change it; the secret of a new one."""
    _require(caller, key.scope)
    check_target(target.url, private=desk.allow_private)
    known = await _find(caller, key)
    secret_id = _secret_id(caller) if known is None else None
    command = SetWebhook(
        key.webhook,
        str(key.scope.tenant),
        target.url,
        key.scope.project,
        target.types,
        target.is_enabled,
        secret_id,
        0 if known is None and revision is None else revision,
    )
    await caller.change(command)
    return _told(desk, key, secret_id, dry_run=caller.dry_run)


async def rotate(caller: Caller, desk: WebhookDesk, *, key: HookKey) -> str | None:
    """Give a webhook another secret; the one before still counts for a day."""
    _require(caller, key.scope)
    known = await _find(caller, key)
    if known is None:
        raise NotFound("webhook", key.webhook)
    secret_id = _secret_id(caller)
    told = (known.url, key.scope.project, known.types, known.is_enabled, secret_id)
    command = SetWebhook(key.webhook, str(key.scope.tenant), *told, known.revision)
    await caller.change(command)
    return _told(desk, key, secret_id, dry_run=caller.dry_run)


async def delete(caller: Caller, key: HookKey) -> Done:
    """End a webhook; what it was not sent yet is not sent."""
    caller.require(key.scope)
    return await caller.change(DeleteWebhook(key.webhook, str(key.scope.tenant), key.scope.project))


async def deliveries(
    caller: Caller,
    desk: WebhookDesk,
    *,
    key: HookKey,
    state: DeliveryState | None,
    before: int | None,
    limit: int,
) -> tuple[list[Letter], int | None]:
    """What became of events, the newest first, and where the rest begins."""
    await _require_there(caller, key)
    found = await asyncio.to_thread(
        desk.book.page, key, state=state, before=before, limit=limit + 1
    )
    return found[:limit], found[limit - 1].seq if len(found) > limit else None


async def replay(caller: Caller, desk: WebhookDesk, *, key: HookKey, seq: int | None) -> int:
    """Have one event, or all dead letters, sent again; how many."""
    await _require_there(caller, key)
    book, now_ms = desk.book, caller.clock.now_ms()
    if caller.dry_run:
        dead = await asyncio.to_thread(
            book.page, key, state=DeliveryState.DEAD, before=None, limit=1_000
        )
        return sum(1 for each in dead if seq in (None, each.seq))
    count = await asyncio.to_thread(book.replay, key, seq=seq, now_ms=now_ms)
    if seq is not None and count == 0:
        hint = "webhook deliveries lists what can be sent again"
        raise NotFound("delivery", str(seq), hint=hint)
    return count


def _require(caller: Caller, scope: Scope) -> None:
    """Whoever has events sent somewhere must be allowed to read them."""
    caller.require(scope)
    if not caller.holds(Permission.INSTANCE_READ, scope):
        told = f"{Permission.INSTANCE_READ.value} is needed at {scope}"
        raise caller.refuse(told, reason="forbidden")


async def _require_there(caller: Caller, key: HookKey) -> None:
    caller.require(key.scope)
    if await _find(caller, key) is None:
        raise NotFound("webhook", key.webhook)


async def _find(caller: Caller, key: HookKey) -> Webhook | None:
    return await caller.lookup(lambda view: view.state.apps.webhooks.get((key.scope, key.webhook)))


def _secret_id(caller: Caller) -> str:
    if caller.key is None:
        return caller.ids()
    named = f"{caller.principal.name}\n{caller.key}"
    return sha256(named.encode()).hexdigest()[:32]


def _told(desk: WebhookDesk, key: HookKey, secret_id: str | None, *, dry_run: bool) -> str | None:
    if secret_id is None or dry_run:
        return None
    secret = secret_of(desk.key, key.scope, webhook=key.webhook, secret_id=secret_id)
    return spell_secret(secret)


def check_target(url: str, *, private: bool) -> None:
    """Refuse an address that cannot be used; a name is judged when it is looked up."""
    target = read_url(url)
    expected = "an https:// address on the public internet; the operator allows no other"
    if not target.is_secure and not private:
        raise InvalidValue("url", "(not shown)", expected)
    try:
        literal = str(ip_address(target.host))
    except ValueError:
        return
    if not is_allowed(literal, private=private):
        raise InvalidValue("url", "(not shown)", expected)
