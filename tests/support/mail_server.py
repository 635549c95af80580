"""A real mail server on loopback (aiosmtpd), which keeps what it is given and answers as told."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any, cast

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

USER, PASSWORD = "bailiwick", "mail-password-of-the-test"


@dataclass
class MailServer:
    """What came, and how to answer."""

    port: int = 0
    messages: list[EmailMessage] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    logins: list[str] = field(default_factory=list)
    answer: Callable[[EmailMessage], str] = lambda message: "250 OK"
    greeting: str | None = None
    """Instead of a welcome."""
    sender: str | None = None
    recipient: str | None = None
    """What is said to whoever it comes from, and to whom it goes, instead of taking it."""
    goodbye: str = "221 Bye"

    async def handle_EHLO(
        self, server: Any, session: Any, envelope: Any, hostname: str, responses: list[str]
    ) -> list[str]:
        """Who comes."""
        del server, envelope
        session.host_name = hostname
        return responses if self.greeting is None else [self.greeting]

    async def handle_HELO(self, server: Any, session: Any, envelope: Any, hostname: str) -> str:
        """Who comes, in the old way."""
        del envelope
        session.host_name = hostname
        return self.greeting or f"250 {server.hostname}"

    async def handle_MAIL(
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        """From whom."""
        del server, session, options
        if self.sender is None:
            envelope.mail_from = address
        return self.sender or "250 OK"

    async def handle_RCPT(
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        """To whom."""
        del server, session, options
        if self.recipient is None:
            envelope.rcpt_tos.append(address)
        return self.recipient or "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        """One message."""
        del server, session
        found = cast(EmailMessage, message_from_bytes(envelope.content, policy=policy.default))
        told = self.answer(found)
        if told.startswith("250"):
            assert envelope.rcpt_tos == [found["to"]]
            self.raw.append(envelope.content)
            self.messages.append(found)
        return told

    async def handle_QUIT(self, server: Any, session: Any, envelope: Any) -> str:
        """Whoever wrote goes."""
        del server, session, envelope
        return self.goodbye

    def to(self, address: str) -> list[EmailMessage]:
        """The messages to one."""
        return [each for each in self.messages if each["to"] == address]


@contextmanager
def mail_server(
    certificate: tuple[Path, Path] | None = None, *, at_once: bool = False, login: bool = False
) -> Iterator[MailServer]:
    """A server; with a certificate it demands STARTTLS, or (``at_once``) speaks TLS alone."""
    found, tls = MailServer(), None
    if certificate is not None:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(*certificate)

    def authenticate(
        server: Any, session: Any, envelope: Any, mechanism: str, data: Any
    ) -> AuthResult:
        del server, session, envelope, mechanism
        assert isinstance(data, LoginPassword)
        found.logins.append(data.login.decode())
        return AuthResult(success=data.password.decode() == PASSWORD, handled=False)

    more: dict[str, Any] = {}
    if tls is not None and at_once:
        more["ssl_context"] = tls
    elif tls is not None:
        more |= {"tls_context": tls, "require_starttls": True}
    if login:
        more |= {"authenticator": authenticate, "auth_required": True}
        more["auth_require_tls"] = not at_once
    controller = _Controller(found, hostname="127.0.0.1", port=0, **more)
    controller.start()
    assert controller.server is not None
    found.port = controller.server.sockets[0].getsockname()[1]
    try:
        yield found
    finally:
        controller.stop()


class _Controller(Controller):
    """Any free port, which the plain one cannot be asked for: it calls itself to see it listens."""

    def _trigger_server(self) -> None:
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()
