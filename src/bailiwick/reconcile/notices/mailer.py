"""One try to hand one message to the operator's mail server.

Rules:

- STARTTLS or TLS, with the certificate checked for the server's name; a server that offers neither
  is told nothing, no password either. Without TLS only on this machine (the options see to that).
- Never an exception, whatever the server: what became of a try is a value, of the same words as a
  webhook's, so that one policy says when it is tried again.
- What a server says of a letter with a 5xx is final: each try would be told the same. What it says
  of us (a greeting, a login) is for the operator to mend, and the letter is tried again.
- What a server says beyond its number is not kept: it may quote what it was sent.
- A letter was taken if the server said so when it had all of it. A 2xx to anything else, where
  another number has to come, is no such word: the letter was not handed over.
- What was taken stays taken: how the server says goodbye afterwards changes nothing, or the same
  letter would be sent again.
"""

from __future__ import annotations

import smtplib
import ssl
from contextlib import suppress
from email.message import EmailMessage

from bailiwick.events.retrying import Answered, NotReached, SendOutcome
from bailiwick.services.notices.mail import SmtpTerms
from bailiwick.vocab.apps import DeliveryFault
from bailiwick.vocab.notices import SmtpTls

TAKEN = 250
REFUSALS = 400
"""Numbers below say yes, or go on."""
FINAL = range(500, 600)
OF_LOGIN = frozenset({530, 534, 535, 538})
"""A login that is missing or too weak, which some servers say only when a letter is there."""


class Mailer:
    """Hands messages to one mail server, each over a connection of its own; from any thread."""

    def __init__(self, terms: SmtpTerms) -> None:
        self.terms = terms

    def __call__(self, message: EmailMessage) -> SendOutcome:
        """What became of one try."""
        try:
            return self._send(message)
        except ssl.SSLError:
            return NotReached(DeliveryFault.CERTIFICATE)
        except (smtplib.SMTPSenderRefused, smtplib.SMTPDataError) as error:
            return _refused(error.smtp_code, of_letter=True)
        except smtplib.SMTPRecipientsRefused as error:
            codes = [code for code, _ in error.recipients.values()]
            return _refused(min(codes, default=550), of_letter=True)
        except smtplib.SMTPResponseException as error:
            return _refused(error.smtp_code)
        except TimeoutError:
            return NotReached(DeliveryFault.TIMEOUT)
        except smtplib.SMTPNotSupportedError:  # it offers no TLS, or no login
            return NotReached(DeliveryFault.CERTIFICATE)
        except Exception:  # whatever else a server or its name leads to must not end the duty
            return NotReached(DeliveryFault.NO_CONNECTION)

    def _send(self, message: EmailMessage) -> SendOutcome:
        terms, server = self.terms, self._connect()
        try:
            if terms.tls is SmtpTls.STARTTLS:
                server.starttls(context=self._trust())
            if terms.user is not None:
                server.login(terms.user, terms.password or "")
            server.send_message(message, from_addr=terms.sender)
        finally:
            with suppress(Exception):
                server.quit()
            server.close()
        return Answered(TAKEN)

    def _connect(self) -> smtplib.SMTP:
        terms = self.terms
        if terms.tls is SmtpTls.TLS:
            return smtplib.SMTP_SSL(
                terms.host, terms.port, timeout=terms.timeout_s, context=self._trust()
            )
        return smtplib.SMTP(terms.host, terms.port, timeout=terms.timeout_s)

    def _trust(self) -> ssl.SSLContext:
        found = ssl.create_default_context(
            cafile=None if self.terms.ca_file is None else str(self.terms.ca_file)
        )
        found.minimum_version = ssl.TLSVersion.TLSv1_2
        return found


def _refused(code: int, *, of_letter: bool = False) -> SendOutcome:
    """What follows from an answer that ended the conversation before the letter was handed over."""
    if code < REFUSALS:  # "yes" to another question than was asked
        return NotReached(DeliveryFault.NO_CONNECTION)
    return Answered(code, is_final=of_letter and code in FINAL and code not in OF_LOGIN)
