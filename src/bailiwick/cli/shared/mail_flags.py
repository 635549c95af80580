"""The options of a server's mail: which mail server, and who we are there."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.vocab.notices import SmtpTls

if TYPE_CHECKING:
    from bailiwick.services.notices.mail import SmtpTerms

_PANEL = "Mail"


@dataclasses.dataclass(frozen=True, slots=True)
class MailOptions:
    """How notices are mailed; without ``--smtp`` none are."""

    smtp: Annotated[
        str | None,
        typer.Option(
            "--smtp",
            metavar="HOST:PORT",
            rich_help_panel=_PANEL,
            help="The mail server through which people are sent notices: docs/notices.md. "
            "Replicas share these options.",
        ),
    ] = None
    smtp_from: Annotated[
        str | None,
        typer.Option(
            "--smtp-from", metavar="ADDRESS", rich_help_panel=_PANEL, help="From whom mail comes."
        ),
    ] = None
    smtp_user: Annotated[
        str | None,
        typer.Option(
            "--smtp-user", metavar="NAME", rich_help_panel=_PANEL, help="Log in there as."
        ),
    ] = None
    smtp_password_file: Annotated[
        Path | None,
        typer.Option(
            "--smtp-password-file",
            metavar="FILE",
            rich_help_panel=_PANEL,
            help="With the password in this file, which not everybody can read.",
        ),
    ] = None
    smtp_tls: Annotated[
        SmtpTls,
        typer.Option(
            "--smtp-tls",
            rich_help_panel=_PANEL,
            help="How the way there is secured; none only on this machine.",
        ),
    ] = SmtpTls.STARTTLS
    smtp_ca: Annotated[
        Path | None,
        typer.Option(
            "--smtp-ca",
            metavar="FILE",
            rich_help_panel=_PANEL,
            help="Whose certificate the mail server shows. By default the system's.",
        ),
    ] = None


def mail_of(options: MailOptions) -> SmtpTerms | None:
    """The mail server that was meant; a wrong or dangerous combination is refused."""
    from bailiwick.server.keys import load_key
    from bailiwick.server.process import is_loopback
    from bailiwick.services.notices.mail import SmtpTerms, check_address
    from bailiwick.vocab.errors import InvalidValue

    if options.smtp is None:
        if options.smtp_from or options.smtp_user or options.smtp_password_file:
            raise InvalidValue("--smtp", None, "HOST:PORT, where mail options are given")
        return None
    host, _, port = options.smtp.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65_536:
        raise InvalidValue("--smtp", options.smtp, "HOST:PORT, such as mail.example:587")
    host = host.strip("[]")
    if options.smtp_from is None:
        raise InvalidValue("--smtp-from", None, "an address, where --smtp is given")
    if options.smtp_tls is SmtpTls.NONE and not is_loopback(host):
        told = "starttls or tls, for any machine but this one"
        raise InvalidValue("--smtp-tls", options.smtp_tls.value, told)
    if (options.smtp_user is None) != (options.smtp_password_file is None):
        told = "both or none: a user and the file of the password"
        raise InvalidValue("--smtp-user", options.smtp_user, told)
    password = None
    if options.smtp_password_file is not None:
        password = load_key(options.smtp_password_file).decode("utf-8").rstrip("\r\n")
    if options.smtp_ca is not None and not options.smtp_ca.is_file():
        raise InvalidValue("--smtp-ca", str(options.smtp_ca), "a file of certificates (PEM)")
    return SmtpTerms(
        host=host,
        port=int(port),
        sender=check_address(options.smtp_from),
        tls=options.smtp_tls,
        user=options.smtp_user,
        password=password,
        ca_file=options.smtp_ca,
    )
