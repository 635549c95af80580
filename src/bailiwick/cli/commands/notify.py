"""``bailiwick notify``: by which ways you are told of what, and whether it arrives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.output import Columns, emit
from bailiwick.cli.shared.screen import printable
from bailiwick.phrases.amounts import plural
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.notices import CHOSEN, NoticeChannel

if TYPE_CHECKING:
    from bailiwick.wire.notices import NoticeChoice, NoticeDelivery, NoticeSettings

app = noun("By which ways you are told of what: the inbox, mail, a webhook of your own.")

_CHOICES: Columns[NoticeChoice] = Columns(
    ("kind", "told by"),
    lambda c: (c.kind.value, ", ".join(each.value for each in c.channels) or "none"),
    lambda c: c.kind.value,
)


@verb(app, "show")
def show_notices(ask: Ask) -> None:
    """What you chose, and what became of the last notice that was sent.

    Example: bailiwick notify show
    """
    from bailiwick.wire.actions.notices import NOTICE_READ

    _tell(ask, ask.client.send(NOTICE_READ))


@verb(app, "set", changes=True)
def set_notices(
    ask: Ask,
    *,
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on",
            metavar="KIND=WAY[,WAY]",
            help="Be told of this kind so: inbox, email, webhook or none; repeat it. "
            "all=WAY is every kind.",
        ),
    ] = None,
    email: Annotated[
        str | None,
        typer.Option("--email", metavar="ADDRESS", help="Mail goes here, once it is verified."),
    ] = None,
    webhook: Annotated[
        str | None,
        typer.Option("--webhook", metavar="URL", help="Where else: https://HOST/PATH."),
    ] = None,
    no_email: Annotated[bool, typer.Option("--no-email", help="Forget the address.")] = False,
    no_webhook: Annotated[bool, typer.Option("--no-webhook", help="Forget the webhook.")] = False,
) -> None:
    """Be told by other ways from now on; a new address is mailed a code for notify verify.

    It is done as a whole or not at all.

    Example: bailiwick notify set --email ann@lab.example --on job_ended=inbox,email
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.notices import NOTICE_SET
    from bailiwick.wire.notices import NoticeChange

    if (email and no_email) or (webhook and no_webhook):
        raise InvalidValue("--no-email, --no-webhook", True, "one of setting and forgetting")
    given = {
        "choices": [each for text in on or [] for each in choices_of(text)],
        "email": "" if no_email else email,
        "webhook_url": "" if no_webhook else webhook,
    }
    body = make_body(NoticeChange, **given)
    _tell(ask, ask.client.send(NOTICE_SET, body=body, dry_run=ask.dry_run))


@verb(app, "verify", changes=True)
def verify_address(
    ask: Ask, code: Annotated[str, typer.Argument(metavar="CODE", help="As it was mailed.")]
) -> None:
    """Show the code that was mailed: the address counts from then on.

    Example: bailiwick notify verify 7k2m9x4q1r
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.notices import NOTICE_VERIFY
    from bailiwick.wire.notices import NoticeCode

    body = make_body(NoticeCode, code=code)
    _tell(ask, ask.client.send(NOTICE_VERIFY, body=body, dry_run=ask.dry_run))


@verb(app, "rotate-secret", changes=True)
def rotate_secret(ask: Ask) -> None:
    """Replace the secret of your webhook; the one before still counts for 24 hours.

    Example: bailiwick notify rotate-secret
    """
    from bailiwick.wire.actions.notices import NOTICE_ROTATE

    _tell(ask, ask.client.send(NOTICE_ROTATE, dry_run=ask.dry_run))


@verb(app, "test", changes=True)
def send_test(ask: Ask) -> None:
    """Send yourself a notice by every way; notify show then tells what became of it.

    Example: bailiwick notify test
    """
    from bailiwick.wire.actions.notices import NOTICE_TEST

    found = ask.client.send(NOTICE_TEST, dry_run=ask.dry_run)
    ways = ", ".join(each.value for each in found.channels)
    suffix = " (dry run: nothing was changed)" if ask.dry_run else ""
    told = f"a test notice goes out by: {ways}{suffix}"
    ask.printer.thing(found, name=ways, draw=lambda: emit(told))


def choices_of(text: str) -> list[NoticeChoice]:
    """What somebody typed, as choices.

    >>> [(c.kind.value, len(c.channels)) for c in choices_of("job_ended=inbox,email")]
    [('job_ended', 2)]
    >>> len(choices_of("all=none")) == len(CHOSEN)
    True
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.notices import NoticeChoice

    word, _, ways = text.partition("=")
    kinds = [each.value for each in CHOSEN]
    if not ways or (word != "all" and word not in kinds):
        raise InvalidValue("--on", text, f"KIND=WAY[,WAY], of {', '.join(kinds)} or all")
    named = [] if ways == "none" else ways.split(",")
    known = [each.value for each in NoticeChannel]
    if any(each not in known for each in named):
        raise InvalidValue("--on", text, f"ways of {', '.join(known)}, or none")
    wanted = kinds if word == "all" else [word]
    return [make_body(NoticeChoice, kind=each, channels=named) for each in wanted]


def _tell(ask: Ask, found: NoticeSettings) -> None:
    from bailiwick.wire.base import Page

    def draw() -> None:
        ask.printer.rows(Page(items=found.choices), columns=_CHOICES)
        mail = printable(found.email or "none")
        emit(f"email: {mail}" + ("" if found.sends_mail else "; this server sends no mail"))
        if found.pending_email is not None:
            waits = "waits for its code: notify verify CODE"
            emit(f"new email: {printable(found.pending_email)} ({waits})")
        emit(f"webhook: {printable(found.webhook_url or 'none')}")
        if found.withheld:
            told = f"{plural(found.withheld, 'notice')}, too many to be sent"
            emit(f"withheld: {told}; see: bailiwick inbox list --unread")
        for each in found.deliveries:
            emit(f"last by {each.channel.value}: {_became(each)}")
        if found.secret is not None:
            emit(f"secret (it is not shown again): {found.secret}")
        if ask.dry_run:
            emit("dry run: nothing was changed")

    ask.printer.thing(
        found, name=found.secret or found.pending_email or found.email or "", draw=draw
    )


def _became(letter: NoticeDelivery) -> str:
    """What became of a letter, with what was wrong if anything was."""
    from bailiwick.phrases.times import clock

    if letter.tried_ms is None:
        return "not tried yet"
    wrong = ""
    if letter.fault is not None:
        said = "" if letter.status is None else f" {letter.status}"
        tries = "1 try" if letter.tries == 1 else f"{letter.tries} tries"
        wrong = f", {letter.fault.value}{said} after {tries}"
    return f"{letter.state.value}{wrong} ({clock(letter.tried_ms)})"
