"""``bailiwick webhook``: where events are sent, what became of them, and sending them again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.output import Columns, emit
from bailiwick.cli.shared.screen import owner, printable
from bailiwick.vocab.apps import DeliveryState
from bailiwick.vocab.errors import NotFound

if TYPE_CHECKING:
    from bailiwick.wire.events import Delivery, Webhook, WebhookSecret

app = noun("Where events are sent, signed as Standard Webhooks says.")

_Name = Annotated[str, typer.Argument(metavar="NAME", help="What the webhook is called.")]

_ROWS: Columns[Webhook] = Columns(
    ("webhook", "where", "url*", "types*", "is on", "revision"),
    lambda w: (
        w.webhook,
        owner(w.tenant, w.project),
        printable(w.url),
        ", ".join(w.types) or "all",
        "yes" if w.is_enabled else "no",
        str(w.revision),
    ),
    lambda w: w.webhook,
    numbers=("revision",),
    empty="no webhook that you manage",
)


def _tried(delivery: Delivery) -> str:
    from bailiwick.phrases.times import clock

    return clock(delivery.at_ms)


def _next_try(delivery: Delivery) -> str:
    from bailiwick.phrases.times import clock

    return clock(delivery.next_try_ms)


_DELIVERIES: Columns[Delivery] = Columns(
    ("event", "state", "tries", "status", "fault", "last tried", "next try"),
    lambda d: (
        str(d.id),
        d.state.value,
        str(d.tries),
        "-" if d.status is None else str(d.status),
        "-" if d.fault is None else d.fault.value,
        _tried(d),
        _next_try(d),
    ),
    lambda d: str(d.id),
    numbers=("event", "tries"),
    empty="nothing was sent yet",
)


@verb(app, "list", lists=True)
def list_webhooks(ask: Ask) -> None:
    """The webhooks that you manage.

    Example: bailiwick webhook list
    """
    from bailiwick.wire.actions.events import WEBHOOK_LIST

    ask.list(WEBHOOK_LIST, columns=_ROWS)


@verb(app, "show", scope="project")
def show_webhook(ask: Ask, name: _Name) -> None:
    """One webhook; its secret is told to nobody again.

    Example: bailiwick webhook show pager --tenant lab
    """
    from bailiwick.wire.actions.events import WEBHOOK_LIST
    from bailiwick.wire.base import Page

    place = (ask.tenant, ask.typed_project)
    found = ask.client.pages(WEBHOOK_LIST).items
    rows = [w for w in found if (w.webhook, w.tenant, w.project) == (name, *place)]
    if not rows:
        raise NotFound("webhook", name, hint="bailiwick webhook list")
    ask.printer.thing(
        rows[0], name=name, draw=lambda: ask.printer.rows(Page(items=rows), columns=_ROWS)
    )


@verb(app, "set", changes=True, scope="project")
def set_webhook(
    ask: Ask,
    name: _Name,
    *,
    url: Annotated[str, typer.Argument(metavar="URL", help="Where to: https://HOST/PATH.")],
    types: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="TYPE", help="Only these: apps.instance.*; repeat it."),
    ] = None,
    enable: Annotated[
        bool, typer.Option("--enable/--disable", help="Whether events are sent now, or later.")
    ] = True,
    if_revision: Annotated[
        int | None, typer.Option("--if-revision", min=0, help="Only if it is still so; 0: none.")
    ] = None,
) -> None:
    """Have events of a tenant or project sent to an address; a new webhook is told its secret.

    Example: bailiwick webhook set pager https://hooks.example/in --tenant lab --type 'apps.*'
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.events import WEBHOOK_SET
    from bailiwick.wire.events import WebhookChange

    given = {"url": url, "types": types or [], "is_enabled": enable}
    body = make_body(WebhookChange, webhook=name, **ask.scope, **given)
    etag = None if if_revision is None else f'"{if_revision}"'
    found = ask.client.send(WEBHOOK_SET, body=body, etag=etag, dry_run=ask.dry_run)
    _tell(ask, found, told=f"{name} of {ask.scope_name} is {'on' if enable else 'off'}")


@verb(app, "rotate", changes=True, scope="project")
def rotate_webhook(ask: Ask, name: _Name) -> None:
    """Give a webhook another secret; for a day messages are signed with both.

    Example: bailiwick webhook rotate pager --tenant lab
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.events import WEBHOOK_ROTATE
    from bailiwick.wire.events import WebhookPlace

    body = make_body(WebhookPlace, webhook=name, **ask.scope)
    found = ask.client.send(WEBHOOK_ROTATE, body=body, dry_run=ask.dry_run)
    _tell(ask, found, told=f"{name} of {ask.scope_name} has another secret")


def _tell(ask: Ask, found: WebhookSecret, *, told: str) -> None:
    def draw() -> None:
        emit(told + (" (dry run: nothing was changed)" if ask.dry_run else ""))
        if found.secret is not None:
            emit(f"secret (it is not shown again): {found.secret}")

    ask.printer.thing(found, name=found.secret or told, draw=draw)


@verb(app, "delete", changes=True, scope="project")
def delete_webhook(ask: Ask, name: _Name) -> None:
    """End a webhook; what it was not sent yet is not sent.

    Example: bailiwick webhook delete pager --tenant lab
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.events import WEBHOOK_DELETE
    from bailiwick.wire.events import WebhookPlace

    ask.confirm(f"Delete the webhook {name} of {ask.scope_name}?")
    body = make_body(WebhookPlace, webhook=name, **ask.scope)
    ask.change(WEBHOOK_DELETE, body=body, told=f"{name} of {ask.scope_name} is deleted")


@verb(app, "deliveries", lists=True, scope="project")
def list_deliveries(
    ask: Ask,
    name: _Name,
    *,
    state: Annotated[
        DeliveryState | None, typer.Option("--state", help="Only those; dead: given up.")
    ] = None,
) -> None:
    """What became of events on their way to a webhook, the newest first.

    Example: bailiwick webhook deliveries pager --tenant lab --state dead
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.events import WEBHOOK_DELIVERIES
    from bailiwick.wire.base import Page
    from bailiwick.wire.events import WebhookQuestion

    body = make_body(WebhookQuestion, webhook=name, **ask.scope, state=state, limit=500)

    def read() -> Page[Delivery]:
        return Page(items=ask.client.send(WEBHOOK_DELIVERIES, body=body).items)

    ask.show_rows(read, _DELIVERIES)


@verb(app, "replay", changes=True, scope="project")
def replay_webhook(
    ask: Ask,
    name: _Name,
    *,
    event: Annotated[
        int | None, typer.Option("--event", min=0, metavar="ID", help="Only this event.")
    ] = None,
) -> None:
    """Send all dead letters again, or one event; under the same ids as before.

    Example: bailiwick webhook replay pager --tenant lab --event 41
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.events import WEBHOOK_REPLAY
    from bailiwick.wire.events import WebhookReplay

    body = make_body(WebhookReplay, webhook=name, **ask.scope, id=event)
    found = ask.client.send(WEBHOOK_REPLAY, body=body, dry_run=ask.dry_run)
    told = f"{found.events} events are sent to {name} again"
    suffix = " (dry run: nothing was changed)" if ask.dry_run else ""
    ask.printer.thing(found, name=str(found.events), draw=lambda: emit(told + suffix))
