"""Mail: what the server is told of its mail server, and what a letter looks like.

Rules:

- A header holds one line of plain letters. Whatever a name held, no other header follows from it:
  what is not printable ASCII was replaced before, and :mod:`email` refuses a line end.
- A message is plain text, says that a program wrote it, and has the id of its letter: the same in
  every try, so that two copies are known as one.
- An address is plain: letters, digits and a few signs, ``@``, a host with a dot. No comment, no
  quotes, no list.

>>> check_address("ann@lab.example")
'ann@lab.example'
>>> check_address("ann@lab.example, bob@lab.example")
Traceback (most recent call last):
...
bailiwick.vocab.errors.InvalidValue: email: expected NAME@HOST.DOMAIN, got '(not shown)'
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeAlias

from bailiwick.events.retrying import SendOutcome
from bailiwick.services.notices.letters import text_of_letter, title_of_letter
from bailiwick.store.notices.told import NoticeLetter
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.notices import SmtpTls

ADDRESS_MAX: Final = 254
_ADDRESS: Final = re.compile(
    r"[A-Za-z0-9_+-][A-Za-z0-9._+-]{0,63}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+"
    r"[A-Za-z]{2,63}"
)
_SUBJECT_MAX: Final = 150

MailPost: TypeAlias = Callable[[EmailMessage], SendOutcome]
"""Brings one message to the mail server; waits for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpTerms:
    """The operator's mail server, and who we are there."""

    host: str
    port: int
    sender: str
    tls: SmtpTls = SmtpTls.STARTTLS
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    ca_file: Path | None = None
    """Whose certificate it shows; without one, of an authority that the system trusts."""
    timeout_s: float = 20.0


def check_address(value: str) -> str:
    """The address, if it is a plain one."""
    if len(value) > ADDRESS_MAX or not _ADDRESS.fullmatch(value):
        raise InvalidValue("email", "(not shown)", "NAME@HOST.DOMAIN")
    return value


@dataclass(frozen=True, slots=True)
class MailHead:
    """From whom letters come, to whom this one goes, and when."""

    sender: str
    recipient: str
    at_ms: int


def letter_mail(letter: NoticeLetter, head: MailHead, *, address: str) -> EmailMessage:
    """What somebody is told, as mail; ``address`` is where people reach the server."""
    inbox = f"Your inbox: {address}/inbox\n" if address else ""
    text = text_of_letter(letter.tidings, withheld=letter.withheld)
    body = f"{text}\n\n{inbox}What is sent to you, and where to: bailiwick notify show\n"
    return _mail(head, title_of_letter(letter.tidings), body=body, message=letter.message)


def code_mail(code: str, head: MailHead, *, principal: str, address: str) -> EmailMessage:
    """A code that shows whose an address is; ``address`` is where people reach the server."""
    where = f" at {address}" if address else ""
    body = (
        f"Somebody who is logged in to Bailiwick{where} as {principal} wants notices about jobs, "
        "leases and nodes to be sent to this address.\n\n"
        f"If that is you, type:\n\n    bailiwick notify verify {code}\n\n"
        "The code counts for 15 minutes, and once. If it is not you, do nothing: no notice is sent "
        "here unless the code was typed.\n"
    )
    digest = sha256(f"{principal}\n{head.recipient}\n{head.at_ms}".encode()).hexdigest()
    return _mail(head, "Is this your address?", body=body, message=f"code_{digest[:32]}")


def _mail(head: MailHead, subject: str, *, body: str, message: str) -> EmailMessage:
    from datetime import UTC, datetime

    found = EmailMessage(policy=SMTP)
    found["From"] = head.sender
    found["To"] = head.recipient
    found["Subject"] = f"Bailiwick: {subject}"[:_SUBJECT_MAX]
    found["Date"] = format_datetime(datetime.fromtimestamp(head.at_ms / 1000, UTC))
    own = sha256(head.recipient.encode()).hexdigest()[:16]
    found["Message-ID"] = f"<{message}.{own}@{head.sender.rpartition('@')[2]}>"
    found["Auto-Submitted"] = "auto-generated"
    found.set_content(body, charset="utf-8", cte="quoted-printable")
    return found
