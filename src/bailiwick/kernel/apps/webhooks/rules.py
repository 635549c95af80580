"""Webhooks: what follows from setting and deleting them.

Rules:

- A webhook is known by its name at a tenant or project, of which there are few each.
- Another secret keeps the one before beside it; which still count is a question of time.
- A webhook is told of what comes after the record that made it: deleted and made again, it is a new
  one. To say again what is so already is a conflict.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from bailiwick.apps.webhooks import (
    WEBHOOKS_EACH_MAX,
    WEBHOOKS_MAX,
    WEBHOOKS_TENANT_MAX,
    Webhook,
)
from bailiwick.iam import Scope
from bailiwick.kernel.apps.webhooks.commands import DeleteWebhook, SetWebhook, WebhookCommand
from bailiwick.kernel.apps.webhooks.events import AppWebhookSet
from bailiwick.kernel.events import Event
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.state import State
from bailiwick.vocab.apps import WebhookChange
from bailiwick.vocab.errors import Conflict, InvalidValue, LimitReached, NotFound, Stale


def decide(state: State, command: WebhookCommand) -> Iterator[Event]:
    """The events that follow from such a command."""
    match command:
        case SetWebhook():
            return _set(state, command)
        case DeleteWebhook():
            return _delete(state, command)
        case _:
            assert_never(command)


def _set(state: State, command: SetWebhook) -> Iterator[Event]:
    scope = Scope(command.tenant, command.project)
    state.directory.check_scope(scope)
    known = _known(state, scope, command)
    change, secret_id = WebhookChange.SET, command.secret_id
    if known is None:
        _check_room(state, scope)
        if secret_id is None:
            raise InvalidValue("secret_id", None, "what the secret of a new webhook is made from")
    elif secret_id is not None:
        change = WebhookChange.ROTATED
    told = (command.url, command.types, command.is_enabled)
    if known is not None and secret_id is None:
        secret_id = known.secret_id
        if told == (known.url, known.types, known.is_enabled):
            raise Conflict("webhook", command.webhook, "is like that already")
    assert secret_id is not None  # for the type checker
    revision = 1 if known is None else known.revision + 1
    yield AppWebhookSet(Owner(*scope), command.webhook, change, *told, secret_id, revision)


def _check_room(state: State, scope: Scope) -> None:
    held = state.apps.webhooks
    if len(held) >= WEBHOOKS_MAX:
        raise LimitReached("webhooks", WEBHOOKS_MAX)
    if sum(1 for where, _ in held if where == scope) >= WEBHOOKS_EACH_MAX:
        raise LimitReached(f"webhooks of {scope}", WEBHOOKS_EACH_MAX)
    if sum(1 for where, _ in held if where.tenant == scope.tenant) >= WEBHOOKS_TENANT_MAX:
        raise LimitReached(f"webhooks of {scope.tenant or 'the fleet'}", WEBHOOKS_TENANT_MAX)


def _delete(state: State, command: DeleteWebhook) -> Iterator[Event]:
    scope = Scope(command.tenant, command.project)
    known = _known(state, scope, command)
    if known is None:
        raise NotFound("webhook", command.webhook)
    told = (known.url, known.types, known.is_enabled, known.secret_id, known.revision + 1)
    yield AppWebhookSet(Owner(*scope), command.webhook, WebhookChange.DELETED, *told)


def _known(state: State, scope: Scope, command: WebhookCommand) -> Webhook | None:
    known = state.apps.webhooks.get((scope, command.webhook))
    current = 0 if known is None else known.revision
    if command.revision is not None and command.revision != current:
        raise Stale("webhook", command.webhook, held=command.revision, current=current)
    return known


def apply(state: State, event: AppWebhookSet, at_ms: int) -> None:
    """The book after one more record."""
    book, key = state.apps.webhooks, (Scope(*event.owner), event.webhook)
    if event.change is WebhookChange.DELETED:
        del book[key]
        return
    known = book.get(key)
    old_secret_id = None if known is None else known.old_secret_id
    rotated_ms = None if known is None else known.rotated_ms
    if known is not None and event.change is WebhookChange.ROTATED:
        old_secret_id, rotated_ms = known.secret_id, at_ms
    book[key] = Webhook(
        event.webhook,
        event.url,
        event.types,
        event.is_enabled,
        event.secret_id,
        old_secret_id,
        rotated_ms,
        state.size if known is None else known.since_seq,
        event.revision,
    )
